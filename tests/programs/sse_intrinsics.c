// SSE2: finds a byte by compare and movemask, as fast string functions do.
// run
// input: "key=value;rest.."
// stdout: "key of three\nascii\n"
// exit: 0
// path: length: len > 15
// path: ((in[15] == '=') << 15 | ((in[14] == '=') << 14 | ((in[13] == '=') << 13 | ((in[12] == '=') << 12 | ((in[11] == '=') << 11 | ((in[10] == '=') << 10 | …
// path: select: (((in[15] == '=') << 15 | ((in[14] == '=') << 14 | ((in[13] == '=') << 13 | ((in[12] == '=') << 12 | ((in[11] == '=') << 11 | ((in[10] == '=')…
// path: select: (((int8_t)in[15] < 0) << 15 | (((int8_t)in[14] < 0) << 14 | (((int8_t)in[13] < 0) << 13 | (((int8_t)in[12] < 0) << 12 | (((int8_t)in[11] < 0) …
// same: "key=value,rest.."
// other: "keyx=alue;rest.."
#include <emmintrin.h>
#include <stdio.h>
#include <unistd.h>

int main(void) {
    char in[16];
    if (read(0, in, 16) != 16)
        return 2;
    __m128i text = _mm_loadu_si128((const __m128i *)in);
    int mask = _mm_movemask_epi8(_mm_cmpeq_epi8(text, _mm_set1_epi8('=')));
    if (mask == 0)
        return puts("no equals sign"), 1;
    int at = __builtin_ctz(mask);
    printf("%s\n", at == 3 ? "key of three" : "key of another length");
    __m128i high = _mm_and_si128(text, _mm_set1_epi8((char)0x80));
    puts(_mm_movemask_epi8(high) ? "not ascii" : "ascii");
    return 0;
}
