/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Malformed and hostile model files: each is refused with the right words at the exact line and column, in bounded time
 * and memory. */
#include "model/model.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

struct bad {
    const char *text;
    int line, column; /* 0: not checked */
    const char *message;
};

static void check(const struct bad *b) {
    struct lgv_model *m = (struct lgv_model *)1;
    struct lgv_error err = {0};
    enum lgv_status status = lgv_model_parse(b->text, "bad.yaml", &m, &err);
    if (status != LGV_BAD_INPUT) fail_msg("status %d for\n%.400s", status, b->text);
    assert_null(m);
    assert_int_equal(err.status, LGV_BAD_INPUT);
    if (!strstr(err.message, b->message)) fail_msg("expected '%s' in\n%s", b->message, err.message);
    if (b->line && (err.line != b->line || err.column != b->column))
        fail_msg("expected %d:%d, found %s", b->line, b->column, err.message);
    /* without a place for the message */
    assert_int_equal(lgv_model_parse(b->text, "bad.yaml", &m, NULL), LGV_BAD_INPUT);
}

#define Q "coordinates: {q: 0}\nmomenta: {p: 0}\n" /* two lines */

static const struct bad structure[] = {
    {"", 1, 1, "the model is empty"},
    {"# nothing\n", 1, 1, "the model is empty"},
    {"just a text", 1, 1, "expected a model"},
    {"- a\n- b\n", 1, 1, "expected a model"},
    {"name: x\n", 1, 1, "no coordinates"},
    {"coordinates: {q: 0}\n", 1, 1, "neither hamiltonian nor potential"},
    {"coordinates: {}\nhamiltonian: 1\n", 1, 14, "no coordinates"},
    {"coordinates: q\nhamiltonian: 1\n", 1, 14, "expected coordinates as name: start value, found a text"},
    {Q "hamiltonian: p\nhamiltonian: q\n", 4, 1, "hamiltonian is given twice"},
    {Q "hamiltonian: p\nkinetic: {mass: 1}\n", 4, 1, "hamiltonian is given"},
    {Q "hamiltonain: p\n", 3, 1, "unknown key hamiltonain; did you mean hamiltonian?"},
    {Q "xyzzy: p\n", 3, 1, "unknown key xyzzy"},
    {Q "hamiltonian: p^2/2\npenalty: {omega: 20}\n", 4, 10, "a penalty is for models with constraints"},
    {Q "hamiltonian: p^2/2\nconstraints: [q]\npenalty: {omega: 20, widow: 1}\n", 5, 22, "unknown key widow"},
    {Q "hamiltonian: p^2/2\nconstraints: [q]\npenalty: {window: 1}\n", 5, 10, "penalty needs omega"},
    {Q "hamiltonian: p^2/2\nconstraints: [q]\npenalty: {omega: -20}\n", 5, 18, "expected a positive number"},
    {Q "hamiltonian: p^2/2\nconstraints: [q]\npenalty: 20\n", 5, 10, "expected a penalty: { omega: ... }"},
    {Q "hamiltonian: p^2/2\nconstraints: [q]\npenalty: {omega: q}\n", 5, 18, "q may not be used"},
    {Q "hamiltonian: p^2/2 + q^2 + q^4\nstiff: q^3\n", 4, 8, "this is not a part of the potential"},
    {Q "hamiltonian: p^2/2 + q^2 + q^4\nstiff: 2*q^4\n", 4, 8, "this is not a part of the potential"},
    {Q "hamiltonian: p^2/2 + q^2 + q^4\nstiff: 3\n", 4, 8, "does not depend on the coordinates"},
    {Q "hamiltonian: p^2/2 + q^2 + q^4\nstiff: p^2/2\n", 4, 8, "p may not be used in the stiff part"},
    {"coordinates: {'x[50]': 0}\npotential: sum(i=1..50, x[i]^2)\nstiff: sum(i=1..50, x[i]^4)\n", 3, 8,
     "this is not a part of the potential"},
    {"rotations: q\n", 1, 1, "unknown key rotations"},
    {Q "hamiltonian: {a: b}\n", 3, 14, "expected a formula, found a mapping"},
    {Q "hamiltonian: [q, p]\n", 3, 14,
     "expected a formula, found a sequence (quote a formula that begins with [ or {)"},
    {Q "hamiltonian:\n", 3, 12, "expected a formula, found nothing"},
    {Q "hamiltonian: ''\n", 3, 15, "expected a formula, found nothing"},
    {Q "hamiltonian: *q\n", 3, 14, "quote a formula that begins with *"},
    {Q "hamiltonian: !f q\n", 3, 17, "tags"},
    {Q "hamiltonian: p\n---\nname: b\n", 4, 1, "a second document"},
    {Q "hamiltonian: p: q\n", 3, 15, "best quoted"},
    {"coordinates: {q: normal(0, 0.5)}\nhamiltonian: p\n", 1, 26, "this comma ends the value"},
    {Q "hamiltonian: p\nnoise: [min(q, p) ]\n", 4, 14, "has to be quoted"},
    {Q "hamiltonian: p\nnoise: [x[1]]\n", 4, 10, "best quoted"},
    {Q "hamiltonian: \"p\n", 0, 0, "quoted"},
    {Q "hamiltonian: p\n\tnoise: q\n", 0, 0, "bad.yaml:"},
    {Q "hamiltonian: p\nrun: 3\n", 4, 6, "expected options"},
    {Q "hamiltonian: p\nrun: {a: 1, a: 2}\n", 4, 13, "a is given twice"},
    {Q "hamiltonian: p\nrun: {a: {b: 1}}\n", 4, 10, "expected a value, found a mapping"},
    {Q "hamiltonian: p\nrun: {a: }\n", 4, 8, "expected a value, found nothing"},
    {Q "hamiltonian: p\nrun: {a: 0,1, b: 2}\n", 4, 11, "a number is written with a point"},
    {Q "hamiltonian: 0,5*p\n", 3, 15, "a number is written with a point"},
    {Q "hamiltonian: p\nname: [a]\n", 4, 7, "expected a name"},
    {"? [a, b]\n: 3\n", 1, 3, "expected a name, found a sequence"},
    {"a: \x01\n", 1, 4, "control character 0x01"},
    {"name: \xff\xfe\n", 1, 7, "not a text file (byte 0xff"},
    {"\x7f"
     "ELF\x02\x01\x01",
     1, 1, "control character 0x7f"},
};

