// An ini file: sections, keys, comments, and one value that matters.
// run
// input: "; c\n[net]\nport = 80\n"
// stdout: "http\n"
// exit: 0
// path: length: len > 0
// path: model: in[0] != '\n'
// path: length: len > 1
// path: model: in[1] != '\n'
// path: length: len > 2
// path: model: in[2] != '\n'
// path: length: len > 3
// path: model: in[3] == '\n'
// path: model: !(in[0] == '\0' || in[0] == '\n')
// path: model: !(in[1] == '\0' || in[1] == '\n')
// path: model: !(in[2] == '\0' || in[2] == '\n')
// path: model: in[3] == '\0' || in[3] == '\n'
// path: (table_…[in[0] + 128] & 8192) == 0
// path: in[0] != '\0'
// path: in[0] == ';'
// path: length: len > 4
// path: model: in[4] != '\n'
// path: length: len > 5
// path: model: in[5] != '\n'
// path: length: len > 6
// path: model: in[6] != '\n'
// path: length: len > 7
// path: model: in[7] != '\n'
// path: length: len > 8
// path: …
// same: "; d\n[net]\nport = 80\n"
// other: "; c\n[not]\nport = 80\n"
// run
// input: "port"
// stdout: "no value\n"
// exit: 1
// path: length: len > 0
// path: model: in[0] != '\n'
// path: length: len > 1
// path: model: in[1] != '\n'
// path: length: len > 2
// path: model: in[2] != '\n'
// path: length: len > 3
// path: model: in[3] != '\n'
// path: length: len <= 4
// path: model: !(in[0] == '\0' || in[0] == '\n')
// path: model: !(in[1] == '\0' || in[1] == '\n')
// path: model: !(in[2] == '\0' || in[2] == '\n')
// path: model: !(in[3] == '\0' || in[3] == '\n')
// path: (table_…[in[0] + 128] & 8192) == 0
// path: in[0] != '\0'
// path: in[0] != ';'
// path: in[0] != '['
// path: model: in[0] != '='
// path: model: in[0] != '\0'
// path: model: in[1] != '='
// path: model: in[1] != '\0'
// path: model: in[2] != '='
// path: model: in[2] != '\0'
// path: model: in[3] != '='
// path: …
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
    char line[40], section[16] = "";
    int port = -1;
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        char *p = line;
        while (isspace((unsigned char)*p))
            p++;
        if (*p == 0 || *p == ';')
            continue;
        if (*p == '[') {
            char *end = strchr(p, ']');
            if (!end || end - p > 15)
                return puts("bad section"), 1;
            memcpy(section, p + 1, end - p - 1);
            section[end - p - 1] = 0;
            continue;
        }
        char *eq = strchr(p, '=');
        if (!eq)
            return puts("no value"), 1;
        if (strcmp(section, "net") == 0 && strncmp(p, "port", 4) == 0)
            port = atoi(eq + 1);
    }
    puts(port == 80 ? "http" : port < 0 ? "no port" : "another port");
    return 0;
}
