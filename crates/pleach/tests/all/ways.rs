//! Input that leaves memory and comes back in the same run: through files, pipes, sockets, shared
//! memory and threads. `generational` alone reaches each goal of the programs in `tests/ways`.
//! Where labels are lost on the way, the search says so.

use crate::common::Program;
use crate::goals::check_folder;

#[test]
fn all_goals_are_reached() {
    check_folder("ways", 11, &["-O1", "-pthread"]);
}

#[test]
fn all_goals_of_programs_that_are_not_optimised_are_reached() {
    check_folder("ways", 11, &["-O0", "-pthread"]);
}

/// Each way takes one byte away and brings it back.
const WAYS: &str = r#"
    #define _GNU_SOURCE
    #include <fcntl.h>
    #include <pthread.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/eventfd.h>
    #include <sys/mman.h>
    #include <sys/sendfile.h>
    #include <sys/socket.h>
    #include <sys/wait.h>
    #include <unistd.h>
    static int decide(int c) { return c == 'Q' ? 3 : 0; }
    static int is(const char *a, const char *b) { return !strcmp(a, b); }
    static char place;
    static ssize_t give(void *none, char *to, size_t n) { to[0] = place; return 1; }
    static ssize_t take(void *none, const char *from, size_t n) { place = from[0]; return n; }
    static void *identity(void *p) { return p; }
    int main(int count, char **args) {
        const char *how = args[1];
        char c = 0, back = 0;
        int ends[2], fd, other;
        FILE *file;
        if (read(0, &c, 1) != 1) return 1;
        fd = open("note", O_RDWR | O_CREAT | O_TRUNC, 0600);
        other = open("other", O_RDWR | O_CREAT | O_TRUNC, 0600);
        if (is(how, "pipe")) {
            if (pipe(ends) || write(ends[1], &c, 1) != 1 || read(ends[0], &back, 1) != 1) return 1;
        } else if (is(how, "file")) {
            file = fopen("note", "w");
            fprintf(file, "%c", c);
            fclose(file);
            file = fopen("note", "r");
            back = getc(file);
        } else if (is(how, "socket")) {
            if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) || send(ends[0], &c, 1, 0) != 1
                || recv(ends[1], &back, 1, 0) != 1) return 1;
        } else if (is(how, "memory")) {
            if (ftruncate(fd, 4096)) return 1;
            char *a = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
            char *b = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
            *a = c;
            back = *b;
        } else if (is(how, "thread")) {
            pthread_t thread;
            void *result;
            pthread_create(&thread, 0, identity, (void *)(long)c);
            pthread_join(thread, &result);
            back = (long)result;
        } else if (is(how, "number")) {
            file = fopen("note", "w");
            fprintf(file, "%g", (double)c);
            fclose(file);
            file = fopen("note", "r");
            int n;
            if (fscanf(file, "%d", &n) == 1) back = n;
        } else if (is(how, "child")) {
            if (pipe(ends) || fork() == 0) { write(ends[1], &c, 1); _exit(0); }
            if (read(ends[0], &back, 1) != 1) return 1;
            wait(0);
        } else if (is(how, "sendfile")) {
            if (write(fd, &c, 1) != 1 || lseek(fd, 0, SEEK_SET)) return 1;
            if (sendfile(other, fd, 0, 1) != 1 || pread(other, &back, 1, 0) != 1) return 1;
        } else if (is(how, "splice")) {
            if (write(fd, &c, 1) != 1 || lseek(fd, 0, SEEK_SET) || pipe(ends)) return 1;
            if (splice(fd, 0, ends[1], 0, 1, 0) != 1 || read(ends[0], &back, 1) != 1) return 1;
        } else if (is(how, "far")) {
            off_t far = (off_t)1 << 29;
            if (pwrite(fd, &c, 1, far) != 1 || pread(fd, &back, 1, far) != 1) return 1;
        } else if (is(how, "large")) {
            size_t size = (size_t)80 << 20;
            if (ftruncate(fd, size)) return 1;
            char *a = mmap(0, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
            char *b = mmap(0, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
            if (a == MAP_FAILED || b == MAP_FAILED) return 1;
            *a = c;
            back = *b;
        } else if (is(how, "event")) {
            int event = eventfd(0, 0);
            unsigned long n = (unsigned char)c + 1;
            if (write(event, &n, 8) != 8 || read(event, &n, 8) != 8) return 1;
            back = n - 1;
        } else if (is(how, "mapped-before")) {
            char *a = mmap(0, 4096, PROT_READ, MAP_SHARED, open("note", O_RDONLY), 0);
            if (pwrite(fd, &c, 1, 0) != 1) return 1;
            back = *a;
        } else if (is(how, "cookie")) {
            place = c;
            file = fopencookie(0, "r", (cookie_io_functions_t){ .read = give });
            back = getc(file);
        } else if (is(how, "taking-cookie")) {
            file = fopencookie(0, "w", (cookie_io_functions_t){ .write = take });
            putc(c, file);
            fclose(file);
            back = place;
        } else if (is(how, "printed")) {
            printf("%c%d", c, c);
            back = c;
        }
        return decide(back);
    }
"#;

#[test]
fn a_search_that_follows_a_way_is_exhaustive() {
    let program = Program::with(WAYS, &["-pthread"]);
    for how in ["pipe", "file", "socket", "memory", "thread", "event", "cookie", "printed"] {
        let flags = ["-s", "dfs", "--len", "1", "-n", "100"];
        let ended = program.campaign_with_args(how, &flags, &[how]);
        assert_eq!(ended.stop(), "exhausted", "{how}: {}", ended.stats);
        // With a byte and without, and both sides of the comparison.
        assert_eq!(ended.count("traces"), 3, "{how}: {}", ended.stats);
    }
}

#[test]
fn a_way_that_loses_labels_is_counted() {
    let program = Program::with(WAYS, &["-pthread"]);
    for how in
        ["number", "child", "sendfile", "splice", "far", "large", "mapped-before", "taking-cookie"]
    {
        let flags = ["-s", "dfs", "--len", "1", "-n", "100"];
        let ended = program.campaign_with_args(how, &flags, &[how]);
        assert_eq!(ended.stop(), "exhausted-partial", "{how}: {}", ended.stats);
        assert!(ended.partial().contains(&"lost: pipe-or-file"), "{how}: {}", ended.stats);
    }
}
