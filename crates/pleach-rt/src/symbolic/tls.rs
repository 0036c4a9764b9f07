//! The thread-local block through which labels of arguments and results pass.
//!
//! Stable Rust has no `#[thread_local]`, so the block is defined in assembly;
//! the archive is linked into executables only, so its offset from the thread
//! pointer is a constant.

use core::arch::{asm, global_asm};
use pleach_abi::layout::{ARG_SLOTS, TLS_SIZE, Tls};

global_asm!(
    ".pushsection .tbss.__pleach_tls,\"awT\",@nobits",
    ".globl __pleach_tls",
    ".type __pleach_tls,@object",
    ".size __pleach_tls, {size}",
    ".balign 16",
    "__pleach_tls: .zero {size}",
    ".popsection",
    size = const TLS_SIZE,
);

/// This thread's block.
#[inline(always)]
pub fn tls() -> &'static mut Tls {
    let at: *mut Tls;
    // Safety: every thread has the block from its start to its end.
    unsafe {
        asm!("mov {0}, qword ptr fs:[0]", "lea {0}, [{0} + __pleach_tls@tpoff]",
             out(reg) at, options(nostack, pure, readonly, preserves_flags));
        &mut *at
    }
}

/// The labels of the first `N` arguments of `function`; zeros if the stamp names another
/// function.
#[inline]
pub fn take_arguments<const N: usize>(function: usize) -> [u32; N] {
    let t = tls();
    let mut out = [0; N];
    if t.arg_stamp != 0 {
        if t.arg_stamp == function as u64 {
            out.copy_from_slice(&t.args[..N]);
        }
        t.arg_stamp = 0;
    }
    out
}

/// Passes labels of arguments to `callee`.
pub fn set_arguments(callee: usize, labels: &[u32]) {
    if labels.iter().all(|&l| l == 0) || labels.len() > ARG_SLOTS {
        return;
    }
    let t = tls();
    t.args[..labels.len()].copy_from_slice(labels);
    t.arg_count = labels.len() as u32;
    t.arg_stamp = callee as u64;
}

/// Leaves the label of the result of `function` for its caller.
#[inline]
pub fn set_result(function: usize, label: u32) {
    if label != 0 {
        let t = tls();
        t.rets[0] = label;
        t.ret_stamp = function as u64;
    }
}

/// The label of the result of `function`, which the runtime has called.
pub fn take_result(function: usize) -> u32 {
    let t = tls();
    let label = if t.ret_stamp == function as u64 && function != 0 { t.rets[0] } else { 0 };
    t.ret_stamp = 0;
    label
}
