/* One lexer, and several ways in which its token gets out. */
#include <stdio.h>

enum kind { END, WORD, DIGIT, OTHER };

struct lexer {
    long line;
    struct {
        unsigned char spare;
        enum kind token;
    } t;
    struct lexer *self;
};
struct small { int line; enum kind kind; };
struct large { long line; long column; enum kind kind; };

enum kind global;

static enum kind classify(void) {
    int c = getchar();
    if (c == EOF)
        return END;
    return c >= 'a' && c <= 'z' ? WORD : c >= '0' && c <= '9' ? DIGIT : OTHER;
}

void by_field(struct lexer *l) {
    l->line++;
    l->t.token = classify();
}
void by_pointers(struct lexer *l) { l->self->t.token = classify(); }
int by_argument(unsigned char *out, int spare) {
    *out = classify();
    return spare;
}
void by_global(void) { global = classify(); }
struct small by_registers(void) {
    struct small s = {1, classify()};
    return s;
}
struct large by_memory(void) {
    struct large s = {1, 2, classify()};
    return s;
}
struct lexer *by_pointer(struct lexer *l) {
    l->t.token = classify();
    return l;
}
static int decide(enum kind k) { return k == WORD ? 1 : k == DIGIT ? 2 : 3; }

int main(void) {
    struct lexer l = {0, {0, END}, &l};
    unsigned char c;
    int sum = 0;
    by_field(&l), sum += decide(l.t.token);
    by_pointers(&l), sum += decide(l.t.token);
    by_argument(&c, 1), sum += decide(c);
    by_global(), sum += decide(global);
    sum += decide(by_registers().kind);
    sum += decide(by_memory().kind);
    sum += decide(by_pointer(&l)->t.token);
    return sum;
}
