/* A red-black tree of integers, duplicates allowed. */
#ifndef RBTREE_H
#define RBTREE_H

#include <stddef.h>

struct rb_node {
    struct rb_node *left, *right, *parent;
    int key;
    int red;
};

struct rb_tree {
    struct rb_node *root;
    size_t size;
};

struct rb_node *rb_find(const struct rb_tree *tree, int key);
void rb_add(struct rb_tree *tree, int key);
/* Returns 1 if the key was not in the tree. */
int rb_add_if_not_member(struct rb_tree *tree, int key);
/* Returns 1 if the key was in the tree. */
int rb_delete_if_member(struct rb_tree *tree, int key);
size_t rb_len(const struct rb_tree *tree);
void rb_clear(struct rb_tree *tree);

/* Aborts if the tree is invalid: order, links, colours, black height. */
void rb_check(const struct rb_tree *tree);

#endif
