// LLVMFuzzerTestOneInput with Pleach's main, by -fsanitize=fuzzer.
// flags: -O1 -fsanitize=fuzzer
// plain: no
// run
// input: "FUZ?"
// args: @@
// stdout: "close\n"
// exit: 0
// path: len > 3
// path: in[0] == 'F'
// path: in[1] == 'U'
// path: in[2] == 'Z'
// path: select: in[3] != 'Z'
// must: in[2] == 'Z'
// other: "FUX?"
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size >= 4 && data[0] == 'F' && data[1] == 'U')
        if (data[2] == 'Z') {
            puts(data[3] == 'Z' ? "found" : "close");
            fflush(stdout);
        }
    return 0;
}
