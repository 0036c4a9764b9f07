//! A trace: the decisions of one run of the symbolic half on labelled values.
//!
//! It is built from a copy of the shared memory, and checked as it is built. A trace with
//! any error in it is refused, and the error is named.

use crate::executor::Half;
use crate::image::Image;
use crate::layout::Layout;
use crate::shm::{Counts, LoadedModule, Shm};
use crate::thin::{Thinned, thin};
use pleach_abi::event::{Event, Kind};
use pleach_abi::function::{Function, SiteInfo};
use pleach_abi::node::{FLAG_LOST, NEVER_LOST, Node, Op};
use pleach_abi::section::SiteKind;
use pleach_abi::shm::{CUT_EVENTS, CUT_INPUT, CUT_NODES, CUT_SNAPS, CUT_TOKENS, LOSS_NAMES, Token};
use pleach_abi::token::TokenFunction;
use pleach_expr::{Broken, Expr, NoPart, Part, Symbols, Variables};
use pleach_work::Task;
use std::sync::atomic::{AtomicBool, Ordering};
use thiserror::Error;

#[derive(Debug)]
pub struct Trace {
    pub events: Vec<Event>,
    /// The tokens that the program read, in a run on tokens.
    pub tokens: Vec<TokenSeen>,
    /// Of each token, the address of its function's record; 0 if the source marks it.
    token_sources: Vec<u64>,
    /// The lengths of the holes that the run was given.
    pub lengths: Vec<u32>,
    pub expr: Expr,
    /// The number of nodes that the run made, with those of the input's bytes.
    pub nodes: u32,
    pub snapshot_bytes: u64,
    /// `CUT_*` bits: why the trace ends early; 0 if it does not.
    pub cut: u32,
    pub losses: [u32; 16],
    pub unmodelled: Vec<String>,
    /// How many events of the run are not in `events`.
    pub left_out: u64,
    /// The number of events up to the first that was left out.
    pub complete: usize,
    /// How far the input was read.
    pub input_read: u32,
    pub modules: Vec<LoadedModule>,
}

/// One token that the program read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenSeen {
    pub number: i32,
    /// How far the input had been read: the offset after the last byte.
    pub read: u32,
    /// How many events came before it.
    pub events: u32,
}

