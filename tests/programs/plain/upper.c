// Compiled without instrumentation: changes its argument in place and counts the changes.
int upper_all(char *s, int n) {
    int changed = 0;
    for (int i = 0; i < n; i++) {
        if (s[i] >= 'a' && s[i] <= 'z') {
            s[i] -= 32;
            changed++;
        }
    }
    return changed;
}
