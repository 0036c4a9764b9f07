/* The commands and path resolution. */
#ifndef FTP_H
#define FTP_H

/* Size of a resolved path with its terminating zero. */
#define MAX_PATH 1024
/* Maximum length of a name in a command. */
#define MAX_NAME 1010

enum resolution { RESOLVED, TOO_LONG, NO_DIRECTORY };

/* Resolves a name from a directory and writes the path, without links, "." and "..",
   into a buffer of MAX_PATH bytes. */
enum resolution resolve(const char *from, const char *name, char *resolved);

/* Returns 1 if this resolved path is a directory. */
int is_directory(const char *path);

void change_directory(const char *name);
void print_directory(void);
void on_path(const char *what, const char *name);

#endif
