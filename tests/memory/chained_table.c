// A hash table with chains on the heap, with names of the input as keys.
// seed: "aabbccdd"
// goals: 2
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct entry {
    struct entry *next;
    char key[2];
    int value;
};

static struct entry *table[8];

static unsigned hash(const char *key) {
    return ((unsigned char)key[0] * 31u + (unsigned char)key[1]) % 8;
}

static struct entry *find(const char *key) {
    for (struct entry *e = table[hash(key)]; e; e = e->next)
        if (memcmp(e->key, key, 2) == 0)
            return e;
    return NULL;
}

int main(int argc, char **argv) {
    int goal = argc > 1 ? atoi(argv[1]) : 0;
    char in[8];
    if (read(0, in, 8) != 8)
        return 0;
    for (int i = 0; i < 3; i++) {
        if (find(in + 2 * i))
            continue;
        struct entry *e = malloc(sizeof *e);
        if (!e)
            return 0;
        memcpy(e->key, in + 2 * i, 2);
        e->value = i + 1;
        e->next = table[hash(e->key)];
        table[hash(e->key)] = e;
    }
    struct entry *found = find(in + 6);
    if (goal == 0 && found && found->value == 3)
        abort();
    if (goal == 1 && found && found->next && found->key[0] == 'q')
        abort();
    return 0;
}
