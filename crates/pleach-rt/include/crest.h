/* Programs written for CREST compile unchanged with this header. Each call takes
 * the next bytes of the input; see pleach.h. */
#ifndef CREST_H__
#define CREST_H__

#include "pleach.h"

#define CREST_unsigned_char(x) __CrestUChar(&(x))
#define CREST_unsigned_short(x) __CrestUShort(&(x))
#define CREST_unsigned_int(x) __CrestUInt(&(x))
#define CREST_char(x) __CrestChar(&(x))
#define CREST_short(x) __CrestShort(&(x))
#define CREST_int(x) __CrestInt(&(x))

#ifdef __PLEACH__

#ifdef __cplusplus
extern "C" {
#endif
void __CrestUChar(unsigned char *x);
void __CrestUShort(unsigned short *x);
void __CrestUInt(unsigned int *x);
void __CrestChar(char *x);
void __CrestShort(short *x);
void __CrestInt(int *x);
#ifdef __cplusplus
}
#endif

#else

#define CREST_CALL_(name, type) \
    static __inline__ __attribute__((unused)) void name(type *x) { pleach_bytes(x, sizeof *x); }
CREST_CALL_(__CrestUChar, unsigned char)
CREST_CALL_(__CrestUShort, unsigned short)
CREST_CALL_(__CrestUInt, unsigned int)
CREST_CALL_(__CrestChar, char)
CREST_CALL_(__CrestShort, short)
CREST_CALL_(__CrestInt, int)
#undef CREST_CALL_

#endif

#endif
