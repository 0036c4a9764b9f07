/* The substitute command of a line editor. It gets its input by calls, as CREST's
 * benchmarks do: a pattern, a substitution and lines of text. Each is a field of fixed
 * size whose string ends at the first zero. Every match of the pattern in a line is
 * replaced by the substitution.
 *
 * The pattern has literals, `.`, `[...]` and `[^...]` with ranges, `*`, `+` and `?` after
 * one of these, `^` at its start, `$` at its end, and backslashes: `\t`, `\n`, `\d`,
 * `\s`, `\w`, or the character itself. In the substitution `&` is the text that matched,
 * `\U`, `\L` and `\E` change the case of what follows, and `\0` to `\9` repeat the
 * match.
 *
 *     pleach-cc -O2 -g -o substitute substitute.c
 *     pleach run -s cfg -V 10 -o out -- ./substitute
 *
 * Pleach creates the values that the program asks for, so their number need not be given.
 */
#include <crest.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATTERN = 24, SUBSTITUTION = 20, LINE = 32, LINES = 2, ITEMS = 32, OUTPUT = 512 };

enum kind { LITERAL, ANY, CLASS, NOT_CLASS, DIGIT, SPACE, WORD, START, END };
enum times { ONCE, STAR, PLUS, MAYBE };

struct item {
    enum kind kind;
    enum times times;
    char literal;
    char set[40];
    int set_len;
};

enum piece_kind { TEXT, MATCH, REPEAT, UPPER, LOWER, PLAIN };

struct piece {
    enum piece_kind kind;
    char c;
};

static struct item items[ITEMS];
static int item_count;
static struct piece pieces[SUBSTITUTION];
static int piece_count;
static char output[OUTPUT];
static int output_len;
static enum piece_kind letter_case;
static int replaced, skipped, cut;

/* Fills a field with input characters; its string ends at the first zero. */
static int get_string(char *field, int size) {
    for (int i = 0; i < size - 1; i++) CREST_char(field[i]);
    field[size - 1] = 0;
    return (int)strlen(field);
}

static int is_digit(char c) { return c >= '0' && c <= '9'; }
static int is_lower(char c) { return c >= 'a' && c <= 'z'; }
static int is_upper(char c) { return c >= 'A' && c <= 'Z'; }
static int is_space(char c) { return c == ' ' || c == '\t' || c == '\n'; }
static int is_word(char c) { return is_digit(c) || is_lower(c) || is_upper(c) || c == '_'; }

static char escaped(char c) {
    switch (c) {
    case 'n': return '\n';
    case 't': return '\t';
    case 'r': return '\r';
    default: return c;
    }
}

static int add_to_set(struct item *it, char c) {
    if (it->set_len >= (int)sizeof it->set) return 0;
    it->set[it->set_len++] = c;
    return 1;
}

/* Parses a class after its bracket. Returns its end, or -1. */
static int parse_class(const char *p, int at, struct item *it) {
    it->kind = CLASS;
    if (p[at] == '^') {
        it->kind = NOT_CLASS;
        at++;
    }
    if (p[at] == ']') {
        if (!add_to_set(it, ']')) return -1;
        at++;
    }
    while (p[at] != ']') {
        if (p[at] == 0) return -1;
        char from = p[at];
        if (from == '\\') {
            if (p[at + 1] == 0) return -1;
            from = escaped(p[++at]);
        }
        if (p[at + 1] == '-' && p[at + 2] != ']' && p[at + 2] != 0) {
            char to = p[at + 2];
            if (to < from) return -1;
            for (int c = from; c <= to; c++)
                if (!add_to_set(it, (char)c)) return -1;
            at += 3;
        } else {
            if (!add_to_set(it, from)) return -1;
            at++;
        }
    }
    if (it->set_len == 0) return -1;
    return at + 1;
}

static int parse_escape(char c, struct item *it) {
    switch (c) {
    case 0: return 0;
    case 'd': it->kind = DIGIT; return 1;
    case 's': it->kind = SPACE; return 1;
    case 'w': it->kind = WORD; return 1;
    default:
        it->kind = LITERAL;
        it->literal = escaped(c);
        return 1;
    }
}

static int can_repeat(const struct item *it) { return it->kind != START && it->kind != END; }

static int parse_pattern(const char *p) {
    int at = 0;
    item_count = 0;
    while (p[at] != 0) {
        if (item_count >= ITEMS) return -2;
        struct item *it = &items[item_count];
        memset(it, 0, sizeof *it);
        if (p[at] == '^' && at == 0) {
            it->kind = START;
            at++;
        } else if (p[at] == '$' && p[at + 1] == 0) {
            it->kind = END;
            at++;
        } else if (p[at] == '.') {
            it->kind = ANY;
            at++;
        } else if (p[at] == '[') {
            at = parse_class(p, at + 1, it);
            if (at < 0) return -3;
        } else if (p[at] == '\\') {
            if (!parse_escape(p[at + 1], it)) return -4;
            at += 2;
        } else if (p[at] == '*' || p[at] == '+' || p[at] == '?') {
            return -5;
        } else {
            it->kind = LITERAL;
            it->literal = p[at++];
        }
        if (p[at] == '*' && can_repeat(it)) {
            it->times = STAR;
            at++;
        } else if (p[at] == '+' && can_repeat(it)) {
            it->times = PLUS;
            at++;
        } else if (p[at] == '?' && can_repeat(it)) {
            it->times = MAYBE;
            at++;
        }
        item_count++;
    }
    return item_count;
}

