/* The code generator: from a tree to code for the stack machine.

   It knows at every place how many values the function has on the stack, so that a
   jump out of a statement can say how many must be left. For that to be true inside
   finally blocks, too, what is pending while one runs (an error, the value of a
   return) waits in a variable and not on the stack. */
#include "base.h"
#include "code.h"
#include <stdio.h>
#include <string.h>

#define MAX_WORDS 60000
#define MAX_SLOTS 2000
/* A chain of operators makes a deep tree, although the script does not nest. */
#define MAX_DEPTH 2000

/* A name in a scope. */
struct name {
    struct name *next;
    const char *text;
    enum token declared; /* var, let or const; function for parameters and functions */
    int slot;
};

struct block {
    struct block *outer;
    struct name *names;
};

/* Jumps whose target is not known yet. */
struct patch {
    struct patch *next;
    size_t at;
};

/* A statement that a jump may leave: a loop, a switch, a label, or a try with its
   finally block. */
struct target {
    struct target *outer;
    enum { LOOP, SWITCH, LABELLED, TRY, FINALLY } kind;
    const char *label; /* of a label, and of the loop after it */
    int depth;         /* of the stack at its start */
    struct patch *breaks, *continues;
    struct patch *gosubs; /* of a try, to its finally block */
    int has_finally;
};

struct generator {
    struct generator *outer;
    struct code *code;
    struct block *block;
    struct block *function_block;
    struct target *targets;
    const char *label; /* that stands before the statement */
    int depth;         /* of the stack */
    int result;        /* the slot for the value of a return; -1 while there is none */
    int line;
    int nested;
};

static void statement(struct generator *g, const struct node *node);
static void expression(struct generator *g, const struct node *node);
static struct code *function(struct generator *outer, const struct node *node);

/* Words. */

static size_t word(struct generator *g, int word)
{
    struct code *code = g->code;

    if (code->count == MAX_WORDS)
        fail(OVER_LIMIT, g->line, "a function is too long");
    if (code->count == code->room) {
        size_t room = code->room ? code->room * 2 : 64, used = code->count * sizeof(int);
        code->words = grow(code->words, used, room * sizeof(int));
        code->lines = grow(code->lines, used, room * sizeof(int));
        code->room = room;
    }
    code->lines[code->count] = g->line;
    code->words[code->count] = word;
    return code->count++;
}

/* Emits an operation that changes the depth of the stack by `change`. */
static void emit(struct generator *g, enum op op, int change)
{
    word(g, op);
    g->depth += change;
}

static void emit_with(struct generator *g, enum op op, int operand, int change)
{
    emit(g, op, change);
    word(g, operand);
}

static int here(const struct generator *g)
{
    return (int)g->code->count;
}

/* Emits a jump to a later target. */
static void jump_later(struct generator *g, enum op op, int change, struct patch **list)
{
    struct patch *patch = allocate(sizeof *patch);
    emit(g, op, change);
    patch->at = word(g, 0);
    patch->next = *list;
    *list = patch;
}

static void land(struct generator *g, struct patch *list)
{
    for (; list; list = list->next)
        g->code->words[list->at] = here(g);
}

static int constant(struct generator *g, struct value value)
{
    struct code *code = g->code;

    for (size_t i = 0; i < code->constant_count; i++)
        if (same(code->constants[i], value))
            return (int)i;
    if (code->constant_count == code->constant_room) {
        size_t room = code->constant_room ? code->constant_room * 2 : 8;
        code->constants =
            grow(code->constants, code->constant_count * sizeof value, room * sizeof value);
        code->constant_room = room;
    }
    code->constants[code->constant_count] = value;
    return (int)code->constant_count++;
}

static void load_constant(struct generator *g, struct value value)
{
    emit_with(g, OP_CONSTANT, constant(g, value), 1);
}

/* Names. */

static int new_slot(struct generator *g)
{
    if (g->code->slots == MAX_SLOTS)
        fail(OVER_LIMIT, g->line, "a function has too many variables");
    return g->code->slots++;
}

