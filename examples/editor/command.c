/* Commands typed after a colon: an optional range of lines, a name, arguments. */
#include "editor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct range {
    size_t from, to;
    int given;
};

static const char *skip(const char *at) {
    while (*at == ' ') at++;
    return at;
}

/* One address: a number, `.`, `$`, `'a`, `/pattern/`, and `+n` or `-n`. */
static const char *address(struct editor *e, const char *at, size_t *row, int *found) {
    long line = (long)e->row;
    *found = 1;
    if (*at >= '0' && *at <= '9') {
        line = 0;
        while (*at >= '0' && *at <= '9') {
            if (line < LINES_MAX) line = line * 10 + (*at - '0');
            at++;
        }
        line--;
    } else if (*at == '.') {
        at++;
    } else if (*at == '$') {
        at++;
        line = (long)e->text.count - 1;
    } else if (*at == '\'' && at[1] >= 'a' && at[1] <= 'z') {
        line = (long)e->marks[at[1] - 'a'];
        at += 2;
    } else if (*at == '/') {
        const char *stop = strchr(at + 1, '/');
        char pattern[LINE_MAX_LEN];
        size_t end, row_at;
        if (!stop) {
            *found = 0;
            return at;
        }
        memcpy(pattern, at + 1, (size_t)(stop - at - 1));
        pattern[stop - at - 1] = 0;
        for (row_at = e->row + 1; row_at < e->text.count; row_at++)
            if (pattern_find(pattern, e->text.lines[row_at].text, 0, &end) >= 0) break;
        if (row_at < e->text.count) line = (long)row_at;
        at = stop + 1;
    } else if (*at != '+' && *at != '-') {
        *found = 0;
    }
    while (*at == '+' || *at == '-') {
        int sign = *at++ == '+' ? 1 : -1;
        long n = 0;
        int digits = 0;
        while (*at >= '0' && *at <= '9' && n < LINES_MAX) n = n * 10 + (*at++ - '0'), digits = 1;
        line += sign * (digits ? n : 1);
    }
    if (line < 0) line = 0;
    if (line >= (long)e->text.count) line = (long)e->text.count - 1;
    *row = (size_t)line;
    return at;
}

static const char *range(struct editor *e, const char *at, struct range *r) {
    int found;
    r->given = 0;
    r->from = r->to = e->row;
    if (*at == '%') {
        r->from = 0;
        r->to = e->text.count - 1;
        r->given = 1;
        return at + 1;
    }
    at = address(e, at, &r->from, &found);
    r->to = r->from;
    if (!found) return at;
    r->given = 1;
    if (*at == ',') {
        at = address(e, at + 1, &r->to, &found);
        if (!found) r->to = e->row;
    }
    if (r->to < r->from) {
        size_t swap = r->from;
        r->from = r->to;
        r->to = swap;
    }
    return at;
}

/* s/pattern/replacement/flags */
static void substitute(struct editor *e, const struct range *r, const char *at) {
    char parts[2][LINE_MAX_LEN];
    char stop = *at;
    if (stop == 0 || stop == ' ') {
        e->message = "s/pattern/replacement/";
        return;
    }
    at++;
    for (int i = 0; i < 2; i++) {
        size_t len = 0;
        while (*at && *at != stop && len + 1 < sizeof parts[i]) {
            if (*at == '\\' && at[1]) at++;
            parts[i][len++] = *at++;
        }
        parts[i][len] = 0;
        if (*at == stop) at++;
    }
    int all = *at == 'g', changed = 0;
    for (size_t row = r->from; row <= r->to && row < e->text.count; row++) {
        size_t from = 0, end, steps = 0;
        struct line *line = &e->text.lines[row];
        long found;
        while ((found = pattern_find(parts[0], line->text, from, &end)) >= 0) {
            char new[3 * LINE_MAX_LEN];
            int n = snprintf(new, sizeof new, "%.*s%s%s", (int)found, line->text, parts[1],
                             line->text + end);
            if (n < 0 || n > LINE_MAX_LEN) break;
            history_replaced(&e->history, row, line);
            line_set(line, new, (size_t)n);
            changed++;
            from = (size_t)found + strlen(parts[1]) + (end == (size_t)found);
            if (!all || from > line->len || ++steps > LINE_MAX_LEN) break;
        }
    }
    if (changed) e->changed = 1;
    e->message = changed ? NULL : "no match";
}

/* A block of pieces of a line that is being joined. */
enum { PIECES = 24 };

struct pieces {
    const char *piece[PIECES];
    size_t len[PIECES];
    struct pieces *next;
};

/* Joins the lines of a range into one. With `tight`, nothing is put between them.
 *
 * Planted bug: many lines need a second block of pieces, and with `tight` it is not
 * allocated. */
static void join(struct editor *e, const struct range *r, int tight) {
    struct pieces first, *last = &first;
    size_t n = 0, to = r->given && r->to > r->from ? r->to : r->from + 1;
    char joined[LINE_MAX_LEN + 1];
    size_t len = 0;
    if (tight && !r->given) to = e->text.count - 1;
    if (to >= e->text.count) to = e->text.count - 1;
    memset(&first, 0, sizeof first);
    for (size_t row = r->from; row <= to; row++) {
        if (n == PIECES) {
            if (!tight) {
                last->next = calloc(1, sizeof *last->next);
                if (!last->next) exit(3);
            }
            last = last->next;
            n = 0;
        }
        last->piece[n] = e->text.lines[row].text;
        last->len[n] = e->text.lines[row].len;
        n++;
    }
    for (struct pieces *p = &first; p; p = p->next) {
        for (size_t i = 0; i < PIECES && p->piece[i]; i++) {
            if (len > 0 && !tight && len < LINE_MAX_LEN) joined[len++] = ' ';
            size_t part = p->len[i];
            if (part > LINE_MAX_LEN - len) part = LINE_MAX_LEN - len;
            memcpy(joined + len, p->piece[i], part);
            len += part;
        }
    }
    for (struct pieces *p = first.next; p;) {
        struct pieces *next = p->next;
        free(p);
        p = next;
    }
    for (size_t row = to; row > r->from; row--) editor_delete_line(e, row);
    history_replaced(&e->history, r->from, &e->text.lines[r->from]);
    line_set(&e->text.lines[r->from], joined, len);
    e->row = r->from;
    e->changed = 1;
}

