// Do a model's decisions and expressions predict what the real function does?
//
// One trial of a function: the model runs on labelled bytes A. It must do what the
// real function does (result, errno, memory), and every node must evaluate to its
// recorded value. Then some bytes change, which gives B, and every decision of the
// trace is evaluated on B.
//
// - If all decisions are the same as on A, the model predicts that B takes the same
//   path. Then the values of its labels on B must be what the real function computes
//   for B.
// - If one is different, the model's trace on B must be the same up to that decision
//   and differ there.
//
// Bytes without a label do not change.
#define _GNU_SOURCE
#include "trace.h"
#include <errno.h>
#include <locale.h>

// The memory that the functions work on. It is always at the same address, so that
// pointers can be compared.
static struct memory {
    byte before[64], in[INPUTS], key[64], out[256];
    u64 word[4];
} M __attribute__((aligned(256)));

enum shape {
    S, SN, SC, SCN, SS, SSN, SNSN, // reads strings or blocks
    DS, DSN, DCN, DSCN, SDN,       // writes to `out`
    PARSE, PARSE_FLOAT, SEPARATE, TOKEN,
    CHAR, CHAR_LOCALE, SIGNED32, SIGNED64, UNSIGNED16, DIVIDE32, DIVIDE64,
    SORT, SORT_LARGE, SORT_ARG, SEARCH, FIND,
    W, WN, WC, WCN, WW, WWN, DW, DWN, DWC, MULTIBYTE, MULTIBYTE_STATE,
    MULTIBYTE_STRING, SUM, ADDRESS, ADDRESS6, ADDRESS_ANY,
};

struct test {
    const char *name;
    void *model, *real;
    enum shape shape;
    int result; // its width in bits; 0: not checked; HEAP: a new object
};
enum { HEAP = -1, PIN = 4 };

// Offsets of two strings in the input.
static int first;
enum { OTHER = 32 };

struct call {
    u64 arg[6];
    int n;
    // An argument may be an extended input byte: its index (-1: none), width and sign.
    int from[6], bits[6], is_signed[6];
};

static u64 locale;

static u64 random_state = 88172645463325252ull;
static u32 below(u32 n) {
    random_state ^= random_state << 13, random_state ^= random_state >> 7, random_state ^= random_state << 17;
    return (u32)(random_state >> 20) % n;
}

// Small alphabets make equal characters likely.
static const struct { const char *text; int n; } alphabets[] = {
    {"ab", 2}, {"abA\0", 4}, {"01 ", 3}, {"0123456789", 10}, {"0x1fF-+ ", 8}, {"aBcDeF \t\n", 9}, {"a,b;c", 5},
    {"\x7f\x80\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z", 12}, {"19-", 3}, {"1.5e+3", 6}, {"infaty(N)", 9}, {"a/b", 3},
    {"12.", 3}, {"0x.7 ", 5}, {"1f:", 3}, {"a::1.", 5},
};
static int alphabet;
static byte letter(void) { return alphabets[alphabet].text[below(alphabets[alphabet].n)]; }

static u32 widened(u32 label, int bits, int is_signed) {
    if (!label)
        return 0;
    u64 v = nodes()[label].val;
    return push((struct node){.op = is_signed ? 51 : 50, .width = bits, .a = label,
                              .val = (is_signed ? (u64)sign(v, 8) : v) & ones(bits)});
}

// A comparison function that passes labels, as in an instrumented program.
static int with_labels;
static int by_byte(const byte *a, const byte *b, void *self) {
    if (with_labels && (*shadow(a) | *shadow(b))) {
        u32 x = widened(*shadow(a) >> 4, 32, 0), y = widened(*shadow(b) >> 4, 32, 0);
        __pleach_tls.rets[0] = push((struct node){.op = 11, .width = 32, .a = x, .b = y,
                                                  .imm = x ? *b : *a, .val = (u32)(*a - *b)});
        __pleach_tls.ret_stamp = (u64)self;
    }
    return *a - *b;
}
static int order(const void *a, const void *b) { return by_byte(a, b, order); }
static int order_arg(const void *a, const void *b, void *arg) { return arg == &M ? by_byte(a, b, order_arg) : 0; }

