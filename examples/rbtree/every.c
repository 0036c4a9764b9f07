/* Checks all red-black trees of up to MAX_NODES nodes that insertion and deletion can make,
 * and every insertion into them and deletion from them: `rb_check` must accept all.
 *
 * Rebalancing depends on a node, its parent, its sibling or uncle and their children,
 * and moves up in steps that are the same at every height. Trees of a dozen nodes
 * contain all these neighbourhoods, at the root and below it. So the branches of
 * `rb_check` that abort cannot be reached, and a search that does not cover them
 * misses nothing.
 *
 *     make every && ./every
 */
#include "rbtree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NODES = 12, TEXT = 3 * MAX_NODES + 4, TREES = 1 << 16 };

static char seen[TREES][TEXT];
static size_t trees;

/* Writes shape and colours as text, in preorder. */
static char *write_out(const struct rb_node *node, char *to) {
    if (!node) {
        *to++ = '.';
        return to;
    }
    *to++ = node->red ? 'r' : 'b';
    return write_out(node->right, write_out(node->left, to));
}

/* Builds the tree of such a text, with the keys 2, 4, 6, … */
static struct rb_node *read_in(const char **from, struct rb_node *parent, int *key) {
    char colour = *(*from)++;
    if (colour == '.') return NULL;
    struct rb_node *node = calloc(1, sizeof *node);
    if (!node) exit(2);
    node->red = colour == 'r';
    node->parent = parent;
    node->left = read_in(from, node, key);
    node->key = *key += 2;
    node->right = read_in(from, node, key);
    return node;
}

static void note(const struct rb_tree *tree) {
    char text[TEXT] = "";
    rb_check(tree);
    if (tree->size > MAX_NODES) return;
    write_out(tree->root, text);
    for (size_t i = 0; i < trees; i++)
        if (strcmp(seen[i], text) == 0) return;
    if (trees == TREES) exit(2);
    strcpy(seen[trees++], text);
}

static struct rb_tree tree_of(const char *text) {
    struct rb_tree tree = {NULL, 0};
    int key = 0;
    tree.root = read_in(&text, NULL, &key);
    tree.size = rb_len(&tree);
    return tree;
}

int main(void) {
    size_t steps = 0;
    struct rb_tree empty = {NULL, 0};
    note(&empty);
    for (size_t i = 0; i < trees; i++) {
        int last = 2 * (int)tree_of(seen[i]).size;
        /* Odd keys are between the others, even ones are already in the tree. */
        for (int key = 1; key <= last + 1; key++) {
            struct rb_tree more = tree_of(seen[i]);
            rb_add(&more, key);
            note(&more);
            rb_clear(&more);
            struct rb_tree fewer = tree_of(seen[i]);
            rb_delete_if_member(&fewer, key);
            note(&fewer);
            rb_clear(&fewer);
            steps += 2;
        }
    }
    printf("%zu trees, %zu steps\n", trees, steps);
    return 0;
}
