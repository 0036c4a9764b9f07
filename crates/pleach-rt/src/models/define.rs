//! How a model is written: [`models!`] takes what reads like the C functions
//! themselves and makes the symbols that the compiler looks for.
//!
//! Inside a body every argument is a [`V`], a number with its label; pointers
//! are 64-bit numbers. A body gives back a plain number where its result is
//! concrete, or a `V` whose label goes back to the caller. What the C function
//! does concretely is done by the C function: each file declares the ones that
//! it stands for in a module `real`.

use super::api::{self, V};

macro_rules! models {
    ($(
        $(#[$doc:meta])*
        fn $name:ident($($arg:ident: $ty:ty),*) $(-> $ret:ty)? $body:block
    )*) => {$(
        $(#[$doc])*
        /// # Safety
        /// As the C function of that name.
        #[unsafe(export_name = concat!("__pleach_m_", stringify!($name)))]
        pub unsafe extern "C" fn $name($($arg: $ty),*) $(-> $ret)? {
            const COUNT: usize = <[&str]>::len(&[$(stringify!($arg)),*]);
            let me = $name as *const () as usize;
            let mut labels = $crate::models::api::enter::<COUNT>(me).into_iter();
            $(let $arg = $crate::models::api::V::arg(
                labels.next().unwrap_or(0), <$ty>::BITS, $arg as u64);)*
            let _ = &mut labels;
            // A closure, so that `return` in the body still goes through `leave`.
            #[allow(clippy::redundant_closure_call, unused_unsafe, unused_braces)]
            let out = (|| unsafe { $body })();
            $crate::models::define::leave(me, out)
        }
    )*};
}
pub(crate) use models;

/// Leaves a model with what its body gave.
#[inline(always)]
pub fn leave<T: Returned>(me: usize, out: impl Into<V>) -> T {
    T::cut(api::leave(me, out.into()))
}

/// The types that models return.
pub trait Returned {
    fn cut(bits: u64) -> Self;
}

macro_rules! returned {
    ($($t:ty),*) => {$(
        impl Returned for $t {
            #[inline(always)]
            fn cut(bits: u64) -> $t {
                bits as $t
            }
        }
        impl From<$t> for V {
            #[inline(always)]
            fn from(n: $t) -> V {
                V::new(<$t>::BITS, n as u64)
            }
        }
    )*};
}

returned!(u16, u32, u64, i32, i64);

impl Returned for () {
    #[inline(always)]
    fn cut(_: u64) {}
}

impl From<()> for V {
    #[inline(always)]
    fn from((): ()) -> V {
        V::new(64, 0)
    }
}

/// The address of a function that need not exist (another libc's, or the C++
/// library's in a C program); 0 if it does not.
macro_rules! weak {
    ($name:expr) => {{
        let at: usize;
        // Safety: reads the linker's table entry for the symbol, which is 0
        // where nothing defines it.
        unsafe {
            core::arch::asm!(
                concat!(".weak ", $name),
                concat!("mov {0}, qword ptr [rip + ", $name, "@GOTPCREL]"),
                out(reg) at,
                options(nostack, pure, readonly, preserves_flags)
            );
        }
        at
    }};
}
pub(crate) use weak;

/// A model in assembly, for functions that Rust cannot stand in for (they throw,
/// or return what it has no type for). The first three arguments are kept over
/// a call of `$before` with the model's own address and the first two; then
/// `$rest` follows, with 24 bytes on the stack. The real function is weak.
macro_rules! wrapper {
    ($name:literal, $before:ident, [$($rest:expr),*] $(, $after:ident)?) => {
        core::arch::global_asm!(
            concat!(".pushsection .text.__pleach_m_", $name, ",\"ax\",@progbits"),
            concat!(".weak ", $name),
            concat!(".globl __pleach_m_", $name),
            concat!(".type __pleach_m_", $name, ",@function"),
            concat!("__pleach_m_", $name, ":"),
            ".cfi_startproc",
            "push rdi", "push rsi", "push rdx", ".cfi_def_cfa_offset 32",
            "mov rdx, rsi", "mov rsi, rdi",
            concat!("lea rdi, [rip + __pleach_m_", $name, "]"),
            "call {before}",
            "mov rdx, [rsp]", "mov rsi, [rsp + 8]", "mov rdi, [rsp + 16]",
            $($rest,)*
            ".cfi_endproc",
            concat!(".size __pleach_m_", $name, ", .-__pleach_m_", $name),
            ".popsection",
            before = sym $before,
            $(after = sym $after,)?
        );
    };
}
pub(crate) use wrapper;
