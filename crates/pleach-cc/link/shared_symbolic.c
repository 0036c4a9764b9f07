/* Linked into the symbolic twin of every shared library: tells the runtime
 * where the library's sites and global objects are. */
#define RECORDS(section) \
    extern char __start_##section[] __attribute__((weak, visibility("hidden"))); \
    extern char __stop_##section[] __attribute__((weak, visibility("hidden")));

RECORDS(pleach_sites)
RECORDS(pleach_globals)
extern void __pleach_register_module(char *, char *, char *, char *) __attribute__((weak));
extern void __pleach_register_globals(char *, char *) __attribute__((weak));

__attribute__((constructor(101))) static void pleach_register(void) {
    if (__pleach_register_module)
        __pleach_register_module(__start_pleach_sites, __stop_pleach_sites, 0, 0);
    if (__pleach_register_globals)
        __pleach_register_globals(__start_pleach_globals, __stop_pleach_globals);
}
