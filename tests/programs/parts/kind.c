#include "kind.h"

int kind_of(struct value v) { return v.kind; }
int is_nowhere(const void *p) { return p == (const void *)-1; }
