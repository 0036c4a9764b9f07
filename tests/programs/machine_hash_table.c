// A hash table with open addressing: the bucket is a symbolic index that is written and read.
// run
// input: "cab\ncab\nbac\n"
// stdout: "2 words, 2 at most\n"
// exit: 0
// path: length: len > 0
// path: model: in[0] != '\n'
// path: length: len > 1
// path: model: in[1] != '\n'
// path: length: len > 2
// path: model: in[2] != '\n'
// path: length: len > 3
// path: model: in[3] == '\n'
// path: model: !(in[0] == '\0' || in[0] == '\n')
// path: model: !(in[1] == '\0' || in[1] == '\n')
// path: model: !(in[2] == '\0' || in[2] == '\n')
// path: model: in[3] == '\0' || in[3] == '\n'
// path: in[0] != '\0'
// path: in[1] != '\0'
// path: in[2] != '\0'
// path: u32le(main.table + ((((in[0] ^ 0x2b5a5) * 33 ^ in[1]) * 33 ^ in[2]) & 15) * 12 + 8) == 0
// path: pin: ((((in[0] ^ 0x2b5a5) * 33 ^ in[1]) * 33 ^ in[2]) & 15) * 12 == 60
// path: model: in[0] != '\0'
// path: model: in[1] != '\0'
// path: model: in[2] != '\0'
// path: length: len > 4
// path: model: in[4] != '\n'
// path: length: len > 5
// path: model: in[5] != '\n'
// path: …
// other: "cab\ncac\nbac\n"
#include <stdio.h>
#include <string.h>

struct slot { char key[8]; int count; };

int main(void) {
    static struct slot table[16];
    char line[8];
    int used = 0;
    while (used < 12 && fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        unsigned h = 5381;
        for (char *p = line; *p; p++)
            h = h * 33 ^ (unsigned char)*p;
        h &= 15;
        while (table[h].count && strcmp(table[h].key, line))
            h = (h + 1) & 15;
        if (!table[h].count) {
            strcpy(table[h].key, line);
            used++;
        }
        table[h].count++;
    }
    int most = 0;
    for (int i = 0; i < 16; i++)
        if (table[i].count > most)
            most = table[i].count;
    printf("%d words, %d at most\n", used, most);
    return 0;
}
