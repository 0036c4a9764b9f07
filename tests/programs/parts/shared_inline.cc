inline int shared(int c) {
    if (c == 'A')
        return 3;
    return c == 'B' ? 9 : 0;
}

int elsewhere(int c) {
    return shared(c) + 1;
}
