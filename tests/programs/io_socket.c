// The input over a loopback connection that the program accepts; all forms of recv.
// socket: yes
// plain: no
// run
// input: "PING\nrest"
// stdout: "pong\nand the rest\n"
// exit: 0
// path: length: len > 4
// path: select: in[0] == 'P' && in[1] == 'I' && in[2] == 'N' && in[3] == 'G' && in[4] == '\n'
// path: length: len <= 12
// path: (int64_t)(len - 5) > 0
// path: select: in[5] == 'r'
// must: in[0] == 'P'
// other: "PONG\nrest"
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int main(void) {
    struct sockaddr_in addr = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int s = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (s < 0 || bind(s, (struct sockaddr *)&addr, sizeof addr) || listen(s, 1))
        return 2;
    int c = accept(s, NULL, NULL);
    char in[6] = {0}, rest[8];
    if (c < 0 || recv(c, in, 5, MSG_WAITALL) != 5)
        return 3;
    puts(strcmp(in, "PING\n") == 0 ? "pong" : "what?");
    long n = recvfrom(c, rest, sizeof rest, 0, NULL, NULL);
    puts(n > 0 && rest[0] == 'r' ? "and the rest" : "no rest");
    close(c);
    close(s);
    return 0;
}
