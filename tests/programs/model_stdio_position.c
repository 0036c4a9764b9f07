// fgetpos, fsetpos, fseeko, ftello and rewind: bytes that are read again have the same labels.
// run
// input: "0123456789"
// stdout: "5 again\n2\nfirst\n"
// exit: 0
// path: length: len > 4
// path: length: len > 5
// path: length: len > 6
// path: in[6] == '6'
// path: in[5] == '5'
// path: select: in[5] == '5'
// path: select: in[2] == '2'
// path: select: in[0] == '0'
// must: in[5] == '5'
// must: in[2] == '2'
// must: in[0] == '0'
// other: "0123450789"
// free: 9
#include <stdio.h>

int main(void) {
    fpos_t here;
    char five[6];
    if (fread(five, 1, 5, stdin) != 5 || fgetpos(stdin, &here))
        return 1;
    int a = getchar(), more = getchar();
    if (more != '6' || fsetpos(stdin, &here))
        return 2;
    puts(a == '5' && getchar() == '5' ? "5 again" : "another");
    if (fseeko(stdin, 2, SEEK_SET) || ftello(stdin) != 2)
        return 3;
    puts(getc(stdin) == '2' ? "2" : "not 2");
    rewind(stdin);
    puts(fgetc(stdin) == '0' ? "first" : "another first");
    return 0;
}
