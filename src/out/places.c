/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which series belong together: the components of a point or of a rotation, a coordinate and its momentum. */
#include "out/private.h"

#include <string.h>

/* Series of the coordinate NAME.y, say, that belongs to series `first`, NAME.x; nseries when there is none. */
static size_t component(const struct lgv_result *r, size_t first, char letter) {
    const char *name = r->series[first].name;
    if (!name || strlen(name) < 3 || name[strlen(name) - 2] != '.') return r->nseries;
    size_t stem = strlen(name) - 1;
    for (size_t i = 0; i < r->nseries; i++) {
        const struct lgv_series *s = &r->series[i];
        if (s->kind == LGV_OBSERVABLE_COORDINATE && s->name && strlen(s->name) == stem + 1 &&
            strncmp(s->name, name, stem) == 0 && s->name[stem] == letter)
            return i;
    }
    return r->nseries;
}

/* Only quaternions have a component w. */
static bool of_rotation(const struct lgv_result *r, size_t i) {
    return component(r, i, 'w') < r->nseries;
}

size_t lgv_series_point(const struct lgv_result *r, size_t i, size_t place[3]) {
    const struct lgv_series *s = &r->series[i];
    size_t length = s->name ? strlen(s->name) : 0;
    if (s->kind != LGV_OBSERVABLE_COORDINATE || length < 3 || strcmp(s->name + length - 2, ".x") != 0) return 0;
    place[0] = i;
    place[1] = component(r, i, 'y');
    place[2] = component(r, i, 'z');
    if (place[1] == r->nseries || of_rotation(r, i)) return 0;
    return place[2] < r->nseries ? 3 : 2;
}

size_t lgv_series_place(const struct lgv_result *r, size_t place[3]) {
    size_t scalars = 0, point[3];
    for (size_t i = 0; i < r->nseries; i++) {
        if (r->series[i].kind != LGV_OBSERVABLE_COORDINATE || of_rotation(r, i)) continue;
        size_t dims = lgv_series_point(r, i, point);
        if (dims) {
            memcpy(place, point, sizeof point);
            return dims;
        }
        if (scalars < 3) place[scalars] = i;
        scalars++;
    }
    return scalars == r->dof && (scalars == 2 || scalars == 3) ? scalars : 0;
}

bool lgv_series_phase(const struct lgv_result *r, size_t pair[2]) {
    pair[0] = pair[1] = r->nseries;
    for (size_t i = r->nseries; i-- > 0;) {
        if (r->series[i].kind == LGV_OBSERVABLE_COORDINATE) pair[0] = i;
        if (r->series[i].kind == LGV_OBSERVABLE_CONJUGATE) pair[1] = i;
    }
    return pair[0] < r->nseries && pair[1] < r->nseries && !of_rotation(r, pair[0]);
}

bool lgv_series_rotation(const struct lgv_result *r, size_t place[4]) {
    size_t i = 0;
    while (i < r->nseries && !(r->series[i].kind == LGV_OBSERVABLE_COORDINATE && of_rotation(r, i))) i++;
    for (size_t c = 0; i < r->nseries && c < 4; c++) {
        place[c] = component(r, i, "wxyz"[c]);
        if (place[c] == r->nseries) return false;
    }
    return i < r->nseries;
}