static void give(struct call *c, u64 v) {
    c->from[c->n] = -1;
    c->arg[c->n++] = v;
}

static void give_byte(struct call *c, int from, int bits, int is_signed) {
    c->from[c->n] = from, c->bits[c->n] = bits, c->is_signed[c->n] = is_signed;
    c->arg[c->n++] = is_signed ? (u64)(signed char)M.in[from] & ones(bits) : M.in[from];
}

// A character to search for: any, one from the input, zero, or a labelled one.
static void give_char(struct call *c) {
    switch (below(8)) {
    case 0: return give(c, 0);
    case 1: case 2: return give_byte(c, 60, 32, 0);
    case 3: case 4: return give(c, M.in[below(8)]);
    default: give(c, letter());
    }
}

static struct call make_call(enum shape shape) {
    struct call c = {0};
    u64 s = (u64)M.in + first, n = below(12), out = (u64)M.out + below(4);
    // The other string: mostly concrete.
    u64 other = below(3) ? (u64)M.key : (u64)M.in + OTHER;
    int swap = below(2);
    static const int bases[] = {0, 8, 10, 10, 16, 16, 2, 36}, sizes[] = {1, 2, 4, 3};
    switch (shape) {
    case S: give(&c, s); break;
    case SN: give(&c, s), give(&c, n); break;
    case SC: give(&c, s), give_char(&c); break;
    case SCN: give(&c, s), give_char(&c), give(&c, n); break;
    case SS: give(&c, swap ? other : s), give(&c, swap ? s : other); break;
    case SSN: give(&c, swap ? other : s), give(&c, swap ? s : other), give(&c, n); break;
    case SNSN: give(&c, s), give(&c, n + 4), give(&c, other), give(&c, below(4)); break;
    case DS: give(&c, out), give(&c, s); break;
    case DSN: give(&c, out), give(&c, s), give(&c, n); break;
    case DCN: give(&c, out), give_char(&c), give(&c, n); break;
    case DSCN: give(&c, out), give(&c, s), give_char(&c), give(&c, n); break;
    case SDN: give(&c, s), give(&c, out), give(&c, n); break;
    case PARSE: give(&c, s), give(&c, (u64)M.word), give(&c, bases[below(8)]); break;
    case PARSE_FLOAT: give(&c, s), give(&c, (u64)M.word); break;
    case SEPARATE: M.word[0] = s, give(&c, (u64)M.word), give(&c, (u64)M.key); break;
    case TOKEN: M.word[0] = s, give(&c, swap ? s : 0), give(&c, (u64)M.key), give(&c, (u64)M.word); break;
    case CHAR: give_byte(&c, 60, 32, 0); break;
    case CHAR_LOCALE: give_byte(&c, 60, 32, 0), give(&c, locale); break;
    case SIGNED32: give_byte(&c, 60, 32, 1); break;
    case SIGNED64: give_byte(&c, 60, 64, 1); break;
    case UNSIGNED16: give_byte(&c, 60, 16, 0); break;
    case DIVIDE32: give_byte(&c, 60, 32, 1), give(&c, 3); break;
    case DIVIDE64: give_byte(&c, 60, 64, 1), give(&c, 3); break;
    case SORT: give(&c, (u64)M.in), give(&c, n), give(&c, sizes[below(4)]), give(&c, (u64)order); break;
    case SORT_LARGE: give(&c, (u64)M.out), give(&c, 6), give(&c, 40), give(&c, (u64)order); break;
    case SORT_ARG:
        give(&c, (u64)M.in), give(&c, below(5)), give(&c, 12), give(&c, (u64)order_arg), give(&c, (u64)&M);
        break;
    case SEARCH: give(&c, (u64)M.in + 60), give(&c, (u64)M.key), give(&c, n), give(&c, 1), give(&c, (u64)order); break;
    case FIND:
        M.word[0] = n;
        give(&c, (u64)M.in + 60), give(&c, (u64)M.in), give(&c, (u64)M.word), give(&c, 1), give(&c, (u64)order);
        break;
    case W: give(&c, (u64)M.in); break;
    case WN: give(&c, (u64)M.in), give(&c, n); break;
    case WC: give(&c, (u64)M.in), give(&c, letter()); break;
    case WCN: give(&c, (u64)M.in), give(&c, letter()), give(&c, n); break;
    case WW: give(&c, (u64)M.in), give(&c, other); break;
    case WWN: give(&c, (u64)M.in), give(&c, other), give(&c, n / 2); break;
    case DW: give(&c, (u64)M.out), give(&c, (u64)M.in); break;
    case DWN: give(&c, (u64)M.out), give(&c, (u64)M.in), give(&c, n); break;
    case DWC: give(&c, (u64)M.out), give_char(&c), give(&c, n); break;
    case MULTIBYTE_STRING: give(&c, (u64)M.out), give(&c, s), give(&c, 1 + below(16)); break;
    case SUM: give(&c, below(2)), give(&c, s), give(&c, n); break;
    case ADDRESS: give(&c, 2), give(&c, s), give(&c, (u64)M.out); break;
    case ADDRESS6: give(&c, 10), give(&c, s), give(&c, (u64)M.out); break;
    case ADDRESS_ANY: give(&c, s), give(&c, (u64)M.out); break;
    case MULTIBYTE: give(&c, (u64)M.out), give(&c, s), give(&c, 1 + below(6)); break;
    case MULTIBYTE_STATE: give(&c, (u64)M.out), give(&c, s), give(&c, 1 + below(6)), give(&c, (u64)M.word); break;
    }
    return c;
}

