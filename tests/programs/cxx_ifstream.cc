// std::ifstream on a file: reads lines, seeks back, and reads a block.
// run
// args: @@
// input: "header 3\nabc\n"
// stdout: "3 yes\n"
// exit: 0
// path: length: len <= 8190
// path: (int)len != -1
// path: len != 0
// path: len > 0
// path: len > 0
// path: (table_…[in[0] + 128] & 8192) == 0
// path: len + 0x… > 0x…
// path: (table_…[in[0] + 128] & 8192) == 0
// path: len + 0x… > 0x…
// path: len + 0x… > 0x…
// path: (table_…[in[1] + 128] & 8192) == 0
// path: len + 0x… > 0x…
// path: len + 0x… > 0x…
// path: (table_…[in[2] + 128] & 8192) == 0
// path: len + 0x… > 0x…
// path: len + 0x… > 0x…
// path: (table_…[in[3] + 128] & 8192) == 0
// path: len + 0x… > 0x…
// path: len + 0x… > 0x…
// path: (table_…[in[4] + 128] & 8192) == 0
// path: len + 0x… > 0x…
// path: len + 0x… > 0x…
// path: (table_…[in[5] + 128] & 8192) == 0
// path: len + 0x… > 0x…
// path: …
// must: in[0] == 'h'
// must: in[10] == 'b'
// free: 11
// same: "header 3\nxbz\n"
// other: "Header 3\nabc\n"
// other: "header 3\naxc\n"
#include <fstream>
#include <iostream>
#include <string>

int main(int, char **argv) {
    std::ifstream file(argv[1], std::ios::binary);
    std::string word;
    int n = 0;
    if (!(file >> word >> n) || word != "header" || n != 3)
        return std::cout << "no header\n", 1;
    file.seekg(9);
    char block[4] = {};
    file.read(block, n);
    std::cout << file.gcount() << (block[1] == 'b' ? " yes\n" : " no\n");
    return 0;
}
