// The program defines strlen and strcmp: these are used, not the models.
// flags: -O1 -fno-builtin
// run
// input: "abc"
// stdout: "3\nbefore, the other way round\n"
// exit: 0
// path: length: len > 2
// path: in[0] != '\0'
// path: in[0] != '\r'
// path: in[1] != '\0'
// path: in[1] != '\r'
// path: in[2] != '\0'
// path: in[2] != '\r'
// path: in[0] != '\0'
// path: in[0] == 'a'
// path: in[1] != '\0'
// path: in[1] == 'b'
// path: in[2] != '\0'
// path: in[2] != 'd'
// path: select: 100 - in[2] > 0
// other: "abd"
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

size_t strlen(const char *s) {
    size_t n = 0;
    while (s[n] && s[n] != '\r')
        n++;
    return n;
}

// Unlike the library's, this one has the reverse order.
int strcmp(const char *a, const char *b) {
    while (*a && *a == *b)
        a++, b++;
    return (unsigned char)*b - (unsigned char)*a;
}

int main(void) {
    char in[4] = {0};
    if (read(0, in, 3) != 3)
        return 2;
    printf("%zu\n", strlen(in));
    puts(strcmp(in, "abd") > 0 ? "before, the other way round" : "not before");
    return 0;
}