static struct name *find_in(const struct block *block, const char *text)
{
    struct name *name = block->names;
    while (name && strcmp(name->text, text) != 0)
        name = name->next;
    return name;
}

static int may_repeat(enum token declared)
{
    return declared == T_VAR || declared == T_FUNCTION;
}

/* Declares a name in a block, or returns the existing variable where that is allowed. */
static struct name *declare(struct generator *g, struct block *block, const char *text,
                            enum token declared, int line)
{
    struct name *name = find_in(block, text);

    if (name) {
        if (!may_repeat(name->declared) || !may_repeat(declared))
            fail(BAD_MEANING, line, "%s is declared already", text);
        return name;
    }
    name = allocate(sizeof *name);
    name->text = text;
    name->declared = declared;
    name->slot = new_slot(g);
    name->next = block->names;
    block->names = name;
    return name;
}

/* Finds a name in the enclosing scopes, and the number of functions in between. */
static struct name *find(const struct generator *g, const char *text, int *up)
{
    *up = 0;
    for (; g; g = g->outer, ++*up)
        for (const struct block *block = g->block; block; block = block->outer) {
            struct name *name = find_in(block, text);
            if (name)
                return name;
        }
    return NULL;
}

static void emit_variable(struct generator *g, enum op op, int up, int slot, int change)
{
    emit_with(g, op, up, change);
    word(g, slot);
}

static void load_slot(struct generator *g, int slot)
{
    emit_variable(g, OP_LOAD, 0, slot, 1);
}

static void begin_slot(struct generator *g, int slot)
{
    emit_variable(g, OP_BEGIN, 0, slot, -1);
}

static void load_name(struct generator *g, const struct node *node)
{
    int up;
    const struct name *name = find(g, node->text, &up);

    if (name)
        emit_variable(g, OP_LOAD, up, name->slot, 1);
    else
        emit_with(g, OP_LOAD_GLOBAL, constant(g, text(node->text, node->length)), 1);
}

static void store_name(struct generator *g, const struct node *node)
{
    int up;
    const struct name *name = find(g, node->text, &up);

    if (name == NULL) {
        emit_with(g, OP_STORE_GLOBAL, constant(g, text(node->text, node->length)), 0);
        return;
    }
    if (name->declared == T_CONST)
        fail(BAD_MEANING, node->line, "%s is a constant", node->text);
    emit_variable(g, OP_STORE, up, name->slot, 0);
}

/* Declares the names of all `var`s in a statement, at any depth: they belong to the function. */
static void hoist(struct generator *g, const struct node *node)
{
    if (node == NULL)
        return;
    switch (node->kind) {
    case N_DECLARATION:
        if (node->op == T_VAR)
            for (const struct node *one = node->list; one; one = one->next)
                declare(g, g->function_block, one->text, T_VAR, one->line);
        break;
    case N_BLOCK:
    case N_SWITCH:
    case N_CASE:
        for (const struct node *one = node->list; one; one = one->next)
            hoist(g, one);
        break;
    case N_IF:
    case N_TRY:
        if (node->kind == N_TRY)
            hoist(g, node->a);
        hoist(g, node->b);
        hoist(g, node->c);
        break;
    case N_WHILE:
    case N_DO:
        hoist(g, node->b);
        break;
    case N_FOR:
    case N_FOR_IN:
        hoist(g, node->a);
        hoist(g, node->d);
        break;
    case N_LABEL:
        hoist(g, node->a);
        break;
    default:
        break;
    }
}

/* Declares the names of a list of statements in their block; functions get their value
   at its start. */