static int has_two_strings(enum shape s) { return s == SS || s == SSN; }
static int is_wide(enum shape s) { return s >= W && s < MULTIBYTE; }

// True for the last terminators. They have no label and never change, so that no
// function reads past the memory.
static int is_fixed(int i, int wide) { return wide ? (i >= 28 && i < 32) || i >= 56 : i == 31 || i == 62; }

static byte labelled[INPUTS];

// An address as text, at most 24 characters.
static void put_address(char *to, struct test *t) {
    static const int numbers[] = {0, 1, 9, 10, 99, 127, 255, 256}, groups[] = {0, 1, 10, 255, 0xabcd, 0xffff};
    int n[4], g[4];
    for (int i = 0; i < 4; i++)
        n[i] = numbers[below(8)], g[i] = groups[below(6)];
    if (strstr(t->name, "ether"))
        sprintf(to, "%x:%02x:%x:%02x:%x:%x", n[0] & 255, n[1] & 255, n[2] & 255, n[3], g[0] & 255, g[1] & 255);
    else if (t->shape == ADDRESS6)
        switch (below(4)) {
        case 0: sprintf(to, "%x::%x:%x", g[0], g[1], g[2]); break;
        case 1: sprintf(to, "::%x", g[0]); break;
        case 2: sprintf(to, "%x:%x:1:2:3::%x", g[0], g[1], g[2]); break;
        default: sprintf(to, "::%d.%d.%d.%d", n[0], n[1], n[2], n[3]);
        }
    else
        sprintf(to, (const char *[]){"%d.%d.%d.%d", "%d.%d.%d", "0x%x.%d.%d", "%d.%o"}[below(4)], n[0], n[1], n[2], n[3]);
}

