/* What every part needs: memory, and how the program ends when it cannot go on. */
#ifndef BASE_H
#define BASE_H

#include <stddef.h>

enum status {
    FINE = 0,
    BAD_SYNTAX = 1,  /* not a script */
    BAD_MEANING = 2, /* a script, but one that can never make sense */
    UNCAUGHT = 3,    /* it threw, and nobody caught it */
    OVER_LIMIT = 4,  /* too deep, too large or too long */
};

/* Says why, and ends the program. Line 0 stands for no line. */
_Noreturn void fail(enum status status, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Zeroed memory that is there until the program ends. All of it together is limited. */
void *allocate(size_t size);

/* Memory of a size that has grown; the old one is copied and left alone. */
void *grow(const void *old, size_t old_size, size_t size);

/* A copy of some bytes, with a zero behind it. */
char *copy_text(const char *text, size_t length);

/* A number for some bytes, for tables. */
unsigned hash_text(const char *text, size_t length);

#endif
