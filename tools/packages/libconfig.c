/* Reads a configuration file and writes it again: libconfig has no program that does. */
#include <libconfig.h>
#include <stdio.h>

int main(int count, char **words) {
    config_t config;
    config_init(&config);
    if (count < 2 || !config_read_file(&config, words[1])) {
        fprintf(stderr, "%s\n", count < 2 ? "no file" : config_error_text(&config));
        return 1;
    }
    config_write(&config, stdout);
    config_destroy(&config);
    return 0;
}
