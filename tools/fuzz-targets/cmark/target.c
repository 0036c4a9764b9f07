/* Turns a document into HTML. */
#include <cmark.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    free(cmark_markdown_to_html((const char *)data, size, CMARK_OPT_DEFAULT));
    return 0;
}
