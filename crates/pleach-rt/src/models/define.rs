//! Macros that define models. [`models!`] takes definitions that look like the C functions,
//! and exports the symbols that the compiler looks for.
//!
//! Inside a body every argument is a [`V`], a number with its label; pointers are 64-bit
//! numbers. A body returns a plain number if its result is concrete, or a `V`, whose label
//! goes to the caller. The concrete work is done by the real C function: each file declares
//! those that it needs in a module `real`.

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

/// Returns from a model: passes on the label of the result, and converts its value.
#[inline(always)]
pub fn leave<T: ModelResult>(me: usize, out: impl Into<V>) -> T {
    T::from_bits(api::leave(me, out.into()))
}

/// The types that models return.
pub trait ModelResult {
    fn from_bits(bits: u64) -> Self;
}

macro_rules! model_results {
    ($($t:ty),*) => {$(
        impl ModelResult for $t {
            #[inline(always)]
            fn from_bits(bits: u64) -> $t {
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

model_results!(u16, u32, u64, i32, i64);

impl ModelResult for () {
    #[inline(always)]
    fn from_bits(_: u64) {}
}

impl From<()> for V {
    #[inline(always)]
    fn from((): ()) -> V {
        V::new(64, 0)
    }
}

/// A model in assembly: the symbol `__pleach_m_$name` around the instructions `$body`, with
/// unwind information. `$operands` are those of `global_asm!`.
macro_rules! assembly_model {
    ($name:literal, [$($body:expr),* $(,)?] $(, $($operands:tt)*)?) => {
        core::arch::global_asm!(
            concat!(".pushsection .text.__pleach_m_", $name, ",\"ax\",@progbits"),
            concat!(".globl __pleach_m_", $name),
            concat!(".type __pleach_m_", $name, ",@function"),
            concat!("__pleach_m_", $name, ":"),
            ".cfi_startproc",
            $($body,)*
            ".cfi_endproc",
            concat!(".size __pleach_m_", $name, ", .-__pleach_m_", $name),
            ".popsection",
            $($($operands)*)?
        );
    };
}
pub(crate) use assembly_model;

/// A model that runs `$before` and then `$rest`, for functions that Rust cannot call: they
/// throw, or return a type that Rust lacks. `$before` gets the address of the model and the
/// first two arguments. The first three arguments are saved over that call; `$rest` finds
/// them in their registers again, and 24 bytes on the stack.
macro_rules! wrapper {
    ($name:literal, $before:ident, [$($rest:expr),*] $(, $after:ident)?) => {
        $crate::models::define::assembly_model!($name, [
            "push rdi", "push rsi", "push rdx", ".cfi_def_cfa_offset 32",
            "mov rdx, rsi", "mov rsi, rdi",
            concat!("lea rdi, [rip + __pleach_m_", $name, "]"),
            "call {before}",
            "mov rdx, [rsp]", "mov rsi, [rsp + 8]", "mov rdi, [rsp + 16]",
            $($rest),*
        ], before = sym $before, $(after = sym $after,)?);
    };
}
pub(crate) use wrapper;

/// Drops the labels of the arguments: clears their stamp, the first word of the thread's
/// block.
macro_rules! drop_argument_labels {
    () => {
        "mov qword ptr fs:[__pleach_tls@tpoff], 0"
    };
}
pub(crate) use drop_argument_labels;

const _: () = assert!(pleach_abi::layout::TLS_ARG_STAMP == 0);

/// Continues in the real function, as the last instruction of a model in assembly. The
/// real function is weak: a program may lack it.
macro_rules! jump_to_real {
    ($name:literal) => {
        concat!(".weak ", $name, "\njmp qword ptr [rip + ", $name, "@GOTPCREL]")
    };
}
pub(crate) use jump_to_real;

/// Calls the real function, as [`jump_to_real!`] jumps to it.
macro_rules! call_real {
    ($name:literal) => {
        concat!(".weak ", $name, "\ncall qword ptr [rip + ", $name, "@GOTPCREL]")
    };
}
pub(crate) use call_real;
