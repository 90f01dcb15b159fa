/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the reference pages and `lgv methods NAME` say of a method beside its description: the formula of its step, and
 * when to take it.  Methods made of others are spelled out from their substeps, Galerkin methods from their rules. */
#include "base/base.h"
#include "method/method.h"
#include "method/rules.h"
#include <math.h>
#include <string.h>
#include <strings.h>

struct note {
    const char *name; /* without a number in parentheses */
    const char *formula, *advice;
};

#define VERLET                                                                                                         \
    "P  = p - K_q(q, P; dt/2, w1)\n"                                                                                   \
    "q' = q + K_p(q, P; dt/2, w1) + K_p(q', P; dt/2, w2)\n"                                                            \
    "p' = P - K_q(q', P; dt/2, w2)\n"
#define RATTLE_STEP                                                                                                    \
    "P  = p - dt/2 V'(q) - sum_m w1_m h_m'(q) + G(q)^T lambda      with lambda so that g(q') = 0\n"                    \
    "q' = q + dt M^-1 P\n"                                                                                             \
    "p' = P - dt/2 V'(q') - sum_m w2_m h_m'(q') + G(q')^T mu       with mu so that G(q') M^-1 p' = 0\n"
#define LOBATTO(stages)                                                                                                \
    "Q_i = q + dt sum_j a_ij V_j,     P_i = L_v(Q_i, V_i) = p + sum_j ahat_ij (F_j + G(Q_j)^T lambda_j)\n"             \
    "F_j = dt b_j L_q(Q_j, V_j) - sum_m w_jm h_m'(Q_j),     g(Q_i) = 0\n"                                              \
    "q' = q + dt sum_j b_j V_j,     p' = p + sum_j (F_j + G(Q_j)^T lambda_j) + G(q')^T mu,     G(q') v(q', p') = 0\n"  \
    "a, b: Lobatto IIIA with " stages " stages;  ahat_ij = 1 - a_ji/b_i: Lobatto IIIB\n"
#define LINEAR_WEIGHTS(below)                                                                                          \
    "w_j = b_j (dW + 12 (1/2 - c_j) (J - dW/2)),     L - dt/" below " sum_m |P h_m'|^2 in the place of L\n"
#define GROUP_FIRST                                                                                                    \
    "(dtau^-1_u)^* l_xi(g, xi) = r,  r = m + dt l_g(g, xi) - sum_m dW_m h_m,g(g),  u = dt xi\n"                        \
    "g' = g tau(u),     m' = Ad*_tau(u) r\n"
#define GROUP_SECOND                                                                                                   \
    "(dtau^-1_u)^* l_xi(g', xi) = m,  u = dt xi,     g' = g tau(u)\n"                                                  \
    "m' = Ad*_tau(u) m + dt l_g(g', xi) - sum_m dW_m h_m,g(g')\n"
#define STIFF_VERLET                                                                                                   \
    "A(q) = M + beta dt^2 V''(q),     A a = -V'(q)\n"                                                                  \
    "P = p + dt/2 F(q) - dW/2 h'(q),     q' = q + dt M^-1 P,     p' = P + dt/2 F(q') - dW/2 h'(q')\n"
#define NEWMARK                                                                                                        \
    "q' = q + dt v + dt^2/2 ((1 - 2 beta) a + 2 beta a'),     v' = v + dt/2 (a + a'),     a = -M^-1 V'(q)\n"
#define TRIGONOMETRIC(psi, phi)                                                                                        \
    "P = p - dt/2 psi1(x) V0'(phi(x) q),     (q', P') = exact flow of p.M^-1 p/2 + V1,     p' = P' - dt/2 psi1(x) "    \
    "V0'(phi(x) q')\n"                                                                                                 \
    "x = dt W, W^2 = M^-1/2 V1'' M^-1/2;  psi1 = " psi ",  phi = " phi "\n"                                            \
    "noise h(q): p -> p - dW/2 h'(q) before and after\n"

#define FOR_COMPARISON "For comparison: it keeps no structure. "
#define ON_SPLIT "Declare the stiff part of the potential as `stiff`. "

