// Move semantics: a unique_ptr tree built from the input and consumed.
// opt: all
// run
// input: "mfazc"
// stdout: "height 4\n"
// exit: 0
// path: length: len > 0
// path: length: len > 1
// path: in[1] < in[0]
// path: length: len > 2
// path: in[2] < in[0]
// path: in[2] < in[1]
// path: length: len > 3
// path: in[3] >= in[0]
// path: length: len > 4
// path: in[4] < in[0]
// path: in[4] < in[1]
// path: in[4] >= in[2]
// path: length: len <= 5
// same: "mfbzc"
// other: "mfaac"
#include <cstdio>
#include <memory>

struct Tree {
    int key;
    std::unique_ptr<Tree> left, right;
};
using Link = std::unique_ptr<Tree>;

static Link insert(Link t, int key) {
    if (!t)
        return Link(new Tree{key, nullptr, nullptr});
    auto &side = key < t->key ? t->left : t->right;
    side = insert(std::move(side), key);
    return t;
}
static int height(const Link &t) {
    if (!t)
        return 0;
    int l = height(t->left), r = height(t->right);
    return 1 + (l > r ? l : r);
}

int main() {
    Link root;
    for (int i = 0, c; i < 8 && (c = std::getchar()) != EOF; i++)
        root = insert(std::move(root), c);
    std::printf("height %d\n", height(root));
    return 0;
}
