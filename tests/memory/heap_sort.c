// A binary heap of values of the input; its smallest and its second entry.
// seed: "hgfedcba"
// goals: 2
#include <stdlib.h>
#include <unistd.h>

static unsigned char heap[16];
static int count;

static void push(unsigned char value) {
    int at = count++;
    heap[at] = value;
    while (at > 0 && heap[(at - 1) / 2] > heap[at]) {
        unsigned char other = heap[(at - 1) / 2];
        heap[(at - 1) / 2] = heap[at];
        heap[at] = other;
        at = (at - 1) / 2;
    }
}

static unsigned char pop(void) {
    unsigned char top = heap[0];
    heap[0] = heap[--count];
    for (int at = 0;;) {
        int child = 2 * at + 1;
        if (child >= count)
            return top;
        if (child + 1 < count && heap[child + 1] < heap[child])
            child++;
        if (heap[at] <= heap[child])
            return top;
        unsigned char other = heap[at];
        heap[at] = heap[child];
        heap[child] = other;
        at = child;
    }
}

int main(int argc, char **argv) {
    int goal = argc > 1 ? atoi(argv[1]) : 0;
    unsigned char in[5];
    if (read(0, in, 5) != 5)
        return 0;
    for (int i = 0; i < 5; i++)
        push(in[i]);
    unsigned char first = pop(), second = pop();
    if (goal == 0 && first == 3)
        abort();
    if (goal == 1 && first == 10 && second == 20)
        abort();
    return 0;
}
