/* The code of the stack machine. */
#ifndef CODE_H
#define CODE_H

#include "ast.h"
#include "value.h"

/* Each with its operands, and the stack before -> after. */
enum op {
    OP_CONSTANT,      /* k:         -> constant k */
    OP_UNDEFINED,     /*            -> undefined */
    OP_NOTHING,       /*            -> null */
    OP_TRUE,          /*            -> true */
    OP_FALSE,         /*            -> false */
    OP_THIS,          /*            -> this */
    OP_FUNCTION,      /* k:         -> a closure of function k */
    OP_POP,           /* a          -> */
    OP_COPY,          /* a          -> a a */
    OP_COPY_TWO,      /* a b        -> a b a b */
    OP_SWAP,          /* a b        -> b a */
    OP_LOAD,          /* up, slot:  -> value */
    OP_STORE,         /* up, slot: a -> a */
    OP_BEGIN,         /* up, slot: a ->      initialises the variable */
    OP_FORGET,        /* slot:      ->       makes the variable uninitialised */
    OP_LOAD_GLOBAL,   /* k:         -> value */
    OP_STORE_GLOBAL,  /* k: a       -> a */
    OP_TYPEOF_GLOBAL, /* k:         -> string */
    OP_ARRAY,         /* n: n values -> array */
    OP_OBJECT,        /*            -> object */
    OP_PROPERTY,      /* k: object a -> object */
    OP_GET,           /* object key -> value */
    OP_SET,           /* object key a -> a */
    OP_DELETE,        /* object key -> true */
    OP_ADD, OP_SUBTRACT, OP_MULTIPLY, OP_DIVIDE, OP_REMAINDER, /* a b -> value */
    OP_SHIFT_LEFT, OP_SHIFT_RIGHT, OP_SHIFT_UNSIGNED, OP_AND, OP_OR, OP_XOR,
    OP_EQUAL, OP_NOT_EQUAL, OP_SAME, OP_NOT_SAME,
    OP_LESS, OP_MORE, OP_LESS_EQUAL, OP_MORE_EQUAL,
    OP_NEGATE, OP_TO_NUMBER, OP_NOT, OP_COMPLEMENT, OP_TYPEOF, /* a -> value */
    OP_JUMP,          /* to: */
    OP_JUMP_FALSE,    /* to: a      -> */
    OP_JUMP_TRUE,     /* to: a      -> */
    OP_CALL,          /* n: function this n values -> value */
    OP_NEW,           /* n: function n values -> object */
    OP_RETURN,        /* a          -> */
    OP_THROW,         /* a          -> */
    OP_TRY,           /* to:        ->       an exception jumps there, with its value */
    OP_END_TRY,       /*            -> */
    OP_GOSUB,         /* to:        -> place */
    OP_BACK,          /* place      -> */
    OP_NAMES,         /* a          -> array of names */
    OP_NEXT,          /* to: names index -> names index+1 name, or a jump */
    OP_TRIM,          /* n:         -> the lowest n values */
};

/* One function. The script is one, too. */
struct code {
    const char *name;
    int parameters;
    int slots; /* variables, parameters first */
    int *words, *lines;
    size_t count, room;
    struct value *constants;
    size_t constant_count, constant_room;
    struct code **functions;
    size_t function_count, function_room;
};

/* Generates code for a script; ends the program after a semantic error. */
struct code *generate(const struct node *script);

#endif