static const struct bad formulas[] = {
    {Q "hamiltonian: p^2 + x\n", 3, 20, "unknown name x"},
    {Q "hamiltonian: 'p^2 + x'\n", 3, 21, "unknown name x"},
    {Q "hamiltonian: \"p^2 +\\t x\"\n", 3, 23, "unknown name x"},
    {Q "hamiltonian: \"p \\\n   + x\"\n", 4, 6, "unknown name x"},
    {Q "hamiltonian: \"\\x70 + x\"\n", 3, 22, "unknown name x"},
    {Q "hamiltonian: |\n  p^2\n  + q +\n\n    x*2\n", 7, 5, "unknown name x"},
    {Q "hamiltonian: >\n  p^2\n  + q +\n  x*2\n", 6, 3, "unknown name x"},
    {Q "hamiltonian: p^2\n  + q\n  + x\n", 5, 5, "unknown name x"},
    {Q "hamiltonian: p^2 +\n", 3, 19, "expected a value, found the end of the formula"},
    {Q "hamiltonian:\tp +\tx\n", 3, 18, "unknown name x"},
    {"# \xc3\xa9\n" Q "hamiltonian: \"\xc3\xa9\"\n", 4, 15, "Greek letters in names"},
    {Q "hamiltonian: \"q*\xc2\xb5\"\n", 3, 17, "the micro sign"},
    {Q "hamiltonian: p^2\nnoise_ito: q*p\n", 4, 12, "not the motion of any Hamiltonian"},
    {Q "hamiltonian: p^2\nnoise_ito: [q, q^2*p^2/2]\n", 4, 16, "would not be Hamiltonian"},
    {Q "hamiltonian: p^2\nnoise: {a: q, a: p}\n", 4, 15, "a"},
    {Q "hamiltonian: p^2\nnoise: {2a: q}\n", 4, 9, "is not a name"},
    {Q "hamiltonian: \"if(q, 1, 2)\"\n", 3, 18, "if needs a condition"},
    {Q "hamiltonian: \"if(q > 0, 1)\"\n", 3, 26, "the value where the condition does not hold"},
    {Q "hamiltonian: \"if(q = 0, 1, 2)\"\n", 3, 20, "write =="},
    {Q "hamiltonian: \"if(q > 0, q, [q, q])\"\n", 3, 28, "both values of if are of one kind"},
    {Q "hamiltonian: \"if([q, q] > 0, q, p)\"\n", 3, 25, "a comparison is between numbers"},
    {Q "hamiltonian: \"if(q > 0 and p, q, p)\"\n", 3, 28, "and stands between conditions"},
    {Q "hamiltonian: \"q > 0\"\n", 3, 17, "a comparison stands in brackets"},
    {"\xef\xbb\xbf"
     "coordinates: {q: z}\npotential: 1\n",
     1, 18, "unknown name z"},
    {"coordinates: {q: z}\r\npotential: 1\r\n", 1, 18, "unknown name z"},
    {"coordinates: {q: 0}\r\npotential: z\r\n", 2, 12, "unknown name z"},
    {Q "hamiltonian: 2p\n", 3, 15, "write 2*x, not 2x"},
    {Q "hamiltonian: p%2\n", 3, 15, "the remainder of a/b is mod(a, b)"},
    {Q "hamiltonian: p/0\n", 3, 15, "division by zero"},
    {Q "hamiltonian: q + log(0)\n", 3, 18, "not a finite number"},
    {Q "hamiltonian: q*0^-1\n", 3, 17, "not a finite number"},
    {Q "where: {b: sqrt(-1)}\nhamiltonian: b*q\n", 3, 12, "the value of sqrt is not a finite number"},
    {Q "hamiltonian: q + 2*(-8)^(1/3)\n", 3, 24, "the value of the power is not a finite number"},
    {"parameters: {a: sqrt(-1)}\n" Q "hamiltonian: a*q\n", 1, 17, "the value of sqrt is not a finite number"},
    {"parameters: {a: -1, b: log(a)}\n" Q "hamiltonian: b*q\n", 1, 24, "the value is not a number"},
    {Q "hamiltonian: 1e300*q*1e300\n", 0, 0, "too large or undefined"},
    {Q "hamiltonian: 1e999\n", 3, 14, "this number is too large"},
    {Q "hamiltonian: sum(i=1..1e15, q)\n", 3, 23, "an index may be at most 1000000000"},
    {Q "hamiltonian: sum(i=1..2000, j=1..2001, q)\n", 3, 18, "more than 4000000 terms"},
    {Q "where: {'V(a,b,c,d,f,g,h,k,l)': a}\nhamiltonian: 1\n", 3, 28, "at most 8 arguments"},
    {Q "where: {'V(a,b,c,d,f,g,h,k)': a}\nhamiltonian: V(1,2,3,4,5,6,7,8,9)\n", 4, 31,
     "V has 8 arguments, here it is given more"},
    {Q "where: {'V(a,b)': a}\nhamiltonian: V(1)\n", 4, 17, "V has 2 arguments, here it is given 1"},
    {Q "hamiltonian: sni(q)\n", 3, 14, "unknown function sni; did you mean sin?"},
    {Q "hamiltonian: '[q, p]'\n", 3, 15, "the Hamiltonian is a number, but this is a vector"},
    {Q "hamiltonian: q + normal()\n", 3, 18, "only be used in start values"},
    {Q "hamiltonian: q(2)\n", 3, 14, "q is not a function"},
    {Q "hamiltonian: q[2]\n", 3, 15, "q is not an array"},
    {Q "hamiltonian: (q\n", 3, 16, "expected ')'"},
    {Q "hamiltonian: sum(i=1..N, q)\n", 3, 23, "unknown index N"},
    {Q "hamiltonian: W[1]\n", 3, 14, "unknown name W"},
    {Q "potential: q + p\n", 3, 16, "p may not be used in the potential"},
    {Q "potential: q\nkinetic: {mass: 0}\n", 4, 17, "the mass is 0"},
    {Q "potential: q\nkinetic: {mass: {r: 1}}\n", 4, 18, "there is no coordinate r"},
    {Q "potential: q\nkinetic: {mas: 1}\n", 4, 11, "kinetic has mass, and inertia of rotations"},
    {"coordinates: {'x[3]': 0}\npotential: sum(i=1..3, x[i+1])\n", 2, 26, "index 4 is outside 1..3 of x (at i=3)"},
    {"coordinates: {'x[3]': 0}\npotential: x\n", 2, 12, "write x[i]"},
    {"coordinates: {'x in R2': 0}\npotential: x.z\n", 2, 14, "components are .x .y"},
    {"coordinates: {'x in R2': 0}\npotential: x*x\n", 2, 13, "dot(a,b)"},
};

