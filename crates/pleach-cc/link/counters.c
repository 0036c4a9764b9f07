/* Linked last into the fast half of every executable and library: a page after
 * the last branch counter. So the counters share no page with other data, and
 * shared memory can be mapped over them. The alignment makes the section start
 * at a page boundary, too. */
__attribute__((section("pleach_counters"), aligned(4096), used, retain, visibility("hidden")))
char __pleach_counters_end[4096];