static int by_text(const void *a, const void *b) {
    return strcmp(((const struct line *)a)->text, ((const struct line *)b)->text);
}

static void sort(struct editor *e, struct range *r, int reverse) {
    if (!r->given) r->from = 0, r->to = e->text.count - 1;
    size_t n = r->to - r->from + 1;
    for (size_t row = r->from; row <= r->to; row++)
        history_replaced(&e->history, row, &e->text.lines[row]);
    qsort(e->text.lines + r->from, n, sizeof *e->text.lines, by_text);
    for (size_t i = 0; reverse && i < n / 2; i++) {
        struct line swap = e->text.lines[r->from + i];
        e->text.lines[r->from + i] = e->text.lines[r->to - i];
        e->text.lines[r->to - i] = swap;
    }
    e->changed = 1;
}

static void move_or_copy(struct editor *e, const struct range *r, const char *at, int move) {
    size_t target, n = r->to - r->from + 1;
    int found;
    at = skip(at);
    int top = at[0] == '0' && at[1] == 0;
    address(e, at, &target, &found);
    if (!found) {
        e->message = "where to?";
        return;
    }
    size_t place = top ? 0 : target + 1;
    if (move && place > r->from && place <= r->to) {
        e->message = "into itself";
        return;
    }
    if (e->text.count + n > LINES_MAX) return;
    for (size_t i = 0; i < n; i++) {
        size_t from = r->from + i + (place <= r->from ? i : 0);
        struct line *line = &e->text.lines[from];
        char copy[LINE_MAX_LEN + 1];
        size_t len = line->len;
        memcpy(copy, line->text, len);
        editor_insert_line(e, place + i, copy, len);
    }
    if (move) {
        size_t gone = place <= r->from ? r->from + n : r->from;
        for (size_t i = 0; i < n; i++) editor_delete_line(e, gone);
    }
    e->changed = 1;
}

static void set(struct editor *e, const char *option) {
    int on = 1;
    option = skip(option);
    if (option[0] == 'n' && option[1] == 'o') on = 0, option += 2;
    if (strcmp(option, "number") == 0)
        e->numbers = on;
    else if (strcmp(option, "wrapscan") == 0)
        e->wrap = on;
    else
        e->message = "no such option";
}

void command_run(struct editor *e, const char *command) {
    struct range r;
    char name[16];
    size_t len = 0;
    const char *at = range(e, skip(command), &r);
    at = skip(at);
    while (((*at >= 'a' && *at <= 'z') || *at == '!') && len + 1 < sizeof name) name[len++] = *at++;
    name[len] = 0;
    e->message = NULL;
    if (len == 0) {
        if (*at == '=')
            printf("%zu\n", r.to + 1);
        else if (r.given)
            e->row = r.to;
        return;
    }
    if (name[0] == 's' && (len == 1 || strcmp(name, "substitute") == 0)) {
        substitute(e, &r, at);
    } else if (strcmp(name, "d") == 0 || strcmp(name, "delete") == 0) {
        for (size_t n = r.to - r.from + 1; n > 0; n--) editor_delete_line(e, r.from);
        e->row = r.from;
        e->changed = 1;
    } else if (strcmp(name, "p") == 0 || strcmp(name, "print") == 0) {
        for (size_t row = r.from; row <= r.to; row++) {
            if (e->numbers) printf("%6zu ", row + 1);
            printf("%s\n", e->text.lines[row].text);
        }
    } else if (strcmp(name, "m") == 0 || strcmp(name, "move") == 0) {
        move_or_copy(e, &r, at, 1);
    } else if (strcmp(name, "t") == 0 || strcmp(name, "copy") == 0) {
        move_or_copy(e, &r, at, 0);
    } else if (strcmp(name, "j") == 0 || strcmp(name, "join") == 0) {
        join(e, &r, 0);
    } else if (strcmp(name, "join!") == 0) {
        join(e, &r, 1);
    } else if (strcmp(name, "sort") == 0) {
        sort(e, &r, 0);
    } else if (strcmp(name, "sort!") == 0) {
        sort(e, &r, 1);
    } else if (strcmp(name, "k") == 0 || strcmp(name, "mark") == 0) {
        at = skip(at);
        if (*at >= 'a' && *at <= 'z') e->marks[*at - 'a'] = r.to;
    } else if (strcmp(name, "set") == 0) {
        set(e, at);
    } else if (strcmp(name, "u") == 0 || strcmp(name, "undo") == 0) {
        if (!history_undo(&e->history, &e->text, &e->row)) e->message = "nothing to undo";
    } else if (strcmp(name, "rewind") == 0) {
        history_rewind(&e->history, &e->text, &e->row);
    } else if (strcmp(name, "q!") == 0) {
        e->quit = 1;
    } else if (strcmp(name, "q") == 0 || strcmp(name, "quit") == 0) {
        if (e->changed)
            e->message = "there are changes; q! leaves them";
        else
            e->quit = 1;
    } else {
        e->message = "no such command";
    }
}
