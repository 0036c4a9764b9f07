// Reads a packet filter from standard input and prints the program that libpcap
// compiles it to, or why it does not.
#include <pcap.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    static char text[1 << 16];
    size_t length = fread(text, 1, sizeof text - 1, stdin);
    text[length] = 0;
    pcap_t *ethernet = pcap_open_dead(DLT_EN10MB, 65535);
    struct bpf_program program;
    if (pcap_compile(ethernet, &program, text, 1, 0xffffff) < 0) {
        printf("%s\n", pcap_geterr(ethernet));
        return 1;
    }
    for (unsigned i = 0; i < program.bf_len; i++) {
        struct bpf_insn *n = &program.bf_insns[i];
        printf("%u %u %u %u\n", n->code, n->jt, n->jf, n->k);
    }
    return 0;
}
