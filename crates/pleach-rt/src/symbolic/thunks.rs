//! The entry points that instrumented code calls.
//!
//! They have LLVM's `preserve_most` convention, which stable Rust cannot express: all
//! general registers survive, except for r11 and that of the result. So these rare calls
//! cost the code around them no registers. Each thunk saves the registers that Rust may
//! overwrite, and calls a Rust function.
//!
//! Loads and stores of the usual sizes first check the shadow in assembly: an access to a
//! dirty block mostly finds no label.

use super::{calls, events, losses, objects, ops, shadow, tokens};
use core::arch::global_asm;

macro_rules! thunk {
    ($name:literal, $target:path, $($save:literal),* ; $($restore:literal),*) => {
        global_asm!(
            concat!(".pushsection .text.", $name, ",\"ax\",@progbits"),
            concat!(".globl ", $name),
            concat!(".type ", $name, ",@function"),
            concat!($name, ":"),
            $($save,)*
            "push rcx", "push rdx", "push rsi", "push rdi", "push r8", "push r9", "push r10",
            "call {target}",
            "pop r10", "pop r9", "pop r8", "pop rdi", "pop rsi", "pop rdx", "pop rcx",
            $($restore,)*
            "ret",
            concat!(".size ", $name, ", .-", $name),
            ".popsection",
            target = sym $target,
        );
    };
}

/// Entry points that return a label in eax.
macro_rules! with_result {
    ($($name:literal => $target:path;)*) => { $(thunk!($name, $target, ; );)* };
}

/// Entry points without a result: rax survives, too. 8 more bytes keep the stack aligned.
macro_rules! without_result {
    ($($name:literal => $target:path;)*) => {
        $(thunk!($name, $target, "push rax", "sub rsp, 8"; "add rsp, 8", "pop rax");)*
    };
}

with_result! {
    "__pleach_bin" => ops::bin;
    "__pleach_un" => ops::un;
    "__pleach_float" => ops::float;
    "__pleach_ite" => ops::ite;
    "__pleach_gep" => ops::gep;
    "__pleach_general" => ops::general;
    "__pleach_concat" => ops::concat;
    "__pleach_extract" => ops::extract;
    "__pleach_load_in" => objects::load_in;
    "__pleach_after_call" => calls::after_call;
    "__pleach_resize_result" => calls::resize_result;
    "__pleach_lost_result" => losses::lost_result;
    "__pleach_byval_out" => calls::byval_out;
    "__pleach_pointed" => calls::pointed;
    "__pleach_loadn" => load_any;
    "__pleach_token_result" => tokens::result;
}

without_result! {
    "__pleach_branch" => events::branch;
    "__pleach_switch" => events::switch;
    "__pleach_divisor" => events::divisor;
    "__pleach_indirect" => events::indirect;
    "__pleach_loss" => events::count_loss_by_number;
    "__pleach_lost_float" => losses::lost_float;
    "__pleach_proved" => losses::proved;
    "__pleach_store_in" => objects::store_in;
    "__pleach_pin" => objects::pin_range;
    "__pleach_copy_from" => objects::copy_from;
    "__pleach_va_save" => calls::va_save;
    "__pleach_va_start" => calls::va_start;
    "__pleach_byval_in" => calls::byval_in;
    "__pleach_copy" => calls::copy;
    "__pleach_fill" => calls::fill;
    "__pleach_storen" => store_any;
    "__pleach_token_unwound" => tokens::unwound;
}

extern "C" fn load_any(addr: u64, bits: u32) -> u32 {
    shadow::load(addr, bits)
}

extern "C" fn store_any(addr: u64, label: u32, bits: u32) {
    shadow::store(addr, label, bits);
}

/// A load; rdi: address. `$test` computes the `or` of all memory labels of the bytes. Only
/// if it is not 0 does the slow path follow, with the number of bits in esi.
macro_rules! quick_load {
    ($name:literal, $bits:literal, $($test:literal),*) => {
        global_asm!(
            concat!(".pushsection .text.", $name, ",\"ax\",@progbits"),
            concat!(".globl ", $name),
            concat!(".type ", $name, ",@function"),
            concat!($name, ":"),
            "mov r11, rdi", "shl r11, 20", "shr r11, 18", "movabs rax, 1 << 44", "add r11, rax",
            $($test,)*
            "test rax, rax",
            "jnz 2f",
            "ret",
            "2: push rsi",
            concat!("mov esi, ", $bits),
            "call __pleach_loadn",
            "pop rsi",
            "ret",
            concat!(".size ", $name, ", .-", $name),
            ".popsection",
        );
    };
}

/// A store; rdi: address, esi: label; rax survives.
macro_rules! quick_store {
    ($name:literal, $bits:literal, $($test:literal),*) => {
        global_asm!(
            concat!(".pushsection .text.", $name, ",\"ax\",@progbits"),
            concat!(".globl ", $name),
            concat!(".type ", $name, ",@function"),
            concat!($name, ":"),
            "push rax",
            "test esi, esi", "jnz 2f",
            "mov r11, rdi", "shl r11, 20", "shr r11, 18", "movabs rax, 1 << 44", "add r11, rax",
            $($test,)*
            "test rax, rax",
            "jnz 2f",
            "pop rax", "ret",
            "2: push rdx",
            "sub rsp, 8",
            concat!("mov edx, ", $bits),
            "call __pleach_storen",
            "add rsp, 8",
            "pop rdx", "pop rax", "ret",
            concat!(".size ", $name, ", .-", $name),
            ".popsection",
        );
    };
}

quick_load!("__pleach_load1", 8, "mov eax, [r11]");
quick_load!("__pleach_load2", 16, "mov rax, [r11]");
quick_load!("__pleach_load4", 32, "mov rax, [r11]", "or rax, [r11 + 8]");
quick_load!(
    "__pleach_load8",
    64,
    "mov rax, [r11]",
    "or rax, [r11 + 8]",
    "or rax, [r11 + 16]",
    "or rax, [r11 + 24]"
);
quick_store!("__pleach_store1", 8, "mov eax, [r11]");
quick_store!("__pleach_store2", 16, "mov rax, [r11]");
quick_store!("__pleach_store4", 32, "mov rax, [r11]", "or rax, [r11 + 8]");
quick_store!(
    "__pleach_store8",
    64,
    "mov rax, [r11]",
    "or rax, [r11 + 8]",
    "or rax, [r11 + 16]",
    "or rax, [r11 + 24]"
);
