/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The library writes and reads text in the "C" locale, whatever the calling program has chosen with setlocale: numbers
 * have points in model files, generated C, JSON and gnuplot scripts, and letters are those of ASCII.  The build puts
 * this file in front of every source of the library, so that a call of the C library which depends on the locale of
 * the program cannot be written by mistake. */
#ifndef LGV_PLAIN_H
#define LGV_PLAIN_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <ctype.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

locale_t lgv_plain_locale(void);
double lgv_plain_strtod(const char *text, char **end);
int lgv_plain_snprintf(char *out, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
int lgv_plain_vsnprintf(char *out, size_t size, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));
int lgv_plain_fprintf(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

#ifndef LGV_PLAIN_ITSELF
#undef strtod
#undef snprintf
#undef vsnprintf
#undef fprintf
#undef isalpha
#undef isalnum
#undef iscntrl
#undef isdigit
#undef isprint
#undef isspace
#undef tolower
#undef toupper
#undef strcasecmp
#undef strncasecmp
#define strtod lgv_plain_strtod
#define snprintf lgv_plain_snprintf
#define vsnprintf lgv_plain_vsnprintf
#define fprintf lgv_plain_fprintf
#define isalpha(c) isalpha_l((c), lgv_plain_locale())
#define isalnum(c) isalnum_l((c), lgv_plain_locale())
#define iscntrl(c) iscntrl_l((c), lgv_plain_locale())
#define isdigit(c) isdigit_l((c), lgv_plain_locale())
#define isprint(c) isprint_l((c), lgv_plain_locale())
#define isspace(c) isspace_l((c), lgv_plain_locale())
#define tolower(c) tolower_l((c), lgv_plain_locale())
#define toupper(c) toupper_l((c), lgv_plain_locale())
#define strcasecmp(a, b) strcasecmp_l((a), (b), lgv_plain_locale())
#define strncasecmp(a, b, n) strncasecmp_l((a), (b), (n), lgv_plain_locale())
/* What has no counterpart above is an error of the compiler. */
#pragma GCC poison atof strtof strtold sprintf vsprintf vfprintf dprintf vdprintf asprintf vasprintf fscanf setlocale
#endif

#endif
