/* A sheet while it is read, and what is printed of it. */
#ifndef CUE_H
#define CUE_H

/* Frames in a second. */
#define FRAMES 75
/* Digits after the thirteenth are left out: catalogue numbers are the longest. */
#define MAX_NUMBER 1000000000000L
#define MAX_TRACKS 99
/* Bytes of a text that are kept. */
#define MAX_TEXT 80

enum { FLAG_PRE = 1, FLAG_DCP = 2, FLAG_4CH = 4, FLAG_SCMS = 8 };

/* Of the lexer. */
extern int line;
/* What made no sense so far. */
extern int complaints;

void set_catalog(long number);
void set_title(const char *text);
void set_performer(const char *text);
void begin_file(const char *name);
void begin_track(long number, long is_audio);
void set_isrc(const char *text);
void set_flags(long flags);
void set_pregap(long frames);
void set_index(long number, long frames);
void set_postgap(long frames);
void finish_sheet(void);
void print_sheet(void);

#endif