static void declare_all(struct generator *g, const struct node *list)
{
    for (const struct node *one = list; one; one = one->next)
        if (one->kind == N_DECLARATION && one->op != T_VAR)
            for (const struct node *d = one->list; d; d = d->next) {
                const struct name *name = declare(g, g->block, d->text, one->op, d->line);
                emit_with(g, OP_FORGET, name->slot, 0);
            }
        else if (one->kind == N_FUNCTION)
            declare(g, g->block, one->text, T_FUNCTION, one->line);
    for (const struct node *one = list; one; one = one->next)
        if (one->kind == N_FUNCTION) {
            expression(g, one);
            begin_slot(g, find_in(g->block, one->text)->slot);
        }
}

static void open_block(struct generator *g, struct block *block)
{
    *block = (struct block){.outer = g->block};
    g->block = block;
}

static void close_block(struct generator *g)
{
    g->block = g->block->outer;
}

static void statements(struct generator *g, const struct node *list)
{
    for (; list; list = list->next)
        if (list->kind != N_FUNCTION)
            statement(g, list);
}

static void scoped(struct generator *g, const struct node *list)
{
    struct block block;

    open_block(g, &block);
    declare_all(g, list);
    statements(g, list);
    close_block(g);
}

/* Expressions. Each leaves one value. */

static enum op operation(enum token token)
{
    switch (token) {
    case T_PLUS: return OP_ADD;
    case T_MINUS: return OP_SUBTRACT;
    case T_STAR: return OP_MULTIPLY;
    case T_SLASH: return OP_DIVIDE;
    case T_PERCENT: return OP_REMAINDER;
    case T_SHIFT_LEFT: return OP_SHIFT_LEFT;
    case T_SHIFT_RIGHT: return OP_SHIFT_RIGHT;
    case T_SHIFT_UNSIGNED: return OP_SHIFT_UNSIGNED;
    case T_AND: return OP_AND;
    case T_OR: return OP_OR;
    case T_XOR: return OP_XOR;
    case T_EQUAL: return OP_EQUAL;
    case T_NOT_EQUAL: return OP_NOT_EQUAL;
    case T_SAME: return OP_SAME;
    case T_NOT_SAME: return OP_NOT_SAME;
    case T_LESS: return OP_LESS;
    case T_MORE: return OP_MORE;
    case T_LESS_EQUAL: return OP_LESS_EQUAL;
    default: return OP_MORE_EQUAL;
    }
}

static int list_values(struct generator *g, const struct node *list)
{
    int count = 0;
    for (; list; list = list->next, count++)
        expression(g, list);
    return count;
}

/* Pushes the object and the key of `a.b` or `a[b]`. */
static void place_of(struct generator *g, const struct node *node)
{
    expression(g, node->a);
    expression(g, node->b);
}

static void object(struct generator *g, const struct node *node)
{
    emit(g, OP_OBJECT, 1);
    for (const struct node *one = node->list; one; one = one->next) {
        struct value key = one->text ? text(one->text, one->length) : number(one->number);
        expression(g, one->a);
        key = (struct value){.type = STRING, .string = string_of(key)};
        emit_with(g, OP_PROPERTY, constant(g, key), -1);
    }
}

static void unary(struct generator *g, const struct node *node)
{
    int up;

    if (node->op == T_DELETE && node->a->kind == N_NAME)
        fail(BAD_MEANING, node->line, "variables cannot be deleted");
    if (node->op == T_DELETE && node->a->kind == N_INDEX) {
        place_of(g, node->a);
        emit(g, OP_DELETE, -1);
        return;
    }
    if (node->op == T_TYPEOF && node->a->kind == N_NAME && !find(g, node->a->text, &up)) {
        struct value name = text(node->a->text, node->a->length);
        emit_with(g, OP_TYPEOF_GLOBAL, constant(g, name), 1);
        return;
    }
    expression(g, node->a);
    switch (node->op) {
    case T_MINUS:
        emit(g, OP_NEGATE, 0);
        break;
    case T_PLUS:
        emit(g, OP_TO_NUMBER, 0);
        break;
    case T_BANG:
        emit(g, OP_NOT, 0);
        break;
    case T_TILDE:
        emit(g, OP_COMPLEMENT, 0);
        break;
    case T_TYPEOF:
        emit(g, OP_TYPEOF, 0);
        break;
    case T_DELETE: /* of something that is not a property */
        emit(g, OP_POP, -1);
        emit(g, OP_TRUE, 1);
        break;
    default: /* void */
        emit(g, OP_POP, -1);
        emit(g, OP_UNDEFINED, 1);
        break;
    }
}

