// Floating point that does not depend on the input is not affected by labels beside it.
// opt: all
// run
// input: "q"
// stdout: "close\nq\n2432902008176640000\n"
// exit: 0
// path: length: len > 0
// path: select: in[0] == 'q'
// must: in[0] == 'q'
// other: "r"
#include <math.h>
#include <stdio.h>

int main(void) {
    int c = getchar();
    volatile double third = 1.0 / 3;
    double sum = 0;
    for (int i = 0; i < 100; i++)
        sum += third;
    puts(fabs(sum - 100.0 / 3) < 1e-9 ? "close" : "off");
    puts(c == 'q' ? "q" : "not q");
    long double l = 1;
    for (int i = 1; i <= 20; i++)
        l *= i;
    printf("%.0Lf\n", l);
    return 0;
}
