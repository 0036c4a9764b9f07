#include "rbtree.h"

#include <stdlib.h>

static int is_red(const struct rb_node *node) {
    return node && node->red;
}

/* Replaces `node` by `child` in its parent. */
static void replace(struct rb_tree *tree, struct rb_node *node, struct rb_node *child) {
    if (!node->parent)
        tree->root = child;
    else if (node->parent->left == node)
        node->parent->left = child;
    else
        node->parent->right = child;
    if (child) child->parent = node->parent;
}

static void rotate_left(struct rb_tree *tree, struct rb_node *node) {
    struct rb_node *up = node->right;
    node->right = up->left;
    if (up->left) up->left->parent = node;
    replace(tree, node, up);
    up->left = node;
    node->parent = up;
}

static void rotate_right(struct rb_tree *tree, struct rb_node *node) {
    struct rb_node *up = node->left;
    node->left = up->right;
    if (up->right) up->right->parent = node;
    replace(tree, node, up);
    up->right = node;
    node->parent = up;
}

struct rb_node *rb_find(const struct rb_tree *tree, int key) {
    struct rb_node *node = tree->root;
    while (node && node->key != key) node = key < node->key ? node->left : node->right;
    return node;
}

/* Rebalances upwards from a new red node whose parent may be red, too. */
static void mend_after_add(struct rb_tree *tree, struct rb_node *node) {
    while (is_red(node->parent)) {
        struct rb_node *parent = node->parent, *grand = parent->parent;
        if (parent == grand->left) {
            struct rb_node *uncle = grand->right;
            if (is_red(uncle)) {
                parent->red = uncle->red = 0;
                grand->red = 1;
                node = grand;
                continue;
            }
            if (node == parent->right) {
                rotate_left(tree, parent);
                parent = node;
            }
            parent->red = 0;
            grand->red = 1;
            rotate_right(tree, grand);
        } else {
            struct rb_node *uncle = grand->left;
            if (is_red(uncle)) {
                parent->red = uncle->red = 0;
                grand->red = 1;
                node = grand;
                continue;
            }
            if (node == parent->left) {
                rotate_right(tree, parent);
                parent = node;
            }
            parent->red = 0;
            grand->red = 1;
            rotate_left(tree, grand);
        }
        break;
    }
    tree->root->red = 0;
}

void rb_add(struct rb_tree *tree, int key) {
    struct rb_node *parent = NULL, **place = &tree->root;
    while (*place) {
        parent = *place;
        place = key < parent->key ? &parent->left : &parent->right;
    }
    struct rb_node *node = calloc(1, sizeof *node);
    if (!node) abort();
    node->key = key;
    node->red = 1;
    node->parent = parent;
    *place = node;
    tree->size++;
    mend_after_add(tree, node);
}

int rb_add_if_not_member(struct rb_tree *tree, int key) {
    if (rb_find(tree, key)) return 0;
    rb_add(tree, key);
    return 1;
}

/* Rebalances when the paths through `node`, which may be NULL, lack one black node. */
static void mend_after_delete(struct rb_tree *tree, struct rb_node *node, struct rb_node *parent) {
    while (parent && !is_red(node)) {
        if (node == parent->left) {
            struct rb_node *other = parent->right;
            if (is_red(other)) {
                other->red = 0;
                parent->red = 1;
                rotate_left(tree, parent);
                other = parent->right;
            }
            if (!is_red(other->left) && !is_red(other->right)) {
                other->red = 1;
                node = parent;
                parent = node->parent;
                continue;
            }
            if (!is_red(other->right)) {
                other->left->red = 0;
                other->red = 1;
                rotate_right(tree, other);
                other = parent->right;
            }
            other->red = parent->red;
            parent->red = 0;
            other->right->red = 0;
            rotate_left(tree, parent);
        } else {
            struct rb_node *other = parent->left;
            if (is_red(other)) {
                other->red = 0;
                parent->red = 1;
                rotate_right(tree, parent);
                other = parent->left;
            }
            if (!is_red(other->left) && !is_red(other->right)) {
                other->red = 1;
                node = parent;
                parent = node->parent;
                continue;
            }
            if (!is_red(other->left)) {
                other->right->red = 0;
                other->red = 1;
                rotate_left(tree, other);
                other = parent->left;
            }
            other->red = parent->red;
            parent->red = 0;
            other->left->red = 0;
            rotate_right(tree, parent);
        }
        return;
    }
    if (node) node->red = 0;
}

int rb_delete_if_member(struct rb_tree *tree, int key) {
    struct rb_node *node = rb_find(tree, key), *child, *parent;
    if (!node) return 0;
    int red = node->red;
    if (node->left && node->right) {
        /* The successor has no left child; it replaces the node. */
        struct rb_node *next = node->right;
        while (next->left) next = next->left;
        red = next->red;
        child = next->right;
        if (next->parent == node) {
            parent = next;
        } else {
            parent = next->parent;
            replace(tree, next, child);
            next->right = node->right;
            next->right->parent = next;
        }
        replace(tree, node, next);
        next->left = node->left;
        next->left->parent = next;
        next->red = node->red;
    } else {
        child = node->left ? node->left : node->right;
        parent = node->parent;
        replace(tree, node, child);
    }
    free(node);
    tree->size--;
    if (!red) mend_after_delete(tree, child, parent);
    return 1;
}

static size_t count(const struct rb_node *node) {
    return node ? count(node->left) + 1 + count(node->right) : 0;
}

size_t rb_len(const struct rb_tree *tree) {
    return count(tree->root);
}

static void release(struct rb_node *node) {
    if (!node) return;
    release(node->left);
    release(node->right);
    free(node);
}

void rb_clear(struct rb_tree *tree) {
    release(tree->root);
    tree->root = NULL;
    tree->size = 0;
}

/* Returns the black height. */
static int check(const struct rb_node *node, const struct rb_node *parent) {
    if (!node) return 1;
    if (node->parent != parent) abort();
    if (is_red(node) && is_red(parent)) abort();
    if (node->left && node->left->key > node->key) abort();
    if (node->right && node->right->key < node->key) abort();
    int left = check(node->left, node), right = check(node->right, node);
    if (left != right) abort();
    return left + !node->red;
}

void rb_check(const struct rb_tree *tree) {
    if (is_red(tree->root)) abort();
    check(tree->root, NULL);
    if (tree->size != count(tree->root)) abort();
}