/// Why a trace cannot be used. The target is the cause, except for the last two.
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
    #[error("broken trace: token {token} lies behind the input or the events")]
    Token { token: usize },
    #[error("broken trace: {0}")]
    Graph(#[from] Broken),
    #[error("the shared memory cannot be read: {0}")]
    Io(#[from] std::io::Error),
    #[error("reading the trace was interrupted")]
    Interrupted,
}

impl Trace {
    /// Reads the trace of a run on an input of `input_len` bytes, with holes of these
    /// lengths.
    pub fn read(shm: &Shm, input_len: u64, lengths: &[u32]) -> Result<Trace, BrokenTrace> {
        Trace::read_part(shm, input_len, lengths, None)
    }

    /// Reads as much of it as a search can use: a bounded number of events, chosen by
    /// [`thin`], and the nodes that they reach.
    pub fn read_bounded(
        shm: &Shm,
        input_len: u64,
        lengths: &[u32],
        bound: Bound,
    ) -> Result<Trace, BrokenTrace> {
        Trace::read_part(shm, input_len, lengths, Some(bound))
    }

    fn read_part(
        shm: &Shm,
        input_len: u64,
        lengths: &[u32],
        bound: Option<Bound>,
    ) -> Result<Trace, BrokenTrace> {
        let _reading = pleach_work::enter(Task::Read);
        let counts = shm.counts()?;
        let sizes = shm.sizes();
        for (what, count, room) in [
            ("nodes", u64::from(counts.nodes), sizes.nodes),
            ("events", u64::from(counts.events), sizes.events),
            ("tokens", u64::from(counts.tokens), sizes.tokens),
            ("bytes of snapshots", counts.snapshots, sizes.snapshots),
        ] {
            if count > room {
                return Err(BrokenTrace::Count { what, count, room });
            }
        }
        let all = shm.events(counts.events)?;
        check_events(&all)?;
        let input_len = u32::try_from(input_len).unwrap_or(u32::MAX);
        let tokens = shm.tokens(counts.tokens)?;
        for (token, t) in tokens.iter().enumerate() {
            if t.read > input_len || t.events > counts.events {
                return Err(BrokenTrace::Token { token });
            }
        }
        let (nodes, thinned) = match bound {
            Some(bound) => read_reached(shm, counts.nodes, input_len, thin(all), bound)?,
            None => (shm.nodes(counts.nodes)?, Thinned::whole(all)),
        };
        pleach_work::count(u64::from(counts.events) + nodes.len() as u64);
        let snapshots = shm.snapshots(counts.snapshots)?;
        let modules = shm.modules()?;
        let recorded = Recorded { counts, nodes, thinned, tokens, snapshots, modules };
        Trace::build(recorded, input_len, lengths)
    }

    /// Makes a trace from its parts. Events and tokens were checked before.
    pub(crate) fn build(
        recorded: Recorded,
        input_len: u32,
        lengths: &[u32],
    ) -> Result<Trace, BrokenTrace> {
        let Recorded { counts, nodes, thinned, tokens, snapshots, modules } = recorded;
        let Thinned { events, places, complete } = thinned;
        let labels: Vec<u32> = events.iter().map(|e| e.label).collect();
        let behind = Variables { lengths: lengths.len() as u32, tokens: counts.tokens };
        let expr = Expr::with_variables(nodes, snapshots, input_len, behind, labels)?;
        let token_seen = |t: &Token| {
            let before = places.partition_point(|&place| place < t.events) as u32;
            TokenSeen { number: t.number, read: t.read, events: before }
        };
        Ok(Trace {
            left_out: u64::from(counts.events) - events.len() as u64,
            complete,
            events,
            tokens: tokens.iter().map(token_seen).collect(),
            lengths: lengths.to_vec(),
            token_sources: tokens.iter().map(|t| t.source).collect(),
            expr,
            nodes: counts.nodes,
            snapshot_bytes: counts.snapshots,
            cut: counts.cut,
            losses: counts.losses,
            unmodelled: counts.unmodelled,
            input_read: counts.input_read,
            modules,
        })
    }

    /// What expressions are evaluated on: the input, then the lengths of its holes, then the
    /// numbers of its tokens. Each number has four bytes; the first is at the offset where
    /// the input of this run ends. An input of another length is cut or filled up to it.
    pub fn extended(&self, input: &[u8]) -> Vec<u8> {
        let mut bytes = input.to_vec();
        if !self.tokens.is_empty() || !self.lengths.is_empty() {
            bytes.resize(self.expr.input_len() as usize, 0);
        }
        bytes.extend(self.lengths.iter().flat_map(|n| n.to_le_bytes()));
        bytes.extend(self.tokens.iter().flat_map(|t| t.number.to_le_bytes()));
        bytes
    }

    /// The numbers of the tokens that the program read, in order.
    pub fn token_numbers(&self) -> Vec<i32> {
        self.tokens.iter().map(|t| t.number).collect()
    }

    /// The function that returned a token; `None` if the source marks the token, or if the
    /// tables do not have the function.
    pub fn token_function<'a>(
        &self,
        layout: &'a Layout,
        token: usize,
    ) -> Option<&'a TokenFunction> {
        let source = *self.token_sources.get(token)?;
        self.modules.iter().find_map(|m| {
            let image = layout.module(m, Half::Symbolic)?;
            let at = source.checked_sub(m.bias)?;
            image.tokens.iter().find(|(address, _)| *address == at).map(|(_, f)| f)
        })
    }

    /// True if a label stands for a value whose dependence on the input was lost.
    pub fn is_lost(&self, label: u32) -> bool {
        let node = self.expr.node(label);
        node.op == Op::Const as u8 && node.flags & FLAG_LOST != 0
    }

    /// True if a label stands for a condition that the compiler has proved to be a constant.
    pub fn is_proved(&self, label: u32) -> bool {
        self.is_lost(label) && self.expr.node(label).b == NEVER_LOST
    }

    /// Where and why the dependence of such a value was lost.
    pub fn lost_value<'a>(&self, layout: &'a Layout, label: u32) -> Option<LostValue<'a>> {
        let node = self.expr.node(label);
        let number = (node.a as usize).checked_sub(1);
        let cause = LOSS_NAMES.get(node.b as usize).filter(|_| self.is_lost(label))?;
        let listed = number.and_then(|number| self.unmodelled.get(number)).cloned();
        let function = listed.or_else(|| {
            let symbols = TargetSymbols { layout, trace: self };
            Some(symbols.symbol(node.imm).filter(|(_, offset)| *offset == 0)?.0)
        });
        Some(LostValue { cause, function, place: self.place_of(layout, node.c) })
    }

    /// The name that a token has, or would have with this number.
    pub fn token_name<'a>(&self, layout: &'a Layout, token: usize, number: i32) -> Option<&'a str> {
        let names = &self.token_function(layout, token)?.names;
        names.iter().find(|(n, _)| *n == number).map(|(_, name)| name.as_str())
    }

    /// The losses that occurred, by name.
    pub fn named_losses(&self) -> impl Iterator<Item = (&'static str, u32)> {
        LOSS_NAMES.into_iter().zip(self.losses).filter(|(_, n)| *n > 0)
    }

    /// What was full, if the trace was cut.
    pub fn cut_by(&self) -> impl Iterator<Item = &'static str> {
        let cut = self.cut;
        [
            (CUT_NODES, "nodes"),
            (CUT_EVENTS, "events"),
            (CUT_SNAPS, "snapshots"),
            (CUT_INPUT, "input"),
            (CUT_TOKENS, "tokens"),
        ]
        .into_iter()
        .filter_map(move |(bit, name)| (cut & bit != 0).then_some(name))
    }

    /// The place of an event's site in the source, if the tables have it.
    pub fn place<'a>(
        &self,
        layout: &'a Layout,
        event: &Event,
    ) -> Option<(&'a Function, &'a SiteInfo)> {
        self.place_of(layout, event.site)
    }

    /// The same for the index of a site.
    fn place_of<'a>(&self, layout: &'a Layout, site: u32) -> Option<(&'a Function, &'a SiteInfo)> {
        let (image, at) = self.site_in(layout, site)?;
        image.describe(at)
    }

    /// The hash of a site, by its index.
    pub fn site_hash(&self, layout: &Layout, site: u32) -> Option<u64> {
        let (image, at) = self.site_in(layout, site)?;
        image.sites.get(at).map(|site| site.hash)
    }

    fn site_in<'a>(&self, layout: &'a Layout, site: u32) -> Option<(&'a Image, usize)> {
        let has = |m: &&LoadedModule| site.checked_sub(m.site_base).is_some_and(|i| i < m.sites);
        let module = self.modules.iter().find(has)?;
        Some((layout.module(module, Half::Symbolic)?, (site - module.site_base) as usize))
    }

    /// The cases of the switch that an event belongs to. `None` for other events, for a site
    /// that the tables do not have, and for a switch on more than 64 bits.
    pub fn cases<'a>(&self, layout: &'a Layout, event: &Event) -> Option<&'a [u64]> {
        if kind(event) != Kind::Switch || self.expr.width(event.label) > 64 {
            return None;
        }
        let (_, site) = self.place(layout, event)?;
        (site.kind == SiteKind::Switch).then_some(&site.cases)
    }
}

