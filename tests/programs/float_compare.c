// Comparisons of doubles made from the input are conditions on these bytes.
// opt: all
// run
// input: "\x07\x02"
// stdout: "above\nseven\nnumber\ntwo\n"
// exit: 0
// path: length: len > 1
// path: select: 3.25 < (double)in[0] * 0.5
// path: select: (double)in[0] * 0.5 * (double)in[1] == 7.0
// path: select: in[1] == 2
#include <stdio.h>
#include <unistd.h>

int main(void) {
    unsigned char in[2];
    if (read(0, in, 2) != 2)
        return 2;
    double x = in[0] / 2.0, y = in[1];
    puts(x > 3.25 ? "above" : "below");
    puts(x * y == 7.0 ? "seven" : "not seven");
    puts(x != x ? "nan" : "number");
    puts(in[1] == 2 ? "two" : "not two");
    return 0;
}
