/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Text in the "C" locale: a call of the C library between two changes of the locale of this thread alone. */
#include "base/plain.h"

#include <pthread.h>

static locale_t plain;
static pthread_once_t plain_once = PTHREAD_ONCE_INIT;

static void make_plain(void) {
    plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* "C" is a constant of the C library: newlocale allocates nothing for it and does not fail. */
locale_t lgv_plain_locale(void) {
    pthread_once(&plain_once, make_plain);
    return plain;
}

double lgv_plain_strtod(const char *text, char **end) {
    locale_t before = uselocale(lgv_plain_locale());
    double x = strtod(text, end);
    uselocale(before);
    return x;
}

int lgv_plain_vsnprintf(char *out, size_t size, const char *format, va_list args) {
    locale_t before = uselocale(lgv_plain_locale());
    int n = vsnprintf(out, size, format, args);
    uselocale(before);
    return n;
}

int lgv_plain_snprintf(char *out, size_t size, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int n = lgv_plain_vsnprintf(out, size, format, args);
    va_end(args);
    return n;
}

int lgv_plain_fprintf(FILE *out, const char *format, ...) {
    va_list args;
    va_start(args, format);
    locale_t before = uselocale(lgv_plain_locale());
    int n = vfprintf(out, format, args);
    uselocale(before);
    va_end(args);
    return n;
}
