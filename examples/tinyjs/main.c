/* tinyjs: runs a script from standard input, or from the file in the first argument. */
#include "ast.h"
#include "base.h"
#include "code.h"
#include "vm.h"
#include <stdio.h>
#include <string.h>

#define MAX_SCRIPT (1u << 20)

static char *read_all(FILE *file, size_t *length)
{
    size_t room = 4096, used = 0, got;
    char *script = allocate(room);

    while ((got = fread(script + used, 1, room - used, file)) > 0) {
        used += got;
        if (used > MAX_SCRIPT)
            fail(OVER_LIMIT, 0, "the script is too long");
        if (used == room) {
            script = grow(script, used, room * 2);
            room *= 2;
        }
    }
    *length = used;
    return script;
}

int main(int count, char **args)
{
    FILE *file = count > 1 ? fopen(args[1], "rb") : stdin;
    size_t length;

    if (file == NULL)
        fail(BAD_SYNTAX, 0, "%s cannot be read", args[1]);
    const char *script = read_all(file, &length);
    if (file != stdin)
        fclose(file);
    run(generate(parse(script, length)));
    return FINE;
}
