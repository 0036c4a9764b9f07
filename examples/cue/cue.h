/* Builds a sheet while it is parsed, and prints it. */
#ifndef CUE_H
#define CUE_H

/* Frames per second. */
#define FRAMES 75
/* Only 13 digits count: no number is longer than a catalogue number. */
#define MAX_NUMBER 1000000000000L
#define MAX_TRACKS 99
/* Maximum length of a stored text. */
#define MAX_TEXT 80

enum { FLAG_PRE = 1, FLAG_DCP = 2, FLAG_4CH = 4, FLAG_SCMS = 8 };

/* From the lexer. */
extern int line;
/* Number of semantic errors so far. */
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
