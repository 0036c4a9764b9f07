#include "value.h"
#include "base.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_STRING (1u << 16)
#define MAX_ELEMENTS (1u << 12)
/* Nested arrays are printed only to this depth, because they may contain themselves. */
#define MAX_NESTED 4

struct value undefined(void)
{
    return (struct value){.type = UNDEFINED};
}

struct value nothing(void)
{
    return (struct value){.type = NOTHING};
}

struct value boolean(int truth)
{
    return (struct value){.type = BOOLEAN, .truth = truth};
}

struct value number(double n)
{
    return (struct value){.type = NUMBER, .number = n};
}

static struct string *new_string(const char *bytes, size_t length)
{
    struct string *string = allocate(sizeof *string);
    string->length = length;
    string->text = copy_text(bytes, length);
    return string;
}

struct value text(const char *bytes, size_t length)
{
    return (struct value){.type = STRING, .string = new_string(bytes, length)};
}

struct value literal(const char *bytes)
{
    return text(bytes, strlen(bytes));
}

struct value of_object(struct object *object)
{
    return (struct value){.type = OBJECT, .object = object};
}

struct object *new_object(int is_array)
{
    struct object *object = allocate(sizeof *object);
    object->is_array = is_array;
    return object;
}

void push(struct object *array, struct value value)
{
    if (array->length == MAX_ELEMENTS)
        fail(OVER_LIMIT, 0, "an array is too long");
    if (array->length == array->element_room) {
        size_t room = array->element_room ? array->element_room * 2 : 4;
        array->elements = grow(array->elements, array->length * sizeof value, room * sizeof value);
        array->element_room = room;
    }
    array->elements[array->length++] = value;
}

static struct property *find(const struct object *object, const struct string *name)
{
    for (size_t i = 0; i < object->count; i++) {
        struct property *p = &object->properties[i];
        if (!p->deleted && p->name->length == name->length &&
            memcmp(p->name->text, name->text, name->length) == 0)
            return p;
    }
    return NULL;
}

struct value get_property(const struct object *object, const struct string *name)
{
    const struct property *found = find(object, name);
    return found ? found->value : undefined();
}

void set_property(struct object *object, struct string *name, struct value value)
{
    struct property *found = find(object, name);

    if (found) {
        found->value = value;
        return;
    }
    if (object->count == MAX_ELEMENTS)
        fail(OVER_LIMIT, 0, "an object has too many properties");
    if (object->count == object->room) {
        size_t room = object->room ? object->room * 2 : 4, size = sizeof *object->properties;
        object->properties = grow(object->properties, object->count * size, room * size);
        object->room = room;
    }
    object->properties[object->count++] = (struct property){name, value, 0};
}

void delete_property(struct object *object, const struct string *name)
{
    struct property *found = find(object, name);
    if (found)
        found->deleted = 1;
}

/* The index that a text of digits without leading zeros is, or -1. */
static ptrdiff_t place_in(const struct string *string)
{
    ptrdiff_t place = 0;

    if (string->length == 0 || string->length > 4)
        return -1;
    for (size_t i = 0; i < string->length; i++) {
        int c = string->text[i];
        if (c < '0' || c > '9' || (c == '0' && i == 0 && string->length > 1))
            return -1;
        place = place * 10 + (c - '0');
    }
    return place < (ptrdiff_t)MAX_ELEMENTS ? place : -1;
}

ptrdiff_t as_place(struct value value)
{
    if (value.type == STRING)
        return place_in(value.string);
    if (value.type != NUMBER || !(value.number >= 0 && value.number < MAX_ELEMENTS))
        return -1;
    ptrdiff_t place = (ptrdiff_t)value.number;
    return (double)place == value.number ? place : -1;
}

int truth_of(struct value value)
{
    switch (value.type) {
    case UNDEFINED:
    case EMPTY:
    case NOTHING:
        return 0;
    case BOOLEAN:
        return value.truth;
    case NUMBER:
        return value.number != 0 && !isnan(value.number);
    case STRING:
        return value.string->length > 0;
    default:
        return 1;
    }
}

static double number_in(const struct string *string)
{
    const char *start = string->text;
    char *end;

    start += strspn(start, " \t\r\n");
    if (*start == '\0')
        return 0;
    if (strspn(start, "+-.0123456789eExXabcdefABCDEF") != strcspn(start, " \t\r\n"))
        return NAN;
    double n = strtod(start, &end);
    end += strspn(end, " \t\r\n");
    return end == string->text + string->length ? n : NAN;
}

