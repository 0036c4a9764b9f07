/* A modal line editor: an example of a program that reads many events and has states
 * that no short input reaches.
 *
 * It reads keys from standard input. Command mode moves, deletes and changes;
 * `i`, `a`, `o`, `O`, `I`, `A` insert until Escape; `:` starts a command such as
 * `:2,5s/a/b/g` or `:sort`; `/` and `?` search.
 *
 * It has two planted bugs. Each needs many keys to reach a state, and then the
 * exact name of a command:
 *
 * - `:rewind` undoes all changes, and assumes that the first change is still in the
 *   history. After forty changes it is not.
 * - `:join!` joins all lines from the current one, and uses too many pieces after 24.
 *
 *     make CC=pleach-cc
 *     pleach run -s hybrid -V 60 -o out -- ./editor
 */
#include "editor.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { ESCAPE = 27, BACKSPACE = 8, DELETE = 127 };

void editor_init(struct editor *e) {
    memset(e, 0, sizeof *e);
    text_init(&e->text);
    text_init(&e->yanked);
    text_insert(&e->text, 0, "", 0);
    e->wrap = 1;
}

struct line *editor_line(struct editor *e) {
    return &e->text.lines[e->row];
}

void editor_clamp(struct editor *e) {
    if (e->text.count == 0) text_insert(&e->text, 0, "", 0);
    if (e->row >= e->text.count) e->row = e->text.count - 1;
    size_t len = editor_line(e)->len;
    if (e->mode != MODE_INSERT && len > 0) len--;
    if (e->column > len) e->column = len;
}

void editor_before_change(struct editor *e) {
    history_replaced(&e->history, e->row, editor_line(e));
    e->changed = 1;
}

void editor_insert_line(struct editor *e, size_t at, const char *line, size_t len) {
    if (e->text.count >= LINES_MAX) return;
    text_insert(&e->text, at, line, len);
    history_inserted(&e->history, at);
    for (int i = 0; i < 26; i++)
        if (e->marks[i] >= at && e->marks[i] + 1 < e->text.count) e->marks[i]++;
    e->changed = 1;
}

void editor_delete_line(struct editor *e, size_t at) {
    if (at >= e->text.count) return;
    history_deleted(&e->history, at, &e->text.lines[at]);
    text_delete(&e->text, at);
    for (int i = 0; i < 26; i++)
        if (e->marks[i] > at || e->marks[i] >= e->text.count) e->marks[i] -= e->marks[i] > 0;
    if (e->text.count == 0) text_insert(&e->text, 0, "", 0);
    e->changed = 1;
}

static void insert_mode(struct editor *e, size_t column) {
    e->mode = MODE_INSERT;
    e->column = column;
    editor_before_change(e);
}

static void open_line(struct editor *e, size_t at) {
    if (e->text.count >= LINES_MAX) return;
    editor_insert_line(e, at, "", 0);
    e->row = at;
    insert_mode(e, 0);
}

/* ---- motions ---------------------------------------------------------- */

static int is_word(int c) {
    return isalnum(c) || c == '_';
}

static void next_word(struct editor *e) {
    struct line *line = editor_line(e);
    size_t at = e->column;
    int word = at < line->len && is_word((unsigned char)line->text[at]);
    while (at < line->len && is_word((unsigned char)line->text[at]) == word &&
           line->text[at] != ' ')
        at++;
    while (at < line->len && line->text[at] == ' ') at++;
    if (at >= line->len && e->row + 1 < e->text.count) {
        e->row++;
        at = 0;
    }
    e->column = at;
}

static void previous_word(struct editor *e) {
    if (e->column == 0) {
        if (e->row > 0) {
            e->row--;
            e->column = editor_line(e)->len;
        }
        return;
    }
    const char *text = editor_line(e)->text;
    size_t at = e->column;
    while (at > 0 && text[at - 1] == ' ') at--;
    int word = at > 0 && is_word((unsigned char)text[at - 1]);
    while (at > 0 && text[at - 1] != ' ' && is_word((unsigned char)text[at - 1]) == word) at--;
    e->column = at;
}

static void match_bracket(struct editor *e) {
    static const char brackets[] = "()[]{}";
    struct line *line = editor_line(e);
    const char *which = e->column < line->len ? strchr(brackets, line->text[e->column]) : NULL;
    if (!which || !*which) return;
    int forward = (which - brackets) % 2 == 0, depth = 0;
    char own = *which, other = forward ? which[1] : which[-1];
    for (size_t at = e->column; at < line->len; at += forward ? 1 : (size_t)-1) {
        if (line->text[at] == own) depth++;
        if (line->text[at] == other && --depth == 0) {
            e->column = at;
            return;
        }
    }
}

