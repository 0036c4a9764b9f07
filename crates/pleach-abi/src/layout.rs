//! The address space of the symbolic half.
//!
//! Two levels say whether a byte is labelled. The *dirty map* has one byte for
//! every 256 bytes of memory; it is zero until a label is stored in that block.
//! Inlined code reads the dirty map only. The runtime reads the *shadow*, one
//! 32-bit memory label for each byte, only where the dirty byte is not zero. So
//! concrete code touches one dirty byte where a one-level shadow would touch a
//! kilobyte.
//!
//! The symbolic half is always position independent, so that nothing of the
//! program lies below 2^44: executables are at 0x55…, libraries, mappings and
//! stacks at 0x7f….

/// Memory labels: `shadow(a) = ((a & ADDR_MASK) << 2) + SHADOW_BASE`.
pub const SHADOW_BASE: u64 = 1 << 44;
pub const SHADOW_SIZE: u64 = 1 << 46;
pub const ADDR_MASK: u64 = (1 << 44) - 1;

/// Every address of a process is below this.
pub const ADDR_LIMIT: u64 = 1 << 47;

/// Dirty map: `dirty(a) = (a >> DIRTY_SHIFT) + DIRTY_BASE`. A label in the
/// first `DIRTY_SPILL` bytes of a block also marks the block before it. So an
/// access of up to 16 bytes checks only the block of its first byte.
pub const DIRTY_BASE: u64 = 0x1000_0000;
pub const DIRTY_SHIFT: u32 = 8;
pub const DIRTY_SIZE: u64 = ADDR_LIMIT >> DIRTY_SHIFT;
pub const DIRTY_SPILL: u64 = 15;

/// Heap map: `size + 1` of the object that starts in a 16-byte granule, as u32
/// at `HEAP_BASE + ((a & ADDR_MASK) >> 4 << 2)`.
pub const HEAP_BASE: u64 = 1 << 42;
pub const HEAP_SIZE: u64 = 1 << 42;

/// The shared memory is mapped here in the symbolic half.
pub const SHM_BASE: u64 = 0x900_0000_0000;
/// The largest size of the mapping at `SHM_BASE`.
pub const SHM_MAX: u64 = 0x100_0000_0000;

pub const fn shadow_of(addr: u64) -> u64 {
    ((addr & ADDR_MASK) << 2) + SHADOW_BASE
}

pub const fn dirty_of(addr: u64) -> u64 {
    (addr >> DIRTY_SHIFT) + DIRTY_BASE
}

pub const fn heap_of(addr: u64) -> u64 {
    HEAP_BASE + (((addr & ADDR_MASK) >> 4) << 2)
}

/// A *label* is the index of a node; 0 is concrete. A *memory label* names one
/// byte of a node's value: `label << 4 | byte`.
pub const fn memory_label(label: u32, byte: u32) -> u32 {
    (label << 4) | byte
}

/// Labels are below this, so that a memory label fits 32 bits.
pub const LABEL_MAX: u32 = 1 << 28;

/// The thread-local block `__pleach_tls`, which instrumented code and runtime share.
/// If some argument has a label, the caller stores the labels and then the callee's
/// address (the stamp). The callee takes and clears them on entry; a stamp with
/// another address means that all arguments are concrete. Results go back the same way.
#[repr(C)]
pub struct Tls {
    /// Address of the function that `args` are for; 0: none.
    pub arg_stamp: u64,
    /// Address of the function that stored `rets`; 0: none.
    pub ret_stamp: u64,
    /// Not 0: the run records losses, see [`crate::shm::RUN_LOSSES`].
    pub losses: u32,
    /// Number of labels stored in `args`.
    pub arg_count: u32,
    pub args: [u32; ARG_SLOTS],
    pub rets: [u32; RET_SLOTS],
    /// Address of the [`VaShape`] of the call, for `va_start` in the callee.
    pub va: u64,
    /// Address of the site record of the call, for libc models.
    pub site: u64,
    /// Stack address of the return address of the outermost token function that this
    /// thread is in. 0 outside of token functions, and in runs without tokens.
    pub token_frame: u64,
    /// The value that the next store at a labelled address writes.
    pub written: u64,
    /// Addresses of labelled structures passed by value, in parameter order.
    pub byval: [u64; BYVAL_SLOTS],
}

/// Where the variadic arguments of a call lie, by the x86-64 convention. `n` places
/// follow, for the slots of `Tls::args` from `first` on.
#[repr(C)]
pub struct VaShape {
    pub first: u32,
    pub n: u32,
    /// Offset and size in bytes. An offset below 176 is in the register save area;
    /// any other is 192 + the offset in the overflow area. With [`VA_BYVAL`] in the
    /// size, the argument is a structure, and its slot holds 1 + its number among the
    /// structures passed by value.
    pub places: [[u16; 2]; 0],
}

pub const VA_BYVAL: u64 = 0x8000;

pub const BYVAL_SLOTS: usize = 8;
pub const ARG_SLOTS: usize = 64;
pub const RET_SLOTS: usize = 16;
pub const TLS_ARG_STAMP: u64 = 0;
pub const TLS_RET_STAMP: u64 = 8;
pub const TLS_LOSSES: u64 = 16;
pub const TLS_ARG_COUNT: u64 = 20;
pub const TLS_ARGS: u64 = 24;
pub const TLS_RETS: u64 = TLS_ARGS + 4 * ARG_SLOTS as u64;
pub const TLS_VA: u64 = TLS_RETS + 4 * RET_SLOTS as u64;
pub const TLS_SITE: u64 = TLS_VA + 8;
pub const TLS_TOKEN_FRAME: u64 = TLS_SITE + 8;
pub const TLS_WRITTEN: u64 = TLS_TOKEN_FRAME + 8;
pub const TLS_BYVAL: u64 = TLS_WRITTEN + 8;
pub const TLS_SIZE: u64 = TLS_BYVAL + 8 * BYVAL_SLOTS as u64;

const _: () = assert!(core::mem::size_of::<Tls>() as u64 == TLS_SIZE);
const _: () = assert!(core::mem::offset_of!(Tls, args) as u64 == TLS_ARGS);
const _: () = assert!(core::mem::offset_of!(Tls, rets) as u64 == TLS_RETS);
const _: () = assert!(core::mem::offset_of!(Tls, va) as u64 == TLS_VA);
const _: () = assert!(core::mem::offset_of!(Tls, token_frame) as u64 == TLS_TOKEN_FRAME);
const _: () = assert!(core::mem::offset_of!(Tls, written) as u64 == TLS_WRITTEN);
const _: () = assert!(core::mem::offset_of!(Tls, byval) as u64 == TLS_BYVAL);
