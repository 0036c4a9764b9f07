// A maze walked by the input: the position indexes a constant map.
// opt: all
// run
// input: "ddrrdd"
// stdout: "out\n"
// exit: 0
// path: length: len > 0
// path: (in[0] == 'r') + 1 + ((in[0] == 'l' ^ 1) - 1) >= 0
// path: (in[0] == 'r') + 1 + ((in[0] == 'l' ^ 1) - 1) <= 4
// path: (in[0] == 'd') + ((in[0] == 'u' ^ 1) - 1) >= 0
// path: (uint32_t)((in[0] == 'd') + ((in[0] == 'u' ^ 1) - 1)) <= 4
// path: check: (int64_t)(uint32_t)((in[0] == 'd') + ((in[0] == 'u' ^ 1) - 1)) * 6 + 0x… + ((in[0] == 'r') + 1 + ((in[0] == 'l' ^ 1) - 1)) - 0x… <= 29
// path: map[(int64_t)(uint32_t)((in[0] == 'd') + ((in[0] == 'u' ^ 1) - 1)) * 6 + 0x… + ((in[0] == 'r') + 1 + ((in[0] == 'l' ^ 1) - 1)) - 0x…] != 35
// path: map[(int64_t)(uint32_t)((in[0] == 'd') + ((in[0] == 'u' ^ 1) - 1)) * 6 + 0x… + ((in[0] == 'r') + 1 + ((in[0] == 'l' ^ 1) - 1)) - 0x…] != 33
// path: length: len > 1
// path: (in[0] == 'r') + 1 + ((in[0] == 'l' ^ 1) - 1) + (in[1] == 'r') + ((in[1] == 'l' ^ 1) - 1) >= 0
// path: (uint32_t)((in[0] == 'r') + 1 + ((in[0] == 'l' ^ 1) - 1) + (in[1] == 'r') + ((in[1] == 'l' ^ 1) - 1)) <= 4
// path: (in[0] == 'd') + ((in[0] == 'u' ^ 1) - 1) + (in[1] == 'd') + ((in[1] == 'u' ^ 1) - 1) >= 0
// path: (uint32_t)((in[0] == 'd') + ((in[0] == 'u' ^ 1) - 1) + (in[1] == 'd') + ((in[1] == 'u' ^ 1) - 1)) <= 4
// path: check: (int64_t)(uint32_t)((in[0] == 'd') + ((in[0] == 'u' ^ 1) - 1) + (in[1] == 'd') + ((in[1] == 'u' ^ 1) - 1)) * 6 + 0x… + (uint32_t)((in[0] == 'r'…
// path: map[(int64_t)(uint32_t)((in[0] == 'd') + ((in[0] == 'u' ^ 1) - 1) + (in[1] == 'd') + ((in[1] == 'u' ^ 1) - 1)) * 6 + 0x… + (uint32_t)((in[0] == 'r') +…
// path: map[(int64_t)(uint32_t)((in[0] == 'd') + ((in[0] == 'u' ^ 1) - 1) + (in[1] == 'd') + ((in[1] == 'u' ^ 1) - 1)) * 6 + 0x… + (uint32_t)((in[0] == 'r') +…
// path: length: len > 2
// path: (in[0] == 'r') + 1 + ((in[0] == 'l' ^ 1) - 1) + (in[1] == 'r') + ((in[1] == 'l' ^ 1) - 1) + (in[2] == 'r') + ((in[2] == 'l' ^ 1) - 1) >= 0
// path: (uint32_t)((in[0] == 'r') + 1 + ((in[0] == 'l' ^ 1) - 1) + (in[1] == 'r') + ((in[1] == 'l' ^ 1) - 1) + (in[2] == 'r') + ((in[2] == 'l' ^ 1) - 1)) <= 4
// path: (in[0] == 'd') + ((in[0] == 'u' ^ 1) - 1) + (in[1] == 'd') + ((in[1] == 'u' ^ 1) - 1) + (in[2] == 'd') + ((in[2] == 'u' ^ 1) - 1) >= 0
// path: (uint32_t)((in[0] == 'd') + ((in[0] == 'u' ^ 1) - 1) + (in[1] == 'd') + ((in[1] == 'u' ^ 1) - 1) + (in[2] == 'd') + ((in[2] == 'u' ^ 1) - 1)) <= 4
// path: check: (int64_t)(uint32_t)((in[0] == 'd') + ((in[0] == 'u' ^ 1) - 1) + (in[1] == 'd') + ((in[1] == 'u' ^ 1) - 1) + (in[2] == 'd') + ((in[2] == 'u' ^ 1…
// path: map[(int64_t)(uint32_t)((in[0] == 'd') + ((in[0] == 'u' ^ 1) - 1) + (in[1] == 'd') + ((in[1] == 'u' ^ 1) - 1) + (in[2] == 'd') + ((in[2] == 'u' ^ 1) -…
// path: map[(int64_t)(uint32_t)((in[0] == 'd') + ((in[0] == 'u' ^ 1) - 1) + (in[1] == 'd') + ((in[1] == 'u' ^ 1) - 1) + (in[2] == 'd') + ((in[2] == 'u' ^ 1) -…
// path: …
// other: "ddrrdu"
// run
// input: "r"
// stdout: "bump\n"
// exit: 1
// path: length: len > 0
// path: (in[0] == 'r') + 1 + ((in[0] == 'l' ^ 1) - 1) >= 0
// path: (in[0] == 'r') + 1 + ((in[0] == 'l' ^ 1) - 1) <= 4
// path: (in[0] == 'd') + ((in[0] == 'u' ^ 1) - 1) >= 0
// path: (uint32_t)((in[0] == 'd') + ((in[0] == 'u' ^ 1) - 1)) <= 4
// path: check: (int64_t)(uint32_t)((in[0] == 'd') + ((in[0] == 'u' ^ 1) - 1)) * 6 + 0x… + ((in[0] == 'r') + 1 + ((in[0] == 'l' ^ 1) - 1)) - 0x… <= 29
// path: map[(int64_t)(uint32_t)((in[0] == 'd') + ((in[0] == 'u' ^ 1) - 1)) * 6 + 0x… + ((in[0] == 'r') + 1 + ((in[0] == 'l' ^ 1) - 1)) - 0x…] == 35
#include <stdio.h>

static const char map[5][6] = {"#.###", "#.###", "#...#", "###.#", "###!#"};

int main(void) {
    int x = 1, y = 0;
    for (int c, i = 0; i < 12 && (c = getchar()) != EOF; i++) {
        int nx = x + (c == 'r') - (c == 'l'), ny = y + (c == 'd') - (c == 'u');
        if (nx < 0 || nx > 4 || ny < 0 || ny > 4 || map[ny][nx] == '#')
            return puts("bump"), 1;
        x = nx, y = ny;
        if (map[y][x] == '!')
            return puts("out"), 0;
    }
    printf("at %d,%d\n", x, y);
    return 2;
}
