// Compiled without instrumentation, as a third-party library may be.
int each_byte(const char *bytes, int n, int (*f)(int byte, const char *where)) {
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += f(bytes[i], bytes + i);
    return sum;
}
