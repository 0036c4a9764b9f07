// Typed calls of pleach.h: integers of each width, and bytes, in order.
// plain: no
// run
// input: "\x05\x34\x12\xff\xff\xff\xffend"
// stdout: "five\n1234\nminus one\nend\n"
// exit: 0
// path: select: in[0] == 5
// path: select: u16le(in+1) == 4660
// path: select: (int)u32le(in+3) < 0
// path: select: in[7] == 'e' && in[8] == 'n' && in[9] == 'd'
// must: in[0] == 5
// other: "\x06\x34\x12\xff\xff\xff\xffend"
// run
// input: "\x05\x34"
// stdout: "five\n"
// exit: 0
// path: select: in[0] == 5
#include <pleach.h>
#include <stdio.h>
#include <string.h>

int main(void) {
    uint8_t a = pleach_u8();
    puts(a == 5 ? "five" : "not five");
    uint16_t b = pleach_u16();
    puts(b == 0x1234 ? "1234" : "not 1234");
    int32_t c = pleach_i32();
    puts(c < 0 ? "minus one" : "plus");
    char text[3];
    pleach_bytes(text, 3);
    puts(memcmp(text, "end", 3) == 0 ? "end" : "no end");
    return 0;
}