/// A value whose dependence on the input was lost.
#[derive(Clone, Debug)]
pub struct LostValue<'a> {
    /// A name of [`LOSS_NAMES`].
    pub cause: &'static str,
    /// The function that has no model.
    pub function: Option<String>,
    pub place: Option<(&'a Function, &'a SiteInfo)>,
}

/// The parts of a trace.
pub(crate) struct Recorded {
    pub counts: Counts,
    pub nodes: Vec<Node>,
    pub thinned: Thinned,
    pub tokens: Vec<Token>,
    pub snapshots: Vec<u8>,
    pub modules: Vec<LoadedModule>,
}

/// Refuses events that no run can have recorded.
pub(crate) fn check_events(events: &[Event]) -> Result<(), BrokenTrace> {
    for (event, e) in events.iter().enumerate() {
        let kind = Kind::from_u8(e.kind).ok_or(BrokenTrace::Kind { event, kind: e.kind })?;
        if e.dir > 1 {
            return Err(BrokenTrace::Direction { event, dir: e.dir });
        }
        if e.label == 0 && kind != Kind::Len {
            return Err(BrokenTrace::NoLabel { event });
        }
    }
    Ok(())
}

/// How much of a trace is read.
#[derive(Clone, Copy)]
pub struct Bound<'a> {
    /// How many nodes it may have besides those of its input.
    pub max_nodes: usize,
    /// When this is set, reading ends early.
    pub stop: &'a AtomicBool,
}

