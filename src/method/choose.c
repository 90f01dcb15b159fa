/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Methods by name for a model, and `method: auto`: the first row of a table whose condition holds and whose method
 * fits.  What it promises: symplectic, explicit where the model allows it, of the highest strong order that stays
 * cheap. */
#include "method/method.h"
#include <string.h>
#include <strings.h>

/* Conditions of a row; all of them must hold. */
enum {
    ON_LAGRANGIAN = 1, /* constraints, or a Lagrangian with masses that are not constant */
    NOISE = 2,
    NO_NOISE = 4,
    FRICTION = 32,
    EXPLICIT = 8,      /* the step is explicit on this model */
    ADDITIVE_TOO = 16, /* additive noise has no limit on the size */
    TURNING = 128,     /* rotations, or momenta without these */
    COUPLED = 64       /* bodies in SE(3) whose inertia couples position and rotation */
};

/* Limits of size are where the method named, measured on chains and pair potentials, begins to cost several times as
 * much, to run or to compile, as the next row. */
static const struct row {
    struct lgv_default rule;
    unsigned condition;
    size_t most; /* degrees of freedom, 0 for any number */
} rows[] = {
    {{"BAOAB", "friction and a bath (`langevin`), separable H",
      "explicit, weak order 2 (1 beside other noise), positions with the smallest bias of all splittings at one force "
      "evaluation a step"},
     FRICTION,
     0},
    {{"P1N1Q2Gau-GLA", "the same with noise that is not A(p) + B(q)",
      "the implicit midpoint rule between two halves of the flow of the bath"},
     FRICTION | NOISE,
     0},
    {{"BRORB", "the same with bodies in SE(3) of coupled inertia", "weak order 2; the free motion is implicit"},
     FRICTION | COUPLED,
     0},
    {{"RATTLE-GLA", "the same with constraints, or a Lagrangian with variable masses or inertia",
      "OBABO with the step of RATTLE: weak order 2"},
     FRICTION | ON_LAGRANGIAN,
     0},
    {{"RATTLE-Jc", "constraints or a Lagrangian with variable masses, noise h(q), at most 20 degrees of freedom",
      "strong order 3/2 and weak order 2, on the constraint set if there is one"},
     ON_LAGRANGIAN | NOISE,
     20},
    {{"Lobatto3", "constraints or a Lagrangian with variable masses, no noise, at most 8 degrees of freedom",
      "order 4, on the constraint set if there is one"},
     ON_LAGRANGIAN | NO_NOISE,
     8},
    {{"Lobatto3-W1", "the same, noise h(q), where RATTLE-Jc does not fit, at most 8 degrees of freedom",
      "strong order 3/2 and weak order 2, for any Lagrangian"},
     ON_LAGRANGIAN | NOISE,
     8},
    {{"RATTLE", "constraints or a Lagrangian with variable masses, otherwise",
      "fits all constraints and Lagrangians; the cost of constraints is linear in the size"},
     ON_LAGRANGIAN,
     0},
    {{"VZc", "noise h(q), H = p.M^-1 p/2 + U(q) with constant masses; additive noise or at most 12 degrees of freedom",
      "explicit, strong order 3/2 at one force evaluation a step"},
     NOISE | EXPLICIT | ADDITIVE_TOO,
     12},
    {{"MRT32", "noise h(q), separable H, otherwise", "explicit, strong order 3/2 at two force evaluations a step"},
     NOISE | EXPLICIT,
     0},
    {{"P2N2Q2Lob", "H and every h separable, otherwise", "explicit, one force evaluation a step (Stoermer-Verlet)"},
     EXPLICIT,
     0},
    {{"BAB", "rotations in SO(3), or forces without a potential",
      "explicit: half a kick, free motion, half a kick (Verlet, with rotations Lie-Verlet)"},
     EXPLICIT,
     0},
    {{"VZc", "noise h(q), bodies in SE(3) whose inertia couples position and rotation, at most 12 degrees of freedom",
      "strong order 3/2 at one force evaluation a step; the free motion is implicit"},
     NOISE | COUPLED | ADDITIVE_TOO,
     12},
    {{"BRB", "bodies in SE(3) whose inertia couples position and rotation, otherwise",
      "half a kick, free motion by the Cayley map, half a kick, one force evaluation a step"},
     COUPLED,
     0},
    {{"BCB", "rotations or momenta in so3* or se3* with other H or noise of momenta",
      "half a kick, a step along coadjoint orbits by the Cayley map, half a kick"},
     TURNING,
     0},
    {{"P1N1Q2Gau", "everything else", "fits every Hamiltonian and keeps quadratic invariants (implicit midpoint)"},
     0,
     0},
};

const struct lgv_default *lgv_default_at(size_t number) {
    return number < sizeof rows / sizeof *rows ? &rows[number].rule : NULL;
}

