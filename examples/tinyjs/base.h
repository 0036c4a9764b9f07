/* Used by every part: memory, and ending the program after an error. */
#ifndef BASE_H
#define BASE_H

#include <stddef.h>

enum status {
    FINE = 0,
    BAD_SYNTAX = 1,  /* not a script */
    BAD_MEANING = 2, /* good syntax, but a semantic error */
    UNCAUGHT = 3,    /* an exception was not caught */
    OVER_LIMIT = 4,  /* too deep, too large or too long */
};

/* Prints a message and ends the program. Line 0 means no line. */
_Noreturn void fail(enum status status, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Allocates zeroed memory that is never freed. The total is limited. */
void *allocate(size_t size);

/* Allocates a larger copy; the old memory stays valid. */
void *grow(const void *old, size_t old_size, size_t size);

/* Copies some bytes and appends a zero. */
char *copy_text(const char *text, size_t length);

/* A hash of some bytes, for tables. */
unsigned hash_text(const char *text, size_t length);

#endif
