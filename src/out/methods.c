/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a method is, in words and as JSON. */
#include "out/out.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

size_t lgv_method_needs(const struct lgv_method *m, const char **word) {
    size_t n = 0;
    if (m->needs & LGV_NEEDS_NO_NOISE) word[n++] = "no noise";
    if (m->needs & LGV_NEEDS_NOISE_OF_Q) word[n++] = "noise h(q)";
    if (m->needs & LGV_NEEDS_FLAT)
        word[n++] = "constant masses";
    else if (m->needs & LGV_NEEDS_SEPARABLE)
        word[n++] = "separable";
    if (m->needs & LGV_NEEDS_SPLIT)
        word[n++] = m->needs & LGV_NEEDS_QUADRATIC_STIFF ? "a stiff part that is quadratic" : "a stiff part";
    if (m->needs & LGV_NEEDS_CONSTRAINTS) word[n++] = "constraints";
    if (m->needs & LGV_NEEDS_ROTATIONS) word[n++] = "rotations";
    return n;
}

const char *lgv_method_explicit_for(const struct lgv_method *m) {
    return m->explicit_always      ? "all models"
           : m->explicit_separable ? "separable models"
           : m->explicit_additive  ? "additive noise"
                                   : "none";
}

const char *lgv_method_increments(const struct lgv_method *m) {
    return m->needs & LGV_NEEDS_NO_NOISE ? "none" : m->uses_dz ? "dW and dZ" : "dW";
}

static json_t *words(const char *const *word, size_t n) {
    json_t *list = json_array();
    for (size_t i = 0; list && i < n; i++) json_array_append_new(list, json_string(word[i]));
    return list;
}

static json_t *aliases(const struct lgv_method *m) {
    json_t *list = json_array();
    for (const char *s = m->aliases ? m->aliases : ""; list && *s;) {
        size_t n = strcspn(s, " ");
        json_array_append_new(list, json_stringn(s, n));
        s += n + (s[n] == ' ');
    }
    return list;
}

static json_t *order_of(double order) {
    return isnan(order) ? json_null() : json_real(order);
}

static json_t *method_json(const struct lgv_method *m) {
    const char *need[5];
    size_t n = lgv_method_needs(m, need);
    bool bath = m->bath && !m->metropolis;
    return json_pack("{s:s s:o s:s s:s s:o s:o s:o s:o s:o s:o s:b s:b s:s s:b s:b s:s s:s s:b s:o s:o}", "name",
                     m->name, "aliases", aliases(m), "family", m->family, "paper", m->paper, "needs", words(need, n),
                     "order", order_of(m->order), "strong_order", order_of(m->strong_order),
                     "strong_order_noncommuting", order_of(m->strong_noncommuting),
                     "strong_order_additive", order_of(m->strong_additive),
                     "weak_order", order_of(m->weak_order), "symplectic",
                     m->symplectic, "explicit", m->explicit_always || m->explicit_separable, "explicit_for",
                     lgv_method_explicit_for(m), "quadratic_invariants", m->quadratic_invariants, "momentum_maps",
                     m->linear_momentum_maps, "claims", m->claims, "doc", m->doc, "uses_dz", m->uses_dz,
                     "bath_strong_order", bath ? order_of(m->bath_strong) : json_null(), "bath_weak_order",
                     bath ? order_of(m->bath_weak) : json_null());
}

char *lgv_json_methods(const struct lgv_method *one) {
    json_t *list = json_array();
    if (one && list) json_array_append_new(list, method_json(one)); /* also one that only its name makes */
    for (size_t i = 0; list && !one && i < lgv_method_count; i++)
        json_array_append_new(list, method_json(lgv_method_at(i)));
    char *text = list ? json_dumps(list, JSON_INDENT(2)) : NULL;
    json_decref(list);
    return text;
}
