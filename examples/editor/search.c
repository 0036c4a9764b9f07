/* Patterns and the search for them. */
#include "editor.h"

#include <string.h>

static int one(char pattern, char c) {
    return c != 0 && (pattern == '.' || pattern == c);
}

static const char *here(const char *p, const char *t) {
    while (*p) {
        if (p[1] == '*') {
            const char *most = t;
            while (one(*p, *most)) most++;
            for (;; most--) {
                const char *end = here(p + 2, most);
                if (end) return end;
                if (most == t) return NULL;
            }
        }
        if (*p == '$' && p[1] == 0) return *t == 0 ? t : NULL;
        if (!one(*p, *t)) return NULL;
        p++, t++;
    }
    return t;
}

long pattern_find(const char *pattern, const char *text, size_t from, size_t *end) {
    size_t len = strlen(text);
    int bound = *pattern == '^';
    if (bound) {
        if (from > 0) return -1;
        pattern++;
    }
    for (size_t at = from; at <= len; at++) {
        const char *stop = here(pattern, text + at);
        if (stop) {
            *end = (size_t)(stop - text);
            return (long)at;
        }
        if (bound) break;
    }
    return -1;
}

/* Finds the next match after the cursor, or the last before it; wraps around the end
 * if the option is set. */
int search_run(struct editor *e, int forward) {
    size_t end, rows = e->text.count;
    if (e->pattern[0] == 0) {
        e->message = "no pattern";
        return 0;
    }
    for (size_t step = 0; step <= rows; step++) {
        size_t row = forward ? (e->row + step) % rows : (e->row + rows - step % rows) % rows;
        int round = forward ? row < e->row || (step == rows) : row > e->row || (step == rows);
        if (round && !e->wrap) break;
        const char *text = e->text.lines[row].text;
        if (forward) {
            size_t from = step == 0 ? e->column + 1 : 0;
            if (from > e->text.lines[row].len) continue;
            long at = pattern_find(e->pattern, text, from, &end);
            if (at < 0) continue;
            e->row = row;
            e->column = (size_t)at;
            return 1;
        }
        long best = -1;
        size_t stop = step == 0 ? e->column : e->text.lines[row].len + 1;
        for (size_t from = 0; from < stop; from++) {
            long at = pattern_find(e->pattern, text, from, &end);
            if (at < 0 || (size_t)at >= stop) break;
            best = at;
            from = (size_t)at;
        }
        if (best >= 0) {
            e->row = row;
            e->column = (size_t)best;
            return 1;
        }
    }
    e->message = "pattern not found";
    return 0;
}