static const struct bad sections[] = {
    {"parameters: [1]\n" Q "hamiltonian: 1\n", 1, 13, "expected parameters as name: value, found a sequence"},
    {"parameters: {a: .nan}\n" Q "hamiltonian: 1\n", 1, 17, "expected a value, found '.'"},
    {"parameters: {a: 1, b: log(a-1)}\n" Q "hamiltonian: 1\n", 1, 23, "the value is -inf"},
    {"parameters: {a: 0, b: 1/a}\n" Q "hamiltonian: 1\n", 1, 23, "the value is inf"},
    {"parameters: {a: b, b: 1}\n" Q "hamiltonian: 1\n", 1, 17, "unknown name b"},
    {"parameters: {a: 1, a: 2}\n" Q "hamiltonian: 1\n", 1, 20, "a is declared twice"},
    {"parameters: {pi: 1}\n" Q "hamiltonian: 1\n", 1, 14, "pi has a meaning of its own"},
    {"parameters: {2a: 1}\n" Q "hamiltonian: 1\n", 1, 14, "'2a' is not a name"},
    {"parameters: {q: 1}\n" Q "hamiltonian: 1\n", 2, 15, "q is declared twice"},
    {"coordinates: {q: 0, q: 1}\nhamiltonian: 1\n", 1, 21, "q is declared twice"},
    {"coordinates: {'x[0]': 0}\nhamiltonian: 1\n", 1, 18, "the length of x is 0"},
    {"coordinates: {'x[2.5]': 0}\nhamiltonian: 1\n", 1, 18, "whole number"},
    {"parameters: {N: 2.5}\ncoordinates: {'x[N]': 0}\nhamiltonian: 1\n", 2, 18, "must be a whole number"},
    {"parameters: {N: 1e9}\ncoordinates: {'x[N]': 0}\nhamiltonian: 1\n", 2, 18, "a whole number below 1e9"},
    {"coordinates: {'x[100001]': 0}\nhamiltonian: 1\n", 1, 16, "more than 100000 degrees of freedom"},
    {"coordinates: {'x[50000] in R3': 0}\nhamiltonian: 1\n", 1, 16, "more than 100000 degrees of freedom"},
    {"coordinates: {x in R4: 0}\nhamiltonian: 1\n", 1, 20, "expected R2, R3, SO3 or SE3"},
    {"coordinates: {'x[3]': [1, 2]}\nhamiltonian: 1\n", 1, 23, "x has 3 entries, but this sequence has 2"},
    {"coordinates: {x in R3: [1, 2]}\nhamiltonian: 1\n", 1, 24, "x has 3 components, but this sequence has 2 entries"},
    {"coordinates: {x in R3: '[1, 2]'}\nhamiltonian: 1\n", 1, 25, "x has 3 components, but this value has 2"},
    {"coordinates: {q: '[1, 2]'}\nhamiltonian: 1\n", 1, 19, "q has 1 component, but this value has 2"},
    {"coordinates: {q: r, r: 0}\nhamiltonian: 1\n", 1, 18, "unknown name r"},
    {"coordinates:\n  x[3]: x[i]\nhamiltonian: 1\n", 2, 9, "unknown name x"},
    {"coordinates:\n  x[3]: ['1', 'x[2]', '0']\nhamiltonian: 1\n", 2, 18, "index 2 is outside 1..1 of x"},
    {"coordinates: {q: t}\nhamiltonian: 1\n", 1, 18, "the time t may not be used in a start value"},
    {"coordinates: {q: 0}\nmomenta: {p: 0, r: 0}\nhamiltonian: 1\n", 2, 10, "1 coordinates, but 2 momenta"},
    {"coordinates: {'x[3]': 0}\nmomenta: {'p[2]': 0}\nhamiltonian: 1\n", 2, 12, "must have its shape"},
    {"coordinates: {q: 0}\nmomenta: {q: 0}\nhamiltonian: 1\n", 2, 11, "q is declared twice"},
    {"coordinates: {q: 0}\nwhere: {p_q: 1}\nhamiltonian: 1\n", 2, 9, "p_q is declared twice"},
    {"where: {q: 1}\n" Q "hamiltonian: 1\n", 1, 9, "q is declared twice"},
    {"where: {'V(r': 1}\n" Q "hamiltonian: 1\n", 1, 10, "function head like V(r)"},
    {"where: {'V(r, r)': 1}\n" Q "hamiltonian: 1\n", 1, 10, "r appears twice"},
    {"where: {'V(r)': 'r > 1 && r < 2'}\n" Q "hamiltonian: 1\n", 1, 24, "between conditions stands and"},
    {"where: {'V(r)': 'r$2'}\n" Q "hamiltonian: 1\n", 1, 19, "unexpected character"},
    {Q "hamiltonian: p + if(q > 1 && q < 2, 1, 0)\n", 3, 27, "between conditions stands and"},
    {Q "hamiltonian: p + if(!(q > 1), 1, 0)\n", 3, 21, "is not (condition)"},
    {"where: {'V(r)': '(r'}\n" Q "hamiltonian: 1\n", 1, 18, "not closed"},
    {"where: {'V(r)': 'r + z'}\n" Q "hamiltonian: 1 + V(q)\n", 4, 18, "in V: unknown name z"},
    {"where: {'V(r)': 'V(r)'}\n" Q "hamiltonian: V(q)\n", 4, 14, "refer to itself"},
    {"where: {T: t}\ncoordinates: {q: 0}\nmomenta: {p: 0}\nhamiltonian: 1\nsymmetries: {s: [T]}\n", 5, 18,
     "T depends on what may not be used"},
    {Q "hamiltonian: 1\nnoise: [{a: q}]\n", 4, 9, "expected a formula, found a mapping"},
    {Q "hamiltonian: 1\nnoise: [q, '']\n", 4, 13, "found nothing"},
    {Q "hamiltonian: 1\nnoise: ['each(k=1..3, k!=2, q*k)']\n", 4, 10, "may not have conditions"},
    {Q "hamiltonian: 1\nnoise: ['each(k=1..3, j=k..3, q*k)']\n", 4, 10, "must be constant"},
    {Q "hamiltonian: 1\nnoise: ['each(k=1..-1, q*k)']\n", 4, 10, "is empty"},
    {Q "hamiltonian: 1\nnoise: ['each(k=1..70000, q*k)']\n", 4, 10, "more than 65535 noises"},
    {Q "hamiltonian: 1\nnoise: ['q', 'each(k=1..65535, q*k)']\n", 4, 15, "more than 65535 noises"},
    {Q "hamiltonian: 1\nnoise: q + each(k=1..3, k)\n", 4, 12, "each(...) may only stand at the beginning"},
    {Q "hamiltonian: p\nnoise_potential: p\n", 4, 18, "p may not be used in a noise potential"},
    {Q "hamiltonian: p\nnoise_potential: H\n", 4, 18, "H depends on what may not be used in a noise potential"},
    {Q "hamiltonian: p\nsymmetries: {s: [1, 2]}\n", 4, 17, "a symmetry has one component for each of the 1 degrees"},
    {Q "hamiltonian: p\nsymmetries: {s: [p]}\n", 4, 18, "p may not be used in a symmetry"},
    {Q "hamiltonian: p\nsymmetries: {s: {r: 1}}\n", 4, 18, "there is no coordinate r"},
    {Q "hamiltonian: p\nsymmetries: {s: q}\n", 4, 17, "expected a sequence of formulas"},
    {Q "hamiltonian: p\nobserve: {a: q, a: p}\n", 4, 17, "a is observed twice"},
    {Q "hamiltonian: p\nobserve: {a: 'each(k=1..2, q) + 1'}\n", 4, 31, "unexpected '+'"},
    {Q "hamiltonian: p\nobserve: {H: q}\n", 4, 11, "H is the Hamiltonian"},
    {Q "hamiltonian: p\nobserve: {a: h1}\n", 4, 14, "unknown name h1"},
    {Q "hamiltonian: p\nexact: {r: 1}\n", 4, 9, "there is no coordinate or momentum r"},
    {Q "hamiltonian: p\nexact: {q: q}\n", 4, 12, "q may not be used in the exact solution"},
    {Q "hamiltonian: p\nexact: {q: 'W[1]'}\n", 4, 13, "unknown name W"},
    {Q "hamiltonian: p\nnoise: q\nexact: {q: 'W[2]'}\n", 5, 15, "index 2 is outside 1..1 of W"},
    {"coordinates: {'x[2]': 0}\npotential: 1\nexact: {'x[1]': 1}\n", 3, 10, "not for arrays and points"},
};

