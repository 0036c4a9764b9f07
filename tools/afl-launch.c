/* Starts the program that afl-fuzz means.
 *
 * afl-fuzz 4.04 has a defect: with `-c PROGRAM` it starts the target once more instead of
 * PROGRAM, so that nothing is logged. Only argv[0] is PROGRAM. So `./x bench run` gives
 * afl-fuzz this program as its target: it becomes the target, or the build for comparison
 * logging if argv[0] asks for that one. It runs once for each fork server, and costs the
 * runs nothing.
 *
 * LAUNCH_TARGET and LAUNCH_CMPLOG are the paths of both builds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* afl-fuzz looks for this name in its target. */
const char signature[] = "__AFL_SHM_ID";

int main(int count, char **words) {
    char *target = getenv("LAUNCH_TARGET"), *cmplog = getenv("LAUNCH_CMPLOG");
    if (count < 1 || !target || !cmplog || !signature[0]) return 2;
    char *program = strcmp(words[0], cmplog) == 0 ? cmplog : target;
    unsetenv("LAUNCH_TARGET");
    unsetenv("LAUNCH_CMPLOG");
    words[0] = target;
    execv(program, words);
    perror(program);
    return 2;
}
