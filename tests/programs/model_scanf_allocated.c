// Strings that scanf allocates, with %ms, %m[ and %mc; suppressed fields; a literal percent.
// run
// input: "key skip=[v1]% xyz"
// stdout: "key v1 xy\n"
// exit: 0
// path: length: len > 0
// path: model: !(in[0] == ' ' || (uint8_t)(in[0] - 9) <= 4)
// path: length: len > 1
// path: model: !(in[1] == ' ' || (uint8_t)(in[1] - 9) <= 4)
// path: length: len > 2
// path: model: !(in[2] == ' ' || (uint8_t)(in[2] - 9) <= 4)
// path: length: len > 3
// path: model: in[3] == ' ' || (uint8_t)(in[3] - 9) <= 4
// path: model: in[3] == ' ' || (uint8_t)(in[3] - 9) <= 4
// path: length: len > 4
// path: model: !(in[4] == ' ' || (uint8_t)(in[4] - 9) <= 4)
// path: model: (uint8_t)(in[4] - 'a') <= 25
// path: length: len > 5
// path: model: (uint8_t)(in[5] - 'a') <= 25
// path: length: len > 6
// path: model: (uint8_t)(in[6] - 'a') <= 25
// path: length: len > 7
// path: model: (uint8_t)(in[7] - 'a') <= 25
// path: length: len > 8
// path: model: (uint8_t)(in[8] - 'a') > 25
// path: model: in[8] == '='
// path: length: len > 9
// path: model: in[9] == '['
// path: length: len > 10
// path: …
// must: in[0] == 'k'
// must: in[15] == 'x'
// other: "kez skip=[v1]% xyz"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
    char *word = NULL, *set = NULL, *letters = NULL;
    int n = scanf("%ms %*[a-z]=[%m[a-z0-9]]%% %2mc", &word, &set, &letters);
    if (n != 3)
        return printf("%d\n", n), 1;
    if (strcmp(word, "key") == 0 && set[0] == 'v' && letters[0] == 'x')
        printf("%s %s %.2s\n", word, set, letters);
    else
        puts("others");
    free(word);
    free(set);
    free(letters);
    return 0;
}
