/* The tracks of a sheet. Checks what the grammar cannot express: order, ranges, and
   what each track must have. */
#include "cue.h"
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NO_TIME (-1L)

struct track {
    long number, is_audio, flags;
    long pregap, postgap;
    long first, start, latest; /* index 0, index 1, and the last one given */
    long indexes;
    int file;
    char title[MAX_TEXT + 1], performer[MAX_TEXT + 1], isrc[13];
};

int complaints;
static long catalog;
static int files;
static int tracks;
static struct track list[MAX_TRACKS];
static char disc_title[MAX_TEXT + 1], disc_performer[MAX_TEXT + 1];
/* Receives the data of tracks beyond the limit. */
static struct track beyond;
static struct track *current;

static void complain(const char *format, ...)
{
    va_list args;

    complaints++;
    fprintf(stderr, "cue: line %d: ", line);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}

void set_catalog(long number)
{
    if (catalog != 0)
        complain("a second catalogue number");
    catalog = number;
}

void set_title(const char *text)
{
    snprintf(current ? current->title : disc_title, MAX_TEXT + 1, "%s", text);
}

void set_performer(const char *text)
{
    snprintf(current ? current->performer : disc_performer, MAX_TEXT + 1, "%s", text);
}

static void finish_track(void)
{
    if (current && current->start == NO_TIME)
        complain("track %ld has no index 1", current->number);
}

void begin_file(const char *name)
{
    if (name[0] == '\0')
        complain("a file without a name");
    finish_track();
    files++;
    current = NULL;
}

void begin_track(long number, long is_audio)
{
    if (current)
        finish_track();
    if (tracks == 0 ? number < 1 || number > 99 : number != list[tracks - 1].number + 1)
        complain("track %ld is out of order", number);
    if (tracks == MAX_TRACKS) {
        complain("too many tracks");
        current = &beyond;
    } else {
        current = &list[tracks++];
    }
    memset(current, 0, sizeof *current);
    current->number = number;
    current->is_audio = is_audio;
    current->file = files;
    current->first = current->start = current->latest = NO_TIME;
}

void set_isrc(const char *text)
{
    size_t i, length = strlen(text);
    int good = length == 12;

    for (i = 0; good && i < length; i++)
        good = i < 5 ? isalnum((unsigned char)text[i]) : isdigit((unsigned char)text[i]);
    if (!good)
        complain("%s is no ISRC", text);
    else
        memcpy(current->isrc, text, 13);
}

void set_flags(long flags)
{
    if (current->flags)
        complain("flags for a second time");
    if (current->indexes > 0)
        complain("flags come before any index");
    current->flags = flags;
}

void set_pregap(long frames)
{
    if (current->indexes > 0)
        complain("a pregap comes before any index");
    current->pregap = frames;
}

void set_index(long number, long frames)
{
    if (number > 99)
        complain("there is no index %ld", number);
    else if (current->indexes == 0 ? number > 1 : frames <= current->latest)
        complain("index %ld is out of order", number);
    if (number == 0)
        current->first = frames;
    else if (number == 1)
        current->start = frames;
    current->latest = frames;
    current->indexes++;
}

void set_postgap(long frames)
{
    if (current->indexes == 0)
        complain("a postgap comes after all indexes");
    current->postgap = frames;
}

void finish_sheet(void)
{
    finish_track();
}

static void print_time(long frames)
{
    if (frames == NO_TIME)
        printf("  --:--:--");
    else
        printf("  %02ld:%02ld:%02ld", frames / FRAMES / 60, frames / FRAMES % 60, frames % FRAMES);
}

/* The length of a track, if known: up to the next track in the same file. */
static long length_of(int i)
{
    const struct track *next = &list[i + 1];

    if (i + 1 == tracks || next->file != list[i].file || list[i].start == NO_TIME)
        return NO_TIME;
    long end = next->first != NO_TIME ? next->first : next->start;
    return end == NO_TIME || end < list[i].start ? NO_TIME : end - list[i].start;
}

void print_sheet(void)
{
    if (disc_performer[0])
        printf("%s: ", disc_performer);
    printf("%s\n", disc_title[0] ? disc_title : "untitled");
    if (catalog != 0)
        printf("catalogue %013ld\n", catalog);
    for (int i = 0; i < tracks; i++) {
        const struct track *t = &list[i];
        const char *by = t->performer[0] ? t->performer : disc_performer;
        printf("%2ld %c", t->number, t->is_audio ? 'a' : 'd');
        print_time(t->start);
        print_time(length_of(i));
        printf("  %s%s%s", by, by[0] ? ": " : "", t->title);
        if (t->isrc[0])
            printf(" [%s]", t->isrc);
        if (t->pregap || t->postgap)
            printf(" (silence %ld + %ld)", t->pregap, t->postgap);
        if (t->flags)
            printf(" flags %lx", (unsigned long)t->flags);
        putchar('\n');
    }
}