/* The second operand is evaluated only if the first does not decide. */
static void logical(struct generator *g, const struct node *node)
{
    struct patch *end = NULL;

    expression(g, node->a);
    emit(g, OP_COPY, 1);
    jump_later(g, node->op == T_BOTH ? OP_JUMP_FALSE : OP_JUMP_TRUE, -1, &end);
    emit(g, OP_POP, -1);
    expression(g, node->b);
    land(g, end);
}

static void binary(struct generator *g, const struct node *node)
{
    if (node->op == T_BOTH || node->op == T_EITHER) {
        logical(g, node);
        return;
    }
    expression(g, node->a);
    expression(g, node->b);
    emit(g, operation(node->op), -1);
}

static void assign(struct generator *g, const struct node *node)
{
    const struct node *place = node->a;
    int compound = node->op != T_ASSIGN;

    if (place->kind == N_NAME) {
        if (compound)
            load_name(g, place);
        expression(g, node->b);
        if (compound)
            emit(g, operation(node->op), -1);
        store_name(g, place);
        return;
    }
    place_of(g, place);
    if (compound) {
        emit(g, OP_COPY_TWO, 2);
        emit(g, OP_GET, -1);
    }
    expression(g, node->b);
    if (compound)
        emit(g, operation(node->op), -1);
    emit(g, OP_SET, -2);
}

/* If the old value is needed, a hidden variable keeps it. */
static void update(struct generator *g, const struct node *node)
{
    const struct node *place = node->a;
    int before = node->number != 0, old = before ? -1 : new_slot(g);

    if (place->kind == N_NAME) {
        load_name(g, place);
    } else {
        place_of(g, place);
        emit(g, OP_COPY_TWO, 2);
        emit(g, OP_GET, -1);
    }
    emit(g, OP_TO_NUMBER, 0);
    if (!before) {
        emit(g, OP_COPY, 1);
        begin_slot(g, old);
    }
    load_constant(g, number(1));
    emit(g, node->op == T_INCREMENT ? OP_ADD : OP_SUBTRACT, -1);
    if (place->kind == N_NAME)
        store_name(g, place);
    else
        emit(g, OP_SET, -2);
    if (!before) {
        emit(g, OP_POP, -1);
        load_slot(g, old);
    }
}

static void conditional(struct generator *g, const struct node *node)
{
    struct patch *otherwise = NULL, *end = NULL;

    expression(g, node->a);
    jump_later(g, OP_JUMP_FALSE, -1, &otherwise);
    expression(g, node->b);
    jump_later(g, OP_JUMP, -1, &end);
    land(g, otherwise);
    expression(g, node->c);
    land(g, end);
}

static void call(struct generator *g, const struct node *node)
{
    if (node->a->kind == N_INDEX) {
        expression(g, node->a->a);
        emit(g, OP_COPY, 1);
        expression(g, node->a->b);
        emit(g, OP_GET, -1);
        emit(g, OP_SWAP, 0);
    } else {
        expression(g, node->a);
        emit(g, OP_UNDEFINED, 1);
    }
    int count = list_values(g, node->list);
    emit_with(g, OP_CALL, count, -count - 1);
}

static void closure(struct generator *g, const struct node *node)
{
    struct code *inner = function(g, node), *code = g->code;

    if (code->function_count == code->function_room) {
        size_t room = code->function_room ? code->function_room * 2 : 4, one = sizeof inner;
        code->functions = grow(code->functions, code->function_count * one, room * one);
        code->function_room = room;
    }
    code->functions[code->function_count] = inner;
    emit_with(g, OP_FUNCTION, (int)code->function_count++, 1);
}

