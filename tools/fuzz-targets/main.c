/* A main for a target of libFuzzer, for compilers without libFuzzer: it runs the target
 * once, on standard input. It compiles as C and as C++.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C"
#endif
    int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(void) {
    size_t size = 0, room = 1 << 16, got;
    uint8_t *data = (uint8_t *)malloc(room);
    while (data && (got = fread(data + size, 1, room - size, stdin)) > 0) {
        size += got;
        if (size == room) data = (uint8_t *)realloc(data, room *= 2);
    }
    if (!data) return 2;
    /* Exactly as large as the input, so that ASan sees every byte beyond it. */
    uint8_t *input = (uint8_t *)malloc(size ? size : 1);
    if (!input) return 2;
    for (size_t at = 0; at < size; at++) input[at] = data[at];
    free(data);
    LLVMFuzzerTestOneInput(input, size);
    free(input);
    return 0;
}