static void run_all(const struct bad *list, size_t count) {
    for (size_t k = 0; k < count; k++) check(&list[k]);
}

static void test_structure(void **state) {
    (void)state;
    run_all(structure, sizeof structure / sizeof *structure);
}

static void test_formulas(void **state) {
    (void)state;
    run_all(formulas, sizeof formulas / sizeof *formulas);
}

static void test_sections(void **state) {
    (void)state;
    run_all(sections, sizeof sections / sizeof *sections);
}

/* Options of a run that stand outside of `run`: the message says where they belong, for every row of the table. */
static void test_options(void **state) {
    (void)state;
    static const char model[] = Q "hamiltonian: p^2/2\n";
    struct lgv_option_info o;
    size_t count = 0;
    for (size_t k = 0; lgv_options("run", k, &o); k++, count++) {
        char text[200], message[200];
        if (strcmp(o.name, "start") == 0 || strcmp(o.type, "program") == 0) continue; /* start values; not in files */
        snprintf(text, sizeof text, "%s%s: 1\n", model, o.name);
        snprintf(message, sizeof message, "%s is an option of a run and stands in run, as in run: { %s: ... }", o.name,
                 o.name);
        check(&(struct bad){text, 4, 1, message});
    }
    assert_true(count > 25);
    check(&(struct bad){Q "hamiltonian: p^2/2\ndt: 0.1\n", 4, 1, "unknown key dt; did you mean run: { step: ... }?"});
    check(&(struct bad){Q "hamiltonian: p^2/2\nextreme: [q]\n", 4, 1, "did you mean run: { extremes: ... }?"});
    check(&(struct bad){Q "hamiltonian: p^2/2\nstart: 1\n", 4, 1, "start values stand in coordinates and momenta"});
}

