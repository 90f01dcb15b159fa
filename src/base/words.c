/* SPDX-License-Identifier: BSD-3-Clause
 *
 * User text made safe, and numbers as text. */
#include "base/base.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

size_t lgv_char_size(const char *s) {
    const unsigned char *u = (const unsigned char *)s;
    if (u[0] < 0x80) return u[0] >= 0x20 && u[0] != 0x7f;
    size_t n = u[0] >= 0xc2 && u[0] < 0xe0 ? 2 : u[0] >= 0xe0 && u[0] < 0xf0 ? 3 : u[0] >= 0xf0 && u[0] < 0xf5 ? 4 : 0;
    for (size_t i = 1; i < n; i++)
        if ((u[i] & 0xc0) != 0x80) return 0;
    if (n == 2 && u[0] == 0xc2 && u[1] < 0xa0) return 0; /* C1 controls */
    if (n == 3) {
        bool overlong = u[0] == 0xe0 && u[1] < 0xa0, surrogate = u[0] == 0xed && u[1] >= 0xa0;
        bool turns = u[0] == 0xe2 &&
                     ((u[1] == 0x80 && u[2] >= 0xa8 && u[2] <= 0xae) || (u[1] == 0x81 && u[2] >= 0xa6 && u[2] <= 0xa9));
        bool noncharacter = u[0] == 0xef && u[1] == 0xbf && u[2] >= 0xbe;
        if (overlong || surrogate || turns || noncharacter) return 0;
    }
    if (n == 4 && ((u[0] == 0xf0 && u[1] < 0x90) || (u[0] == 0xf4 && u[1] > 0x8f))) return 0;
    return n;
}

const char *lgv_plain(char *out, size_t size, const char *text) {
    size_t used = 0;
    for (const char *s = text ? text : ""; *s && size > 0;) {
        size_t n = lgv_char_size(s);
        size_t step = n ? n : 1;
        if (used + step + 4 > size && used + strlen(s) + 1 > size) { /* keep room for the dots */
            used += (size_t)snprintf(out + used, size - used, "...");
            break;
        }
        if (n)
            memcpy(out + used, s, n);
        else
            out[used] = *s == '\n' || *s == '\t' || *s == '\r' ? ' ' : '?';
        used += step;
        s += step;
    }
    if (size > 0) out[used < size ? used : size - 1] = '\0';
    return out;
}

char *lgv_plain_copy(const char *text) {
    size_t size = text ? strlen(text) + 1 : 1;
    char *out = lgv_new(size, 1);
    if (out) lgv_plain(out, size, text);
    return out;
}

size_t lgv_text_width(const char *plain) {
    size_t width = 0;
    for (; *plain; plain++) width += ((unsigned char)*plain & 0xc0) != 0x80;
    return width;
}

const char *lgv_exact(char *out, size_t size, double x) {
    if (!isfinite(x)) {
        snprintf(out, size, "n/a");
        return out;
    }
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(out, size, "%.*g", digits, x);
        if (!(strtod(out, NULL) < x || strtod(out, NULL) > x)) break;
    }
    /* 1e+02 is true but nobody writes a number of seconds so. */
    char whole[32];
    if (fabs(x) < 1e6 && strchr(out, 'e') && fabs(x) >= 1) {
        snprintf(whole, sizeof whole, "%.0f", x);
        if (!(strtod(whole, NULL) < x || strtod(whole, NULL) > x)) snprintf(out, size, "%s", whole);
    }
    return out;
}

const char *lgv_brief(char *out, size_t size, double x, int digits) {
    if (isfinite(x))
        snprintf(out, size, "%.*g", digits, x);
    else
        snprintf(out, size, "n/a");
    return out;
}

const char *lgv_spaced(char *out, size_t size, uint64_t n) {
    char digits[32];
    int count = snprintf(digits, sizeof digits, "%llu", (unsigned long long)n);
    size_t used = 0;
    for (int i = 0; i < count && used + 2 < size; i++) {
        if (i > 0 && (count - i) % 3 == 0 && count > 4) out[used++] = ' ';
        out[used++] = digits[i];
    }
    if (size > 0) out[used] = '\0';
    return out;
}

const char *lgv_rate(char *out, size_t size, double x) {
    if (!isfinite(x))
        snprintf(out, size, "n/a");
    else if (x >= 1e9)
        snprintf(out, size, "%.3g billion", x * 1e-9);
    else if (x >= 1e6)
        snprintf(out, size, "%.3g million", x * 1e-6);
    else
        snprintf(out, size, "%.0f", x);
    return out;
}
