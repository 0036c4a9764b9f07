/* Reads a small command language in one process for many inputs: numbers, names, brackets.
 * It has a table that grows with the input, and crashes on one path.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    char name[8];
    long value;
};

static long look_up(struct entry *table, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(table[i].name, name) == 0) return table[i].value;
    return 0;
}

static int is_letter(int c) { return (c >= 'a' && c <= 'z') || c == '_'; }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct entry *table = NULL;
    size_t count = 0, at = 0;
    long sum = 0, depth = 0;
    while (at < size) {
        char name[8] = "";
        size_t length = 0;
        while (at < size && is_letter(data[at])) {
            if (length < sizeof name - 1) name[length++] = (char)data[at];
            at++;
        }
        if (at == size) break;
        switch (data[at++]) {
        case '=': {
            long value = 0;
            while (at < size && data[at] >= '0' && data[at] <= '9' && value < 100000)
                value = 10 * value + (data[at++] - '0');
            if (length == 0) break;
            table = realloc(table, (count + 1) * sizeof *table);
            if (!table) return 0;
            memcpy(table[count].name, name, sizeof name);
            table[count++].value = value;
            break;
        }
        case '+': sum += look_up(table, count, name); break;
        case '-': sum -= look_up(table, count, name); break;
        case '*': sum *= look_up(table, count, name) + 1; break;
        case '(': depth++; break;
        case ')':
            if (depth > 0) depth--;
            break;
        case '!':
            if (depth == 3 && sum == 4711) abort();
            break;
        case '#':
            while (at < size && data[at] != '\n') at++;
            break;
        default: break;
        }
    }
    free(table);
    return 0;
}