/* The whole of a message: place, line and caret, with tabs kept under tabs and long lines cut. */
static void test_message(void **state) {
    (void)state;
    struct lgv_model *m;
    struct lgv_error err;
    lgv_model_parse(Q "hamiltonian:\tp +\tx\n", "a.yaml", &m, &err);
    assert_string_equal(err.message, "a.yaml:3:18: unknown name x\n    hamiltonian:\tp +\tx\n                \t   \t^");
    char text[3000] = Q "hamiltonian: ";
    for (int k = 0; k < 300; k++) strcat(text, "q + ");
    strcat(text, "zz + ");
    for (int k = 0; k < 300; k++) strcat(text, "p + ");
    lgv_model_parse(text, "a.yaml", &m, &err);
    assert_int_equal(err.column, 14 + 1200);
    char *line = strchr(err.message, '\n') + 1, *caret = strchr(line, '\n') + 1;
    assert_true(strlen(err.message) < 400);
    assert_memory_equal(line + (strchr(caret, '^') - caret), "zz", 2);
}

static char *repeated(const char *head, const char *part, size_t count, const char *tail) {
    struct lgv_text t = {0};
    lgv_text_add(&t, "%s", head);
    for (size_t k = 0; k < count; k++) lgv_text_append(&t, part, strlen(part));
    lgv_text_add(&t, "%s", tail);
    assert_false(t.failed);
    return t.data;
}

