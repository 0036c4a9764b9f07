/* The parser: recursive descent, binary operators by precedence. What the grammar
   in tinyjs.g4 derives is what it takes; what can be told from a tree alone, such as
   an assignment to something that is no place, it refuses as meaningless. */
#include "ast.h"
#include "base.h"

/* A script that nests deeper is rejected, before the C stack overflows. */
#define MAX_DEPTH 400

struct parser {
    struct lexer lexer;
    enum token token;
    int line; /* of the token */
    int depth;
    const struct node *left; /* the last expression that may be the target of an assignment */
};

static struct node *statement(struct parser *p);
static struct node *item(struct parser *p);
static struct node *expression(struct parser *p);
static struct node *assignment(struct parser *p);
static struct node *function(struct parser *p, int needs_name);
static struct node *unary(struct parser *p);

static void advance(struct parser *p)
{
    p->token = nextToken(&p->lexer);
    p->line = p->lexer.line;
}

static _Noreturn void unexpected(struct parser *p, const char *wanted)
{
    fail(BAD_SYNTAX, p->line, "%s instead of %s", token_text(p->token), wanted);
}

static int accept(struct parser *p, enum token token)
{
    if (p->token != token)
        return 0;
    advance(p);
    return 1;
}

static void expect(struct parser *p, enum token token)
{
    if (!accept(p, token))
        unexpected(p, token_text(token));
}

static struct node *new_node(struct parser *p, enum kind kind)
{
    struct node *node = allocate(sizeof *node);
    node->kind = kind;
    node->line = p->line;
    return node;
}

static void enter(struct parser *p)
{
    if (++p->depth > MAX_DEPTH)
        fail(OVER_LIMIT, p->line, "nested too deeply");
}

static void leave(struct parser *p)
{
    p->depth--;
}

static struct node **append(struct node **end, struct node *node)
{
    *end = node;
    return &node->next;
}

/* Copies the text of a name into the node. */
static void take_name(struct parser *p, struct node *node)
{
    if (p->token != T_IDENTIFIER)
        unexpected(p, "a name");
    node->text = p->lexer.text;
    node->length = p->lexer.length;
    advance(p);
}

static int is_place(const struct node *node)
{
    return node->kind == N_NAME || node->kind == N_INDEX;
}

/* The grammar allows no operators in a target; that it can be assigned is checked here. */
static void check_place(struct parser *p, const struct node *node, const char *what)
{
    if (node != p->left)
        fail(BAD_SYNTAX, node->line, "%s with an operator in its place", what);
    if (!is_place(node))
        fail(BAD_MEANING, node->line, "%s needs a variable or a property", what);
}

/* Expressions, the innermost first. */

static struct node *list_of(struct parser *p, enum token close)
{
    struct node *first = NULL, **end = &first;

    if (p->token != close)
        do
            end = append(end, assignment(p));
        while (accept(p, T_COMMA));
    expect(p, close);
    return first;
}

static struct node *property(struct parser *p)
{
    struct node *node = new_node(p, N_PROPERTY);

    switch (p->token) {
    case T_IDENTIFIER:
    case T_STRING:
        node->text = p->lexer.text;
        node->length = p->lexer.length;
        break;
    case T_NUMBER:
        /* The code generator converts it to text. */
        node->number = p->lexer.number;
        break;
    default:
        unexpected(p, "the name of a property");
    }
    advance(p);
    expect(p, T_COLON);
    node->a = assignment(p);
    return node;
}

static struct node *object(struct parser *p)
{
    struct node *node = new_node(p, N_OBJECT), **end = &node->list;

    expect(p, T_OPEN_BRACE);
    if (p->token != T_CLOSE_BRACE)
        do
            end = append(end, property(p));
        while (accept(p, T_COMMA));
    expect(p, T_CLOSE_BRACE);
    return node;
}

static struct node *primary(struct parser *p)
{
    struct node *node;

    switch (p->token) {
    case T_IDENTIFIER:
        node = new_node(p, N_NAME);
        take_name(p, node);
        return node;
    case T_NUMBER:
        node = new_node(p, N_NUMBER);
        node->number = p->lexer.number;
        advance(p);
        return node;
    case T_STRING:
        node = new_node(p, N_STRING);
        node->text = p->lexer.text;
        node->length = p->lexer.length;
        advance(p);
        return node;
    case T_TRUE:
    case T_FALSE:
    case T_NULL:
    case T_THIS:
        node = new_node(p, N_CONSTANT);
        node->op = p->token;
        advance(p);
        return node;
    case T_OPEN_PAREN:
        advance(p);
        node = expression(p);
        expect(p, T_CLOSE_PAREN);
        return node;
    case T_OPEN_BRACKET:
        node = new_node(p, N_ARRAY);
        advance(p);
        node->list = list_of(p, T_CLOSE_BRACKET);
        return node;
    case T_OPEN_BRACE:
        return object(p);
    case T_FUNCTION:
        return function(p, 0);
    default:
        unexpected(p, "an expression");
    }
}

