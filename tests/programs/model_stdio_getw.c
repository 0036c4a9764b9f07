// getw: four bytes as one number, or the end.
// flags: -O2 -D_DEFAULT_SOURCE
// run
// input: "\x01\x02\x03\x04\x05"
// stdout: "67305985 then the end\n"
// exit: 0
// path: length: len > 3
// path: u32le(in) == 0x4030201
// path: length: len <= 7
// path: model: len != 8
// must: in[3] == 4
// other: "\x01\x02\x03\x05\x05"
// other: "\x01\x02\x03\x04\x05\x06\x07\x08"
#include <stdio.h>

int main(void) {
    int n = getw(stdin);
    if (n != 0x04030201)
        return puts("another"), 1;
    puts(getw(stdin) == EOF && feof(stdin) ? "67305985 then the end" : "more");
    return 0;
}