static const struct note notes[] = {
    /* Any noise h(q, p): brackets and flows. */
    {"P2N2Q4Gau-3flows",
     "flows of unit time, each by P2N2Q4Gau:  sum_m a_m h_m,  then dt H + sum_m b_m h_m,  then sum_m c_m h_m\n"
     "b = sign(dW) sqrt(dW^2 + 0.8 dt + 2.4 y^2),  a = (dW - b)/2 + y,  c = (dW - b)/2 - y,  y = J - dW/2\n",
     "Strong order 3/2 and weak order 2 for any h(q, p) whose noises commute, without derivatives beyond those of "
     "P2N2Q4Gau: the first to try there, for about twice its work."},
    {"P2N2Q4Gau-Magnus",
     "the step of P2N2Q4Gau on  K = dt H + sum_m dW_m h_m + sum_m dt y_m ({H, h_m} - h_m,t) + sum_ij k_ij D_ij\n"
     "D_ij = {h_i, {h_j, H} + h_j,t},  k_ij = dt (3/5 y_i y_j + delta_ij dt/30),  y = J - dW/2\n",
     "The order of P2N2Q4Gau-3flows by one implicit step instead of three. It writes brackets of H and the noises out: "
     "for few degrees of freedom."},
    {"P2N2Q4Gau-MagnusStrang",
     "half a step of B,  the step of P2N2Q4Gau on dt H + sum_m dW_m h_m,  the adjoint of the first half\n"
     "B = sum_m dt y_m ({H, h_m} - h_m,t) + sum_ij k_ij D_ij  as in P2N2Q4Gau-Magnus, by p' = p - B_q(q, p')/2, "
     "q' = q + B_p(q, p')/2\n",
     "The order of P2N2Q4Gau-Magnus with brackets at two places of a step only: where they are long."},
    {"P1N1Q2Gau-Levy",
     "the step of P1N1Q2Gau on  K = dt H + sum_m dW_m h_m - sum_(i<j) A_ij {h_i, h_j}\n"
     "A_ij: Levy areas, drawn given dW and dZ by Fourier modes and a Gaussian tail\n",
     "Noises that do not commute where paths count: strong order 1 instead of 1/2. Averages gain nothing by it."},
    /* Galerkin methods and their relatives of order 3/2. */
    {"P1N1Q1Rec", "q' = q + K_p(q', p; dt, dW)\np' = p - K_q(q', p; dt, dW)\n",
     "The cheapest symplectic step, with one force. Verlet costs the same and has order 2 without noise: take that."},
    {"P2N2Q2Lob", VERLET "w1 = w2 = dW/2\n",
     "The workhorse: explicit for separable models with one force a step, and for any noise that is separable too. "
     "Stable for dt omega < 2. For noise h(q) VZc and MRT32 have strong order 3/2 for the same or twice the work."},
    {"P1N1Q2Gau", "q' = q + K_p((q + q')/2, (p + p')/2; dt, dW)\np' = p - K_q((q + q')/2, (p + p')/2; dt, dW)\n",
     "For H that is not separable, for noise h(q, p), and where quadratic invariants (a norm, an angular momentum) "
     "have "
     "to be kept to round-off. Implicit, stable for linear forces at any step. For separable models Verlet is several "
     "times faster."},
    {"VZ", VERLET "w1 = J,  w2 = dW - J\n",
     "Strong order 3/2 for additive noise at the price of Verlet. VZc has it for every noise h(q)."},
    {"VZc",
     VERLET "w1 = J,  w2 = dW - J,  and V + dt/12 sum_m h_m'.M^-1 h_m' in the place of V\n",
     "The default for noise h(q) with constant masses: strong order 3/2 with one force a step. The correction needs "
     "second derivatives of h times vectors, which is cheap for a few noises; many noises in many degrees of freedom "
     "are better served by MRT32."},
    {"LobZ", NULL,
     "Strong order 3/2 for noise h(q) and H that is not separable, order 4 without noise. Implicit; for separable "
     "models MRT32 and VZc are explicit."},
    {"MRT32",
     "P1 = p - dt/4 V'(q) - (3J - dW)/2 h'(q)\n"
     "Q2 = q + 2/3 dt T'(P1)\n"
     "P2 = P1 - 3/4 dt V'(Q2) - 3/2 (dW - J) h'(Q2)\n"
     "q' = q + dt (2 T'(P1) + T'(P2))/3,     p' = P2\n",
     "Strong order 3/2 for any separable H and noise h(q), with two forces a step and first derivatives only: for "
     "large systems, and kinetic energies that are not quadratic."},
    /* Baselines. */
    {"EEM", "X' = X + dt f(X) + dt/2 sum_m Dg_m(X) g_m(X) + sum_m g_m(X) dW_m\n"
            "f = (H_p, -H_q),  g_m = (h_m,p, -h_m,q)\n",
     FOR_COMPARISON "Energies of oscillators grow exponentially with time; not for long runs."},
    {"IEM", "X' = X + dt (f + sum_m Dg_m g_m/2)(X') + sum_m g_m(X) dW_m\nf = (H_p, -H_q),  g_m = (h_m,p, -h_m,q)\n",
     FOR_COMPARISON "Energies of oscillators are damped, as by a friction that is not there."},
    {"Heun", "Y = X + X_K(X),     X' = X + (X_K(X) + X_K(Y))/2,     X_K = (K_p, -K_q)\n",
     FOR_COMPARISON "The usual explicit method for Stratonovich equations, good for short times."},
    {"Milstein", "X' = X + X_K(X) + (D X_k)(X) X_k(X)/2,     X_K = (K_p, -K_q),  k = sum_m dW_m h_m\n",
     FOR_COMPARISON "Strong order 1 for noises that commute; no iterated integrals of pairs are drawn."},
    {"Taylor15",
     "X' = X + a dt + b dW + L1 b (dW^2 - dt)/2 + L1 a dZ + L0 b (dW dt - dZ) + L0 a dt^2/2 + L1 L1 b (dW^2/3 - dt) "
     "dW/2\n"
     "dX = a dt + b dW (Ito),  L0 its generator,  L1 = b.grad,  dZ = dt J\n",
     FOR_COMPARISON "Accurate over short times. MRT32 and VZc have the same order, keep structure and cost less."},
    {"RK4",
     "k1 = f(t, X),  k2 = f(t + dt/2, X + dt/2 k1),  k3 = f(t + dt/2, X + dt/2 k2),  k4 = f(t + dt, X + dt k3)\n"
     "X' = X + dt (k1 + 2 k2 + 2 k3 + k4)/6\n",
     FOR_COMPARISON "Without noise only. Its energy drifts in proportion to time; RKN6 is more accurate for the work."},
    /* Constraints and Lagrangians. */
    {"VE",
     "p* = p - dt V'(q) - sum_m dW_m h_m'(q) + G(q)^T lambda    with lambda so that g(q') = 0\n"
     "q' = q + dt M^-1 p*,     p' = p* + G(q')^T mu             with mu so that G(q') M^-1 p' = 0\n",
     "The simplest method on a constraint set, of order 1. RATTLE costs one projection like it and has order 2 without "
     "noise: take that, or RATTLE-Jc with noise."},
    {"VE-adjoint",
     "q' = q + dt M^-1 (p + G(q)^T lambda)                      with lambda so that g(q') = 0\n"
     "p' = p + G(q)^T lambda - dt V'(q') - sum_m dW_m h_m'(q') + G(q')^T mu    with mu so that G(q') M^-1 p' = 0\n",
     "The partner of VE, of which it makes RATTLE: half a step of each."},
    {"RATTLE", RATTLE_STEP "w1 = w2 = dW/2\n",
     "For every model with constraints or a Lagrangian, and the one for large systems: the cost of constraints is "
     "linear in the size. With noise and few degrees of freedom RATTLE-Jc is more accurate."},
    {"RATTLE-J", RATTLE_STEP "w1 = J,  w2 = dW - J\n",
     "Of use for additive noise in flat space only; RATTLE-Jc has the same order everywhere."},
    {"RATTLE-Jc", RATTLE_STEP "w1 = J,  w2 = dW - J,  and V + dt/12 sum_m |P h_m'|^2 in the place of V, P the "
                              "projector onto the cotangent space, |.| in M^-1\n",
     "The default with constraints and noise h(q) up to 20 degrees of freedom: strong order 3/2 and weak order 2 on "
     "the constraint set. Constant masses."},
    {"RATTLE-weak2", RATTLE_STEP "w1 = w2 = dW/2,  and V + dt/8 sum_m |P h_m'|^2 in the place of V, P the projector "
                                 "onto the cotangent space, |.| in M^-1\n",
     "For averages (weak order 2) where the second random number of RATTLE-Jc is not wanted."},
    {"SHAKE", RATTLE_STEP "w1 = w2 = dW/2; the state is p' with mu = 0, the projected one is what is shown\n",
     "For comparison with programs that have SHAKE: positions are those of RATTLE."},
    {"SVE-exp", GROUP_FIRST "tau = exp\n",
     "Where SVE, with the Cayley map, is not wanted. Rotations by more than pi in a step fail."},
    {"VE-adjoint-exp", GROUP_SECOND "tau = exp\n", "The partner of SVE-exp in RATTLE-exp."},
    {"RATTLE-exp",
     "half a step of\n" GROUP_FIRST "and half a step of\n" GROUP_SECOND "tau = exp\n",
     "Order 2 for Lagrangians l(g, xi) with rotations, with the exponential map; RATTLE has the Cayley map, which is "
     "cheaper."},
    {"Lobatto3", LOBATTO("3") "w_j = b_j dW\n",
     "Order 4 on the constraint set, for models without noise (or with little) and few degrees of freedom."},
    {"Lobatto4", LOBATTO("4") "w_j = b_j dW\n",
     "Order 6 on the constraint set: for errors below 1e-8 without noise."},
    {"Lobatto3-Jc", LOBATTO("3") LINEAR_WEIGHTS("24"),
     "Constraints and noise h(q) at strong order 3/2 and weak order 2, with order 4 without noise. Needs constant "
     "masses; RATTLE-Jc is cheaper where order 2 without noise is enough."},
    {"Lobatto4-Jc", LOBATTO("4") LINEAR_WEIGHTS("30"),
     "As Lobatto3-Jc, with order 6 without noise, and weights that are as good as dW and J allow."},
    {"Lobatto3-W1", LOBATTO("3") "w = (c, 1 - 2c, c) dW + (1, 0, -1) (J - dW/2),  1 - 2c = 2 sqrt(2)/3\n",
     "Strong order 3/2 for any Lagrangian with noise h(q), also with variable masses, where RATTLE-Jc does not fit."},
    {"Lobatto3-W2",
     LOBATTO("3") "w = (1/6, 2/3, 1/6) dW + (1 - k, 2 k, -1 - k) (J - dW/2),  k = 2/sqrt(3)\n",
     "As Lobatto3-W1, with the weights of the rule for dW; the step is not symmetric in time."},
    {"Gonzalez",
     "P = p - w1 h'(q),     q' = q + dt M^-1 (P + P')/2,     P' = P - dt D,     p' = P' - w2 h'(q')\n"
     "D = U'(m) + x (U(q') - U(q) - U'(m).x)/|x|^2,     x = q' - q,  m = (q + q')/2\n"
     "w1 = dW/2 + sqrt(3) (J - dW/2),     w2 = dW - w1\n",
     "Where the mean energy of a system with additive noise has to be right at any step, or H has to be kept without "
     "noise. It is implicit and not symplectic."},
    {"PEM",
     "q* = q + dt M^-1 p,     p* = p - dt V'(q) - sum_m dW_m h_m'(q)\n"
     "q' = q* - M^-1 G^T y with g(q') = 0,     p' = p* + G(q')^T mu with G(q') M^-1 p' = 0\n",
     FOR_COMPARISON "The usual projected Euler-Maruyama method: constraints are kept, energies are not."},
    /* Langevin. */
    {"BAOAB", NULL,
     "The default in a bath: configurational averages have the smallest bias of all splittings at one force a step. "
     "Step as for Verlet, dt omega < 2."},
    {"OBABO", NULL, "The Verlet step between halves of the bath; also the proposal of hybrid Monte Carlo."},
    {"ABOBA", NULL, "As BAOAB with the force in the middle, where positions are known twice a step."},
    {"OABAO", NULL, "For comparison; BAOAB has the smaller bias."},
    {"BAOA", NULL, "One kick a step and no force at the end: positions as good as those of BAOAB."},
    {"UBU", NULL,
     "Strong order 2 with constant friction and one force a step: for paths, couplings and multilevel estimates in a "
     "bath."},
    {"BUB", NULL, "As UBU with the force at the ends of the step."},
    {"OBABO-Metropolis", NULL,
     "Stationary averages without any bias from the step. The price: rejected steps reverse momenta, so dynamics "
     "suffers unless the acceptance is near 1."},
    {"BAOAB-Metropolis", NULL, "As OBABO-Metropolis, with the proposals of BAOAB."},
    {"P2N2Q2Lob-GLA", NULL, "OBABO by its own name: a bath around Verlet."},
    {"P1N1Q2Gau-GLA", NULL, "A bath for H that is not separable."},
    {"RATTLE-GLA", NULL, "The default in a bath with constraints."},
    {"g-BAOAB", NULL, "BAOAB on the constraint set: configurational averages with the smallest bias."},
    {"g-OBABO", NULL, "OBABO on the constraint set, which is RATTLE-GLA where RATTLE has one drift a step."},
    {"RATTLE-GLA-Metropolis", NULL, "Averages on a constraint set without bias from the step."},
    {"g-OBABO-Metropolis", NULL, "As RATTLE-GLA-Metropolis."},
    {"SVE-Q",
     "p' = p - dt V'(q) - dW h'(q) + dt (F(q, p) - Gamma M^-1 p) + sqrt(2 kT Gamma) dB,     q' = q + dt M^-1 p'\n",
     "For comparison, and for forces F(q, p); friction is explicit, so dt gamma < 2."},
    {"SVE-QI",
     "p' = p - dt V'(q) - dW h'(q) + dt (F(q, p) - Gamma M^-1 p') + sqrt(2 kT Gamma) dB,     q' = q + dt M^-1 p'\n",
     "For comparison; stable for any friction."},
    {"g-SVE-Q",
     "p* = p - dt V'(q) - dW h'(q) - dt Gamma M^-1 p + sqrt(2 kT Gamma) dB + G(q)^T lambda,     q' = q + dt M^-1 p*\n"
     "p' = p* + G(q')^T mu,     g(q') = 0,  G(q') M^-1 p' = 0\n",
     "For comparison on a constraint set; RATTLE-GLA has weak order 2."},
    {"g-SVE-QI",
     "p* = p - dt V'(q) - dW h'(q) - dt Gamma M^-1 p* + sqrt(2 kT Gamma) dB + G(q)^T lambda,     q' = q + dt M^-1 p*\n"
     "p' = p* + G(q')^T mu,     g(q') = 0,  G(q') M^-1 p' = 0\n",
     "As g-SVE-Q, stable for any friction."},
    {"BBK",
     "p* = p - dt/2 V'(q) - dW/2 h'(q) + dt/2 (F(q, p) - Gamma M^-1 p) + sqrt(2 kT Gamma) dB_1,     q' = q + dt M^-1 "
     "p*\n"
     "p' = p* - dt/2 V'(q') - dW/2 h'(q') + dt/2 (F(q', p*) - Gamma M^-1 p') + sqrt(2 kT Gamma) dB_2\n",
     "To compare with programs that have it. BAOAB costs the same and is more accurate."},
    /* Stiff potentials. */
    {"ZS", STIFF_VERLET "F = M a - beta^2 dt^4/2 a.V'''.a,  the force of V - beta dt^2/2 V'.A^-1 V'\n",
     "Stiff potentials without declaring which part is stiff: one linear system a step, stable for linear forces at "
     "any "
     "step from beta = 1/4 on. Fast oscillations are slowed down, not resolved."},
    {"ZSEuler", "as ZS, with one kick: p' = p + dt F(q) - dW h'(q),     q' = q + dt M^-1 p'\n",
     "The variational Euler form of ZS, of order 1; take ZS."},
    {"ZSs", STIFF_VERLET "F = M a\n",
     "ZS without third derivatives: cheaper, but symplectic only where the eigenvectors of V'' do not turn."},
    {"StiffZSs", STIFF_VERLET "F = M a, with V1'' of the stiff part in the place of V''\n",
     ON_SPLIT "The cheapest linearly implicit step: factors of constant V1'' are used again."},
    {"Newmark", NEWMARK,
     "The method of structural mechanics, implicit in the force. Symplectic in other variables: PushNewmark."},
    {"PushNewmark", NEWMARK "in x = q + beta dt^2 M^-1 V'(q), which is the state\n",
     "Newmark's method in the variables in which it is symplectic; what is seen is Newmark's q."},
    {"OneStepNewmark", NEWMARK "with one iteration of Newton's method for a', from a\n",
     "For comparison: a common short cut, which is neither symplectic nor reversible."},
    {"Impulse",
     "p -> p - dt/2 V0'(q);  n steps of velocity Verlet of length dt/n for p.M^-1 p/2 + V1;  p -> p - dt/2 V0'(q)\n",
     ON_SPLIT "For soft forces that are dear beside stiff ones that are cheap. Steps near half a period of the fast "
              "motion resonate: MOLLY and IMEX do not."},
    {"MOLLY",
     "as Impulse, with the kick of V0(A(q)), A(q) the mean of the stiff motion from rest: p -> p - dt/2 A'(q)^T "
     "V0'(A(q))\n",
     ON_SPLIT "As Impulse, without its resonances at half periods; needs second derivatives of the stiff part."},
    {"IMEX",
     "p -> p - dt/2 V0'(q);  m = q + dt/2 M^-1 p - dt^2/4 M^-1 V1'(m),  q' = 2 m - q,  p -> p - dt V1'(m);  "
     "p -> p - dt/2 V0'(q')\n",
     ON_SPLIT "The step is limited by the soft part alone, and there are no resonances: the first to try for stiff "
              "springs whose motion need not be resolved."},
    {"Gautschi", TRIGONOMETRIC("tan(x/2)/(x/2)", "1"), ON_SPLIT "For comparison; unstable around odd multiples of pi."},
    {"Deuflhard", TRIGONOMETRIC("1", "1"),
     ON_SPLIT "The impulse method with the exact stiff flow: symplectic, resonant at multiples of pi."},
    {"GarciaArchilla", TRIGONOMETRIC("sinc x", "sinc x"),
     ON_SPLIT "Symplectic and without resonances: the first choice for quadratic stiff parts."},
    {"HochbruckLubich", TRIGONOMETRIC("tan(x/2)/(x/2)", "sinc x (1 + sin^2(x/2)/3)"),
     ON_SPLIT "Error bounds in positions that do not depend on the frequency; unstable just below odd multiples of "
     "pi."},
    {"HairerLubich", TRIGONOMETRIC("sinc x", "1"),
     ON_SPLIT "Keeps total and oscillatory energy over long times away from resonances; not symplectic."},
    {"GrimmHochbruck", TRIGONOMETRIC("sinc^2 x", "sinc x"),
     ON_SPLIT "Second order in positions and velocities, whatever the frequency; not symplectic."},
    /* Splittings without a bath. */
    {"ABA", NULL, "Drift, kick, drift: Verlet with the force in the middle. Averages of q are as good as those of "
     "BAB."},
    {"BAB", NULL, "Velocity Verlet as a word. With rotations the default: bodies move freely by their exact motion."},
    {"BRB", NULL, "Bodies whose inertia couples position and rotation, and any inertia where the exact free motion is "
                  "dear; keeps momentum maps to round-off."},
    {"BXB", NULL, "As BRB with the exponential map; BRB needs one scalar equation and is faster."},
    {"BTB", NULL, "Explicit rotations by turns about the principal axes: the cheapest free motion, of order 2."},
    {"BCB", NULL, "Any H and noise of the momenta of bodies: Lie-Poisson systems, random inertia, momenta alone."},
    {"BEB", NULL, "As BCB with the exponential map."},
    {"BCB-Levy",
     "the step of BCB on  K = dt H + sum_m dW_m h_m - sum_(i<j) A_ij {h_i, h_j},  {f, h} = -m.(f_m x h_m)\n"
     "A_ij: Levy areas, drawn given dW and dZ by Fourier modes and a Gaussian tail\n",
     "Noises of momenta of bodies that do not commute where paths count: strong order 1 instead of 1/2."},
    {"BA", NULL, "Symplectic Euler as a word, order 1: take BAB."},
    {"BR", NULL, "Variational Euler on SO(3) or SE(3), order 1: take BRB."},
    {"BX", NULL, "As BR with the exponential map."},
    {"BT", NULL, "As BR with turns about the principal axes."},
    {"g-BRB", NULL, "Joints between bodies, with the Cayley map in the place of the exact free motion."},
    {"g-BXB", NULL, "As g-BRB with the exponential map."},
    {"g-BR", NULL, "As g-BRB, of order 1."},
    {"EM-embedded",
     "R' = R hat(omega),  m' = m x omega - H_R + ...: Euler-Maruyama, the quaternion of R a vector:\n"
     "x' = x + dt x (0, omega)/2,     m' = m + dt (m x omega - H_R) - sum_m dW_m h_m,R\n",
     FOR_COMPARISON "The quaternion leaves the unit sphere."},
    {"LieEM", "R' = R exp(dt hat(omega)),     m' = m + dt (m x omega - H_R) - sum_m dW_m h_m,R\n",
     FOR_COMPARISON "Rotations stay rotations; energies and momentum maps drift."},
    {"RK4-embedded", "the step of RK4 for (x, m), the quaternion x of R a vector: x' = x (0, omega)/2\n",
     FOR_COMPARISON "Without noise; the quaternion leaves the unit sphere."},
    {"RKMK4", "R' = R exp(hat u),  u' = omega + u x omega/2 + u x (u x omega)/12,  u(0) = 0:  the step of RK4 for "
     "(u, m)\n",
     FOR_COMPARISON "Without noise. Rotations stay rotations; energies drift."},
    /* Order 4 to 8. */
    {"P2N2Q2Lob-Yoshida4", NULL, "The classical triple jump, for comparison: -Suzuki4 and RKN4 are far more accurate."},
    {"P2N2Q2Lob-Suzuki4", NULL, "Order 4 for any model that Verlet fits; for constant masses RKN4 is better."},
    {"P2N2Q2Lob-6", NULL, "Order 6 for any model that Verlet fits; for constant masses RKN6 is better."},
    {"P2N2Q2Lob-8", NULL, "Order 8 for any model that Verlet fits; for constant masses RKN8 is better."},
    {"RATTLE-Suzuki4", NULL, "Order 4 on the constraint set without noise, for large systems too."},
    {"RATTLE-6", NULL, "Order 6 on the constraint set without noise, for large systems too."},
    {"BlanesMoan4", NULL, "Order 4 for separable H without noise, where masses are not constant; else RKN4."},
    {"BlanesMoan6", NULL, "Order 6 for separable H without noise, where masses are not constant; else RKN6."},
    {"RKN4", NULL, "Constant masses, no noise or little: errors of 1e-4 to 1e-7 for the least work."},
    {"RKN6", NULL, "Constant masses, no noise: the best from errors of about 1e-6 on."},
    {"RKN8", NULL, "Constant masses, no noise: for errors near round-off, with -Compensated below it."},
    /* Letters. */
    {"A", "q -> q + dt H_p(p)   (+ dW h_p(p)); bodies turn as free bodies do, exactly", NULL},
    {"B", "p -> p - dt V'(q) - sum_m dW_m h_m'(q)   (+ dt F)", NULL},
    {"O", "p -> exp(-Gamma M^-1 dt) p + sqrt(kT (M - e M e^T)) xi,  e = exp(-Gamma M^-1 dt)", NULL},
    {"U", "dq = M^-1 p dt,  dp = -Gamma M^-1 p dt + sqrt(2 kT Gamma) dB, exactly", NULL},
    {"R", "R -> R T,  m -> T^T m,  T = cay(dt xi),  (dcay^-1_{dt xi})^* I xi = m;  vectors drift", NULL},
    {"X", "R -> R T,  m -> T^T m,  T = exp(dt xi),  (dexp^-1_{dt xi})^* I xi = m;  vectors drift", NULL},
    {"T", "turns about the principal axes 1, 2, 3, 2, 1 by dt/2, dt/2, dt, dt/2, dt/2 times m_k/I_k;  vectors "
     "drift", NULL},
    {"C", "g -> g cay(u),  m -> Ad*_cay(u) m,  m = (dcay^-1_u)^* mu,  u = K_p(mu)", NULL},
    {"E", "g -> g exp(u),  m -> Ad*_exp(u) m,  m = (dexp^-1_u)^* mu,  u = K_p(mu)", NULL},
};
#define NOTES (sizeof notes / sizeof *notes)

