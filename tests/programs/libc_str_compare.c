// strcmp, strncmp, strcasecmp, strncasecmp, strcoll: each recognises a command.
// run
// input: "HELLO worlds"
// stdout: "greeting\nbeyond the world\n"
// exit: 0
// path: length: len <= 30
// path: len >= 0
// path: check: (len > 0 ? len : 0) <= 31
// path: pin: (len > 0 ? len : 0) == 12
// path: in[0] != 'q' || in[1] != 'u' || in[2] != 'i' || in[3] != 't' || in[4] != '\0'
// path: ((uint8_t)(in[0] - 'A') <= 25 ? in[0] | 32 : in[0]) == 104 && ((uint8_t)(in[1] - 'A') <= 25 ? in[1] | 32 : in[1]) == 101 && ((uint8_t)(in[2] - 'A') <=…
// path: model: in[0] != ' '
// path: model: in[0] != '\0'
// path: model: in[1] != ' '
// path: model: in[1] != '\0'
// path: model: in[2] != ' '
// path: model: in[2] != '\0'
// path: model: in[3] != ' '
// path: model: in[3] != '\0'
// path: model: in[4] != ' '
// path: model: in[4] != '\0'
// path: model: in[5] == ' '
// path: (in[6] != 'w' ? in[6] - 'w' : in[7] != 'o' ? in[7] - 'o' : in[8] != 'r' ? in[8] - 'r' : in[9] != 'l' ? in[9] - 'l' : in[10] != 'd' ? in[10] - 'd' : in…
// same: "hello worldz"
// other: "help! worlds"
// run
// input: "quit"
// stdout: "quit\n"
// exit: 0
// path: length: len <= 30
// path: len >= 0
// path: check: (len > 0 ? len : 0) <= 31
// path: pin: (len > 0 ? len : 0) == 4
// path: in[0] == 'q' && in[1] == 'u' && in[2] == 'i' && in[3] == 't'
// path: model: in[0] != ' '
// path: model: in[0] != '\0'
// path: model: in[1] != ' '
// path: model: in[1] != '\0'
// path: model: in[2] != ' '
// path: model: in[2] != '\0'
// path: model: in[3] != ' '
// path: model: in[3] != '\0'
// must: in[3] == 't'
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

int main(void) {
    char in[32];
    long n = read(0, in, sizeof in - 1);
    in[n < 0 ? 0 : n] = 0;
    if (strcmp(in, "quit") == 0)
        puts("quit");
    else if (strncasecmp(in, "hello", 5) == 0)
        puts("greeting");
    else if (strncmp(in, "help", 4) == 0)
        puts("help");
    else if (strcasecmp(in, "EXIT") == 0)
        puts("exit");
    else
        puts(strcoll(in, "m") < 0 ? "first half" : "second half");
    char *space = strchr(in, ' ');
    if (space && strcmp(space + 1, "world") > 0)
        puts("beyond the world");
    return 0;
}
