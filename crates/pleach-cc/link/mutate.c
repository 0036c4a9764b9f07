/* What custom mutators of fuzz targets call. Pleach has mutations of its own and does
 * not call custom mutators, but programs that have one must link. */
#include <stdlib.h>
#include <string.h>

__attribute__((weak)) unsigned long LLVMFuzzerMutate(unsigned char *data, unsigned long size,
                                                     unsigned long max_size) {
    if (size < max_size && (size == 0 || rand() % 4 == 0)) {
        unsigned long at = size ? (unsigned long)rand() % (size + 1) : 0;
        memmove(data + at + 1, data + at, size - at);
        data[at] = (unsigned char)rand();
        return size + 1;
    }
    if (size > 0)
        data[(unsigned long)rand() % size] ^= (unsigned char)(1 << rand() % 8);
    return size;
}
