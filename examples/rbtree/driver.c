/* A data structure driven by calls, after Figure 3 of "Hybrid concolic testing"
 * (Majumdar, Sen, ICSE 2007): each round, one input says which function of the
 * red-black tree is called, and another with what.
 *
 * Deletion has cases that only some shapes of the tree lead to, and it must hit
 * a key that is there. Random numbers of 32 bits never do; solving alone does,
 * but only in small trees. Hybrid search grows the tree by random calls, and
 * solves for the calls that do something new to the tree as it stands.
 *
 *     make CC=pleach-cc
 *     pleach run -s hybrid -V 60 -o out -- ./rbtree
 */
#include "rbtree.h"

#include <pleach.h>

/* With more than that a round takes longer, and shows nothing new. */
enum { MOST = 200 };

int main(void) {
    struct rb_tree tree = {NULL, 0};
    for (;;) {
        int toss = pleach_i32();
        if (toss < 0) toss = -(toss + 1);
        switch (toss % 5) {
        case 1:
            if (rb_len(&tree) > MOST) rb_clear(&tree);
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
