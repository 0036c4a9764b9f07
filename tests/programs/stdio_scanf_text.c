// scanf of words, characters, sets, widths, suppressed fields and %n.
// run
// input: "key = [a-z] rest!"
// stdout: "3 fields, at 16\nkey\nt\nrange\n"
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
// path: model: in[4] == '='
// path: length: len > 5
// path: model: in[5] == ' ' || (uint8_t)(in[5] - 9) <= 4
// path: length: len > 6
// path: model: !(in[6] == ' ' || (uint8_t)(in[6] - 9) <= 4)
// path: model: in[6] == '['
// path: length: len > 7
// path: model: in[7] <= '\\' || (uint8_t)(in[7] - '^') <= 161
// path: length: len > 8
// path: model: in[8] <= '\\' || (uint8_t)(in[8] - '^') <= 161
// path: length: len > 9
// path: model: in[9] <= '\\' || (uint8_t)(in[9] - '^') <= 161
// path: length: len > 10
// path: …
// same: "kez = [b-y] rest?"
// other: "key : [a-z] rest!"
#include <stdio.h>

int main(void) {
    char word[8], set[8], c;
    int at = -1;
    int n = scanf("%7s = [%7[^]]] %*3s%c%n", word, set, &c, &at);
    printf("%d fields, at %d\n", n, at);
    if (n < 3)
        return 1;
    puts(word[0] == 'k' ? "key" : "other word");
    puts(c == 't' ? "t" : "not t");
    puts(set[1] == '-' ? "range" : "list");
    return 0;
}