static int find_char(struct editor *e, int key) {
    const char *text = editor_line(e)->text;
    const char *at = *text && text[e->column] ? strchr(text + e->column + 1, key) : NULL;
    if (!at || key == 0) return 0;
    e->last_find = (char)key;
    e->column = (size_t)(at - text);
    return 1;
}

/* Moves the cursor; 0 if the key is not a motion. */
static int motion(struct editor *e, int key) {
    unsigned n = e->count ? e->count : 1;
    switch (key) {
    case 'h': e->column -= e->column < n ? e->column : n; break;
    case 'l': case ' ': e->column += n; break;
    case 'j': case '\n': e->row += n; break;
    case 'k': e->row -= e->row < n ? e->row : n; break;
    case '0': e->column = 0; break;
    case '$': e->column = editor_line(e)->len; break;
    case '^': e->column = strspn(editor_line(e)->text, " \t"); break;
    case 'G': e->row = e->count ? e->count - 1 : e->text.count - 1; break;
    case 'w': while (n--) next_word(e); break;
    case 'b': while (n--) previous_word(e); break;
    case '%': match_bracket(e); break;
    case 'n': search_run(e, 1); break;
    case 'N': search_run(e, 0); break;
    case ';': if (e->last_find) find_char(e, e->last_find); break;
    default: return 0;
    }
    editor_clamp(e);
    return 1;
}

/* ---- operators -------------------------------------------------------- */

static void yank_lines(struct editor *e, size_t from, size_t to) {
    while (e->yanked.count > 0) text_delete(&e->yanked, e->yanked.count - 1);
    for (size_t row = from; row <= to && row < e->text.count; row++)
        text_insert(&e->yanked, e->yanked.count, e->text.lines[row].text, e->text.lines[row].len);
}

static void on_lines(struct editor *e, size_t from, size_t to) {
    if (e->operator!= '>' && e->operator!= '<') yank_lines(e, from, to);
    switch (e->operator) {
    case 'd':
        for (size_t n = to - from + 1; n > 0; n--) editor_delete_line(e, from);
        break;
    case 'c':
        for (size_t n = to - from; n > 0; n--) editor_delete_line(e, from);
        e->row = from;
        editor_before_change(e);
        line_set(editor_line(e), "", 0);
        e->mode = MODE_INSERT;
        e->column = 0;
        break;
    case '>': case '<':
        for (size_t row = from; row <= to && row < e->text.count; row++) {
            struct line *line = &e->text.lines[row];
            history_replaced(&e->history, row, line);
            for (int i = 0; i < 4; i++) {
                if (e->operator== '>')
                    line_insert(line, 0, ' ');
                else if (line->text[0] == ' ')
                    line_delete(line, 0);
            }
        }
        e->changed = 1;
        break;
    }
    e->row = from;
}

static void on_characters(struct editor *e, size_t from, size_t to) {
    struct line *line = editor_line(e);
    if (e->operator== 'y') return;
    editor_before_change(e);
    for (size_t n = to - from; n > 0; n--) line_delete(line, from);
    e->column = from;
    if (e->operator== 'c') e->mode = MODE_INSERT;
}

/* Applies an operator to its motion. */
static void operate(struct editor *e, int key) {
    size_t row = e->row, column = e->column;
    if (key == e->operator) {
        size_t n = e->count ? e->count : 1, last = e->row + n - 1;
        on_lines(e, e->row, last < e->text.count ? last : e->text.count - 1);
    } else if (motion(e, key)) {
        size_t to_row = e->row, to_column = e->column;
        if (to_row == row && strchr("jkG\n", key) == NULL && strchr("><", e->operator) == NULL) {
            if (key == '$') to_column = editor_line(e)->len;
            on_characters(e, to_column < column ? to_column : column,
                          to_column < column ? column : to_column);
        } else {
            on_lines(e, to_row < row ? to_row : row, to_row < row ? row : to_row);
        }
    }
    e->operator= 0;
    e->count = 0;
    editor_clamp(e);
}

static void put(struct editor *e, size_t at) {
    for (size_t i = 0; i < e->yanked.count; i++)
        editor_insert_line(e, at + i, e->yanked.lines[i].text, e->yanked.lines[i].len);
    if (e->yanked.count > 0) e->row = at;
}

static void toggle_case(struct editor *e) {
    struct line *line = editor_line(e);
    if (e->column >= line->len) return;
    editor_before_change(e);
    char *c = &line->text[e->column];
    *c = (char)(isupper((unsigned char)*c) ? tolower((unsigned char)*c)
                                           : toupper((unsigned char)*c));
    e->column++;
}

/* ---- keys ------------------------------------------------------------- */

