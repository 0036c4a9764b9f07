// pleach_range, pleach_choice, pleach_bool, pleach_left and pleach_length.
// plain: no
// run
// input: "\x07\x00\x00\x00\x05\x00\x00\x00\x03!"
// stdout: "range 2\nchoice 1\ntrue\n1 of 10 left\n"
// exit: 0
// path: u32le(in) % 5 == 2
// path: u32le(in+4) % 4 == 1
// path: in[8] % 2 != 0
// path: (len < 9 ? 9 : len) == 10
// path: (len < 9 ? 9 : len) == 10
// other: "\x06\x00\x00\x00\x05\x00\x00\x00\x03!"
// other: "\x07\x00\x00\x00\x06\x00\x00\x00\x03!"
// other: "\x07\x00\x00\x00\x05\x00\x00\x00\x02!"
// other: "\x07\x00\x00\x00\x05\x00\x00\x00\x03!!"
// same: "\x07\x00\x00\x00\x05\x00\x00\x00\x05!"
#include <pleach.h>
#include <stdio.h>

int main(void) {
    int n = pleach_range(-2, 2);
    if (n != 0)
        return puts("another range"), 1;
    puts("range 2");
    if (pleach_choice(4) == 1)
        puts("choice 1");
    else
        puts("another choice");
    if (pleach_bool())
        puts("true");
    else
        puts("false");
    if (pleach_left() == 1 && pleach_length() == 10)
        puts("1 of 10 left");
    else
        puts("another length");
    return 0;
}