/// How many nodes are read at once.
const CHUNK: u32 = 1 << 16;

/// Reads the nodes that the kept events reach, and renumbers the labels of the events. If
/// they reach too many nodes, only events on the first nodes are kept.
fn read_reached(
    shm: &Shm,
    nodes: u32,
    input_len: u32,
    mut kept: Thinned,
    Bound { max_nodes, stop }: Bound,
) -> Result<(Vec<Node>, Thinned), BrokenTrace> {
    let first =
        input_len.saturating_add(1).saturating_add(u32::try_from(max_nodes).unwrap_or(u32::MAX));
    if nodes <= first {
        return Ok((shm.nodes(nodes)?, kept));
    }
    let labels: Vec<u32> = kept.events.iter().map(|e| e.label).collect();
    if let Some(&operand) = labels.iter().find(|&&label| label >= nodes) {
        return Err(Broken::Operand { label: 0, operand }.into());
    }
    let mut part = Part::new(nodes, input_len, &labels, max_nodes);
    let mut end = nodes;
    while end > 0 {
        if pleach_work::spend(CHUNK.into()) || stop.load(Ordering::Relaxed) {
            return Err(BrokenTrace::Interrupted);
        }
        let from = end.saturating_sub(CHUNK);
        match part.add_chunk(from, &shm.nodes_from(from, end - from)?) {
            Ok(()) => end = from,
            Err(NoPart::TooLarge) => {
                kept.retain(|event| event.label < first);
                return Ok((shm.nodes(first)?, kept));
            }
            // Several threads wrote the nodes, so they are not in order and cannot be cut.
            Err(NoPart::Unordered) => return Ok((shm.nodes(nodes)?, kept)),
        }
    }
    let (nodes, labels) = part.finish(shm.nodes(nodes.min(input_len + 1))?);
    kept.events.iter_mut().for_each(|event| event.label = labels.get(event.label));
    Ok((nodes, kept))
}

/// The kind of an event. Reading a trace has checked that it is a known kind.
pub fn kind(event: &Event) -> Kind {
    Kind::from_u8(event.kind).unwrap_or(Kind::Branch)
}

/// Names for addresses in a run's modules, and for the numbers of its tokens.
pub struct TargetSymbols<'a> {
    pub layout: &'a Layout,
    pub trace: &'a Trace,
}

impl Symbols for TargetSymbols<'_> {
    fn symbol(&self, address: u64) -> Option<(String, u64)> {
        self.trace.modules.iter().find_map(|m| {
            let image = self.layout.module(m, Half::Symbolic)?;
            let (name, inside) = image.symbol(address.checked_sub(m.bias)?)?;
            Some((name.to_string(), inside))
        })
    }

    fn token(&self, token: u32, number: i32) -> Option<String> {
        self.trace.token_name(self.layout, token as usize, number).map(String::from)
    }
}
