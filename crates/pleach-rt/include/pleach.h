/* Typed calls for input, for programs and test harnesses that read no file.
 *
 * Each call takes the next bytes of the input file, in order. Numbers are
 * little endian. In a campaign a call past the end of the input gets a fresh
 * value, which becomes part of the input. Otherwise such a call ends the run
 * with status 0.
 *
 * With pleach cc, the driver supplies the input, and the values are symbolic.
 * With any other compiler, the same calls read the file that the environment
 * variable PLEACH_INPUT names, or standard input. So every input that Pleach
 * keeps can be replayed on the plain program.
 *
 * Use either these calls or ordinary reads of standard input in a program, not
 * both: the calls start at the first byte, whatever else the program reads.
 */
#ifndef PLEACH_H
#define PLEACH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __PLEACH__
#define PLEACH_CALL
#else
#define PLEACH_CALL static __inline__ __attribute__((unused))
#endif

/* The next n bytes, into memory. */
PLEACH_CALL void pleach_bytes(void *to, size_t n);

/* The next number of that type. */
PLEACH_CALL uint8_t pleach_u8(void);
PLEACH_CALL uint16_t pleach_u16(void);
PLEACH_CALL uint32_t pleach_u32(void);
PLEACH_CALL uint64_t pleach_u64(void);
PLEACH_CALL int8_t pleach_i8(void);
PLEACH_CALL int16_t pleach_i16(void);
PLEACH_CALL int32_t pleach_i32(void);
PLEACH_CALL int64_t pleach_i64(void);

/* 0 or 1: the lowest bit of one byte. */
PLEACH_CALL int pleach_bool(void);

/* A number from low to high, both included, from four bytes. Every four bytes
 * give such a number. */
PLEACH_CALL int32_t pleach_range(int32_t low, int32_t high);

/* A number below n, from four bytes. */
PLEACH_CALL uint32_t pleach_choice(uint32_t n);

/* Ends the run with status 0 if the condition does not hold. */
PLEACH_CALL void pleach_assume(int condition);

/* The length of the input, and the number of bytes that calls have not taken yet. */
PLEACH_CALL size_t pleach_length(void);
PLEACH_CALL size_t pleach_left(void);

/* Marks the end of start-up: the driver forks a process for each input here, and
 * not at the start of main. Call it before the program reads any input. */
PLEACH_CALL void pleach_ready(void);

/* From here on the program examines the bytes of the next token. In a run that
 * works on tokens nothing is recorded from here to pleach_token, which must follow
 * on every path. */
PLEACH_CALL void pleach_token_begin(void);

/* The function behind pleach_token, below. */
PLEACH_CALL void pleach_token_at(const void *at, size_t bytes, int is_signed);

#undef PLEACH_CALL

#ifndef __PLEACH__ /* the plain program */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pleach_held {
    unsigned char *at;
    size_t len, taken;
    int read;
};

/* One input for all source files that include this header. */
__attribute__((weak)) struct pleach_held pleach_held_input;

static __inline__ struct pleach_held *pleach_input_(void) {
    struct pleach_held *h = &pleach_held_input;
    const char *name = getenv("PLEACH_INPUT");
    size_t room = 0, n;
    FILE *f;
    if (h->read)
        return h;
    h->read = 1;
    f = name ? fopen(name, "rb") : stdin;
    if (!f) {
        perror(name);
        exit(2);
    }
    do {
        if (h->len == room) {
            room = room ? 2 * room : 4096;
            h->at = (unsigned char *)realloc(h->at, room);
            if (!h->at) {
                perror("pleach");
                exit(2);
            }
        }
        n = fread(h->at + h->len, 1, room - h->len, f);
        h->len += n;
    } while (n);
    if (name)
        fclose(f);
    return h;
}

static __inline__ void pleach_bytes(void *to, size_t n) {
    struct pleach_held *h = pleach_input_();
    if (h->len - h->taken < n)
        exit(0);
    memcpy(to, h->at + h->taken, n);
    h->taken += n;
}

#define PLEACH_TYPED_(name, type) \
    static __inline__ type name(void) { \
        type v; \
        pleach_bytes(&v, sizeof v); \
        return v; \
    }
PLEACH_TYPED_(pleach_u8, uint8_t)
PLEACH_TYPED_(pleach_u16, uint16_t)
PLEACH_TYPED_(pleach_u32, uint32_t)
PLEACH_TYPED_(pleach_u64, uint64_t)
PLEACH_TYPED_(pleach_i8, int8_t)
PLEACH_TYPED_(pleach_i16, int16_t)
PLEACH_TYPED_(pleach_i32, int32_t)
PLEACH_TYPED_(pleach_i64, int64_t)
#undef PLEACH_TYPED_

static __inline__ int pleach_bool(void) {
    return pleach_u8() & 1;
}

static __inline__ int32_t pleach_range(int32_t low, int32_t high) {
    uint32_t count = high < low ? 1 : (uint32_t)high - (uint32_t)low + 1;
    uint32_t n = pleach_u32();
    return (int32_t)((uint32_t)low + (count ? n % count : n));
}

static __inline__ uint32_t pleach_choice(uint32_t n) {
    return pleach_u32() % (n ? n : 1);
}

static __inline__ void pleach_assume(int condition) {
    if (!condition)
        exit(0);
}

static __inline__ size_t pleach_length(void) {
    return pleach_input_()->len;
}

static __inline__ size_t pleach_left(void) {
    return pleach_input_()->len - pleach_input_()->taken;
}

static __inline__ void pleach_ready(void) {}

static __inline__ void pleach_token_begin(void) {}

static __inline__ void pleach_token_at(const void *at, size_t bytes, int is_signed) {
    (void)at, (void)bytes, (void)is_signed;
}

#endif

#ifdef __cplusplus
}
#endif

/* pleach_token(&x): the integer x is a token that the program has just taken from
 * its input. In a run that works on tokens it becomes a variable of its own. In any
 * other run, and in the plain program, this does nothing. */
#ifdef __cplusplus
template <class T> static inline void pleach_token(T *x) {
    pleach_token_at(x, sizeof *x, static_cast<T>(-1) < static_cast<T>(0));
}
#else
#define pleach_token(x) pleach_token_at((x), sizeof *(x), (__typeof__(*(x)))-1 < 0)
#endif

#endif
