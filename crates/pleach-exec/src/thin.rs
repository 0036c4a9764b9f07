//! Which events of a long trace are kept.
//!
//! A search hashes, marks and offers every decision of a trace, and prepares it for the
//! solver. For a loop that decides four million times on eight bytes that takes seconds,
//! and little of it is new. So the first events of a trace are all kept, and the rest is
//! sampled: of each site the first occurrences, and then those whose number is a power of
//! two. Each sampled event is kept with a few events just before it, since these are the
//! most likely to read the same bytes. Whether an event is kept depends only on the events
//! before it, so two runs that begin alike keep the same events there.

use pleach_abi::event::Event;
use std::collections::{HashMap, VecDeque};

/// Events at the beginning of a trace that are all kept.
const MAX_PREFIX: usize = 1 << 16;
/// Events that are kept after these.
const MAX_SAMPLE: usize = 1 << 16;
/// Occurrences of one outcome of a site that are all kept.
const MAX_PER_SITE: u32 = 256;
/// Events that are kept just before each sampled one.
const CONTEXT: usize = 8;

/// The events of a trace that are kept.
pub struct Thinned {
    pub events: Vec<Event>,
    /// Of each kept event, its place in the whole trace.
    pub places: Vec<u32>,
    /// The number of events up to the first gap.
    pub complete: usize,
}

/// Keeps a bounded number of events.
pub fn thin(events: Vec<Event>) -> Thinned {
    let total = events.len();
    if total <= MAX_PREFIX {
        return Thinned::whole(events);
    }
    let mut seen: HashMap<(u32, u8, u8), u32> = HashMap::new();
    let mut places: Vec<u32> = (0..MAX_PREFIX as u32).collect();
    let mut before: VecDeque<u32> = VecDeque::with_capacity(CONTEXT + 1);
    for (place, event) in (0u32..).zip(&events) {
        let count = seen.entry((event.site, event.kind, event.dir)).or_default();
        *count += 1;
        if (place as usize) < MAX_PREFIX {
            continue;
        }
        if places.len() + CONTEXT >= MAX_PREFIX + MAX_SAMPLE {
            break;
        }
        before.push_back(place);
        if *count <= MAX_PER_SITE || count.is_power_of_two() {
            places.extend(before.drain(..));
        } else if before.len() > CONTEXT {
            before.pop_front();
        }
    }
    let kept = places.iter().map(|&place| events[place as usize]).collect();
    Thinned::new(kept, places)
}

impl Thinned {
    /// All events of a trace.
    pub fn whole(events: Vec<Event>) -> Thinned {
        let places = (0..events.len() as u32).collect();
        Thinned { complete: events.len(), events, places }
    }

    fn new(events: Vec<Event>, places: Vec<u32>) -> Thinned {
        let complete = (0u32..).zip(&places).take_while(|(i, place)| i == *place).count();
        Thinned { events, places, complete }
    }

    /// Keeps the events for which `keep` holds.
    pub fn retain(&mut self, keep: impl Fn(&Event) -> bool) {
        let kept = self.events.iter().zip(&self.places).filter(|(event, _)| keep(event));
        let (events, places) = kept.map(|(event, place)| (*event, *place)).unzip();
        *self = Thinned::new(events, places);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(site: u32, dir: u8) -> Event {
        Event { site, dir, ..Event::default() }
    }

    #[test]
    fn short_traces_are_kept_whole() {
        let kept = thin((0..MAX_PREFIX as u32).map(|i| event(i % 5, 0)).collect());
        assert_eq!((kept.events.len(), kept.complete), (MAX_PREFIX, MAX_PREFIX));
    }

    #[test]
    fn a_long_loop_is_sampled_and_later_sites_are_kept() {
        let mut events: Vec<Event> = (0..4_000_000).map(|i| event(1, (i % 2) as u8)).collect();
        events.extend((10..30).map(|site| event(site, 1)));
        let kept = thin(events);
        assert_eq!(kept.complete, MAX_PREFIX);
        assert!(kept.events.len() < MAX_PREFIX + 1000, "{}", kept.events.len());
        let last: Vec<u32> = kept.events[kept.events.len() - 20..].iter().map(|e| e.site).collect();
        assert_eq!(last, (10..30).collect::<Vec<_>>());
    }

    #[test]
    fn the_sample_is_bounded_for_many_sites() {
        let kept = thin((0..1_000_000).map(|i| event(i, 0)).collect());
        assert!(kept.events.len() <= MAX_PREFIX + MAX_SAMPLE);
    }

    #[test]
    fn traces_that_begin_alike_are_thinned_alike() {
        let long: Vec<Event> = (0..500_000u32).map(|i| event(i * i % 1009, 0)).collect();
        let (a, b) = (thin(long.clone()), thin(long[..300_000].to_vec()));
        let shared = b.places.len() - CONTEXT;
        assert_eq!(a.places[..shared], b.places[..shared]);
    }
}