static const struct note *find(const char *name) {
    if (strcasecmp(name, "SVE") == 0) name = "VE";
    size_t size = strcspn(name, "(");
    for (size_t i = 0; i < NOTES; i++)
        if (strlen(notes[i].name) == size && strncasecmp(notes[i].name, name, size) == 0) return &notes[i];
    return NULL;
}

/* 1/2, 1/3, ... where a width is one, else its digits. */
static void width(struct lgv_text *out, double w) {
    for (int n = 1; n <= 8; n++)
        if (fabs(w * n - 1) < 1e-14) {
            lgv_text_add(out, n > 1 ? "1/%d" : "1", n);
            return;
        }
    lgv_text_add(out, "%.16g", w);
}

/* How a step is called inside a program: drifts with multipliers keep the letter they stand for. */
static const char *step_name(const struct lgv_method *step, bool *geodesic) {
    static const char free_motion[] = "RATTLE without forces, ";
    *geodesic = strncmp(step->name, free_motion, sizeof free_motion - 1) == 0;
    return *geodesic ? step->name + sizeof free_motion - 1 : step->name;
}

static void indented(struct lgv_text *out, const char *lines) {
    for (const char *s = lines; *s;) {
        size_t n = strcspn(s, "\n");
        lgv_text_add(out, "    %.*s\n", (int)n, s);
        s += n + (s[n] == '\n');
    }
}

