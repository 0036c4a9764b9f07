// Wide characters: iswalpha, towupper and mbtowc in the C locale.
// run
// input: "q7"
// stdout: "letter\nQ\ndigit\n"
// exit: 0
// path: length: len > 1
// path: model: in[0] != '\0'
// path: model: in[0] < 128
// path: model: in[0] < 128
// path: select: ((uint32_t)(in[0] - 'A') <= 25 || (uint32_t)(in[0] - 'a') <= 25 ? 1024 : 0) != 0
// path: model: in[0] < 128
// path: select: ((uint32_t)(in[0] - 'a') <= 25 ? in[0] - ' ' : in[0]) == 81
// path: model: (uint32_t)(int8_t)in[1] < 128
// path: select: ((uint32_t)((int8_t)in[1] - '0') <= 9 ? 1 : 0) != 0
// other: "77"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <wchar.h>
#include <wctype.h>

int main(void) {
    char in[2];
    wchar_t w;
    if (read(0, in, 2) != 2)
        return 2;
    if (mbtowc(&w, in, 1) != 1)
        return 1;
    puts(iswalpha(w) ? "letter" : "no letter");
    puts(towupper(w) == L'Q' ? "Q" : "not Q");
    puts(iswdigit(in[1]) ? "digit" : "no digit");
    return 0;
}
