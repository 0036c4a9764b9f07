//! Stubs for the functions of sanitizers. The front end ran with the user's sanitizers, so
//! the symbolic half still calls their functions; but only the fast half links them. The
//! conditions that UBSan tests are checks in the trace. If the user wants a failed test to
//! end the program, the stub ends it, too.

use crate::sys;
use core::arch::global_asm;

/// UBSan's default exit status.
const STATUS: i32 = 1;

extern "C" fn nothing() {}

extern "C" fn end() -> ! {
    sys::exit_now(STATUS)
}

/// Weak names, so that a program may define its own.
macro_rules! names {
    ($target:path: $($name:literal)*) => {
        global_asm!(
            $(concat!(".weak ", $name, "\n.type ", $name, ",@function\n.set ", $name, ", {target}"),)*
            target = sym $target,
        );
    };
}

names! {
    nothing:
    "__ubsan_handle_add_overflow"
    "__ubsan_handle_sub_overflow"
    "__ubsan_handle_mul_overflow"
    "__ubsan_handle_negate_overflow"
    "__ubsan_handle_divrem_overflow"
    "__ubsan_handle_shift_out_of_bounds"
    "__ubsan_handle_out_of_bounds"
    "__ubsan_handle_local_out_of_bounds"
    "__ubsan_handle_vla_bound_not_positive"
    "__ubsan_handle_float_cast_overflow"
    "__ubsan_handle_load_invalid_value"
    "__ubsan_handle_invalid_builtin"
    "__ubsan_handle_invalid_objc_cast"
    "__ubsan_handle_nonnull_return_v1"
    "__ubsan_handle_nullability_return_v1"
    "__ubsan_handle_nonnull_arg"
    "__ubsan_handle_nullability_arg"
    "__ubsan_handle_pointer_overflow"
    "__ubsan_handle_type_mismatch_v1"
    "__ubsan_handle_alignment_assumption"
    "__ubsan_handle_implicit_conversion"
    "__ubsan_handle_function_type_mismatch"
    "__ubsan_handle_dynamic_type_cache_miss"
    "__ubsan_handle_cfi_check_fail"
    "__asan_init"
    "__asan_version_mismatch_check_v8"
    "__asan_handle_no_return"
    "__asan_poison_memory_region"
    "__asan_unpoison_memory_region"
    "__asan_address_is_poisoned"
    "__asan_region_is_poisoned"
    "__asan_before_dynamic_init"
    "__asan_after_dynamic_init"
    "__asan_describe_address"
    "__asan_poison_cxx_array_cookie"
    "__sanitizer_annotate_contiguous_container"
    "__sanitizer_annotate_double_ended_contiguous_container"
    "__sanitizer_print_stack_trace"
    "__sanitizer_set_death_callback"
    "__sanitizer_set_report_path"
    "__lsan_disable"
    "__lsan_enable"
    "__lsan_ignore_object"
    "__lsan_do_leak_check"
    "__lsan_do_recoverable_leak_check"
    "__lsan_register_root_region"
    "__lsan_unregister_root_region"
}

names! {
    end:
    "__ubsan_handle_builtin_unreachable"
    "__ubsan_handle_missing_return"
    "__ubsan_handle_add_overflow_abort"
    "__ubsan_handle_sub_overflow_abort"
    "__ubsan_handle_mul_overflow_abort"
    "__ubsan_handle_negate_overflow_abort"
    "__ubsan_handle_divrem_overflow_abort"
    "__ubsan_handle_shift_out_of_bounds_abort"
    "__ubsan_handle_out_of_bounds_abort"
    "__ubsan_handle_local_out_of_bounds_abort"
    "__ubsan_handle_vla_bound_not_positive_abort"
    "__ubsan_handle_float_cast_overflow_abort"
    "__ubsan_handle_load_invalid_value_abort"
    "__ubsan_handle_invalid_builtin_abort"
    "__ubsan_handle_invalid_objc_cast_abort"
    "__ubsan_handle_nonnull_return_v1_abort"
    "__ubsan_handle_nullability_return_v1_abort"
    "__ubsan_handle_nonnull_arg_abort"
    "__ubsan_handle_nullability_arg_abort"
    "__ubsan_handle_pointer_overflow_abort"
    "__ubsan_handle_type_mismatch_v1_abort"
    "__ubsan_handle_alignment_assumption_abort"
    "__ubsan_handle_implicit_conversion_abort"
    "__ubsan_handle_function_type_mismatch_abort"
    "__ubsan_handle_dynamic_type_cache_miss_abort"
    "__ubsan_handle_cfi_check_fail_abort"
}

// The cache that `-fsanitize=vptr` reads before it calls `dynamic_type_cache_miss`.
global_asm!(
    ".pushsection .bss.__ubsan_vptr_type_cache,\"aw\",@nobits",
    ".weak __ubsan_vptr_type_cache",
    ".balign 16",
    "__ubsan_vptr_type_cache: .zero 1024",
    ".popsection",
);
