// A linked list is built from the input and reversed: labels are in the nodes, not in the links.
// opt: all
// run
// input: "abc"
// stdout: "3 ends in c\n"
// exit: 0
// path: length: len > 0
// path: length: len > 1
// path: length: len > 2
// path: length: len <= 3
// path: select: in[2] == 'c'
// same: "xbc"
// other: "abd"
#include <stdio.h>
#include <stdlib.h>

struct node { struct node *next; char c; };

int main(void) {
    struct node *list = NULL, *back = NULL;
    for (int c, i = 0; i < 16 && (c = getchar()) != EOF; i++) {
        struct node *n = malloc(sizeof *n);
        *n = (struct node){list, (char)c};
        list = n;
    }
    int last = list ? list->c : 0;
    while (list) {
        struct node *n = list;
        list = n->next;
        n->next = back;
        back = n;
    }
    int length = 0;
    while (back) {
        struct node *n = back;
        back = n->next;
        length++;
        free(n);
    }
    printf("%d %s\n", length, last == 'c' ? "ends in c" : "ends otherwise");
    return 0;
}
