// A value that is either a pointer or a number: clang passes it as a pointer.
struct value {
    int kind;
    union { const char *text; double number; } as;
};
int kind_of(struct value v);
int is_nowhere(const void *p);