static void fill(struct test *t) {
    int wide = is_wide(t->shape);
    memset(&M, 0, sizeof M);
    memset(M.out, wide ? 0 : 0x55, sizeof M.out);
    alphabet = below(sizeof alphabets / sizeof *alphabets);
    first = below(4);
    int all = below(3);
    for (int i = 0; i < INPUTS; i++) {
        int zero = below(12) == 0 || is_fixed(i, wide) || (wide && i % 4);
        M.in[i] = zero ? 0 : letter();
        labelled[i] = !is_fixed(i, wide) && (all || below(3) == 0);
    }
    for (int i = 0, n = below(5); i < n; i++) {
        int at = wide ? 4 * i : i;
        M.key[at] = below(3) ? letter() : M.in[at];
    }
    if (t->shape >= ADDRESS && t->shape <= ADDRESS_ANY && below(4))
        put_address((char *)M.in + first, t);
    // Equal beginnings, so that comparisons get far.
    if (has_two_strings(t->shape) && below(2))
        memcpy(below(2) ? M.key : M.in + OTHER, M.in + first, 1 + below(8));
    if (t->shape == SEARCH)
        memcpy(M.key, " aaabbbcccz", 11);
    if (strstr(t->name, "cat"))
        memcpy(M.out, "xy\0xy\0\0", 8);
}

// Copies parts of the input to `out`, for SORT_LARGE.
static void spread(struct test *t, int labels_too) {
    if (t->shape == SORT_LARGE)
        for (int i = 0; i < 30; i++) {
            byte *to = M.out + 40 * (i / 5) + i % 5;
            *to = M.in[i];
            if (labels_too)
                set_label(to, *shadow(&M.in[i]));
        }
}

static void start_trace(void) {
    header->nodes = INPUTS + 1, header->events = 0, header->cut = 0;
    for (const byte *p = (void *)&M; p < (byte *)(&M + 1); p++)
        set_label(p, 0);
    for (int i = 0; i < INPUTS; i++) {
        nodes()[1 + i] = (struct node){.op = 1, .width = 8, .a = i, .val = M.in[i]};
        set_label(&M.in[i], labelled[i] ? (1 + i) << 4 : 0);
    }
}

static u64 run(void *f, struct call *c) {
    errno = 0;
    return ((u64(*)(u64, u64, u64, u64, u64, u64))f)(c->arg[0], c->arg[1], c->arg[2], c->arg[3], c->arg[4], c->arg[5]);
}

// Resets the hidden state of `mbtowc`, through the model, so that the model knows it.
int reset_state(char *, const char *, size_t) __asm__("__pleach_m_mbtowc");

static u64 run_real(struct test *t, struct call *c) {
    reset_state(0, 0, 0);
    return run(t->real, c);
}

// Runs the model with the labels of its arguments. `*label` is the label of the result.
static u64 run_model(struct test *t, struct call *c, u32 *label) {
    reset_state(0, 0, 0);
    int any = 0;
    for (int i = 0; i < c->n; i++) {
        int from = c->from[i];
        __pleach_tls.args[i] = from >= 0 && labelled[from] ? widened(1 + from, c->bits[i], c->is_signed[i]) : 0;
        any |= __pleach_tls.args[i] != 0;
    }
    __pleach_tls.arg_stamp = any ? (u64)t->model : 0;
    __pleach_tls.ret_stamp = 0;
    with_labels = 1;
    u64 out = run(t->model, c);
    with_labels = 0;
    *label = __pleach_tls.ret_stamp == (u64)t->model ? __pleach_tls.rets[0] : 0;
    return out;
}

static struct call with_bytes(struct call c) {
    for (int i = 0; i < c.n; i++)
        if (c.from[i] >= 0) {
            byte b = M.in[c.from[i]];
            c.arg[i] = c.is_signed[i] ? (u64)(signed char)b & ones(c.bits[i]) : b;
        }
    return c;
}

static byte a[INPUTS], b[INPUTS];
static long same_path, left_path, from_labels, decisions;

