/* A server with a line protocol and log-in states, on a loopback socket: an
 * example of a program that talks to a peer.
 *
 *     HELLO name            greets; allowed once
 *     USER name             names the user; then
 *     PASS password         logs in; after three wrong ones the connection is closed
 *     PUT key value, GET key, DEL key, COUNT      for users
 *     GRANT name, PURGE     for administrators
 *     QUIT
 *
 * The server handles one connection at a time, line by line. `PURGE now` is for
 * administrators only, and it divides by the number of keys: without a key the
 * program crashes. This takes a log-in, a grant, a log-in under the granted name,
 * and no stored key.
 *
 *     make CC=pleach-cc
 *     pleach run -s hybrid --socket -V 60 -o out -- ./server
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PORT = 7411, LINE = 128, KEYS = 16, NAME = 16, TRIES = 3 };

enum state { STRANGER, GREETED, NAMED, USER, ADMIN };

struct session {
    int peer;
    enum state state;
    int tries;
    char name[NAME], granted[NAME];
    struct {
        char key[NAME], value[LINE];
    } stored[KEYS];
    int count;
    long served;
};

static void answer(struct session *s, const char *text) {
    size_t len = strlen(text);
    if (write(s->peer, text, len) != (ssize_t)len) s->tries = TRIES;
}

/* Cuts off the first word; *rest gets the text after it. */
static char *word(char **rest) {
    char *start = *rest + strspn(*rest, " ");
    size_t len = strcspn(start, " ");
    *rest = start + len;
    if (start[len]) {
        start[len] = 0;
        ++*rest;
    }
    return start;
}

static int find(struct session *s, const char *key) {
    for (int i = 0; i < s->count; i++)
        if (strcmp(s->stored[i].key, key) == 0) return i;
    return -1;
}

static void put(struct session *s, const char *key, const char *value) {
    int at = find(s, key);
    if (strlen(key) >= NAME || *key == 0) {
        answer(s, "no such key\n");
        return;
    }
    if (at < 0) {
        if (s->count == KEYS) {
            answer(s, "full\n");
            return;
        }
        at = s->count++;
        strcpy(s->stored[at].key, key);
    }
    strcpy(s->stored[at].value, value);
    answer(s, "stored\n");
}

static void log_in(struct session *s, const char *password) {
    if (strcmp(s->name, "guest") == 0 && strcmp(password, "guest") == 0) {
        s->state = USER;
    } else if (s->granted[0] && strcmp(s->name, s->granted) == 0 && strcmp(password, "root") == 0) {
        s->state = ADMIN;
    } else {
        s->state = GREETED;
        answer(s, ++s->tries < TRIES ? "wrong\n" : "goodbye\n");
        return;
    }
    s->tries = 0;
    answer(s, "welcome\n");
}

static void for_users(struct session *s, const char *command, char *rest) {
    char number[32];
    if (strcmp(command, "PUT") == 0) {
        const char *key = word(&rest);
        put(s, key, rest);
    } else if (strcmp(command, "GET") == 0) {
        int at = find(s, word(&rest));
        answer(s, at < 0 ? "nothing" : s->stored[at].value);
        answer(s, "\n");
    } else if (strcmp(command, "DEL") == 0) {
        int at = find(s, word(&rest));
        if (at >= 0) s->stored[at] = s->stored[--s->count];
        answer(s, at < 0 ? "nothing\n" : "deleted\n");
    } else if (strcmp(command, "COUNT") == 0) {
        snprintf(number, sizeof number, "%d\n", s->count);
        answer(s, number);
    } else if (strcmp(command, "GRANT") == 0) {
        const char *name = word(&rest);
        if (strlen(name) < NAME) strcpy(s->granted, name);
        answer(s, "granted\n");
    } else if (strcmp(command, "PURGE") == 0 && s->state == ADMIN) {
        if (strcmp(word(&rest), "now") != 0) {
            answer(s, "PURGE now\n");
            return;
        }
        /* Planted bug: there may be no key. */
        snprintf(number, sizeof number, "%ld a key\n", s->served / s->count);
        s->count = 0;
        answer(s, number);
    } else {
        answer(s, "what?\n");
    }
}

/* Returns 0 if the connection must be closed. */
static int serve_line(struct session *s, char *line) {
    char *rest = line, *command = word(&rest);
    s->served++;
    if (strcmp(command, "QUIT") == 0) return 0;
    if (strcmp(command, "HELLO") == 0 && s->state == STRANGER) {
        s->state = GREETED;
        answer(s, "hello\n");
    } else if (strcmp(command, "USER") == 0 && s->state != STRANGER) {
        const char *name = word(&rest);
        if (strlen(name) >= NAME) {
            answer(s, "too long\n");
        } else {
            strcpy(s->name, name);
            s->state = NAMED;
            answer(s, "password?\n");
        }
    } else if (strcmp(command, "PASS") == 0 && s->state == NAMED) {
        log_in(s, word(&rest));
    } else if (s->state >= USER) {
        for_users(s, command, rest);
    } else {
        answer(s, "log in first\n");
    }
    return s->tries < TRIES;
}

static void serve(int peer) {
    static struct session session;
    char line[LINE];
    size_t len = 0;
    memset(&session, 0, sizeof session);
    session.peer = peer;
    for (;;) {
        ssize_t n = recv(peer, line + len, sizeof line - 1 - len, 0);
        if (n <= 0) return;
        len += (size_t)n;
        line[len] = 0;
        char *at = line, *end;
        while ((end = strchr(at, '\n'))) {
            *end = 0;
            if (!serve_line(&session, at)) return;
            at = end + 1;
        }
        len -= (size_t)(at - line);
        memmove(line, at, len);
        if (len == sizeof line - 1) len = 0; /* drops a line that is too long */
    }
}

int main(void) {
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = htons(PORT)};
    int one = 1, listener = socket(AF_INET, SOCK_STREAM, 0);
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (listener < 0 || bind(listener, (struct sockaddr *)&here, sizeof here) != 0 ||
        listen(listener, 4) != 0) {
        perror("server");
        return 2;
    }
    for (;;) {
        int peer = accept(listener, NULL, NULL);
        if (peer < 0) return 1;
        serve(peer);
        close(peer);
    }
}
