// Reads a trace as the runtime writes it, and evaluates its expressions. This second
// reader of the layout in `pleach-abi` is independent of the first on purpose.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t u64;
typedef uint32_t u32;
typedef unsigned char byte;

struct header {
    u32 magic, version;
    u64 total, fast, events_off, events_cap, nodes_off, nodes_cap, snaps_off, snaps_cap;
    u64 tokens_off, tokens_cap, cover_off, cover_cap, live_off, live_cap;
    u64 batch_off, batch_cap, lines_off, lines_cap;
    u64 dev, ino, input_len;
    u32 flags, between, holes_len, batch_len;
    u64 live[6], growth[4];
    u32 nodes, events, tokens;
    u64 snaps;
    u32 cut, losses[16];
};
struct node { byte op, width; uint16_t flags; u32 a, b, c; u64 imm, val; };
struct event { u32 site, label; byte kind, dir; uint16_t stream; u32 aux; };
struct snapshot { u64 base; u32 len, reserved; };
struct tls { u64 arg_stamp, ret_stamp; u32 in_rt, arg_count, args[64], rets[16]; };

extern _Thread_local struct tls __pleach_tls;
static struct header *const header = (void *)0x90000000000;

enum { INPUTS = 64, NODES = 1 << 14 };

static struct node *nodes(void) { return (void *)((char *)header + header->nodes_off); }
static struct event *events(void) { return (void *)((char *)header + header->events_off); }

static u64 ones(int width) { return width >= 64 ? ~0ull : (1ull << width) - 1; }
static int64_t sign(u64 v, int width) { return (int64_t)(v << (64 - width)) >> (64 - width); }

// The input that expressions are evaluated on. Call `forget` after a change.
static byte subject[INPUTS];
static u64 value_of[NODES];
static byte has_value[NODES];
static void forget(void) { memset(has_value, 0, sizeof has_value); }

static u64 eval(u32 label);

static u64 lookup(struct node *n) {
    struct snapshot *s = (void *)((char *)header + header->snaps_off + n->b);
    u64 at = eval(n->a) - n->imm, out = 0;
    if (at + n->width / 8 <= s->len)
        memcpy(&out, (char *)(s + 1) + at, n->width / 8);
    return out;
}

// A decimal number: digits, and a power of ten.
static u64 decimal(u64 digits, int power, int width) {
    char text[64];
    snprintf(text, sizeof text, "%llue%d", (unsigned long long)digits, power);
    u64 bits = 0;
    if (width == 32) {
        float number = strtof(text, 0);
        memcpy(&bits, &number, sizeof number);
    } else {
        double number = strtod(text, 0);
        memcpy(&bits, &number, sizeof number);
    }
    return bits;
}

static u64 compute(struct node *n) {
    u64 a = n->imm, b = n->imm, r = 0;
    int width = n->width;
    switch (n->op) {
    case 1: return subject[n->a];
    case 4: return n->imm;
    case 5:
        for (int i = 0; i < width / 8; i++)
            r |= (u64)subject[n->a - 1 + i] << (8 * i);
        return r;
    case 50: case 52: return eval(n->a);
    case 51: return sign(eval(n->a), nodes()[n->a].width);
    case 53: return eval(n->a) >> n->b;
    case 60: return eval(n->a) & 1 ? eval(n->b) : eval(n->c);
    case 62: a = eval(n->a); return a ? __builtin_ctzll(a) : width;
    case 64: return __builtin_bswap64(eval(n->a)) >> (64 - width);
    case 70: return lookup(n);
    }
    if (n->a)
        a = eval(n->a);
    if (n->b)
        b = eval(n->b);
    if (n->op == 155) // the operand that has no label is in `imm`
        return decimal(n->a ? a : n->imm, n->b ? (int)b : (int)n->imm, width);
    if (n->op >= 30 && n->op < 40)
        width = nodes()[n->a ? n->a : n->b].width;
    if (n->op != 54)
        a &= ones(width), b &= ones(width);
    switch (n->op) {
    case 10: return a + b;
    case 11: return a - b;
    case 12: return a * b;
    case 14: return b ? sign(a, width) / sign(b, width) : 0;
    case 15: return b ? a % b : 0;
    case 16: return b ? sign(a, width) % sign(b, width) : 0;
    case 18: return b < (u64)width ? a >> b : 0;
    case 20: return a & b;
    case 21: return a | b;
    case 22: return a ^ b;
    case 30: return a == b;
    case 31: return a != b;
    case 32: return a < b;
    case 33: return a <= b;
    case 34: return sign(a, width) < sign(b, width);
    case 35: return sign(a, width) <= sign(b, width);
    case 54: return b << n->c | (a & ones(n->c));
    }
    printf("operation %d is not supported by this evaluator\n", n->op);
    exit(2);
}

static u64 eval(u32 label) {
    if (!has_value[label]) {
        struct node *n = &nodes()[label];
        value_of[label] = compute(n) & ones(n->width);
        has_value[label] = 1;
    }
    return value_of[label];
}

static u32 push(struct node n) {
    nodes()[header->nodes] = n;
    return header->nodes++;
}

// Labels of memory.
static u32 *shadow(const void *p) { return (u32 *)((((u64)p & ((1ull << 44) - 1)) << 2) + (1ull << 44)); }

static void set_label(const void *p, u32 memory_label) {
    *shadow(p) = memory_label;
    if (memory_label)
        for (int back = 0; back < 16; back += 15)
            *(byte *)((((u64)p - back) >> 8) + 0x10000000) = 1;
}

// The value of a byte of memory for the input `subject`.
static byte eval_memory(const byte *p, byte concrete) {
    u32 l = *shadow(p);
    return l ? eval(l >> 4) >> (8 * (l & 15)) : concrete;
}
