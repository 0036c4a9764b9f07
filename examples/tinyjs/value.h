/* Values and their operations. */
#ifndef VALUE_H
#define VALUE_H

#include <stddef.h>
#include <stdint.h>

enum type {
    UNDEFINED,
    EMPTY, /* a variable whose declaration was not reached; never visible to a script */
    NOTHING, /* null */
    BOOLEAN,
    NUMBER,
    STRING,
    OBJECT,
    CLOSURE,
    NATIVE,
    PLACE, /* a position in the code: where to continue after a finally block */
};

struct string {
    size_t length;
    char *text;
};

struct value {
    enum type type;
    union {
        double number;
        int truth;
        int place;
        struct string *string;
        struct object *object;
        struct closure *closure;
        const struct native *native;
    };
};

struct property {
    struct string *name;
    struct value value;
    int deleted;
};

/* Properties in the order of insertion. An array also has elements. */
struct object {
    int is_array;
    size_t count, room;
    struct property *properties;
    size_t length, element_room;
    struct value *elements;
};

/* A function and the variables around it. */
struct closure {
    const struct code *code;
    struct scope *around;
    struct object *properties;
};

/* A built-in function. */
struct native {
    const char *name;
    enum type self; /* the type it is a method of: arrays, strings, or any */
    struct value (*call)(struct value self, const struct value *args, size_t count);
};

struct value undefined(void);
struct value nothing(void);
struct value boolean(int truth);
struct value number(double n);
struct value text(const char *bytes, size_t length);
struct value literal(const char *bytes);
struct value of_object(struct object *object);

struct object *new_object(int is_array);
void push(struct object *array, struct value value);

/* An object's own property; undefined if there is none. */
struct value get_property(const struct object *object, const struct string *name);
void set_property(struct object *object, struct string *name, struct value value);
void delete_property(struct object *object, const struct string *name);

/* The index of an element, from a number or its digits; -1 if it is none. */
ptrdiff_t as_place(struct value value);

int truth_of(struct value value);
double number_of(struct value value);
int32_t integer_of(struct value value);
struct string *string_of(struct value value);
const char *type_of(struct value value);
int same(struct value a, struct value b);
int equal(struct value a, struct value b);
struct value concatenated(const struct string *a, const struct string *b);

#endif
