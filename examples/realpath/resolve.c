/* Resolves paths in a file system that is a table of directories and links to them. */
#include "ftp.h"
#include <string.h>

static const char *const directories[] = {
    "/", "/pub", "/pub/docs", "/incoming", "/mirrors-of-other-hosts",
};

static const struct link {
    const char *path, *target;
} links[] = {
    {"/m", "/mirrors-of-other-hosts"},
    {"/pub/new", "/incoming"},
};

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

int is_directory(const char *path)
{
    for (size_t i = 0; i < COUNT(directories); i++)
        if (strcmp(directories[i], path) == 0)
            return 1;
    return 0;
}

static void follow_link(char *resolved)
{
    for (size_t i = 0; i < COUNT(links); i++)
        if (strcmp(links[i].path, resolved) == 0) {
            strcpy(resolved, links[i].target);
            return;
        }
}

static void go_up(char *resolved)
{
    char *slash = strrchr(resolved, '/');
    slash[slash == resolved] = '\0';
}

/* Appends the next part of a name to a path. */
static enum resolution join(char *resolved, const char *part)
{
    int root = resolved[0] == '/' && resolved[1] == '\0';

    /* Planted bug: a slash is added if the path is not the root, but counted if it is.
       At exactly MAX_PATH bytes the terminating zero is written past the buffer. */
    if (strlen(resolved) + strlen(part) + root + 1 > MAX_PATH)
        return TOO_LONG;
    if (!root)
        strcat(resolved, "/");
    strcat(resolved, part);
    return RESOLVED;
}

enum resolution resolve(const char *from, const char *name, char *resolved)
{
    char part[MAX_NAME + 1];

    if (strlen(name) > MAX_NAME)
        return TOO_LONG;
    strcpy(resolved, name[0] == '/' ? "/" : from);
    for (;;) {
        name += strspn(name, "/");
        size_t length = strcspn(name, "/");
        if (length == 0)
            return RESOLVED;
        memcpy(part, name, length);
        part[length] = '\0';
        name += length;
        if (strcmp(part, ".") == 0)
            continue;
        if (strcmp(part, "..") == 0) {
            go_up(resolved);
            continue;
        }
        /* The last part need not exist: the command may create it. */
        if (!is_directory(resolved))
            return NO_DIRECTORY;
        if (join(resolved, part) == TOO_LONG)
            return TOO_LONG;
        follow_link(resolved);
    }
}