static void value_of_constant(struct generator *g, enum token token)
{
    switch (token) {
    case T_TRUE:
        emit(g, OP_TRUE, 1);
        break;
    case T_FALSE:
        emit(g, OP_FALSE, 1);
        break;
    case T_NULL:
        emit(g, OP_NOTHING, 1);
        break;
    default:
        emit(g, OP_THIS, 1);
        break;
    }
}

static void expression(struct generator *g, const struct node *node)
{
    int count;

    if (++g->nested > MAX_DEPTH)
        fail(OVER_LIMIT, node->line, "nested too deeply");
    g->line = node->line;
    switch (node->kind) {
    case N_NAME:
        load_name(g, node);
        break;
    case N_NUMBER:
        load_constant(g, number(node->number));
        break;
    case N_STRING:
        load_constant(g, text(node->text, node->length));
        break;
    case N_CONSTANT:
        value_of_constant(g, node->op);
        break;
    case N_ARRAY:
        count = list_values(g, node->list);
        emit_with(g, OP_ARRAY, count, 1 - count);
        break;
    case N_OBJECT:
        object(g, node);
        break;
    case N_UNARY:
        unary(g, node);
        break;
    case N_UPDATE:
        update(g, node);
        break;
    case N_BINARY:
        binary(g, node);
        break;
    case N_ASSIGN:
        assign(g, node);
        break;
    case N_CONDITIONAL:
        conditional(g, node);
        break;
    case N_COMMA:
        expression(g, node->a);
        emit(g, OP_POP, -1);
        expression(g, node->b);
        break;
    case N_INDEX:
        place_of(g, node);
        emit(g, OP_GET, -1);
        break;
    case N_CALL:
        call(g, node);
        break;
    case N_NEW:
        expression(g, node->a);
        count = list_values(g, node->list);
        emit_with(g, OP_NEW, count, -count);
        break;
    default: /* N_FUNCTION */
        closure(g, node);
        break;
    }
    g->nested--;
}

/* Jumps out of statements. */

static void push_target(struct generator *g, struct target *target, int kind)
{
    *target = (struct target){.outer = g->targets, .kind = kind, .depth = g->depth};
    target->label = g->label;
    g->label = NULL;
    g->targets = target;
}

static void pop_target(struct generator *g)
{
    g->targets = g->targets->outer;
}

/* Leaves all statements inside a target: removes their handlers, runs their finally
   blocks, and restores the depth of the stack. */
static void leave_to(struct generator *g, const struct target *goal)
{
    struct target *innermost = g->targets;
    int depth = g->depth;

    for (struct target *t = innermost; t != goal; t = t->outer) {
        /* The finally block runs outside its own try. */
        g->targets = t->outer;
        if (t->kind != TRY && t->kind != FINALLY)
            continue;
        if (g->depth != t->depth) {
            emit_with(g, OP_TRIM, t->depth, 0);
            g->depth = t->depth;
        }
        if (t->kind == TRY)
            emit(g, OP_END_TRY, 0);
        if (t->kind == TRY && t->has_finally)
            jump_later(g, OP_GOSUB, 0, &t->gosubs);
    }
    if (goal && g->depth != goal->depth)
        emit_with(g, OP_TRIM, goal->depth, 0);
    g->targets = innermost;
    g->depth = depth;
}