static bool add_program(const struct lgv_method *m, struct lgv_text *out) {
    const struct lgv_program *p = m->program;
    bool geodesic, any = false, known = true;
    lgv_text_add(out, "from left to right, each with its share of dt and dW:\n");
    for (size_t k = 0; k < p->count; k++) {
        const char *name = step_name(p->step[p->substep[k].step], &geodesic);
        lgv_text_add(out, "%s%.*s(", k % 3 ? "  " : "    ", (int)strcspn(name, ","), name);
        width(out, p->substep[k].width);
        lgv_text_add(out, k % 3 == 2 || k + 1 == p->count ? ")\n" : ")");
    }
    for (size_t j = 0; j < p->steps; j++) {
        const char *name = step_name(p->step[j], &geodesic);
        char plain[60];
        snprintf(plain, sizeof plain, "%.*s", (int)strcspn(name, ","), name);
        const struct note *note = find(plain);
        const char *formula = note ? note->formula : NULL;
        any = any || geodesic;
        known = known && formula;
        if (!formula) continue;
        if (strchr(formula, '\n')) {
            lgv_text_add(out, "%s:\n", plain);
            indented(out, formula);
        } else {
            lgv_text_add(out, "%s:  %s\n", plain, formula);
        }
    }
    if (any)
        lgv_text_add(out, "free motions with multipliers, so that g(q') = 0 (RATTLE without forces); after each letter "
                          "p -> p + G(q)^T mu with G(q) M^-1 p = 0\n");
    if (m->metropolis)
        lgv_text_add(out, "accepted with probability min(1, exp(-w/kT)), w the change of H in all of them but O; else "
                          "(q, p) -> (q, -p) from the old state\n");
    return known;
}