static int differ(struct test *t, struct call *c, const char *what, u64 want, u64 got) {
    printf("%s: %s: %#llx, but %#llx\n  arguments", t->name, what, (long long)want, (long long)got);
    for (int i = 0; i < c->n; i++)
        printf(" %#llx", (long long)c->arg[i]);
    printf("; in is at %p, key at %p, out at %p", (void *)M.in, (void *)M.key, (void *)M.out);
    const byte *shown[] = {a, b, M.key};
    for (int k = 0; k < 3; k++) {
        printf("\n  %s", (const char *[]){"A  ", "B  ", "key"}[k]);
        for (int i = 0; i < INPUTS; i++)
            printf("%s%02x", labelled[i] && k < 2 ? " " : "_", shown[k][i]);
    }
    puts("");
    return 1;
}

static void change(struct test *t) {
    memcpy(b, a, INPUTS);
    int one = t->shape >= CHAR && t->shape < SORT;
    for (int n = 1 + below(3); n; n--) {
        int at = one || below(5) == 0 ? 60 : below(3) ? below(12) : below(INPUTS);
        if (!labelled[at])
            continue;
        switch (below(4)) {
        case 0: b[at] = below(256); break;
        case 1: b[at] = b[below(8)]; break;
        case 2: b[at] = M.key[below(4)]; break;
        default: b[at] = letter();
        }
        // Both strings change in the same way.
        int twin = OTHER + at - first;
        if (has_two_strings(t->shape) && at < OTHER && labelled[twin] && below(2))
            b[twin] = b[at];
    }
}

// The part of a result that is checked.
static u64 checked(struct test *t, u64 result) { return t->result > 0 ? result & ones(t->result) : 0; }

// One run of a model on A, and what it predicts for B.
static struct trial {
    struct memory before, after, predicted;
    struct event path[NODES];
    u32 count, leaves; // decisions on A; the first of them that is different on B, or `count`
    u32 label;
    u64 result, expected;
    byte object[INPUTS]; // the predicted contents of a new object
} T;

// Runs the model on A, and compares it with the real function and the oracle.
static int check_on_a(struct test *t, struct call *c) {
    T.result = run_model(t, c, &T.label);
    int error = errno;
    T.after = M;
    if (header->cut || header->nodes > NODES)
        return differ(t, c, "the trace was cut", 0, header->nodes);
    if (__pleach_tls.arg_stamp)
        return differ(t, c, "left an argument stamp", 0, 1);
    M = T.before;
    u64 real = run_real(t, c);
    if (checked(t, T.result) != checked(t, real))
        return differ(t, c, "result on A", T.result, real);
    if (error != errno)
        return differ(t, c, "errno on A", error, errno);
    if (memcmp(&M, &T.after, sizeof M))
        return differ(t, c, "memory on A", 0, 0);
    if (t->result == HEAP)
        free((void *)real);

    memcpy(subject, a, INPUTS);
    forget();
    for (u32 i = INPUTS + 1; i < header->nodes; i++)
        if (nodes()[i].op && eval(i) != nodes()[i].val)
            return differ(t, c, "the oracle", nodes()[i].val, eval(i));
    return 0;
}

// Evaluates the trace of A on B.
static void predict_b(struct test *t) {
    memcpy(subject, b, INPUTS);
    forget();
    T.count = header->events, T.leaves = 0;
    decisions += T.count;
    memcpy(T.path, events(), T.count * sizeof *T.path);
    while (T.leaves < T.count && eval(T.path[T.leaves].label) == T.path[T.leaves].dir)
        T.leaves++;
    T.expected = T.label ? eval(T.label) : T.result;
    T.predicted = T.after;
    for (size_t i = 0; i < sizeof M; i++)
        ((byte *)&T.predicted)[i] = eval_memory((byte *)&M + i, ((byte *)&T.after)[i]);
    for (int i = 0; t->result == HEAP && i < INPUTS / 2; i++)
        T.object[i] = eval_memory((byte *)T.result + i, ((byte *)T.result)[i]);
    if (t->result == HEAP)
        free((void *)T.result);
}

