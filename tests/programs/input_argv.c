// Command-line arguments as input: two streams in a container.
// run
// arg: "--level=7"
// arg: "-v"
// stdout: "high, loud\n"
// exit: 0
// path: in[23] == '-' && in[24] == '-' && in[25] == 'l' && in[26] == 'e' && in[27] == 'v' && in[28] == 'e' && in[29] == 'l' && in[30] == '='
// path: (in[40] != '-' ? in[40] - '-' : in[41] != '-' ? in[41] - '-' : -108) != 0
// path: in[40] == '-'
// path: in[41] == 'v'
// path: select: (int8_t)in[31] - '0' > 5
// must: in[30] == '='
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
    int level = 0, verbose = 0;
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "--level=", 8) == 0)
            level = argv[i][8] - '0';
        else if (argv[i][0] == '-' && argv[i][1] == 'v')
            verbose = 1;
    }
    printf("%s%s\n", level > 5 ? "high" : "low", verbose ? ", loud" : "");
    return 0;
}