static bool applies(const struct row *r, const struct lgv_method *method, const struct lgv_model *m,
                    const struct lgv_structure *s) {
    char ignore[64];
    bool lagrangian = m->nconstraints > 0 || lgv_method_lagrangian(method, m, s);
    if ((r->condition & ON_LAGRANGIAN) && !lagrangian) return false;
    if (((r->condition & FRICTION) != 0) != (m->bath.kind != LGV_FRICTION_NONE)) return false;
    if ((r->condition & COUPLED) && !s->coupled) return false;
    if ((r->condition & TURNING) && !s->rotations) return false;
    if ((r->condition & NOISE) && m->nnoise == 0) return false;
    if ((r->condition & NO_NOISE) && m->nnoise > 0) return false;
    if ((r->condition & EXPLICIT) && !lgv_method_explicit(method, s)) return false;
    if (r->most && m->np > r->most && !((r->condition & ADDITIVE_TOO) && s->additive)) return false;
    return !lgv_method_refusal(method, m, s, ignore, sizeof ignore);
}

/* Where nothing fits it is the last row of its kind, whose refusal tells why; *reason: of the choice. */
static const struct row *choose(const struct lgv_model *m, const struct lgv_structure *s, const char **reason) {
    bool lagrangian = m->nconstraints || m->lagrangian_only;
    const struct row *last = rows;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct lgv_method *method = lgv_method_find(rows[i].rule.method);
        if (method && applies(&rows[i], method, m, s)) {
            *reason = rows[i].rule.reason;
            return &rows[i];
        }
        if (((rows[i].condition & ON_LAGRANGIAN) != 0) == lagrangian &&
            ((rows[i].condition & FRICTION) != 0) == (m->bath.kind != LGV_FRICTION_NONE) &&
            ((rows[i].condition & COUPLED) == 0 || s->coupled) && ((rows[i].condition & NOISE) == 0 || m->nnoise) &&
            (!s->rotations || (method && lgv_method_turns(method, s->coupled))))
            last = &rows[i];
    }
    *reason = "no method of the rule fits, and this one comes nearest";
    return last;
}

bool lgv_method_is_default(const struct lgv_method *method, const struct lgv_model *m, const struct lgv_structure *s) {
    const char *reason;
    return strcmp(choose(m, s, &reason)->rule.method, method->name) == 0;
}

/* The words a method can be called by, up to `most`; aliases are copied to `buffer`.  m: a model whose methods count
 * too. */
static size_t method_words(const struct lgv_model *m, const char **word, size_t most, char *buffer, size_t size) {
    size_t n = 0, used = 0;
    for (size_t i = 0; m && i < m->nmethods && n < most; i++) word[n++] = m->method[i]->name;
    for (size_t i = 0; i < lgv_method_count && n < most; i++) {
        const struct lgv_method *known = lgv_method_at(i);
        if (!known) continue; /* memory is out */
        word[n++] = known->name;
        for (const char *s = known->aliases ? known->aliases : ""; *s && n < most;) {
            size_t length = strcspn(s, " ");
            if (used + length + 1 > size) break;
            memcpy(buffer + used, s, length);
            buffer[used + length] = '\0';
            word[n++] = buffer + used;
            used += length + 1;
            s += length + (s[length] == ' ');
        }
    }
    return n;
}

enum lgv_status lgv_method_unknown(const struct lgv_model *m, const char *name, char *out, size_t size) {
    const char *word[256];
    for (size_t i = 0; i < lgv_method_count; i++) {
        if (lgv_method_at(i)) continue;
        snprintf(out, size, "out of memory");
        return LGV_CANNOT_RUN;
    }
    if (!*name) {
        snprintf(out, size, "the name of the method is empty; `lgv methods` lists them");
        return LGV_BAD_INPUT;
    }
    char buffer[4096], reason[200];
    const char *near = lgv_nearest(name, word, method_words(m, word, 256, buffer, sizeof buffer));
    lgv_method_explain(m, name, reason, sizeof reason);
    if (reason[0] && near)
        snprintf(out, size, "unknown method %.60s: %s; did you mean %s?", name, reason, near);
    else if (reason[0])
        snprintf(out, size, "unknown method %.60s: %s", name, reason);
    else if (near)
        snprintf(out, size, "unknown method %.60s; did you mean %s?", name, near);
    else
        snprintf(out, size, "unknown method %.60s; `lgv methods` lists them", name);
    return LGV_BAD_INPUT;
}

enum lgv_status lgv_method_resolve(struct lgv_model *m, const char *name, const struct lgv_method **out,
                                   const char **chosen, struct lgv_error *err) {
    *out = NULL;
    if (strcasecmp(name, LGV_METHOD_AUTO) != 0) {
        *out = lgv_method_for(m, name);
        char why[400];
        if (*out) return LGV_OK;
        enum lgv_status unknown = lgv_method_unknown(m, name, why, sizeof why);
        return lgv_fail(err, unknown, "%s", why);
    }
    struct lgv_structure structure;
    enum lgv_status status = lgv_model_structure(m, &structure, err);
    if (status) return status;
    const char *reason;
    *out = lgv_method_find(choose(m, &structure, &reason)->rule.method);
    if (chosen) *chosen = reason;
    return *out ? LGV_OK : lgv_fail_memory(err);
}
