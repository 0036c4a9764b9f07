// Open tags are on a stack of pointers into the text and are compared with the closing tags.
// opt: all
// run
// input: "<a><bc>x</bc></a>"
// stdout: "0 open, 1 text\n"
// exit: 0
// path: length: len <= 47
// path: len >= 1
// path: in[0] != '\0'
// path: in[0] == '<'
// path: pin: (in[1] == '/' ? 0x… : 0x…) == 0x…
// path: model: !(in[1] == '\0' || in[1] == '/' || in[1] == '<' || in[1] == '>')
// path: model: in[2] == '\0' || in[2] == '/' || in[2] == '<' || in[2] == '>'
// path: in[2] == '>'
// path: in[1] != '/'
// path: in[3] != '\0'
// path: in[3] == '<'
// path: pin: (in[4] == '/' ? (in[1] == '/' ? 0x… : 0x…) + 4 : (in[1] == '/' ? 0x… : 0x…) + 3) == 0x…
// path: model: !(in[4] == '\0' || in[4] == '/' || in[4] == '<' || in[4] == '>')
// path: model: !(in[5] == '\0' || in[5] == '/' || in[5] == '<' || in[5] == '>')
// path: model: in[6] == '\0' || in[6] == '/' || in[6] == '<' || in[6] == '>'
// path: in[6] == '>'
// path: in[4] != '/'
// path: in[7] != '\0'
// path: in[7] != '<'
// path: in[8] != '\0'
// path: in[8] == '<'
// path: pin: (in[9] == '/' ? (in[4] == '/' ? (in[1] == '/' ? 0x… : 0x…) + 4 : (in[1] == '/' ? 0x… : 0x…) + 3) + 6 : (in[4] == '/' ? (in[1] == '/' ? 0x… : 0x…)…
// path: model: !(in[10] == '\0' || in[10] == '/' || in[10] == '<' || in[10] == '>')
// path: model: !(in[11] == '\0' || in[11] == '/' || in[11] == '<' || in[11] == '>')
// path: …
// same: "<b><cd>y</cd></b>"
// other: "<a><bc>x</bd></a>"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void) {
    char in[49] = {0};
    struct { const char *name; size_t n; } stack[6];
    int depth = 0, text = 0;
    if (read(0, in, 48) < 1)
        return 2;
    for (char *p = in; *p;) {
        if (*p != '<') {
            text++, p++;
            continue;
        }
        int closing = *++p == '/';
        p += closing;
        size_t n = strcspn(p, "<>/");
        if (p[n] != '>' || n == 0)
            return puts("broken tag"), 1;
        if (closing) {
            if (depth == 0 || stack[depth - 1].n != n || memcmp(stack[depth - 1].name, p, n))
                return puts("mismatch"), 1;
            depth--;
        } else {
            if (depth == 6)
                return puts("too deep"), 1;
            stack[depth].name = p;
            stack[depth++].n = n;
        }
        p += n + 1;
    }
    printf("%d open, %d text\n", depth, text);
    return depth;
}