// Compares the real function on B with the prediction.
static int check_real_on_b(struct test *t, struct call *c) {
    u64 got = run_real(t, c);
    if (checked(t, T.expected) != checked(t, got))
        return differ(t, c, "result on B", T.expected, got);
    for (size_t i = 0; i < sizeof M; i++)
        if (((byte *)&T.predicted)[i] != ((byte *)&M)[i])
            return differ(t, c, "memory on B", ((byte *)&T.predicted)[i], ((byte *)&M)[i]);
    if (t->result == HEAP) {
        if (memcmp(T.object, (byte *)got, strlen((char *)got) + 1))
            return differ(t, c, "new object on B", 0, 0);
        free((void *)got);
    }
    return 0;
}

// Checks that the model's trace on B leaves the path of A at the predicted decision.
static int check_model_on_b(struct test *t, struct call *c) {
    u32 unused, leaves = T.leaves;
    u64 again = run_model(t, c, &unused);
    if (t->result == HEAP)
        free((void *)again);
    for (u32 i = 0; i < leaves; i++)
        if (i >= header->events || events()[i].dir != T.path[i].dir || events()[i].kind != T.path[i].kind)
            return differ(t, c, "left the path early", leaves, i);
    // A pin always has the same direction, but may be of another value.
    struct event *there = &events()[leaves];
    if (leaves < T.count && (leaves >= header->events || there->kind != T.path[leaves].kind ||
                             (there->dir == T.path[leaves].dir && there->kind != PIN)))
        return differ(t, c, "did not leave the path", leaves, header->events);
    if (leaves == T.count && header->events != T.count)
        return differ(t, c, "more decisions", T.count, header->events);
    return 0;
}

// Not 0 if a check fails.
static int trial(struct test *t) {
    fill(t);
    start_trace();
    spread(t, 1);
    struct call c = make_call(t->shape);
    T.before = M;
    memcpy(a, M.in, INPUTS), memcpy(b, a, INPUTS);
    if (check_on_a(t, &c))
        return 1;
    change(t);
    predict_b(t);

    M = T.before;
    memcpy(M.in, b, INPUTS);
    spread(t, 0);
    struct memory before_b = M;
    struct call cb = with_bytes(c);
    if (T.leaves == T.count) {
        same_path++;
        from_labels += T.label != 0;
        if (check_real_on_b(t, &cb))
            return 1;
    } else {
        left_path++;
    }
    M = before_b;
    start_trace();
    spread(t, 1);
    return check_model_on_b(t, &cb);
}

#include "functions.h"

int main(int argc, char **argv) {
    if (argc < 3 || header->nodes_off == 0)
        return puts("usage: PLEACH_LABEL=1 predict TRIALS LOCALE [FUNCTION]"), 2;
    if (!setlocale(LC_ALL, argv[2]))
        return puts("no such locale"), 2;
    locale = (u64)newlocale(LC_ALL_MASK, argv[2], 0);
    int bad = 0, tried = 0;
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        struct test *t = &tests[i];
        if (argc > 3 && strcmp(argv[3], t->name))
            continue;
        tried++;
        same_path = left_path = from_labels = decisions = 0;
        int failed = 0;
        for (int n = atoi(argv[1]); n && !failed; n--)
            failed = trial(t);
        printf("%-16s %6ld same %6ld left, %6ld labelled results %7ld decisions%s\n", t->name, same_path, left_path,
               from_labels, decisions, failed ? " FAILED" : "");
        // A function without a trial on the same path was not checked.
        bad += failed || same_path == 0;
    }
    if (!tried)
        return printf("%s is not in functions.h\n", argv[3]), 2;
    return bad != 0;
}
