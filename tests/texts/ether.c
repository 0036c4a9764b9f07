// The address of a station in text.
// seed: "00:1b:2c:3d:4e:5f"
// goals: 1
#define _GNU_SOURCE
#include <netinet/ether.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
    char in[32] = {0};
    struct ether_addr to;
    int goal = argc > 1 ? atoi(argv[1]) : 0;
    if (read(0, in, sizeof in - 1) < 1)
        return 1;
    if (goal == 0 && ether_aton_r(in, &to) && to.ether_addr_octet[0] == 0x52)
        abort();
    return 0;
}
