//! The layout of everything that crosses between an instrumented target and
//! the driver: addresses, the shared trace, messages of the fork server, the
//! records that the compiler writes into the executable, the input container.
//!
//! This crate only encodes and decodes, and has no dependencies: the runtime
//! inside the target (`no_std`) and the driver compile the same definitions.
//! Everything that the driver reads from a target is untrusted; this crate does
//! not validate it.
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

/// Changes with every change of a layout in this crate. Target and driver compare it
/// in the first message and in the shared header.
pub const ABI_VERSION: u32 = 9;