static void add_numbers(struct lgv_text *out, const char *name, const double *x, int count) {
    lgv_text_add(out, "%-9s=", name);
    for (int i = 0; i < count; i++) lgv_text_add(out, " %.16g", x[i] == 0 ? 0.0 : x[i]);
    lgv_text_add(out, "\n");
}

static void add_galerkin(const struct lgv_galerkin *g, struct lgv_text *out) {
    bool own = g->noise.count > 0, dz = false;
    for (int i = 0; i < g->rule.count; i++) dz = dz || g->gamma[i] != 0;
    const char *weights = own ? "0" : dz ? "beta_i dW + gamma_i J" : "beta_i dW";
    lgv_text_add(out,
                 "q_d(s) = sum_mu q^mu l_mu(s),  mu = 0..%d,  l_mu the Lagrange polynomials of the points mu/%d,  "
                 "q^0 = "
                 "q,  q^%d = q'\n"
                 "K_i = K(q_d(c_i), P_i; alpha_i dt, %s),  i = 1..%d\n"
                 "alpha_i q_d'(c_i) = K_i,p\n"
                 "[mu = 0] p - [mu = %d] p' + sum_i (alpha_i P_i l_mu'(c_i) - K_i,q l_mu(c_i))%s = 0\n",
                 g->degree, g->degree, g->degree, weights, g->rule.count, g->degree,
                 own ? " - sum_j what_j dW h'(q_d(chat_j)) l_mu(chat_j)" : "");
    add_numbers(out, "c", g->rule.node, g->rule.count);
    add_numbers(out, "alpha", g->rule.weight, g->rule.count);
    if (own) {
        add_numbers(out, "chat", g->noise.node, g->noise.count);
        add_numbers(out, "what", g->noise.weight, g->noise.count);
        return;
    }
    add_numbers(out, "beta", g->beta, g->rule.count);
    if (dz) add_numbers(out, "gamma", g->gamma, g->rule.count);
}

