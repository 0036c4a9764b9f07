/* What the commands do. */
#ifndef FTP_H
#define FTP_H

/* Room for a resolved path, its end included. */
#define MAX_PATH 1024
/* Longest name that a command takes: the line it comes on has its limit, too. */
#define MAX_NAME 1010

enum resolution { RESOLVED, TOO_LONG, NO_DIRECTORY };

/* Writes the path that a name stands for, seen from a directory, without links
   and without "." and "..", into a buffer of MAX_PATH bytes. */
enum resolution resolve(const char *from, const char *name, char *resolved);

/* Whether there is a directory of this resolved path. */
int is_directory(const char *path);

void change_directory(const char *name);
void print_directory(void);
void on_path(const char *what, const char *name);

#endif