static void refuse(char *text, const char *message) {
    check(&(struct bad){text, 0, 0, message});
    free(text);
}

static void test_hostile(void **state) {
    (void)state;
    refuse(repeated(Q "hamiltonian: ", "(", 50000, ""), "nested too deeply");
    refuse(repeated(Q "hamiltonian: ", "-", 50000, "q"), "nested too deeply");
    refuse(repeated(Q "hamiltonian: ", "sin(", 20000, ""), "nested too deeply");
    refuse(repeated(Q "hamiltonian: ", "q^", 40000, "q"), "nested too deeply");
    refuse(repeated(Q "hamiltonian: q", "+q", 60000, ""), "longer than 100000");
    refuse(repeated(Q "a: ", "[", 100000, ""), "nested more than");
    refuse(repeated(Q "a: ", "{a: ", 100000, ""), "nested more than");
    refuse(repeated("# ", "x", 1100000, "\n"), "larger than 1000000 bytes");
    refuse(repeated(Q "hamiltonian: q\nnoise: [", "q,", 2000, "]"), "more than 1000 entries");
    refuse(
        lgv_copy(
            Q
            "hamiltonian: sum(a=1..2, b=1..2, c=1..2, sum(d=1..2, f=1..2, g=1..2, h=1..2, j=1..2, sum(k=1..2, q)))\n"),
        "more than 8 nested loops");
    refuse(lgv_copy(Q "hamiltonian: sum(i=1..1000000, j=1..1000000, q)\n"), "more than 4000000 terms");
    refuse(lgv_copy(Q "hamiltonian: sum(i=1..1000000000, q)\n"), "more than 4000000 terms");
    refuse(lgv_copy(Q "hamiltonian: sum(i=1000000000*1000000000..1000000000*1000000000*9+1000000000*223000000, q)\n"),
           "terms");
    refuse(lgv_copy(Q "hamiltonian: sum(i=1..4000000, q)^2\n"), "too large to be written out");
    refuse(lgv_copy("coordinates: {'x[1000000000*1000000000*1000000000]': 0}\nhamiltonian: 1\n"), "index is too large");
    refuse(lgv_copy("a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n"), "aliases");
    /* a chain of functions, each calling the next many times */
    struct lgv_text t = {0};
    lgv_text_add(&t, "where:\n  f0(r): r\n");
    for (int k = 1; k < 8; k++) {
        lgv_text_add(&t, "  f%d(r): f%d(r)", k, k - 1);
        for (int i = 0; i < 100; i++) lgv_text_add(&t, "+f%d(r*%d)", k - 1, i + 2);
        lgv_text_add(&t, "\n");
    }
    lgv_text_add(&t, Q "hamiltonian: f7(q)\n");
    refuse(t.data, "too large");
    /* products that double with every line when they are split into sums */
    t = (struct lgv_text){0};
    lgv_text_add(&t, "coordinates: {'x[50]': 0, q: 0}\nwhere:\n  a0: sum(i=1..50, x[i])\n");
    for (int k = 1; k < 60; k++) lgv_text_add(&t, "  a%d: sin(q+%d)*a%d + cos(q+%d)*a%d\n", k, k, k - 1, k, k - 1);
    lgv_text_add(&t, "potential: a59\n");
    refuse(t.data, "too large");
    /* thousands of subscripts, each checked over millions of instances */
    t = (struct lgv_text){0};
    lgv_text_add(&t, "coordinates: {'x[2000]': 0}\npotential: sum(i=1..1999, j=1..2000, x[i]");
    for (int k = 0; k < 5000; k++) lgv_text_add(&t, "*x[i+1]");
    lgv_text_add(&t, ")\n");
    refuse(t.data, "too large");
    /* many terms, shared by many sums */
    t = (struct lgv_text){0};
    lgv_text_add(&t, Q "where:\n  s: q");
    for (int k = 0; k < 9000; k++) lgv_text_add(&t, "+q^%d.5", k);
    lgv_text_add(&t, "\nhamiltonian: q");
    for (int k = 0; k < 9000; k++) lgv_text_add(&t, "*(s+%d)", k);
    lgv_text_add(&t, "\n");
    refuse(t.data, "too large");
    t = (struct lgv_text){0};
    lgv_text_add(&t, Q "hamiltonian: 1\nparameters:\n");
    for (int k = 0; k < 1001; k++) lgv_text_add(&t, "  a%d: 1\n", k);
    refuse(t.data, "more than 1000 entries");
    /* one start formula, read again for every entry */
    refuse(repeated("coordinates:\n  x[100000]: 0", "+sin(i)", 1000, "\npotential: 1\n"), "too large");
}

static void test_files(void **state) {
    (void)state;
    struct lgv_model *m;
    struct lgv_error err;
    assert_int_equal(lgv_model_load("no-such-file.yaml", &m, &err), LGV_BAD_INPUT);
    assert_non_null(strstr(err.message, "no-such-file.yaml"));
    assert_null(m);
    assert_int_equal(lgv_model_load("/", &m, &err), LGV_BAD_INPUT);
    assert_int_equal(lgv_model_load(NULL, &m, &err), LGV_BAD_INPUT);
    assert_int_equal(lgv_model_parse(NULL, "x", &m, &err), LGV_BAD_INPUT);
    const char *src = getenv("SRC");
    char path[4096];
    snprintf(path, sizeof path, "%s/tests/corpus/model/zero-bytes.yaml", src ? src : ".");
    assert_int_equal(lgv_model_load(path, &m, &err), LGV_BAD_INPUT);
    assert_non_null(strstr(err.message, "zero bytes"));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_structure), cmocka_unit_test(test_formulas),
                                       cmocka_unit_test(test_sections),  cmocka_unit_test(test_message),
                                       cmocka_unit_test(test_hostile),   cmocka_unit_test(test_files),
                                       cmocka_unit_test(test_options)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