double number_of(struct value value)
{
    switch (value.type) {
    case NOTHING:
        return 0;
    case BOOLEAN:
        return value.truth;
    case NUMBER:
        return value.number;
    case STRING:
        return number_in(value.string);
    case OBJECT:
        return number_in(string_of(value));
    default:
        return NAN;
    }
}

int32_t integer_of(struct value value)
{
    double n = number_of(value);

    if (!isfinite(n))
        return 0;
    n = fmod(trunc(n), 4294967296.0);
    if (n < 0)
        n += 4294967296.0;
    uint32_t bits = (uint32_t)n;
    int32_t result;
    memcpy(&result, &bits, sizeof result);
    return result;
}

static struct string *written(double n)
{
    char buffer[40];

    if (isnan(n))
        return new_string("NaN", 3);
    if (isinf(n))
        return n < 0 ? new_string("-Infinity", 9) : new_string("Infinity", 8);
    /* The shortest text that is parsed as the same number. */
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(buffer, sizeof buffer, "%.*g", digits, n == 0 ? 0.0 : n);
        if (strtod(buffer, NULL) == n)
            break;
    }
    return new_string(buffer, strlen(buffer));
}

static struct string *string_at(struct value value, int depth);

static struct string *joined(const struct object *array, int depth)
{
    struct string *all = new_string("", 0);

    for (size_t i = 0; i < array->length; i++) {
        struct value one = array->elements[i];
        if (i > 0)
            all = concatenated(all, new_string(",", 1)).string;
        if (one.type != UNDEFINED && one.type != NOTHING)
            all = concatenated(all, string_at(one, depth + 1)).string;
    }
    return all;
}

static struct string *string_at(struct value value, int depth)
{
    switch (value.type) {
    case NOTHING:
        return new_string("null", 4);
    case BOOLEAN:
        return value.truth ? new_string("true", 4) : new_string("false", 5);
    case NUMBER:
        return written(value.number);
    case STRING:
        return value.string;
    case OBJECT:
        if (!value.object->is_array)
            return new_string("[object]", 8);
        return depth < MAX_NESTED ? joined(value.object, depth) : new_string("...", 3);
    case CLOSURE:
    case NATIVE:
        return new_string("[function]", 10);
    default:
        return new_string("undefined", 9);
    }
}

struct string *string_of(struct value value)
{
    return string_at(value, 0);
}

const char *type_of(struct value value)
{
    switch (value.type) {
    case BOOLEAN: return "boolean";
    case NUMBER: return "number";
    case STRING: return "string";
    case NOTHING:
    case OBJECT: return "object";
    case CLOSURE:
    case NATIVE: return "function";
    default: return "undefined";
    }
}

int same(struct value a, struct value b)
{
    if (a.type != b.type)
        return 0;
    switch (a.type) {
    case BOOLEAN:
        return a.truth == b.truth;
    case NUMBER:
        return a.number == b.number;
    case STRING:
        return a.string->length == b.string->length &&
               memcmp(a.string->text, b.string->text, a.string->length) == 0;
    case OBJECT:
        return a.object == b.object;
    case CLOSURE:
        return a.closure == b.closure;
    case NATIVE:
        return a.native == b.native;
    default:
        return 1;
    }
}

static int is_missing(struct value value)
{
    return value.type == UNDEFINED || value.type == NOTHING;
}

int equal(struct value a, struct value b)
{
    if (a.type == b.type)
        return same(a, b);
    if (is_missing(a) || is_missing(b))
        return is_missing(a) && is_missing(b);
    if (a.type == OBJECT && b.type == STRING)
        return same((struct value){.type = STRING, .string = string_of(a)}, b);
    if (a.type == STRING && b.type == OBJECT)
        return equal(b, a);
    return number_of(a) == number_of(b);
}

struct value concatenated(const struct string *a, const struct string *b)
{
    if (a->length + b->length > MAX_STRING)
        fail(OVER_LIMIT, 0, "a string is too long");
    struct string *both = allocate(sizeof *both);
    both->text = grow(a->text, a->length, a->length + b->length + 1);
    memcpy(both->text + a->length, b->text, b->length);
    both->length = a->length + b->length;
    return (struct value){.type = STRING, .string = both};
}
