/* The commands: each resolves its path and prints what it would do. */
#include "ftp.h"
#include <stdio.h>
#include <string.h>

static char current[MAX_PATH] = "/";

static int resolved_or_told(const char *name, char *path)
{
    switch (resolve(current, name, path)) {
    case RESOLVED:
        return 1;
    case TOO_LONG:
        puts("553 the name is too long");
        return 0;
    default:
        puts("550 there is no such directory");
        return 0;
    }
}

void change_directory(const char *name)
{
    char path[MAX_PATH];

    if (!resolved_or_told(name, path))
        return;
    if (is_directory(path)) {
        strcpy(current, path);
        puts("250 changed");
    } else {
        puts("550 there is no such directory");
    }
}

void print_directory(void)
{
    printf("257 %s\n", current);
}

void on_path(const char *what, const char *name)
{
    char path[MAX_PATH];

    if (resolved_or_told(name, path))
        printf("250 %s %s\n", what, path);
}