bool lgv_method_formula(const struct lgv_method *m, struct lgv_text *out) {
    const struct note *note = find(m->name);
    struct lgv_galerkin g;
    char ignore[200];
    if (note && note->formula) {
        lgv_text_add(out, "%s", note->formula);
        return true;
    }
    if (m->program) return add_program(m, out);
    if (!lgv_galerkin_parse(m->name, &g, ignore, sizeof ignore)) return false;
    add_galerkin(&g, out);
    return true;
}

const char *lgv_method_advice(const struct lgv_method *m) {
    const struct note *note = find(m->name);
    if (note && note->advice) return note->advice;
    if (m->metropolis) return "For stationary averages without bias from the step.";
    if (m->needs_bath) return "A splitting for baths like BAOAB, which is the one to begin with.";
    if (m->program && m->order > 2) return "For accuracy without noise, or with little: its order holds there.";
    if (m->program) return "A splitting word: BAB, which is Verlet, is the one to begin with.";
    if (m->order > 2)
        return "For H that is not separable and needs accuracy without noise, or with little: its order holds there. "
               "Implicit.";
    if (strcmp(m->family, "Galerkin") == 0)
        return "A member of the family for studies of quadrature rules; P2N2Q2Lob (Verlet) and P1N1Q2Gau (midpoint) "
               "are the ones to begin with.";
    return "";
}
