//! The layout of everything that crosses between an instrumented target and
//! the driver: addresses, the shared trace, messages of the fork server, the
//! records that the compiler leaves in the executable, the input container.
//!
//! There is no logic here beyond encoding and decoding, and there are no
//! dependencies: the runtime inside the target (`no_std`) and the driver
//! compile the same definitions. Whatever the driver reads from a target is
//! untrusted; nothing here validates it.
#![cfg_attr(not(feature = "std"), no_std)]

pub mod container;
pub mod event;
#[cfg(feature = "std")]
pub mod function;
pub mod growth;
pub mod layout;
pub mod message;
pub mod node;
pub mod section;
pub mod shm;
#[cfg(feature = "std")]
pub mod token;

/// Changes whenever a layout in this crate does. Target and driver compare it
/// in the first message and in the shared header.
pub const ABI_VERSION: u32 = 7;
