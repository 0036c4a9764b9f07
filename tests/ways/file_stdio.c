// Input goes through a file by fwrite, fputs, fputc and fprintf, and back by each way to read.
// seed: "abcdefgh\n"
// goals: 6
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
    int goal = argc > 1 ? atoi(argv[1]) : 0;
    char in[16], back[16] = "", word[16] = "";
    if (!fgets(in, sizeof in, stdin) || strlen(in) != 9)
        return 0;
    FILE *file = fopen("note", "w");
    if (!file)
        return 0;
    fwrite(in, 1, 2, file);
    fputs(in + 2, file);
    fputc(in[0], file);
    fprintf(file, "<%.3s|%5s>", in + 4, in + 6);
    fclose(file);
    file = fopen("note", "r");
    if (!file)
        return 0;
    if (fread(back, 1, 2, file) != 2)
        return 0;
    if (goal == 0 && back[1] == 'Q')
        abort();
    if (goal == 1 && getc(file) == '#')
        abort();
    rewind(file);
    if (!fgets(back, sizeof back, file))
        return 0;
    if (goal == 2 && strcmp(back, "round it\n") == 0)
        abort();
    if (goal == 3 && getc(file) == '!')
        abort();
    fseek(file, 10, SEEK_SET);
    if (fscanf(file, "<%3s", word) == 1) {
        if (goal == 4 && strcmp(word, "key") == 0)
            abort();
    }
    fseek(file, -3, SEEK_END);
    if (goal == 5 && getc(file) == '%')
        abort();
    return 0;
}