/* Parses a property access after an expression; NULL if there is none. */
static struct node *member(struct parser *p, struct node *of)
{
    struct node *node;

    if (p->token == T_DOT) {
        node = new_node(p, N_INDEX);
        advance(p);
        node->a = of;
        node->b = new_node(p, N_STRING);
        take_name(p, node->b);
        return node;
    }
    if (p->token == T_OPEN_BRACKET) {
        node = new_node(p, N_INDEX);
        advance(p);
        node->a = of;
        node->b = expression(p);
        expect(p, T_CLOSE_BRACKET);
        return node;
    }
    return NULL;
}

/* `new` takes the next arguments; a `new` inside it takes its own first. */
static struct node *construction(struct parser *p)
{
    struct node *node, *inner;

    if (p->token != T_NEW)
        return primary(p);
    enter(p);
    node = new_node(p, N_NEW);
    advance(p);
    node->a = construction(p);
    while ((inner = member(p, node->a)) != NULL)
        node->a = inner;
    if (accept(p, T_OPEN_PAREN))
        node->list = list_of(p, T_CLOSE_PAREN);
    leave(p);
    return node;
}

static struct node *postfix(struct parser *p)
{
    struct node *node = construction(p), *outer;

    for (;;) {
        if (p->token == T_OPEN_PAREN) {
            outer = new_node(p, N_CALL);
            advance(p);
            outer->a = node;
            outer->list = list_of(p, T_CLOSE_PAREN);
        } else if ((outer = member(p, node)) == NULL) {
            break;
        }
        node = outer;
    }
    p->left = node;
    if (p->token == T_INCREMENT || p->token == T_DECREMENT) {
        check_place(p, node, token_text(p->token));
        outer = new_node(p, N_UPDATE);
        outer->op = p->token;
        outer->a = node;
        advance(p);
        node = outer;
    }
    return node;
}

static struct node *prefixed(struct parser *p, enum kind kind)
{
    struct node *node = new_node(p, kind);

    enter(p);
    node->op = p->token;
    advance(p);
    node->a = unary(p);
    leave(p);
    return node;
}

static struct node *unary(struct parser *p)
{
    struct node *node;

    switch (p->token) {
    case T_INCREMENT:
    case T_DECREMENT:
        node = prefixed(p, N_UPDATE);
        node->number = 1;
        check_place(p, node->a, token_text(node->op));
        return node;
    case T_DELETE:
    case T_TYPEOF:
    case T_VOID:
    case T_PLUS:
    case T_MINUS:
    case T_BANG:
    case T_TILDE:
        return prefixed(p, N_UNARY);
    default:
        return postfix(p);
    }
}

/* The precedence of a binary operator; 0 if the token is none. */
static int precedence(enum token token)
{
    switch (token) {
    case T_EITHER: return 1;
    case T_BOTH: return 2;
    case T_OR: return 3;
    case T_XOR: return 4;
    case T_AND: return 5;
    case T_EQUAL: case T_NOT_EQUAL: case T_SAME: case T_NOT_SAME: return 6;
    case T_LESS: case T_MORE: case T_LESS_EQUAL: case T_MORE_EQUAL: return 7;
    case T_SHIFT_LEFT: case T_SHIFT_RIGHT: case T_SHIFT_UNSIGNED: return 8;
    case T_PLUS: case T_MINUS: return 9;
    case T_STAR: case T_SLASH: case T_PERCENT: return 10;
    default: return 0;
    }
}

/* Parses operands joined by operators of at least this precedence. */
static struct node *binary(struct parser *p, int least)
{
    struct node *left = unary(p);

    for (;;) {
        int binds = precedence(p->token);
        if (binds == 0 || binds < least)
            return left;
        struct node *node = new_node(p, N_BINARY);
        node->op = p->token;
        advance(p);
        node->a = left;
        node->b = binary(p, binds + 1);
        left = node;
    }
}

static struct node *conditional(struct parser *p)
{
    struct node *condition = binary(p, 1);

    if (p->token != T_QUESTION)
        return condition;
    struct node *node = new_node(p, N_CONDITIONAL);
    advance(p);
    node->a = condition;
    node->b = assignment(p);
    expect(p, T_COLON);
    node->c = assignment(p);
    return node;
}