/* Handles the second key of `m`, `'`, `r`, `f`, `Z`. */
static void second_key(struct editor *e, int key) {
    int waiting = e->waiting, letter = key >= 'a' && key <= 'z';
    e->waiting = 0;
    switch (waiting) {
    case 'm': if (letter) e->marks[key - 'a'] = e->row; break;
    case '\'': if (letter) e->row = e->marks[key - 'a']; break;
    case 'f': find_char(e, key); break;
    case 'Z': if (key == 'Z') e->quit = 1; break;
    case 'r':
        if (e->column < editor_line(e)->len && isprint(key)) {
            editor_before_change(e);
            editor_line(e)->text[e->column] = (char)key;
        }
        break;
    }
    editor_clamp(e);
}

static void command_key(struct editor *e, int key) {
    struct line *line = editor_line(e);
    unsigned n = e->count ? e->count : 1;
    if (isdigit(key) && (key != '0' || e->count)) {
        if (e->count < 100) e->count = e->count * 10 + (unsigned)(key - '0');
        return;
    }
    if (e->operator) {
        operate(e, key);
        return;
    }
    if (motion(e, key)) {
        e->count = 0;
        return;
    }
    switch (key) {
    case 'd': case 'c': case 'y': case '>': case '<':
        e->operator= (char) key;
        return;
    case 'm': case '\'': case 'f': case 'r': case 'Z': e->waiting = (char)key; break;
    case 'i': insert_mode(e, e->column); break;
    case 'a': insert_mode(e, e->column + (line->len > 0)); break;
    case 'I': insert_mode(e, 0); break;
    case 'A': insert_mode(e, line->len); break;
    case 'o': open_line(e, e->row + 1); break;
    case 'O': open_line(e, e->row); break;
    case 'x':
        editor_before_change(e);
        while (n--) line_delete(line, e->column);
        break;
    case 'D':
        editor_before_change(e);
        line_set(line, line->text, e->column);
        break;
    case 'p': put(e, e->row + 1); break;
    case 'P': put(e, e->row); break;
    case 'J': command_run(e, "join"); break;
    case 'u': history_undo(&e->history, &e->text, &e->row); break;
    case '~': toggle_case(e); break;
    case ':': e->mode = MODE_LINE; e->typed_len = 0; break;
    case '/': case '?': e->mode = MODE_SEARCH; e->typed_len = 1; e->typed[0] = (char)key; break;
    }
    e->count = 0;
    editor_clamp(e);
}

static void insert_key(struct editor *e, int key) {
    struct line *line = editor_line(e);
    if (key == ESCAPE) {
        e->mode = MODE_COMMAND;
        if (e->column > 0) e->column--;
    } else if (key == '\n') {
        editor_insert_line(e, e->row + 1, line->text + e->column, line->len - e->column);
        line = editor_line(e);
        if (e->text.count < LINES_MAX) line_set(line, line->text, e->column);
        e->row++;
        e->column = 0;
    } else if (key == BACKSPACE || key == DELETE) {
        if (e->column > 0) {
            line_delete(line, --e->column);
        } else if (e->row > 0) {
            e->row--;
            e->column = editor_line(e)->len;
            command_run(e, "join");
        }
    } else if (isprint(key) || key == '\t') {
        line_insert(line, e->column, (char)key);
        e->column++;
    }
    editor_clamp(e);
}

static void typed_key(struct editor *e, int key) {
    enum mode mode = e->mode;
    if (key == ESCAPE || ((key == BACKSPACE || key == DELETE) && e->typed_len == 0)) {
        e->mode = MODE_COMMAND;
    } else if (key == BACKSPACE || key == DELETE) {
        e->typed_len--;
    } else if (key == '\n') {
        e->typed[e->typed_len] = 0;
        e->mode = MODE_COMMAND;
        if (mode == MODE_LINE) {
            command_run(e, e->typed);
        } else if (e->typed_len > 0) {
            if (e->typed[1]) strcpy(e->pattern, e->typed + 1);
            search_run(e, e->typed[0] == '/');
        }
    } else if (e->typed_len + 1 < sizeof e->typed && isprint(key)) {
        e->typed[e->typed_len++] = (char)key;
    }
    editor_clamp(e);
}

void editor_key(struct editor *e, int key) {
    if (e->waiting)
        second_key(e, key);
    else if (e->mode == MODE_COMMAND)
        command_key(e, key);
    else if (e->mode == MODE_INSERT)
        insert_key(e, key);
    else
        typed_key(e, key);
}

int main(void) {
    static struct editor editor;
    int key;
    editor_init(&editor);
    while (!editor.quit && (key = getchar()) != EOF) {
        editor_key(&editor, key);
        if (editor.message) {
            printf("%s\n", editor.message);
            editor.message = NULL;
        }
    }
    return 0;
}
