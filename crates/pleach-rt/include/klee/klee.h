/* Programs written for KLEE compile unchanged with this header. A symbolic object
 * takes the next bytes of the input, see pleach.h. An assumption that does not hold
 * ends the run with status 0. Calls that control KLEE's own engine (merging,
 * forking, preferred values) are accepted and do nothing. */
#ifndef KLEE_H
#define KLEE_H

#include "../pleach.h"

#ifdef __PLEACH__

#ifdef __cplusplus
extern "C" {
#endif

/* Fills the object with the next bytes of the input. */
void klee_make_symbolic(void *addr, size_t nbytes, const char *name);
/* A number from four bytes. */
int klee_int(const char *name);
/* A number from begin to end - 1, from four bytes; others end the run. */
int klee_range(int begin, int end, const char *name);
/* A number below n, from eight bytes; others end the run. */
uintptr_t klee_choose(uintptr_t n);
void klee_assume(uintptr_t condition);

void klee_silent_exit(int status) __attribute__((noreturn));
void klee_abort(void) __attribute__((noreturn));
void klee_report_error(const char *file, int line, const char *message, const char *suffix)
    __attribute__((noreturn));
void klee_warning(const char *message);
void klee_warning_once(const char *message);

/* The value in this run, no longer symbolic. */
float klee_get_valuef(float expr);
double klee_get_valued(double expr);
long klee_get_valuel(long expr);
long long klee_get_valuell(long long expr);
int32_t klee_get_value_i32(int32_t expr);
int64_t klee_get_value_i64(int64_t expr);

/* Always 0 and always 1: the program sees concrete values only, and every run
 * replays one input. */
unsigned klee_is_symbolic(uintptr_t n);
unsigned klee_is_replay(void);
int klee_get_errno(void);

void klee_define_fixed_object(void *addr, size_t nbytes);
void klee_mark_global(void *object);
void klee_alias_function(const char *fn_name, const char *new_fn_name);
void klee_print_expr(const char *message, ...);
void klee_print_range(const char *name, int arg);
void klee_prefer_cex(void *object, uintptr_t condition);
void klee_posix_prefer_cex(void *object, uintptr_t condition);
void klee_check_memory_access(const void *address, size_t size);
void klee_set_forking(unsigned enable);
void klee_stack_trace(void);
void klee_open_merge(void);
void klee_close_merge(void);

#ifdef __cplusplus
}
#endif

#else /* the plain program */

#include <errno.h>

#define KLEE_CALL_ static __inline__ __attribute__((unused))

KLEE_CALL_ void klee_make_symbolic(void *addr, size_t nbytes, const char *name) {
    (void)name;
    pleach_bytes(addr, nbytes);
}
KLEE_CALL_ int klee_int(const char *name) {
    (void)name;
    return pleach_i32();
}
KLEE_CALL_ int klee_range(int begin, int end, const char *name) {
    int n;
    (void)name;
    if (begin >= end) {
        fputs("klee_range: the range is empty\n", stderr);
        abort();
    }
    if ((long long)begin + 1 == end)
        return begin;
    n = pleach_i32();
    pleach_assume(begin <= n && n < end);
    return n;
}
KLEE_CALL_ uintptr_t klee_choose(uintptr_t n) {
    uintptr_t x = (uintptr_t)pleach_u64();
    pleach_assume(x < n);
    return x;
}
KLEE_CALL_ void klee_assume(uintptr_t condition) {
    pleach_assume(condition != 0);
}
__attribute__((noreturn)) KLEE_CALL_ void klee_silent_exit(int status) {
    exit(status);
}
__attribute__((noreturn)) KLEE_CALL_ void klee_abort(void) {
    abort();
}
__attribute__((noreturn)) KLEE_CALL_ void klee_report_error(const char *file, int line,
                                                            const char *message,
                                                            const char *suffix) {
    (void)suffix;
    fprintf(stderr, "%s:%d: %s\n", file, line, message);
    abort();
}
KLEE_CALL_ void klee_warning(const char *message) {
    fprintf(stderr, "%s\n", message);
}
KLEE_CALL_ void klee_warning_once(const char *message) {
    static const char *printed[64];
    int i;
    for (i = 0; i < 64 && printed[i]; i++)
        if (printed[i] == message)
            return;
    if (i < 64)
        printed[i] = message;
    klee_warning(message);
}
KLEE_CALL_ float klee_get_valuef(float expr) {
    return expr;
}
KLEE_CALL_ double klee_get_valued(double expr) {
    return expr;
}
KLEE_CALL_ long klee_get_valuel(long expr) {
    return expr;
}
KLEE_CALL_ long long klee_get_valuell(long long expr) {
    return expr;
}
KLEE_CALL_ int32_t klee_get_value_i32(int32_t expr) {
    return expr;
}
KLEE_CALL_ int64_t klee_get_value_i64(int64_t expr) {
    return expr;
}
KLEE_CALL_ unsigned klee_is_symbolic(uintptr_t n) {
    (void)n;
    return 0;
}
KLEE_CALL_ unsigned klee_is_replay(void) {
    return 1;
}
KLEE_CALL_ int klee_get_errno(void) {
    return errno;
}
KLEE_CALL_ void klee_print_expr(const char *message, ...) {
    (void)message;
}
KLEE_CALL_ void klee_define_fixed_object(void *addr, size_t nbytes) {
    (void)addr, (void)nbytes;
}
KLEE_CALL_ void klee_mark_global(void *object) {
    (void)object;
}
KLEE_CALL_ void klee_alias_function(const char *fn_name, const char *new_fn_name) {
    (void)fn_name, (void)new_fn_name;
}
KLEE_CALL_ void klee_print_range(const char *name, int arg) {
    (void)name, (void)arg;
}
KLEE_CALL_ void klee_prefer_cex(void *object, uintptr_t condition) {
    (void)object, (void)condition;
}
KLEE_CALL_ void klee_posix_prefer_cex(void *object, uintptr_t condition) {
    (void)object, (void)condition;
}
KLEE_CALL_ void klee_check_memory_access(const void *address, size_t size) {
    (void)address, (void)size;
}
KLEE_CALL_ void klee_set_forking(unsigned enable) {
    (void)enable;
}
KLEE_CALL_ void klee_stack_trace(void) {}
KLEE_CALL_ void klee_open_merge(void) {}
KLEE_CALL_ void klee_close_merge(void) {}

#undef KLEE_CALL_

#endif

#endif