/* The operator of a compound assignment, `=` of a plain one; T_END for other tokens. */
static enum token assigned_by(enum token token)
{
    switch (token) {
    case T_ASSIGN: return T_ASSIGN;
    case T_ASSIGN_PLUS: return T_PLUS;
    case T_ASSIGN_MINUS: return T_MINUS;
    case T_ASSIGN_STAR: return T_STAR;
    case T_ASSIGN_SLASH: return T_SLASH;
    case T_ASSIGN_PERCENT: return T_PERCENT;
    case T_ASSIGN_LEFT: return T_SHIFT_LEFT;
    case T_ASSIGN_RIGHT: return T_SHIFT_RIGHT;
    case T_ASSIGN_UNSIGNED: return T_SHIFT_UNSIGNED;
    case T_ASSIGN_AND: return T_AND;
    case T_ASSIGN_OR: return T_OR;
    case T_ASSIGN_XOR: return T_XOR;
    default: return T_END;
    }
}

static struct node *assignment(struct parser *p)
{
    enter(p);
    struct node *left = conditional(p);
    enum token op = assigned_by(p->token);
    if (op != T_END) {
        check_place(p, left, token_text(p->token));
        struct node *node = new_node(p, N_ASSIGN);
        node->op = op;
        advance(p);
        node->a = left;
        node->b = assignment(p);
        left = node;
    }
    leave(p);
    return left;
}

static struct node *expression(struct parser *p)
{
    struct node *left = assignment(p);

    while (p->token == T_COMMA) {
        struct node *node = new_node(p, N_COMMA);
        advance(p);
        node->a = left;
        node->b = assignment(p);
        left = node;
    }
    return left;
}

/* Functions and statements. */

static struct node *block(struct parser *p)
{
    struct node *node = new_node(p, N_BLOCK), **end = &node->list;

    expect(p, T_OPEN_BRACE);
    while (p->token != T_CLOSE_BRACE)
        end = append(end, item(p));
    advance(p);
    return node;
}

static struct node *function(struct parser *p, int needs_name)
{
    struct node *node = new_node(p, N_FUNCTION), **end = &node->list;

    enter(p);
    expect(p, T_FUNCTION);
    if (needs_name || p->token == T_IDENTIFIER)
        take_name(p, node);
    expect(p, T_OPEN_PAREN);
    if (p->token != T_CLOSE_PAREN)
        do {
            struct node *parameter = new_node(p, N_NAME);
            take_name(p, parameter);
            end = append(end, parameter);
        } while (accept(p, T_COMMA));
    expect(p, T_CLOSE_PAREN);
    node->a = block(p);
    leave(p);
    return node;
}

static struct node *parenthesised(struct parser *p)
{
    expect(p, T_OPEN_PAREN);
    struct node *node = expression(p);
    expect(p, T_CLOSE_PAREN);
    return node;
}

static int is_declaring(enum token token)
{
    return token == T_VAR || token == T_LET || token == T_CONST;
}

static struct node *declaration(struct parser *p)
{
    struct node *node = new_node(p, N_DECLARATION), **end = &node->list;

    node->op = p->token;
    advance(p);
    do {
        struct node *one = new_node(p, N_DECLARATOR);
        take_name(p, one);
        if (accept(p, T_ASSIGN))
            one->a = assignment(p);
        end = append(end, one);
    } while (accept(p, T_COMMA));
    return node;
}

/* A constant needs a value, except in the head of a for-in loop. */
static void check_constants(const struct node *declaration)
{
    if (declaration->op != T_CONST)
        return;
    for (const struct node *one = declaration->list; one; one = one->next)
        if (one->a == NULL)
            fail(BAD_MEANING, one->line, "the constant %s has no value", one->text);
}

static struct node *loop_over(struct parser *p, struct node *node, struct node *target)
{
    node->kind = N_FOR_IN;
    node->a = target;
    advance(p);
    node->b = expression(p);
    expect(p, T_CLOSE_PAREN);
    node->d = statement(p);
    return node;
}

static struct node *for_statement(struct parser *p)
{
    struct node *node = new_node(p, N_FOR);

    advance(p);
    expect(p, T_OPEN_PAREN);
    if (is_declaring(p->token)) {
        node->a = declaration(p);
        const struct node *first = node->a->list;
        if (p->token == T_IN && first->next == NULL && first->a == NULL)
            return loop_over(p, node, node->a);
        check_constants(node->a);
    } else if (p->token != T_SEMICOLON) {
        struct node *first = expression(p);
        if (p->token == T_IN) {
            check_place(p, first, "a loop over properties");
            return loop_over(p, node, first);
        }
        node->a = new_node(p, N_EXPRESSION);
        node->a->a = first;
    }
    expect(p, T_SEMICOLON);
    if (p->token != T_SEMICOLON)
        node->b = expression(p);
    expect(p, T_SEMICOLON);
    if (p->token != T_CLOSE_PAREN)
        node->c = expression(p);
    expect(p, T_CLOSE_PAREN);
    node->d = statement(p);
    return node;
}

static struct node *case_of(struct parser *p)
{
    struct node *node = new_node(p, N_CASE), **end = &node->list;