static int same_label(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

static void break_out(struct generator *g, const struct node *node)
{
    struct target *t = g->targets;

    for (; t; t = t->outer)
        if (node->text ? t->kind == LABELLED && same_label(t->label, node->text)
                       : t->kind == LOOP || t->kind == SWITCH)
            break;
    if (t == NULL && node->text)
        fail(BAD_MEANING, node->line, "there is no label %s to break from", node->text);
    if (t == NULL)
        fail(BAD_MEANING, node->line, "break outside a loop or a switch");
    leave_to(g, t);
    jump_later(g, OP_JUMP, 0, &t->breaks);
}

static void continue_with(struct generator *g, const struct node *node)
{
    struct target *t = g->targets;

    for (; t; t = t->outer)
        if (t->kind == LOOP && (node->text == NULL || same_label(t->label, node->text)))
            break;
    if (t == NULL && node->text)
        fail(BAD_MEANING, node->line, "there is no loop %s to go on with", node->text);
    if (t == NULL)
        fail(BAD_MEANING, node->line, "continue outside a loop");
    leave_to(g, t);
    jump_later(g, OP_JUMP, 0, &t->continues);
}

static int inside_try(const struct generator *g)
{
    const struct target *t = g->targets;
    while (t && t->kind != TRY && t->kind != FINALLY)
        t = t->outer;
    return t != NULL;
}

static void return_from(struct generator *g, const struct node *node)
{
    if (g->outer == NULL)
        fail(BAD_MEANING, node->line, "return outside a function");
    if (node->a)
        expression(g, node->a);
    else
        emit(g, OP_UNDEFINED, 1);
    if (inside_try(g)) {
        if (g->result < 0)
            g->result = new_slot(g);
        begin_slot(g, g->result);
        leave_to(g, NULL);
        load_slot(g, g->result);
    }
    emit(g, OP_RETURN, -1);
}

/* Statements. Each leaves the stack as it was. */

static void declaration(struct generator *g, const struct node *node)
{
    for (const struct node *one = node->list; one; one = one->next) {
        int up;
        g->line = one->line;
        if (one->a)
            expression(g, one->a);
        else if (node->op == T_VAR)
            continue;
        else
            emit(g, OP_UNDEFINED, 1);
        begin_slot(g, find(g, one->text, &up)->slot);
    }
}

static void if_else(struct generator *g, const struct node *node)
{
    struct patch *otherwise = NULL, *end = NULL;

    expression(g, node->a);
    jump_later(g, OP_JUMP_FALSE, -1, &otherwise);
    statement(g, node->b);
    if (node->c)
        jump_later(g, OP_JUMP, 0, &end);
    land(g, otherwise);
    if (node->c) {
        statement(g, node->c);
        land(g, end);
    }
}

static void while_loop(struct generator *g, const struct node *node)
{
    struct target loop;
    int start = here(g);

    push_target(g, &loop, LOOP);
    expression(g, node->a);
    jump_later(g, OP_JUMP_FALSE, -1, &loop.breaks);
    statement(g, node->b);
    land(g, loop.continues);
    emit_with(g, OP_JUMP, start, 0);
    pop_target(g);
    land(g, loop.breaks);
}

static void do_loop(struct generator *g, const struct node *node)
{
    struct target loop;
    int start = here(g);

    push_target(g, &loop, LOOP);
    statement(g, node->b);
    land(g, loop.continues);
    expression(g, node->a);
    emit_with(g, OP_JUMP_TRUE, start, -1);
    pop_target(g);
    land(g, loop.breaks);
}

static void for_loop(struct generator *g, const struct node *node)
{
    const char *label = g->label;
    struct target loop;
    struct block block;

    g->label = NULL;
    open_block(g, &block);
    declare_all(g, node->a);
    if (node->a)
        statement(g, node->a);
    int start = here(g);
    g->label = label;
    push_target(g, &loop, LOOP);
    if (node->b) {
        expression(g, node->b);
        jump_later(g, OP_JUMP_FALSE, -1, &loop.breaks);
    }
    statement(g, node->d);
    land(g, loop.continues);
    if (node->c) {
        expression(g, node->c);
        emit(g, OP_POP, -1);
    }
    emit_with(g, OP_JUMP, start, 0);
    pop_target(g);
    land(g, loop.breaks);
    close_block(g);
}

/* Assigns the name of a property on the stack to the variable of the loop. */
static void assign_name(struct generator *g, const struct node *target)
{
    int up;

    if (target->kind == N_DECLARATION) {
        begin_slot(g, find(g, target->list->text, &up)->slot);
    } else if (target->kind == N_NAME) {
        store_name(g, target);
        emit(g, OP_POP, -1);
    } else {
        int slot = new_slot(g);
        begin_slot(g, slot);
        place_of(g, target);
        load_slot(g, slot);
        emit(g, OP_SET, -2);
        emit(g, OP_POP, -1);
    }
}

static void for_in_loop(struct generator *g, const struct node *node)
{
    const char *label = g->label;
    struct target loop;
    struct block block;
    struct patch *end = NULL;

    g->label = NULL;
    open_block(g, &block);
    if (node->a->kind == N_DECLARATION)
        declare_all(g, node->a);
    expression(g, node->b);
    emit(g, OP_NAMES, 0);
    load_constant(g, number(0));
    int start = here(g);
    g->label = label;
    push_target(g, &loop, LOOP);
    jump_later(g, OP_NEXT, 1, &end);
    assign_name(g, node->a);
    statement(g, node->d);
    land(g, loop.continues);
    emit_with(g, OP_JUMP, start, 0);
    pop_target(g);
    land(g, end);
    land(g, loop.breaks);
    emit(g, OP_POP, -1);
    emit(g, OP_POP, -1);
    close_block(g);
}

static void switch_over(struct generator *g, const struct node *node)
{
    struct target target;
    struct block block;
    struct patch **cases, *otherwise = NULL;
    size_t count = 0, i = 0;

    expression(g, node->a);
    push_target(g, &target, SWITCH);
    open_block(g, &block);
    for (const struct node *one = node->list; one; one = one->next, count++)
        declare_all(g, one->list);
    cases = allocate(count * sizeof *cases);
    for (const struct node *one = node->list; one; one = one->next, i++) {
        if (one->a == NULL)
            continue;
        emit(g, OP_COPY, 1);
        expression(g, one->a);
        emit(g, OP_SAME, -1);
        jump_later(g, OP_JUMP_TRUE, -1, &cases[i]);
    }
    jump_later(g, OP_JUMP, 0, &otherwise);
    i = 0;
    int has_default = 0;
    for (const struct node *one = node->list; one; one = one->next, i++) {
        if (one->a == NULL) {
            land(g, otherwise);
            has_default = 1;
        }
        land(g, cases[i]);
        statements(g, one->list);
    }
    if (!has_default)
        land(g, otherwise);
    close_block(g);
    pop_target(g);
    land(g, target.breaks);
    emit(g, OP_POP, -1);
}

static int is_loop(const struct node *node)
{
    return node->kind == N_WHILE || node->kind == N_DO || node->kind == N_FOR ||
           node->kind == N_FOR_IN;
}

static void labelled(struct generator *g, const struct node *node)
{
    struct target target;

    for (const struct target *t = g->targets; t; t = t->outer)
        if (t->kind == LABELLED && same_label(t->label, node->text))
            fail(BAD_MEANING, node->line, "the label %s is there already", node->text);
    g->label = node->text;
    push_target(g, &target, LABELLED);
    if (is_loop(node->a))
        g->label = node->text;
    statement(g, node->a);
    g->label = NULL;
    pop_target(g);
    land(g, target.breaks);
}

static void throw_away(struct generator *g, const struct node *node)
{
    expression(g, node->a);
    emit(g, OP_THROW, -1);
}

/* try { A } catch (e) { B } finally { C }: two handlers, the inner one for A and the
   outer one for A and B. C is a subroutine that every exit calls. */
static void try_catch(struct generator *g, const struct node *node)
{
    struct target guarded, inner, finally;
    struct patch *on_error = NULL, *caught = NULL, *after_catch = NULL, *end = NULL;
    struct block block;

    push_target(g, &guarded, TRY);
    guarded.has_finally = node->c != NULL;
    if (node->c)
        jump_later(g, OP_TRY, 0, &on_error);
    if (node->b) {
        if (node->c)
            push_target(g, &inner, TRY);
        jump_later(g, OP_TRY, 0, &caught);
    }
    statement(g, node->a);
    emit(g, OP_END_TRY, 0);
    if (node->b) {
        pop_target(g);
        jump_later(g, OP_JUMP, 0, &after_catch);
        land(g, caught);
        g->depth++;
        open_block(g, &block);
        begin_slot(g, declare(g, g->block, node->text, T_LET, node->line)->slot);
        statement(g, node->b);
        close_block(g);
        land(g, after_catch);
        if (node->c == NULL)
            return;
        emit(g, OP_END_TRY, 0);
    }
    pop_target(g);
    jump_later(g, OP_GOSUB, 0, &guarded.gosubs);
    jump_later(g, OP_JUMP, 0, &end);

    /* The exception is thrown again after the finally block. */
    int error = new_slot(g);
    land(g, on_error);
    g->depth++;
    begin_slot(g, error);
    jump_later(g, OP_GOSUB, 0, &guarded.gosubs);
    load_slot(g, error);
    emit(g, OP_THROW, -1);

    land(g, guarded.gosubs);
    push_target(g, &finally, FINALLY);
    g->depth++;
    statement(g, node->c);
    emit(g, OP_BACK, -1);
    pop_target(g);
    land(g, end);
}

static void any_statement(struct generator *g, const struct node *node)
{
    switch (node->kind) {
    case N_BLOCK:
        scoped(g, node->list);
        break;
    case N_DECLARATION:
        declaration(g, node);
        break;
    case N_EMPTY:
        break;
    case N_EXPRESSION:
        expression(g, node->a);
        emit(g, OP_POP, -1);
        break;
    case N_IF:
        if_else(g, node);
        break;
    case N_WHILE:
        while_loop(g, node);
        break;
    case N_DO:
        do_loop(g, node);
        break;
    case N_FOR:
        for_loop(g, node);
        break;
    case N_FOR_IN:
        for_in_loop(g, node);
        break;
    case N_SWITCH:
        switch_over(g, node);
        break;
    case N_BREAK:
        break_out(g, node);
        break;
    case N_CONTINUE:
        continue_with(g, node);
        break;
    case N_LABEL:
        labelled(g, node);
        break;
    case N_RETURN:
        return_from(g, node);
        break;
    case N_THROW:
        throw_away(g, node);
        break;
    default: /* N_TRY */
        try_catch(g, node);
        break;
    }
}

static void statement(struct generator *g, const struct node *node)
{
    g->line = node->line;
    if (!is_loop(node))
        g->label = NULL;
    any_statement(g, node);
}

static struct code *function(struct generator *outer, const struct node *node)
{
    struct code *code = allocate(sizeof *code);
    struct generator g = {.outer = outer, .code = code, .result = -1, .line = node->line};
    struct block parameters, body;

    g.nested = outer ? outer->nested : 0;
    code->name = node->text ? node->text : "a function";
    open_block(&g, &parameters);
    for (const struct node *one = node->list; one; one = one->next) {
        if (find_in(&parameters, one->text))
            fail(BAD_MEANING, one->line, "two parameters are called %s", one->text);
        declare(&g, &parameters, one->text, T_FUNCTION, one->line);
        code->parameters++;
    }
    g.function_block = &parameters;
    hoist(&g, node->a);
    open_block(&g, &body);
    declare_all(&g, node->a->list);
    for (const struct name *name = body.names; name; name = name->next) {
        const struct name *other = find_in(&parameters, name->text);
        if (other && !may_repeat(name->declared))
            fail(BAD_MEANING, node->line, "%s is declared already", name->text);
    }
    statements(&g, node->a->list);
    emit(&g, OP_UNDEFINED, 1);
    emit(&g, OP_RETURN, -1);
    return code;
}

struct code *generate(const struct node *script)
{
    struct node whole = {.kind = N_FUNCTION, .text = "the script", .a = (struct node *)script};
    return function(NULL, &whole);
}