static int parse_substitution(const char *s) {
    piece_count = 0;
    for (int at = 0; s[at] != 0; at++) {
        struct piece *piece = &pieces[piece_count++];
        piece->c = s[at];
        piece->kind = TEXT;
        if (s[at] == '&') {
            piece->kind = MATCH;
        } else if (s[at] == '\\') {
            char c = s[++at];
            if (c == 0) return -1;
            if (c == 'U') piece->kind = UPPER;
            else if (c == 'L') piece->kind = LOWER;
            else if (c == 'E') piece->kind = PLAIN;
            else if (is_digit(c)) {
                piece->kind = REPEAT;
                piece->c = (char)(c - '0');
            } else
                piece->c = escaped(c);
        }
    }
    return piece_count;
}

static int in_set(const struct item *it, char c) {
    for (int i = 0; i < it->set_len; i++)
        if (it->set[i] == c) return 1;
    return 0;
}

static int fits(const struct item *it, char c) {
    if (c == 0) return 0;
    switch (it->kind) {
    case LITERAL: return it->literal == c;
    case ANY: return c != '\n';
    case CLASS: return in_set(it, c);
    case NOT_CLASS: return !in_set(it, c);
    case DIGIT: return is_digit(c);
    case SPACE: return is_space(c);
    case WORD: return is_word(c);
    default: return 0;
    }
}

/* Matches the items from `first` on at `at`. Returns the end of the match, or -1. */
static int match_from(const char *line, int at, int first) {
    for (int i = first; i < item_count; i++) {
        const struct item *it = &items[i];
        if (it->kind == START) {
            if (at != 0) return -1;
            continue;
        }
        if (it->kind == END) return line[at] == 0 ? at : -1;
        if (it->times == ONCE) {
            if (!fits(it, line[at])) return -1;
            at++;
            continue;
        }
        int least = it->times == PLUS ? 1 : 0;
        int n = 0;
        while (fits(it, line[at + n]) && !(it->times == MAYBE && n == 1)) n++;
        for (; n >= least; n--) {
            int end = match_from(line, at + n, i + 1);
            if (end >= 0) return end;
        }
        return -1;
    }
    return at;
}

static void put(char c) {
    if (letter_case == UPPER && is_lower(c)) c = (char)(c - 'a' + 'A');
    if (letter_case == LOWER && is_upper(c)) c = (char)(c - 'A' + 'a');
    if (output_len >= OUTPUT - 1) {
        cut = 1;
        return;
    }
    output[output_len++] = c;
}

static void put_match(const char *line, int from, int to) {
    for (int i = from; i < to; i++) put(line[i]);
}

static void substitute(const char *line, int from, int to) {
    letter_case = PLAIN;
    for (int i = 0; i < piece_count; i++) {
        const struct piece *piece = &pieces[i];
        switch (piece->kind) {
        case TEXT: put(piece->c); break;
        case MATCH: put_match(line, from, to); break;
        case REPEAT:
            for (int n = 0; n < piece->c; n++) put_match(line, from, to);
            break;
        default: letter_case = piece->kind; break;
        }
    }
    letter_case = PLAIN;
}

static void edit(const char *line) {
    int at = 0, last = -1;
    while (1) {
        int end = match_from(line, at, 0);
        if (end > at || (end == at && end != last)) {
            replaced++;
            substitute(line, at, end);
            last = end;
        }
        if (end > at) {
            at = end;
            if (line[at] == 0) break;
        } else {
            if (line[at] == 0) break;
            skipped++;
            put(line[at++]);
        }
    }
    put('\n');
}

int main(void) {
    char pattern[PATTERN], substitution[SUBSTITUTION], line[LINE];
    if (get_string(pattern, PATTERN) == 0) return puts("no pattern"), 1;
    int n = parse_pattern(pattern);
    if (n < 0) return printf("bad pattern (%d)\n", n), 2;
    get_string(substitution, SUBSTITUTION);
    if (parse_substitution(substitution) < 0) return puts("bad substitution"), 3;
    for (int i = 0; i < LINES; i++) {
        if (get_string(line, LINE) == 0) break;
        edit(line);
    }
    output[output_len] = 0;
    if (cut) puts("cut");
    if (replaced == 0) puts("nothing replaced");
    if (skipped > 40) puts("mostly unchanged");
    fputs(output, stdout);
    return 0;
}