    if (accept(p, T_CASE))
        node->a = expression(p);
    else
        expect(p, T_DEFAULT);
    expect(p, T_COLON);
    while (p->token != T_CASE && p->token != T_DEFAULT && p->token != T_CLOSE_BRACE)
        end = append(end, item(p));
    return node;
}

static struct node *switch_statement(struct parser *p)
{
    struct node *node = new_node(p, N_SWITCH), **end = &node->list;
    int defaults = 0;

    advance(p);
    node->a = parenthesised(p);
    expect(p, T_OPEN_BRACE);
    while (p->token != T_CLOSE_BRACE) {
        struct node *one = case_of(p);
        if (one->a == NULL && ++defaults > 1)
            fail(BAD_MEANING, one->line, "a second default");
        end = append(end, one);
    }
    advance(p);
    return node;
}

static struct node *try_statement(struct parser *p)
{
    struct node *node = new_node(p, N_TRY);

    advance(p);
    node->a = block(p);
    if (accept(p, T_CATCH)) {
        expect(p, T_OPEN_PAREN);
        take_name(p, node);
        expect(p, T_CLOSE_PAREN);
        node->b = block(p);
        if (accept(p, T_FINALLY))
            node->c = block(p);
    } else {
        expect(p, T_FINALLY);
        node->c = block(p);
    }
    return node;
}

static struct node *jump(struct parser *p, enum kind kind)
{
    struct node *node = new_node(p, kind);

    advance(p);
    if (p->token == T_IDENTIFIER)
        take_name(p, node);
    expect(p, T_SEMICOLON);
    return node;
}

/* Parses an expression statement, or a label, which starts in the same way. */
static struct node *expression_statement(struct parser *p)
{
    struct node *node = new_node(p, N_EXPRESSION);
    int may_be_label = p->token == T_IDENTIFIER;

    node->a = expression(p);
    if (may_be_label && p->token == T_COLON && node->a->kind == N_NAME) {
        node->kind = N_LABEL;
        node->text = node->a->text;
        node->length = node->a->length;
        advance(p);
        node->a = statement(p);
        return node;
    }
    expect(p, T_SEMICOLON);
    return node;
}

static struct node *plain_statement(struct parser *p)
{
    struct node *node;

    switch (p->token) {
    case T_OPEN_BRACE:
        return block(p);
    case T_SEMICOLON:
        node = new_node(p, N_EMPTY);
        advance(p);
        return node;
    case T_VAR:
        node = declaration(p);
        expect(p, T_SEMICOLON);
        return node;
    case T_FUNCTION:
        unexpected(p, "a statement");
    case T_IF:
        node = new_node(p, N_IF);
        advance(p);
        node->a = parenthesised(p);
        node->b = statement(p);
        if (accept(p, T_ELSE))
            node->c = statement(p);
        return node;
    case T_WHILE:
        node = new_node(p, N_WHILE);
        advance(p);
        node->a = parenthesised(p);
        node->b = statement(p);
        return node;
    case T_DO:
        node = new_node(p, N_DO);
        advance(p);
        node->b = statement(p);
        expect(p, T_WHILE);
        node->a = parenthesised(p);
        expect(p, T_SEMICOLON);
        return node;
    case T_FOR:
        return for_statement(p);
    case T_SWITCH:
        return switch_statement(p);
    case T_BREAK:
        return jump(p, N_BREAK);
    case T_CONTINUE:
        return jump(p, N_CONTINUE);
    case T_RETURN:
        node = new_node(p, N_RETURN);
        advance(p);
        if (p->token != T_SEMICOLON)
            node->a = expression(p);
        expect(p, T_SEMICOLON);
        return node;
    case T_THROW:
        node = new_node(p, N_THROW);
        advance(p);
        node->a = expression(p);
        expect(p, T_SEMICOLON);
        return node;
    case T_TRY:
        return try_statement(p);
    default:
        return expression_statement(p);
    }
}

static struct node *statement(struct parser *p)
{
    enter(p);
    struct node *node = plain_statement(p);
    leave(p);
    return node;
}

/* Parses an element of a list of statements: a statement or a declaration. */
static struct node *item(struct parser *p)
{
    struct node *node;

    switch (p->token) {
    case T_LET:
    case T_CONST:
        node = declaration(p);
        check_constants(node);
        expect(p, T_SEMICOLON);
        return node;
    case T_FUNCTION:
        return function(p, 1);
    default:
        return statement(p);
    }
}

struct node *parse(const char *script, size_t length)
{
    struct parser parser = {.lexer = {.at = script, .end = script + length, .line = 1}};
    struct node *node, **end;

    advance(&parser);
    node = new_node(&parser, N_BLOCK);
    end = &node->list;
    while (parser.token != T_END)
        end = append(end, item(&parser));
    return node;
}
