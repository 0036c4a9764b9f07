// Digits of numbers that the program prints into memory, or into a file that it reads back.
// seed: "abcdefgh"
// goals: 13
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is(const char *a, const char *b) {
    return strcmp(a, b) == 0;
}

int main(int argc, char **argv) {
    signed char in[8];
    unsigned short half;
    int goal = argc > 1 ? atoi(argv[1]) : 0, word;
    char text[64] = "", *new = NULL;
    if (read(0, in, 8) != 8)
        return 0;
    memcpy(&half, in, 2);
    memcpy(&word, in, 4);
    switch (goal) {
    case 0:
        sprintf(text, "%d", in[0] * 3);
        return is(text, "81") ? abort(), 1 : 0;
    case 1:
        snprintf(text, sizeof text, "[%5d]", in[0]);
        return is(text, "[  -37]") ? abort(), 1 : 0;
    case 2:
        sprintf(text, "%08x", word);
        return is(text, "0badcafe") ? abort(), 1 : 0;
    case 3:
        sprintf(text, "%-6u|%c", half, in[2]);
        return is(text, "54321 |z") ? abort(), 1 : 0;
    case 4:
        sprintf(text, "%+.4hd/%hhX", (short)word, in[5]);
        return is(text, "-0042/F7") ? abort(), 1 : 0;
    case 5:
        sprintf(text, "%o", half);
        return is(text, "1750") ? abort(), 1 : 0;
    case 6:
        sprintf(text, "%.2f", (unsigned char)in[0] / 4.0f);
        return is(text, "12.75") ? abort(), 1 : 0;
    case 7:
        sprintf(text, "%8.3f", in[0] / 8.0);
        return is(text, "  -1.875") ? abort(), 1 : 0;
    case 8:
        return snprintf(NULL, 0, "%d", word) == 4 ? abort(), 1 : 0;
    case 9:
        if (asprintf(&new, "<%c%d>", in[1], in[0]) < 0)
            return 0;
        word = is(new, "<Z77>");
        free(new);
        return word ? abort(), 1 : 0;
    case 10:
        inet_ntop(AF_INET, in + 2, text, sizeof text);
        return is(text, "10.200.3.44") ? abort(), 1 : 0;
    case 11:
        return is(inet_ntoa((struct in_addr){ word }), "127.0.0.1") ? abort(), 1 : 0;
    case 12: {
        FILE *file = fopen("number", "w");
        if (!file)
            return 0;
        fprintf(file, "%d\n", half);
        fclose(file);
        file = fopen("number", "r");
        if (!file || fscanf(file, "%d", &word) != 1)
            return 0;
        fclose(file);
        return word == 4711 ? abort(), 1 : 0;
    }
    }
    return 0;
}
