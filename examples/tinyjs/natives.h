/* The built-in functions of scripts. */
#ifndef NATIVES_H
#define NATIVES_H

#include "value.h"

/* Finds a built-in function; NULL if there is none of this name. */
const struct native *global_native(const struct string *name);

/* Finds a method of arrays or of strings; NULL if there is none of this name. */
const struct native *array_method(const struct string *name);
const struct native *string_method(const struct string *name);

#endif
