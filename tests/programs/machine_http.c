// An HTTP request: methods are compared by length and memcmp, numbers are parsed by hand.
// run
// input: "GET /a HTTP/1.1\r\nContent-Length: 12\r\n\r\n"
// stdout: "200, a dozen\n"
// exit: 0
// path: length: len <= 95
// path: len >= 1
// path: model: in[0] != ' '
// path: model: in[1] != ' '
// path: model: in[2] != ' '
// path: model: in[3] == ' '
// path: model: in[0] != '\0'
// path: model: in[1] != '\0'
// path: model: u16le(in) != 2573
// path: model: in[2] != '\0'
// path: model: u16le(in+1) != 2573
// path: model: in[3] != '\0'
// path: model: u16le(in+2) != 2573
// path: model: in[4] != '\0'
// path: model: u16le(in+3) != 2573
// path: model: in[5] != '\0'
// path: model: u16le(in+4) != 2573
// path: model: in[6] != '\0'
// path: model: u16le(in+5) != 2573
// path: model: in[7] != '\0'
// path: model: u16le(in+6) != 2573
// path: model: in[8] != '\0'
// path: model: u16le(in+7) != 2573
// path: model: in[9] != '\0'
// path: …
// same: "GET /b HTTP/1.1\r\nContent-Length: 12\r\n\r\n"
// other: "PUT /a HTTP/1.1\r\nContent-Length: 12\r\n\r\n"
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

int main(void) {
    char in[97] = {0};
    if (read(0, in, 96) < 1)
        return 2;
    char *space = memchr(in, ' ', 96), *line = strstr(in, "\r\n");
    if (!space || !line || space > line)
        return puts("400"), 1;
    size_t n = (size_t)(space - in);
    int known = (n == 3 && memcmp(in, "GET", 3) == 0) || (n == 4 && memcmp(in, "HEAD", 4) == 0);
    if (!known)
        return puts("501"), 1;
    if (line - in < 8 || memcmp(line - 8, "HTTP/1.", 7))
        return puts("505"), 1;
    int length = -1;
    for (char *h = line + 2; *h && strncmp(h, "\r\n", 2);) {
        if (strncasecmp(h, "content-length:", 15) == 0) {
            length = 0;
            for (char *d = h + 15; *d == ' ' || (*d >= '0' && *d <= '9'); d++)
                if (*d != ' ' && length < 100000)
                    length = length * 10 + (*d - '0');
        }
        h = strstr(h, "\r\n");
        if (!h)
            return puts("400 header"), 1;
        h += 2;
    }
    puts(length == 12 ? "200, a dozen" : "200");
    return 0;
}
