/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The registry: every method that has a name, and how a name becomes a method.  A method with a file of its own is
 * described there (methods/NAME.c); the others are made from their names by rules.c, vprk.c, number.c, compose.c and
 * magnus.c. */
#include "method/number.h"
#include "method/compose.h"
#include "method/rules.h"
#include "method/vprk.h"
#include <ctype.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

extern const struct lgv_method lgv_method_euler, lgv_method_verlet, lgv_method_midpoint, lgv_method_eem, lgv_method_iem,
    lgv_method_rk4, lgv_method_vz, lgv_method_vzc, lgv_method_mrt32, lgv_method_heun, lgv_method_milstein,
    lgv_method_taylor, lgv_method_pem, lgv_method_sve_q, lgv_method_sve_qi, lgv_method_bbk, lgv_method_body_em,
    lgv_method_lie_em, lgv_method_body_rk4, lgv_method_rkmk4, lgv_method_imex, lgv_method_gautschi,
    lgv_method_deuflhard, lgv_method_garcia_archilla, lgv_method_hochbruck_lubich, lgv_method_hairer_lubich,
    lgv_method_grimm_hochbruck, lgv_method_gonzalez;

/* Methods with a file of their own; NULL: made from the name by rules.c, vprk.c, number.c, compose.c or magnus.c. */
static const struct {
    const char *name, *alias;
    const struct lgv_method *method;
} methods[] = {
    {"P1N1Q1Rec", NULL, &lgv_method_euler},
    {"P2N2Q2Lob", NULL, &lgv_method_verlet},
    {"P1N1Q2Gau", NULL, &lgv_method_midpoint},
    {"P1N2Q2Lob", "trapezoidal", NULL},
    {"P1N3Q4Lob", NULL, NULL},
    {"P1N2Q2Otr", NULL, NULL},
    {"P2N2Q2Otr", NULL, NULL},
    {"P1N3Q4Mil", NULL, NULL},
    {"P1N1Q1RecN2Q2Lob", NULL, NULL},
    {"P1N1Q1RecN1Q2Gau", NULL, NULL},
    {"P2N2Q2LobN1Q1Rec", NULL, NULL},
    {"P1N1Q2GauN2Q2Lob", NULL, NULL},
    {"P1N2Q2LobN1Q2Gau", NULL, NULL},
    {"P2N2Q4Gau", "gauss4", NULL},
    {"P3N3Q6Gau", "gauss6", NULL},
    {"P2N3Q4Lob", NULL, NULL},
    {"P3N4Q6Lob", NULL, NULL},
    {"P2N2Q4Gau-3flows", NULL, NULL},
    {"P2N2Q4Gau-Magnus", NULL, NULL},
    {"P2N2Q4Gau-MagnusStrang", NULL, NULL},
    {"P1N1Q2Gau-Levy", NULL, NULL},
    {"MRT32", NULL, &lgv_method_mrt32},
    {"VZ", NULL, &lgv_method_vz},
    {"VZc", NULL, &lgv_method_vzc},
    {"LobZ", NULL, NULL},
    {"P2N2Q4Gau-Jc", "Gauss2-Jc", NULL},
    {"P3N3Q6Gau-Jc", "Gauss3-Jc", NULL},
    {"P2N3Q4Lob-Jc", NULL, NULL},
    {"P3N4Q6Lob-Jc", NULL, NULL},
    {"P2N2Q2Lob-Jr", "VZr", NULL},
    {"P2N2Q4Gau-Jr", "Gauss2-Jr", NULL},
    {"LobZ-r", NULL, NULL},
    {"P1N1Q2Gau-c", NULL, NULL},
    {"EEM", NULL, &lgv_method_eem},
    {"IEM", NULL, &lgv_method_iem},
    {"Heun", NULL, &lgv_method_heun},
    {"Milstein", NULL, &lgv_method_milstein},
    {"Taylor15", NULL, &lgv_method_taylor},
    {"RK4", NULL, &lgv_method_rk4},
    {"VE", NULL, NULL},
    {"VE-adjoint", NULL, NULL},
    {"SVE", NULL, NULL},
    {"RATTLE", NULL, NULL},
    {"RATTLE-J", NULL, NULL},
    {"RATTLE-Jc", NULL, NULL},
    {"RATTLE-weak2", NULL, NULL},
    {"SHAKE", NULL, NULL},
    {"SVE-exp", NULL, NULL},
    {"VE-adjoint-exp", NULL, NULL},
    {"RATTLE-exp", NULL, NULL},
    {"Lobatto3", NULL, NULL},
    {"Lobatto4", NULL, NULL},
    {"Lobatto3-Jc", NULL, NULL},
    {"Lobatto4-Jc", NULL, NULL},
    {"Lobatto3-W1", NULL, NULL},
    {"Lobatto3-W2", NULL, NULL},
    {"Gonzalez", NULL, &lgv_method_gonzalez},
    {"PEM", NULL, &lgv_method_pem},
    {"BAOAB", NULL, NULL},
    {"OBABO", NULL, NULL},
    {"ABOBA", NULL, NULL},
    {"OABAO", NULL, NULL},
    {"BAOA", NULL, NULL},
    {"UBU", NULL, NULL},
    {"BUB", NULL, NULL},
    {"OBABO-Metropolis", NULL, NULL},
    {"BAOAB-Metropolis", NULL, NULL},
    {"P2N2Q2Lob-GLA", NULL, NULL},
    {"P1N1Q2Gau-GLA", NULL, NULL},
    {"RATTLE-GLA", NULL, NULL},
    {"g-BAOAB", NULL, NULL},
    {"g-OBABO", NULL, NULL},
    {"RATTLE-GLA-Metropolis", NULL, NULL},
    {"g-SVE-Q", NULL, NULL},
    {"g-SVE-QI", NULL, NULL},
    {"g-OBABO-Metropolis", NULL, NULL},
    {"SVE-Q", NULL, &lgv_method_sve_q},
    {"SVE-QI", NULL, &lgv_method_sve_qi},
    {"BBK", NULL, &lgv_method_bbk},
    {"ZS(0.4)", NULL, NULL},
    {"ZSEuler(0.4)", NULL, NULL},
    {"ZSs(0.4)", NULL, NULL},
    {"StiffZSs(0.4)", NULL, NULL},
    {"Newmark(0.4)", NULL, NULL},
    {"PushNewmark(0.4)", NULL, NULL},
    {"OneStepNewmark(0.4)", NULL, NULL},
    {"Impulse(8)", NULL, NULL},
    {"MOLLY(8)", NULL, NULL},
    {"IMEX", NULL, &lgv_method_imex},
    {"Gautschi", NULL, &lgv_method_gautschi},
    {"Deuflhard", NULL, &lgv_method_deuflhard},
    {"GarciaArchilla", NULL, &lgv_method_garcia_archilla},
    {"HochbruckLubich", NULL, &lgv_method_hochbruck_lubich},
    {"HairerLubich", NULL, &lgv_method_hairer_lubich},
    {"GrimmHochbruck", NULL, &lgv_method_grimm_hochbruck},
    {"ABA", NULL, NULL},
    {"BAB", NULL, NULL},
    {"BRB", NULL, NULL},
    {"BXB", NULL, NULL},
    {"BTB", NULL, NULL},
    {"BCB", NULL, NULL},
    {"BEB", NULL, NULL},
    {"BCB-Levy", NULL, NULL},
    {"BA", NULL, NULL},
    {"BR", NULL, NULL},
    {"BX", NULL, NULL},
    {"BT", NULL, NULL},
    {"g-BRB", NULL, NULL},
    {"g-BXB", NULL, NULL},
    {"g-BR", NULL, NULL},
    {"EM-embedded", NULL, &lgv_method_body_em},
    {"LieEM", NULL, &lgv_method_lie_em},
    {"RK4-embedded", NULL, &lgv_method_body_rk4},
    {"RKMK4", NULL, &lgv_method_rkmk4},
    {"P2N2Q2Lob-Yoshida4", NULL, NULL},
    {"P2N2Q2Lob-Suzuki4", NULL, NULL},
    {"P2N2Q2Lob-6", NULL, NULL},
    {"P2N2Q2Lob-8", NULL, NULL},
    {"RATTLE-Suzuki4", NULL, NULL},
    {"RATTLE-6", NULL, NULL},
    {"BlanesMoan4", NULL, NULL},
    {"BlanesMoan6", NULL, NULL},
    {"RKN4", NULL, NULL},
    {"RKN6", NULL, NULL},
    {"RKN8", NULL, NULL},
};

