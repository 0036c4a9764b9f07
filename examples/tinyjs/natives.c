#include "natives.h"
#include "base.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define MAX_OUTPUT (1u << 16)

static struct value argument(const struct value *args, size_t count, size_t i)
{
    return i < count ? args[i] : undefined();
}

static struct value print(struct value self, const struct value *args, size_t count)
{
    static size_t printed;

    (void)self;
    for (size_t i = 0; i < count; i++) {
        const struct string *string = string_of(args[i]);
        printed += string->length + 1;
        if (printed > MAX_OUTPUT)
            fail(OVER_LIMIT, 0, "too much output");
        if (i > 0)
            putchar(' ');
        fwrite(string->text, 1, string->length, stdout);
    }
    if (++printed > MAX_OUTPUT)
        fail(OVER_LIMIT, 0, "too much output");
    putchar('\n');
    return undefined();
}

static struct value to_string(struct value self, const struct value *args, size_t count)
{
    (void)self;
    return (struct value){.type = STRING, .string = string_of(argument(args, count, 0))};
}

static struct value to_number(struct value self, const struct value *args, size_t count)
{
    (void)self;
    return number(number_of(argument(args, count, 0)));
}

static struct value rounded_down(struct value self, const struct value *args, size_t count)
{
    (void)self;
    return number(floor(number_of(argument(args, count, 0))));
}

static struct value array_push(struct value self, const struct value *args, size_t count)
{
    for (size_t i = 0; i < count; i++)
        push(self.object, args[i]);
    return number((double)self.object->length);
}

static struct value array_pop(struct value self, const struct value *args, size_t count)
{
    (void)args, (void)count;
    struct object *array = self.object;
    return array->length > 0 ? array->elements[--array->length] : undefined();
}

static struct value array_join(struct value self, const struct value *args, size_t count)
{
    struct value all = literal("");
    struct value between = count > 0 ? args[0] : literal(",");

    for (size_t i = 0; i < self.object->length; i++) {
        if (i > 0)
            all = concatenated(all.string, string_of(between));
        all = concatenated(all.string, string_of(self.object->elements[i]));
    }
    return all;
}

static struct value char_at(struct value self, const struct value *args, size_t count)
{
    ptrdiff_t place = as_place(argument(args, count, 0));

    if (place < 0 || (size_t)place >= self.string->length)
        return literal("");
    return text(self.string->text + place, 1);
}

static struct value index_of(struct value self, const struct value *args, size_t count)
{
    const struct string *in = self.string, *what = string_of(argument(args, count, 0));

    for (size_t i = 0; what->length <= in->length && i <= in->length - what->length; i++)
        if (memcmp(in->text + i, what->text, what->length) == 0)
            return number((double)i);
    return number(-1);
}

static const struct native globals[] = {
    {"print", UNDEFINED, print},
    {"String", UNDEFINED, to_string},
    {"Number", UNDEFINED, to_number},
    {"floor", UNDEFINED, rounded_down},
    {NULL, UNDEFINED, NULL},
};
static const struct native array_methods[] = {
    {"push", OBJECT, array_push},
    {"pop", OBJECT, array_pop},
    {"join", OBJECT, array_join},
    {NULL, UNDEFINED, NULL},
};
static const struct native string_methods[] = {
    {"charAt", STRING, char_at},
    {"indexOf", STRING, index_of},
    {NULL, UNDEFINED, NULL},
};

static const struct native *find(const struct native *table, const struct string *name)
{
    for (; table->name; table++)
        if (strcmp(table->name, name->text) == 0)
            return table;
    return NULL;
}

const struct native *global_native(const struct string *name)
{
    return find(globals, name);
}

const struct native *array_method(const struct string *name)
{
    return find(array_methods, name);
}

const struct native *string_method(const struct string *name)
{
    return find(string_methods, name);
}
