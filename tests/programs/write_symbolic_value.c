// A labelled value written at a symbolic index and read back at another.
// opt: all
// run
// input: "\x02\x2a\x02"
// stdout: "found\n"
// exit: 0
// path: length: len > 2
// path: select: table_…[in[2] & 7] == 42
// other: "\x02\x2b\x02"
// run
// input: "\x02\x2a\x03"
// stdout: "not found\n"
// exit: 0
// path: length: len > 2
// path: select: table_…[in[2] & 7] != 42
#include <stdio.h>
#include <unistd.h>

int main(void) {
    unsigned char in[3], cell[8] = {0};
    if (read(0, in, 3) != 3)
        return 2;
    cell[in[0] & 7] = in[1];
    puts(cell[in[2] & 7] == 42 ? "found" : "not found");
    return 0;
}
