// A name is looked up in a hash table whose buckets hold input. The pointer to a bucket is
// from a table, and one entry of that points into the bucket. So all fields of the bucket are
// at known addresses, and only the names are compared.
// run
// input: "abab"
// run
// input: "abba"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct bucket {
    char name[2];
    int count;
    struct bucket *next;
};

static struct bucket *table[1024];

static struct bucket *look_up(const char *name) {
    unsigned hash = 31 * (unsigned char)name[0] + (unsigned char)name[1];
    struct bucket **at = &table[hash % 1024];
    for (; *at; at = &(*at)->next) {
        if ((*at)->name[0] == name[0] && (*at)->name[1] == name[1]) {
            return *at;
        }
    }
    *at = calloc(1, sizeof **at);
    (*at)->name[0] = name[0];
    (*at)->name[1] = name[1];
    return *at;
}

int main(void) {
    char in[4] = {0};
    if (read(0, in, sizeof in) != sizeof in) {
        return 2;
    }
    look_up(in)->count++;
    struct bucket *second = look_up(in + 2);
    second->count++;
    if (second->count > 1) {
        puts("twice");
    }
    return second->next != NULL;
}
