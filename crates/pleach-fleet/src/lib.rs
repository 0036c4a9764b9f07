//! A campaign on several machines, over NATS with JetStream.
//!
//! All that members tell each other is one stream on the server: the *log*. Every member reads
//! all of it, in the same order, and draws the same conclusions: who is a member, who owns what,
//! and when the search is exhausted ([`log`]). So nothing is leased, no member is more than
//! another, and a member that dies holds nothing.
//!
//! - [`address`]: where a campaign is, and how to log in there.
//! - [`link`]: the connection, the stream, and the manifest with the build of the campaign.
//! - [`wire`]: messages as bytes, and the checks of what comes in.
//! - [`log`]: what follows from the log.
//! - [`outbox`] and [`spool`]: what no server has stored yet, in memory and on disk.
//! - [`member`]: one member, behind the trait that the campaign knows; [`duty`] is its thread.
//! - `server` (a feature): a `nats-server` for tests and measurements.
//! - [`survey`]: the log read by someone who is no member.
//!
//! No search and no solving is here, and nothing of it runs in the workers: the client of NATS
//! needs an asynchronous runtime, which has one thread of its own.

#![forbid(unsafe_code)]

mod address;
mod duty;
mod error;
mod link;
mod log;
mod member;
mod outbox;
#[cfg(feature = "server")]
pub mod server;
mod spool;
#[cfg(feature = "server")]
mod stranger;
mod survey;
mod wire;

pub use address::Address;
pub use error::JoinError;
pub use link::Connection;
#[cfg(feature = "server")]
pub use stranger::Stranger;
pub use survey::{Found, MemberState, Survey, fetch, survey};
