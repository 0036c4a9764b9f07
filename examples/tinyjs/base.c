#include "base.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_MEMORY (32u << 20)

/* All memory is linked from here, so no leak checker reports it. */
static struct piece {
    struct piece *next;
    size_t size;
} *pieces;
static size_t used;

void fail(enum status status, int line, const char *format, ...)
{
    va_list args;

    fflush(stdout);
    fputs("tinyjs: ", stderr);
    if (line > 0)
        fprintf(stderr, "line %d: ", line);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    exit(status);
}

void *allocate(size_t size)
{
    if (size > MAX_MEMORY - used)
        fail(OVER_LIMIT, 0, "out of memory");
    struct piece *piece = calloc(1, sizeof *piece + size);
    if (piece == NULL)
        fail(OVER_LIMIT, 0, "out of memory");
    used += size;
    piece->size = size;
    piece->next = pieces;
    pieces = piece;
    return piece + 1;
}

void *grow(const void *old, size_t old_size, size_t size)
{
    void *new = allocate(size);
    if (old_size > 0)
        memcpy(new, old, old_size);
    return new;
}

char *copy_text(const char *text, size_t length)
{
    return grow(text, length, length + 1);
}

unsigned hash_text(const char *text, size_t length)
{
    unsigned hash = 2166136261u;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    return hash ^ hash >> 16;
}
