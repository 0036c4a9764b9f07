/* Parses a document and writes it again. */
#include <libxml/parser.h>
#include <libxml/tree.h>
#include <stddef.h>
#include <stdint.h>

static void ignore(void *context, const char *message, ...) {
    (void)context;
    (void)message;
}

int LLVMFuzzerInitialize(int *count, char ***words) {
    (void)count;
    (void)words;
    xmlInitParser();
    xmlSetGenericErrorFunc(NULL, ignore);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size > 1 << 20) return 0;
    xmlDocPtr document = xmlReadMemory((const char *)data, (int)size, "input.xml", NULL,
                                       XML_PARSE_NONET | XML_PARSE_RECOVER);
    if (document) {
        xmlChar *text = NULL;
        int length = 0;
        xmlDocDumpMemory(document, &text, &length);
        xmlFree(text);
        xmlFreeDoc(document);
    }
    xmlResetLastError();
    return 0;
}
