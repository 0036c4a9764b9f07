/* Lines of text, and the history of their changes. */
#include "editor.h"

#include <stdlib.h>
#include <string.h>

static void *checked(void *p) {
    if (!p) exit(3);
    return p;
}

void text_init(struct text *text) {
    text->lines = NULL;
    text->count = text->room = 0;
}

void line_set(struct line *line, const char *text, size_t len) {
    if (len > LINE_MAX_LEN) len = LINE_MAX_LEN;
    if (len + 1 > line->room) {
        line->room = len + 32;
        line->text = checked(realloc(line->text, line->room));
    }
    memmove(line->text, text, len);
    line->text[len] = 0;
    line->len = len;
}

void line_insert(struct line *line, size_t at, char c) {
    if (line->len >= LINE_MAX_LEN || at > line->len) return;
    if (line->len + 2 > line->room) {
        line->room = line->room * 2 + 2;
        line->text = checked(realloc(line->text, line->room));
    }
    memmove(line->text + at + 1, line->text + at, line->len - at + 1);
    line->text[at] = c;
    line->len++;
}

void line_delete(struct line *line, size_t at) {
    if (at >= line->len) return;
    memmove(line->text + at, line->text + at + 1, line->len - at);
    line->len--;
}

void text_insert(struct text *text, size_t at, const char *line, size_t len) {
    if (text->count == text->room) {
        text->room = text->room * 2 + 8;
        text->lines = checked(realloc(text->lines, text->room * sizeof *text->lines));
    }
    if (at > text->count) at = text->count;
    memmove(text->lines + at + 1, text->lines + at, (text->count - at) * sizeof *text->lines);
    memset(&text->lines[at], 0, sizeof text->lines[at]);
    line_set(&text->lines[at], line, len);
    text->count++;
}

void text_delete(struct text *text, size_t at) {
    if (at >= text->count) return;
    free(text->lines[at].text);
    memmove(text->lines + at, text->lines + at + 1, (text->count - at - 1) * sizeof *text->lines);
    text->count--;
}

/* ---- history ---------------------------------------------------------- */

enum { REMEMBERED = 40 };

static void forget(struct history *h) {
    struct change *c = h->oldest;
    h->oldest = c->newer;
    if (h->oldest)
        h->oldest->older = NULL;
    else
        h->newest = NULL;
    free(c->before);
    free(c);
    h->count--;
}

static struct change *record(struct history *h, enum change_kind kind, size_t at) {
    if (h->count == REMEMBERED) forget(h);
    struct change *c = checked(calloc(1, sizeof *c));
    c->kind = kind;
    c->at = at;
    c->serial = h->next++;
    c->older = h->newest;
    if (h->newest)
        h->newest->newer = c;
    else
        h->oldest = c;
    h->newest = c;
    h->count++;
    return c;
}

static void remember(struct change *c, const struct line *line) {
    c->before = checked(malloc(line->len + 1));
    memcpy(c->before, line->text, line->len + 1);
    c->len = line->len;
}

void history_inserted(struct history *h, size_t at) {
    record(h, CHANGE_INSERTED, at);
}

void history_deleted(struct history *h, size_t at, const struct line *line) {
    remember(record(h, CHANGE_DELETED, at), line);
}

void history_replaced(struct history *h, size_t at, const struct line *line) {
    remember(record(h, CHANGE_REPLACED, at), line);
}

int history_undo(struct history *h, struct text *text, size_t *cursor) {
    struct change *c = h->newest;
    if (!c) return 0;
    switch (c->kind) {
    case CHANGE_INSERTED:
        text_delete(text, c->at);
        break;
    case CHANGE_DELETED:
        text_insert(text, c->at, c->before, c->len);
        break;
    case CHANGE_REPLACED:
        if (c->at < text->count) line_set(&text->lines[c->at], c->before, c->len);
        break;
    }
    *cursor = c->at;
    h->newest = c->older;
    if (h->newest)
        h->newest->newer = NULL;
    else
        h->oldest = NULL;
    free(c->before);
    free(c);
    h->count--;
    return 1;
}

/* Planted bug: the first change has the serial number 0, and is dropped when there
 * are too many changes. */
void history_rewind(struct history *h, struct text *text, size_t *cursor) {
    struct change *c = h->newest;
    if (!c) return;
    while (c->serial != 0) c = c->older;
    while (h->newest != c) history_undo(h, text, cursor);
    history_undo(h, text, cursor);
}