const size_t lgv_method_count = sizeof methods / sizeof *methods;

/* ---- methods made from names ---- */

struct made {
    struct lgv_method method;
    struct made *next;
};
static struct made *all;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void clear(struct lgv_method *m) {
    free((void *)m->name);
    free((void *)m->doc);
    free((void *)m->constants);
    free((void *)m->values);
    free((void *)m->random);
    lgv_program_free((struct lgv_program *)m->program);
}

void lgv_method_free(struct lgv_method *m) {
    if (m) clear(m);
    free(m);
}

const struct lgv_method *lgv_method_keep(const char *name, lgv_method_fill *fill, const void *what) {
    const struct lgv_method *found = NULL;
    pthread_mutex_lock(&lock);
    for (struct made *m = all; m && !found; m = m->next)
        if (strcasecmp(m->method.name, name) == 0) found = &m->method;
    struct made *made = found ? NULL : lgv_new(1, sizeof *made);
    if (made && fill(name, what, &made->method)) {
        made->next = all;
        all = made;
        found = &made->method;
    } else if (made) {
        clear(&made->method);
        free(made);
    }
    pthread_mutex_unlock(&lock);
    return found;
}

static const struct lgv_method *made(const char *name, const char *alias) {
    struct lgv_galerkin g;
    char ignore[200];
    const struct lgv_method *variational = lgv_vprk_find(name);
    if (variational) return variational;
    const struct lgv_method *numbered = lgv_number_find(name);
    if (numbered) return numbered;
    if (lgv_galerkin_parse(name, &g, ignore, sizeof ignore)) return lgv_galerkin_method(name, alias, &g);
    return lgv_compose_find(name);
}

