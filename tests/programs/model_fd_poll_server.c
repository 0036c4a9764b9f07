// A server with poll: the listening socket is ready while a connection waits, and the run ends after the last one.
// socket: yes
// plain: no
// run
// input: "hi\n"
// stdout: "connection\nhello\nclosed\n"
// exit: 0
// path: length: len > 2
// path: select: u24le(in) == 0xa6968
// path: length: len <= 5
// path: (int64_t)(len - 3) < 1
// must: in[0] == 'h'
// other: "ho\n"
#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int main(void) {
    struct sockaddr_in addr = {.sin_family = AF_INET, .sin_port = htons(80)};
    int s = socket(AF_INET, SOCK_STREAM, 0);
    if (s < 0 || bind(s, (struct sockaddr *)&addr, sizeof addr) || listen(s, 1))
        return 2;
    struct pollfd fds[2] = {{s, POLLIN, 0}, {-1, POLLIN, 0}};
    for (;;) {
        if (poll(fds, 2, -1) < 0)
            return 3;
        if (fds[0].revents & POLLIN && fds[1].fd < 0) {
            fds[1].fd = accept(s, NULL, NULL);
            puts("connection");
        } else if (fds[1].revents) {
            char in[4] = {0};
            if (recv(fds[1].fd, in, 3, 0) <= 0) {
                close(fds[1].fd);
                fds[1].fd = -1;
                puts("closed");
                fflush(stdout);
            } else {
                puts(strcmp(in, "hi\n") == 0 ? "hello" : "what?");
            }
        }
    }
}
