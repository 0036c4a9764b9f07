/* A data structure driven by calls, after Figure 3 of "Hybrid concolic testing"
 * (Majumdar, Sen, ICSE 2007): in each round, one input selects the function of the
 * red-black tree, and another is its argument.
 *
 * Deletion has cases that need certain shapes of the tree, and a key that is in the
 * tree. Random numbers of 32 bits never are such keys; solving alone finds them, but
 * only in small trees. Hybrid search grows the tree by random calls, and solves for
 * the calls that cover something new in the current tree.
 *
 *     make CC=pleach-cc
 *     pleach run -s hybrid -V 60 -o out -- ./rbtree
 */
#include "rbtree.h"

#include <pleach.h>

/* A larger tree takes longer and covers nothing new. */
enum { MAX_NODES = 200 };

int main(void) {
    struct rb_tree tree = {NULL, 0};
    for (;;) {
        int toss = pleach_i32();
        if (toss < 0) toss = -(toss + 1);
        switch (toss % 5) {
        case 1:
            if (rb_len(&tree) > MAX_NODES) rb_clear(&tree);
            break;
        case 2:
            rb_add_if_not_member(&tree, pleach_i32());
            break;
        case 3:
            rb_delete_if_member(&tree, pleach_i32());
            break;
        case 4:
            rb_find(&tree, pleach_i32());
            break;
        default:
            rb_add(&tree, pleach_i32());
            break;
        }
        rb_check(&tree);
    }
}
