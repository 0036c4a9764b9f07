// AFL's shared buffer; without AFL's macros the program reads standard input.
// run
// input: "shm!"
// stdout: "loud\n"
// exit: 0
// path: len >= 4
// path: select: in[3] == '!'
// must: in[3] == '!'
// other: "shm?"
#include <stdio.h>
#include <unistd.h>

#ifndef __AFL_FUZZ_TESTCASE_LEN
static unsigned char storage[64];
static long length;
#define __AFL_FUZZ_INIT() extern int unused_
#define __AFL_FUZZ_TESTCASE_BUF (length = read(0, storage, sizeof storage), storage)
#define __AFL_FUZZ_TESTCASE_LEN length
#endif

__AFL_FUZZ_INIT();

int main(void) {
    unsigned char *in = __AFL_FUZZ_TESTCASE_BUF;
    long n = __AFL_FUZZ_TESTCASE_LEN;
    if (n < 4)
        return puts("short"), 1;
    puts(in[3] == '!' ? "loud" : "quiet");
    return 0;
}
