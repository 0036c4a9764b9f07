/* Linked into the fast half of every shared library: tells the runtime in the
 * executable where the library's sites and counters are. Does nothing in a
 * program without the runtime. */
#define HIDDEN __attribute__((visibility("hidden")))
#define RECORDS(section) \
    extern char __start_##section[] HIDDEN __attribute__((weak)); \
    extern char __stop_##section[] HIDDEN __attribute__((weak));

RECORDS(pleach_sites)
RECORDS(pleach_counters)
extern char __pleach_counters_end[] HIDDEN;
extern void __pleach_register_module(char *, char *, char *, char *) __attribute__((weak));

__attribute__((constructor(101))) static void pleach_register(void) {
    if (__pleach_register_module)
        __pleach_register_module(__start_pleach_sites, __stop_pleach_sites,
                                 __start_pleach_counters, __pleach_counters_end);
}
