// More functions of KLEE: choose, assume on a comparison, values, and functions without effect here.
// plain: no
// run
// input: "\x02\x00\x00\x00\x00\x00\x00\x00A"
// stdout: "two\nA\n65\n"
// exit: 0
// path: assume: u64le(in) <= 2
// path: u64le(in) == 2
// path: assume: in[8] == 'A'
// path: select: in[8] == 'A'
// must: in[0] == 2
// must: in[8] == 'A'
// run
// input: "\x09\x00\x00\x00\x00\x00\x00\x00A"
// stdout: ""
// exit: 0
// path: assume: u64le(in) > 2
#include <klee/klee.h>
#include <stdio.h>

int main(void) {
    uintptr_t n = klee_choose(3);
    unsigned char c;
    klee_make_symbolic(&c, sizeof c, "c");
    klee_open_merge();
    klee_prefer_cex(&c, c < 'a');
    if (n == 2)
        puts("two");
    else
        puts("not two");
    klee_close_merge();
    klee_assume(c == 'A');
    klee_print_expr("c", c);
    puts(c == 'A' ? "A" : "impossible");
    printf("%d\n", klee_get_value_i32(c));
    if (klee_is_symbolic(c))
        klee_abort();
    klee_silent_exit(0);
}
