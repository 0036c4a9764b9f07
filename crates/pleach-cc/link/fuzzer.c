/* `main` of a program linked with -fsanitize=fuzzer. It is in an archive, so
 * that a program with its own main keeps that one. */
extern int LLVMFuzzerTestOneInput(const unsigned char *, unsigned long);
extern int LLVMFuzzerInitialize(int *, char ***) __attribute__((weak));
extern int __pleach_fuzzer_main(int, char **, int (*)(const unsigned char *, unsigned long),
                                int (*)(int *, char ***));

int main(int argc, char **argv) {
    return __pleach_fuzzer_main(argc, argv, LLVMFuzzerTestOneInput, LLVMFuzzerInitialize);
}
