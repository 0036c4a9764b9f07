//! A trace: what one run of the symbolic half decided on labelled values.
//!
//! It is built from a copy of the shared memory and checked as it is built.
//! Either it is sound from end to end, or it is refused with what was wrong.

use crate::executor::Half;
use crate::layout::Layout;
use crate::shm::{Counts, LoadedModule, Shm};
use pleach_abi::event::{Event, Kind};
use pleach_abi::function::{Function, SiteInfo};
use pleach_abi::section::SiteKind;
use pleach_abi::shm::{CUT_EVENTS, CUT_INPUT, CUT_NODES, CUT_SNAPS, LOSS_NAMES};
use pleach_expr::{Broken, Expr, Symbols};
use thiserror::Error;

#[derive(Debug)]
pub struct Trace {
    pub events: Vec<Event>,
    pub expr: Expr,
    /// Nodes in use, those of the input's bytes included.
    pub nodes: u32,
    pub snapshot_bytes: u64,
    /// `CUT_*` bits: why the trace ends early, if it does.
    pub cut: u32,
    pub losses: [u32; 16],
    pub unmodelled: Vec<String>,
    /// Input bytes that were read.
    pub input_read: u32,
    pub modules: Vec<LoadedModule>,
}

/// A trace that cannot be used; the target's doing.
#[derive(Debug, Error)]
pub enum BrokenTrace {
    #[error("broken trace: {count} {what}, where there is room for {room}")]
    Count { what: &'static str, count: u64, room: u64 },
    #[error("broken trace: event {event} is of the unknown kind {kind}")]
    Kind { event: usize, kind: u8 },
    #[error("broken trace: event {event} has the direction {dir}")]
    Direction { event: usize, dir: u8 },
    #[error("broken trace: event {event} has no condition")]
    NoLabel { event: usize },
    #[error("broken trace: {0}")]
    Graph(#[from] Broken),
    #[error("the shared memory cannot be read: {0}")]
    Io(#[from] std::io::Error),
}

impl Trace {
    /// Reads what a run on an input of `input_len` bytes has left.
    pub fn read(shm: &Shm, input_len: u64) -> Result<Trace, BrokenTrace> {
        let Counts { nodes, events, snapshots, cut, losses, input_read, unmodelled } =
            shm.counts()?;
        let sizes = shm.sizes();
        for (what, count, room) in [
            ("nodes", u64::from(nodes), sizes.nodes),
            ("events", u64::from(events), sizes.events),
            ("bytes of snapshots", snapshots, sizes.snapshots),
        ] {
            if count > room {
                return Err(BrokenTrace::Count { what, count, room });
            }
        }
        let events = shm.events(events)?;
        for (event, e) in events.iter().enumerate() {
            let kind = Kind::from_u8(e.kind).ok_or(BrokenTrace::Kind { event, kind: e.kind })?;
            if e.dir > 1 {
                return Err(BrokenTrace::Direction { event, dir: e.dir });
            }
            if e.label == 0 && kind != Kind::Len {
                return Err(BrokenTrace::NoLabel { event });
            }
        }
        let input_len = u32::try_from(input_len).unwrap_or(u32::MAX);
        let labels: Vec<u32> = events.iter().map(|e| e.label).collect();
        let expr = Expr::new(shm.nodes(nodes)?, shm.snapshots(snapshots)?, input_len, labels)?;
        Ok(Trace {
            events,
            expr,
            nodes,
            snapshot_bytes: snapshots,
            cut,
            losses,
            unmodelled,
            input_read,
            modules: shm.modules()?,
        })
    }

    /// Losses by name, those that occurred.
    pub fn named_losses(&self) -> impl Iterator<Item = (&'static str, u32)> {
        LOSS_NAMES.into_iter().zip(self.losses).filter(|(_, n)| *n > 0)
    }

    /// What ran full, if the trace was cut.
    pub fn cut_by(&self) -> impl Iterator<Item = &'static str> {
        let cut = self.cut;
        [
            (CUT_NODES, "nodes"),
            (CUT_EVENTS, "events"),
            (CUT_SNAPS, "snapshots"),
            (CUT_INPUT, "input"),
        ]
        .into_iter()
        .filter_map(move |(bit, name)| (cut & bit != 0).then_some(name))
    }

    /// Where an event's site is in the source, as far as the tables know.
    pub fn place<'a>(
        &self,
        layout: &'a Layout,
        event: &Event,
    ) -> Option<(&'a Function, &'a SiteInfo)> {
        let module = self
            .modules
            .iter()
            .find(|m| event.site.checked_sub(m.site_base).is_some_and(|i| i < m.sites))?;
        layout.module(module, Half::Symbolic)?.describe((event.site - module.site_base) as usize)
    }

    /// The cases of the switch that an event is of. `None` for other events,
    /// where the tables do not know the site, and for a switch on more bits
    /// than the tables hold.
    pub fn cases<'a>(&self, layout: &'a Layout, event: &Event) -> Option<&'a [u64]> {
        if kind(event) != Kind::Switch || self.expr.width(event.label) > 64 {
            return None;
        }
        let (_, site) = self.place(layout, event)?;
        (site.kind == SiteKind::Switch).then_some(&site.cases)
    }
}

/// The kind of an event in a trace that was read; they are all known ones.
pub fn kind(event: &Event) -> Kind {
    Kind::from_u8(event.kind).unwrap_or(Kind::Branch)
}

/// Names for addresses in a run's modules.
pub struct TargetSymbols<'a> {
    pub layout: &'a Layout,
    pub modules: &'a [LoadedModule],
}

impl Symbols for TargetSymbols<'_> {
    fn symbol(&self, address: u64) -> Option<(String, u64)> {
        self.modules.iter().find_map(|m| {
            let image = self.layout.module(m, Half::Symbolic)?;
            let (name, inside) = image.symbol(address.checked_sub(m.bias)?)?;
            Some((name.to_string(), inside))
        })
    }
}
