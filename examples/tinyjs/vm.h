/* The stack machine. */
#ifndef VM_H
#define VM_H

#include "code.h"

/* Runs a script to its end; ends the program if it throws or goes over a limit. */
void run(const struct code *script);

#endif