/* ---- by number and by name ---- */

const struct lgv_method *lgv_method_at(size_t number) {
    if (number >= lgv_method_count) return NULL;
    return methods[number].method ? methods[number].method : made(methods[number].name, methods[number].alias);
}

void lgv_method_explain(const struct lgv_model *m, const char *name, char *why, size_t size) {
    struct lgv_galerkin g;
    why[0] = 0;
    if ((toupper((unsigned char)name[0]) == 'P' && isdigit((unsigned char)name[1])) ||
        strncasecmp(name, "LobZ-", 5) == 0)
        lgv_galerkin_parse(name, &g, why, size);
    lgv_compose_explain(m, name, why, size);
    lgv_number_explain(name, why, size);
}

static bool has_alias(const char *list, const char *name) {
    size_t n = strlen(name);
    for (const char *a = list; n && a && *a;) {
        size_t size = strcspn(a, " ");
        if (size == n && strncasecmp(a, name, n) == 0) return true;
        a += size + (a[size] == ' ');
    }
    return false;
}

const struct lgv_method *lgv_method_find(const char *name) {
    const struct lgv_method *m;
    for (size_t i = 0; (m = lgv_method_at(i)); i++)
        if (strcasecmp(m->name, name) == 0 || has_alias(m->aliases, name)) return m;
    return made(name, NULL);
}

const struct lgv_method *lgv_method_for(const struct lgv_model *m, const char *name) {
    for (size_t i = 0; i < m->nmethods; i++)
        if (strcasecmp(m->method[i]->name, name) == 0) return m->method[i];
    const struct lgv_method *composed = lgv_compose_among(m->composed, m->ncomposed, name);
    return composed ? composed : lgv_method_find(name);
}

const struct lgv_method *lgv_method_listed(const struct lgv_model *m, size_t number) {
    if (number < lgv_method_count) return lgv_method_at(number);
    number -= lgv_method_count;
    return number < m->nmethods ? m->method[number] : NULL;
}
