/* The functions that scripts find there. */
#ifndef NATIVES_H
#define NATIVES_H

#include "value.h"

/* A function that is there from the start; NULL if there is none of this name. */
const struct native *global_native(const struct string *name);

/* A method of arrays or of strings; NULL if there is none of this name. */
const struct native *array_method(const struct string *name);
const struct native *string_method(const struct string *name);

#endif
