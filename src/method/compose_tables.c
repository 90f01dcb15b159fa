/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Coefficients of the methods made of others.
 *
 * Every set is a palindrome: a row gives its first half, the middle follows from the sum, which is one step.  The
 * coefficients of the papers were refined by Newton's method with 50 digits on the order conditions: the coefficients
 * of Lyndon words of odd weight in the product of the exponentials of X_i = g_i Y_1 + g_i^3 Y_3 + ... for compositions,
 * in its logarithm for words of A and B, and there without what [B,[B,[B,A]]] = 0 makes vanish for Runge-Kutta-Nystroem
 * methods.  Then all conditions hold to 1e-50, and to round-off with the digits here: tests/order_tables.c.
 *
 * The error constant of a composition is the norm of the first of these coefficients that do not vanish.  It does not
 * depend on the method that is composed. */
#include "method/compose.h"

#define SUZUKI1990 "Suzuki (1990), doi 10.1016/0375-9601(90)90962-N"
#define YOSHIDA1990 "Yoshida (1990), doi 10.1016/0375-9601(90)90092-3"
#define KAHAN_LI1997 "Kahan & Li (1997), doi 10.1090/S0025-5718-97-00873-9"
#define SOFRONIOU2005 "Sofroniou & Spaletta (2005), doi 10.1080/10556780500140664"
#define BLANES_MOAN2002 "Blanes & Moan (2002), doi 10.1016/S0377-0427(01)00492-7"

#define HALF(...) (const double[]){__VA_ARGS__}

const struct lgv_composition lgv_compositions[] = {
    {"Yoshida4", "", YOSHIDA1990, 4, 3, 5.293, HALF(1.3512071919596576340)}, /* 1 / (2 - 2^(1/3)) */
    {"Suzuki4", "4", SUZUKI1990, 4, 5, 7.449e-2,
     HALF(0.41449077179437573714, 0.41449077179437573714)}, /* 1 / (4 - 4^(1/3)) */
    {"Yoshida6", "", YOSHIDA1990 ", solution A", 6, 7, 0.8891,
     HALF(0.78451361047755726382, 0.23557321335935813368, -1.1776799841788710069)},
    {"KahanLi6", "Kahan-Li6", KAHAN_LI1997, 6, 9, 3.587e-2,
     HALF(0.39216144400731413928, 0.33259913678935943860, -0.70624617255763935981, 0.082213596293550800231)},
    {"6", "SofroniouSpaletta6 Sofroniou-Spaletta6", SOFRONIOU2005, 6, 13, 3.567e-4,
     HALF(0.13861930854051695246, 0.13346562851074760407, 0.13070531011449225191, 0.12961893756907034773,
          -0.35000324893920896516, 0.11805530653002387170)},
    {"Yoshida8", "", YOSHIDA1990 ", solution D", 8, 15, 14.40,
     HALF(0.91484424622979156675, 0.25369333656621135415, -1.4448522368606051577, -0.15824063536805017520,
          1.9381391376225259866, -1.9606102329753108076, 0.10279984939179644070)},
    {"SuzukiUmeno8", "Suzuki-Umeno8",
     "Suzuki & Umeno (1993), doi 10.1007/978-3-642-78448-4_7; McLachlan (1995), doi 10.1137/0916010", 8, 15, 9.358e-3,
     HALF(0.74167036435061295345, -0.40910082580003159400, 0.19075471029623837995, -0.57386247111608226666,
          0.29906418130365592384, 0.33462491824529818378, 0.31529309239676659663)},
    {"KahanLi8", "Kahan-Li8", KAHAN_LI1997, 8, 17, 9.359e-4,
     HALF(0.13020248308889008088, 0.56116298177510838456, -0.38947496264484728641, 0.15884190655515560090,
          -0.39590389413323757734, 0.18453964097831570709, 0.25837438768632204729, 0.29501172360931029887)},
    {"8", "SofroniouSpaletta8 Sofroniou-Spaletta8", SOFRONIOU2005, 8, 21, 2.293e-5,
     HALF(0.10647728984550031824, 0.10837408645835726397, 0.35337821052654342420, -0.23341414023165082199,
          -0.24445266791528841269, 0.11317848435755633315, 0.11892905625000350063, 0.12603912321825988140,
          0.12581718736176041804, 0.11699135019217642181)},
};
const size_t lgv_composition_count = sizeof lgv_compositions / sizeof *lgv_compositions;

#define SEPARABLE "for separable models, H = A(p) + B(q)"
#define QUADRATIC "a Runge-Kutta-Nystroem method for H = p.M^-1 p/2 + U(q) with constant masses"

const struct lgv_splitting lgv_splittings[] = {
    {"BlanesMoan4", "Blanes-Moan4", BLANES_MOAN2002 ", S6", SEPARABLE, false, 'B', 4, 6, 7,
     HALF(0.20951510661336205297, -0.14385177317981803796),
     HALF(0.079203696431195674198, 0.35317290604977403682, -0.042065080357719529215)},
    {"BlanesMoan6", "Blanes-Moan6", BLANES_MOAN2002 ", S10", SEPARABLE, false, 'B', 6, 10, 11,
     HALF(0.14881644790104328046, -0.13238586576778375615, 0.067307604692184399241, 0.43266640257817371163),
     HALF(0.050262764400392722765, 0.41351430042834347745, 0.045079889794398111490, -0.18805485381956861849,
          0.54196067845078001237)},
    {"RKN4", "", BLANES_MOAN2002 ", SRKN6b", QUADRATIC, true, 'B', 4, 6, 7,
     HALF(0.24529895718427112345, 0.60487266571107992363),
     HALF(0.082984406417404982335, 0.39630980149836806185, -0.039056304922348437334)},
    {"RKN6", "", BLANES_MOAN2002 ", SRKN14a", QUADRATIC, true, 'A', 6, 15, 14,
     HALF(0.037859319840611031579, 0.10263563310243662477, -0.025867888266558359185, 0.31424140307144641067,
          -0.13014445951741520783, 0.10641770036954194015, -0.0087942431285101635836),
     HALF(0.091719152624462208012, 0.18398317000500489235, -0.056534365832889179348, 0.0049146887747117956656,
          0.14376112716836188336, 0.32856769374680332127)},
    {"RKN8", "", "Blanes, Casas & Escorihuela-Tomas (2022), doi 10.48550/arXiv.2202.01541, 19 stages",
     QUADRATIC, true, 'A', 8, 20, 19,
     HALF(0.0505805, 0.149999, -0.055179551077161557351, 0.42375589883533795148, -0.21349535358465904806,
          -0.068076977457403261911, 0.22791705697401343595, -0.23537361938105890652, 0.38741386917987804782),
     HALF(0.12947860656053673066, 0.22225726009267114342, -0.057751489332514720476, -0.057831226210392491022,
          0.10308729743717535675, -0.14081961255409076821, 0.023446260349282627670, 0.13485451735668409662,
          0.028797382107377930635)},
};
const size_t lgv_splitting_count = sizeof lgv_splittings / sizeof *lgv_splittings;

void lgv_palindrome(const double *half, size_t count, double *out) {
    double sum = 0;
    size_t given = (count - 1) / 2;
    for (size_t k = 0; k < given; k++) sum += out[k] = out[count - 1 - k] = half[k];
    if (count % 2 == 1)
        out[given] = 1 - 2 * sum;
    else
        out[given] = out[given + 1] = 0.5 - sum;
}
