// Input goes through streams in memory: open_memstream, and fmemopen with and without a buffer.
// seed: "abcdefgh"
// goals: 4
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
    int goal = argc > 1 ? atoi(argv[1]) : 0;
    char in[9] = "", *text = NULL, buffer[16] = "";
    size_t size = 0;
    if (read(0, in, 8) != 8)
        return 0;
    FILE *file = open_memstream(&text, &size);
    if (!file)
        return 0;
    fprintf(file, "%c:%.3s", 'k', in);
    fputc(in[4], file);
    fclose(file);
    if (goal == 0 && text[2] == 'n' && text[size - 1] == 'm')
        abort();
    file = fmemopen(in, 8, "r");
    if (!file)
        return 0;
    char word[9] = "";
    int n = 0;
    if (goal == 1 && fscanf(file, "%d", &n) == 1 && n == 4711)
        abort();
    fclose(file);
    file = fmemopen(buffer, sizeof buffer, "w");
    if (!file)
        return 0;
    fwrite(in, 1, 3, file);
    fputs("-", file);
    fputc(in[7], file);
    fclose(file);
    if (goal == 2 && strcmp(buffer, "ab1-z") == 0)
        abort();
    file = fmemopen(NULL, 64, "w+");
    if (!file)
        return 0;
    fwrite(in, 1, 8, file);
    rewind(file);
    if (fread(word, 1, 8, file) == 8 && goal == 3 && memcmp(word, "in there", 8) == 0)
        abort();
    return 0;
}
