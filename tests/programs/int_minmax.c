// Minimum, maximum, absolute value and clamping: the optimiser makes intrinsics of these.
// opt: all
// run
// input: "\x05\xfb\x64\x9c"
// stdout: "ten apart\nhigh\n156\nvery low\n"
// exit: 0
// path: length: len > 3
// path: select: ((int8_t)in[1] < 0 ? (uint8_t)(0 - in[1]) : in[1]) + ((int8_t)in[0] < 0 ? (uint8_t)(0 - in[0]) : in[0]) == 10
// path: (int8_t)in[2] > -50
// path: (int8_t)in[2] >= '2'
// path: (int8_t)in[2] > '1'
// path: in[3] >= in[2]
// path: select: (in[3] < in[2] ? in[2] : in[3]) == 156
// path: (int8_t)in[2] >= (int8_t)in[3]
// path: (int8_t)in[1] >= ((int8_t)in[2] < (int8_t)in[3] ? (int8_t)in[2] : (int8_t)in[3])
// path: (int8_t)in[0] >= ((int8_t)in[1] < ((int8_t)in[2] < (int8_t)in[3] ? (int8_t)in[2] : (int8_t)in[3]) ? (int8_t)in[1] : (int8_t)in[2] < (int8_t)in[3] ? (i…
// path: select: ((int8_t)in[0] < ((int8_t)in[1] < ((int8_t)in[2] < (int8_t)in[3] ? (int8_t)in[2] : (int8_t)in[3]) ? (int8_t)in[1] : (int8_t)in[2] < (int8_t)in…
// other: "\x05\xfa\x64\x9c"
// run
// input: "\x00\x00\x00\x00"
// stdout: "not ten\ninside\nother\nnot so low\n"
// exit: 0
// path: length: len > 3
// path: select: ((int8_t)in[1] < 0 ? (uint8_t)(0 - in[1]) : in[1]) + ((int8_t)in[0] < 0 ? (uint8_t)(0 - in[0]) : in[0]) != 10
// path: (int8_t)in[2] > -50
// path: (int8_t)in[2] < '2'
// path: (int8_t)in[2] <= '1'
// path: select: (int8_t)in[2] >= -49
// path: in[3] >= in[2]
// path: select: (in[3] < in[2] ? in[2] : in[3]) != 156
// path: (int8_t)in[2] >= (int8_t)in[3]
// path: (int8_t)in[1] >= ((int8_t)in[2] < (int8_t)in[3] ? (int8_t)in[2] : (int8_t)in[3])
// path: (int8_t)in[0] >= ((int8_t)in[1] < ((int8_t)in[2] < (int8_t)in[3] ? (int8_t)in[2] : (int8_t)in[3]) ? (int8_t)in[1] : (int8_t)in[2] < (int8_t)in[3] ? (i…
// path: select: ((int8_t)in[0] < ((int8_t)in[1] < ((int8_t)in[2] < (int8_t)in[3] ? (int8_t)in[2] : (int8_t)in[3]) ? (int8_t)in[1] : (int8_t)in[2] < (int8_t)in…
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int min(int a, int b) { return a < b ? a : b; }
static int max(int a, int b) { return a > b ? a : b; }
static unsigned umax(unsigned a, unsigned b) { return a > b ? a : b; }

int main(void) {
    signed char in[4];
    if (read(0, in, 4) != 4)
        return 2;
    int sum = abs(in[0]) + abs(in[1]);
    puts(sum == 10 ? "ten apart" : "not ten");
    int clamped = min(max(in[2], -50), 50);
    puts(clamped == 50 ? "high" : clamped == -50 ? "low" : "inside");
    puts(umax((unsigned char)in[2], (unsigned char)in[3]) == 156 ? "156" : "other");
    puts(min(in[0], min(in[1], min(in[2], in[3]))) < -90 ? "very low" : "not so low");
    return 0;
}
