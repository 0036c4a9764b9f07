/* A modal line editor: the interfaces of its parts. */
#ifndef EDITOR_H
#define EDITOR_H

#include <stddef.h>

enum { LINE_MAX_LEN = 240, LINES_MAX = 4000 };

/* ---- text ------------------------------------------------------------- */

/* One line without its newline. */
struct line {
    char *text;
    size_t len, room;
};

struct text {
    struct line *lines;
    size_t count, room;
};

void text_init(struct text *text);
void text_insert(struct text *text, size_t at, const char *line, size_t len);
void text_delete(struct text *text, size_t at);
void line_insert(struct line *line, size_t at, char c);
void line_delete(struct line *line, size_t at);
void line_set(struct line *line, const char *text, size_t len);

/* ---- undo ------------------------------------------------------------- */

enum change_kind { CHANGE_INSERTED, CHANGE_DELETED, CHANGE_REPLACED };

/* A change of one line, and the line before the change. */
struct change {
    struct change *older, *newer;
    enum change_kind kind;
    size_t at;
    char *before;
    size_t len;
    unsigned serial;
};

struct history {
    struct change *newest, *oldest;
    unsigned count, next;
};

void history_inserted(struct history *h, size_t at);
void history_deleted(struct history *h, size_t at, const struct line *line);
void history_replaced(struct history *h, size_t at, const struct line *line);
/* Undoes the newest change; 0 if there is none. */
int history_undo(struct history *h, struct text *text, size_t *cursor);
/* Undoes all changes. */
void history_rewind(struct history *h, struct text *text, size_t *cursor);

/* ---- patterns --------------------------------------------------------- */

/* Patterns have literal characters, `.`, `*` after either, `^` in front, `$` at the end.
 * Returns the first match at or after `from`, or -1; *end gets its end. */
long pattern_find(const char *pattern, const char *text, size_t from, size_t *end);

/* ---- the editor ------------------------------------------------------- */

enum mode { MODE_COMMAND, MODE_INSERT, MODE_LINE, MODE_SEARCH };

struct editor {
    enum mode mode;
    struct text text;
    struct history history;
    size_t row, column;
    size_t marks[26];
    /* The number typed before a command, and the operator that waits for its motion. */
    unsigned count;
    char operator, waiting;
    /* The lines deleted or yanked last. */
    struct text yanked;
    /* The text typed so far in the last two modes. */
    char typed[LINE_MAX_LEN];
    size_t typed_len;
    char pattern[LINE_MAX_LEN];
    char last_find;
    int numbers, wrap, quit, changed;
    const char *message;
};

void editor_init(struct editor *e);
void editor_key(struct editor *e, int key);
/* Run a line typed after `:`, and one typed after `/`. */
void command_run(struct editor *e, const char *command);
int search_run(struct editor *e, int forward);

void editor_clamp(struct editor *e);
struct line *editor_line(struct editor *e);
void editor_insert_line(struct editor *e, size_t at, const char *line, size_t len);
void editor_delete_line(struct editor *e, size_t at);
void editor_before_change(struct editor *e);

#endif
