/* A calculator: reads one statement per line from standard input, prints one answer each.
 *
 *     statement   [ expression ] newline
 *     expression  conjunction { '|' conjunction }
 *     conjunction sum { '&' sum }
 *     sum         product { ('+' | '-') product }
 *     product     unary { ('*' | '/' | '%') unary }
 *     unary       '-' unary | primary
 *     primary     number | variable [ '=' expression ] | '(' expression ')'
 *
 * Variables are a to z and start at 0. Arithmetic wraps at 64 bits. A line that
 * does not parse is reported and skipped; the exit status is then 1.
 *
 * Two checks are missing on purpose: '/' and '%' do not check whether their right
 * operand is zero. The purpose of this example is to find such an input.
 */
#include <ctype.h>
#include <limits.h>
#include <stdio.h>

#define NESTING_MAX 200

enum token { END, NEWLINE, NUMBER, VARIABLE, OPERATOR, UNKNOWN };

/* The token of a byte that is neither a digit nor a letter; 0 if it has none. */
static const unsigned char kinds[UCHAR_MAX + 1] = {
    ['\n'] = NEWLINE, ['+'] = OPERATOR, ['-'] = OPERATOR, ['*'] = OPERATOR,
    ['/'] = OPERATOR, ['%'] = OPERATOR, ['&'] = OPERATOR, ['|'] = OPERATOR,
    ['('] = OPERATOR, [')'] = OPERATOR, ['='] = OPERATOR,
};

static enum token token;    /* the current token */
static long value;          /* of a NUMBER */
static int symbol;          /* the character of any other token */
static const char *problem; /* the first error in this line, or NULL */
static int nesting;
static long variables[26];

static long expression(void);

/* Returns 1, so that a division by it does not fail. The value is never printed. */
static long fail(const char *what)
{
    if (problem == NULL)
        problem = what;
    return 1;
}

static void number(int c)
{
    value = 0;
    while (isdigit(c)) {
        int digit = c - '0';
        if (value > (LONG_MAX - digit) / 10)
            value = fail("number too large");
        else
            value = value * 10 + digit;
        c = getchar();
    }
    ungetc(c, stdin);
}

static void next(void)
{
    int c = getchar();

    while (c == ' ' || c == '\t' || c == '\r')
        c = getchar();
    symbol = c;
    if (c == EOF) {
        token = END;
    } else if (isdigit(c)) {
        token = NUMBER;
        number(c);
    } else if (islower(c)) {
        token = VARIABLE;
    } else {
        token = kinds[c] != 0 ? kinds[c] : UNKNOWN;
    }
}

static int accept(int operator)
{
    if (token != OPERATOR || symbol != operator)
        return 0;
    next();
    return 1;
}

static long primary(void)
{
    long result;
    if (token == NUMBER) {
        result = value;
        next();
    } else if (token == VARIABLE) {
        int name = symbol - 'a';
        next();
        if (accept('='))
            variables[name] = expression();
        result = variables[name];
    } else if (accept('(')) {
        result = expression();
        if (!accept(')'))
            result = fail("missing )");
    } else {
        result = fail(token == UNKNOWN ? "unknown character" : "expression expected");
    }
    return result;
}

static long unary(void)
{
    long result;
    if (++nesting > NESTING_MAX)
        result = fail("nested too deeply");
    else if (accept('-'))
        result = (long)(0ul - (unsigned long)unary());
    else
        result = primary();
    nesting--;
    return result;
}

static long product(void)
{
    long left = unary();
    for (;;) {
        if (accept('*')) {
            left = (long)((unsigned long)left * (unsigned long)unary());
        } else if (accept('/')) {
            long right = unary();
            left = right == -1 ? (long)(0ul - (unsigned long)left) : left / right;
        } else if (accept('%')) {
            long right = unary();
            left = right == -1 ? 0 : left % right;
        } else {
            return left;
        }
    }
}

static long sum(void)
{
    long left = product();
    for (;;) {
        if (accept('+'))
            left = (long)((unsigned long)left + (unsigned long)product());
        else if (accept('-'))
            left = (long)((unsigned long)left - (unsigned long)product());
        else
            return left;
    }
}

static long conjunction(void)
{
    long left = sum();
    while (accept('&'))
        left &= sum();
    return left;
}

static long expression(void)
{
    long left = conjunction();
    while (accept('|'))
        left |= conjunction();
    return left;
}

static int statement(void)
{
    long result = expression();

    if (token != NEWLINE && token != END)
        fail("end of line expected");
    if (problem == NULL)
        printf("%ld\n", result);
    else
        fprintf(stderr, "calc: %s\n", problem);
    while (token != NEWLINE && token != END)
        next();
    return problem != NULL;
}

int main(void)
{
    int status = 0;

    next();
    while (token != END) {
        if (token != NEWLINE)
            status |= statement();
        problem = NULL;
        if (token == NEWLINE)
            next();
    }
    return status;
}
