/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The keys of a model file: what the loader knows, and what the schema for editors is made from. */
#include "model/load.h"

const struct lgv_model_key lgv_model_keys[] = {
    [LGV_KEY_NAME] = {"name", LGV_KEY_IS_TEXT, "name of the model; default: the file's name without its ending"},
    [LGV_KEY_PARAMETERS] = {"parameters", LGV_KEY_IS_MAPPING,
        "name: value, a number or a formula of the parameters above it; NAME[N] is an array, "
        "also file(FILE, column); normal(mean, std) and uniform(low, high) give every path its own value"},
    [LGV_KEY_PROCESSES] = {"processes", LGV_KEY_IS_MAPPING,
        "coloured noise: name: { sigma, tau } is an Ornstein-Uhlenbeck process, { sigma, frequency, damping } an "
        "oscillator in a bath; start: its value at first, else it has its stationary law"},
    [LGV_KEY_WHERE] = {"where", LGV_KEY_IS_MAPPING, 
        "abbreviations name: formula, and functions f(r, s): formula or f(r): table(FILE)"},
    [LGV_KEY_COORDINATES] = {"coordinates", LGV_KEY_IS_MAPPING,
        "name: start value, a formula or file(FILE, columns); x[N] is an array, x in R3 a point, R in SO3 a rotation, "
        "body in SE3 a rigid body, q mod 2*pi periodic"},
    [LGV_KEY_MOMENTA] = {"momenta", LGV_KEY_IS_MAPPING | LGV_KEY_IS_TEXT,
        "name: start value, in the order of the coordinates; or maxwellian"},
    [LGV_KEY_VELOCITIES] = {"velocities", LGV_KEY_IS_MAPPING,
        "name: start value, in place of momenta, with lagrangian"},
    [LGV_KEY_HAMILTONIAN] = {"hamiltonian", LGV_KEY_IS_TEXT, "the Hamiltonian H(q, p, t)"},
    [LGV_KEY_KINETIC] = {"kinetic", LGV_KEY_IS_MAPPING, "mass and inertia of the kinetic energy, beside potential"},
    [LGV_KEY_POTENTIAL] = {"potential", LGV_KEY_IS_TEXT, "the potential U(q, t), beside kinetic"},
    [LGV_KEY_LAGRANGIAN] = {"lagrangian", LGV_KEY_IS_TEXT, "the Lagrangian L(q, v, t), in place of a Hamiltonian"},
    [LGV_KEY_STIFF] = {"stiff", LGV_KEY_IS_TEXT, "the stiff part of the potential, for methods that split it"},
    [LGV_KEY_CONSTRAINTS] = {"constraints", LGV_KEY_IS_TEXT | LGV_KEY_IS_LIST,
        "formulas g(q) that are kept at 0; each(k=1..N, g) is a family"},
    [LGV_KEY_PENALTY] = {"penalty", LGV_KEY_IS_MAPPING, "omega and window: constraints become springs"},
    [LGV_KEY_CUTOFF] = {"cutoff", LGV_KEY_IS_MAPPING, "radius, switch, box and skin of sums over near pairs"},
    [LGV_KEY_NOISE] = {"noise", LGV_KEY_IS_TEXT | LGV_KEY_IS_LIST | LGV_KEY_IS_MAPPING,
        "noise Hamiltonians h, in the sense of Stratonovich; each(k=1..N, h) is a family; a mapping gives "
        "them names"},
    [LGV_KEY_NOISE_ITO] = {"noise_ito", LGV_KEY_IS_TEXT | LGV_KEY_IS_LIST | LGV_KEY_IS_MAPPING,
        "noise Hamiltonians h, in the sense of Ito"},
    [LGV_KEY_NOISE_POTENTIAL] = {"noise_potential", LGV_KEY_IS_TEXT | LGV_KEY_IS_LIST | LGV_KEY_IS_MAPPING,
        "noise potentials gamma, each a noise h = -gamma"},
    [LGV_KEY_FORCE] = {"force", LGV_KEY_IS_TEXT | LGV_KEY_IS_LIST | LGV_KEY_IS_MAPPING,
        "forces without a potential, one for each coordinate"},
    [LGV_KEY_LANGEVIN] = {"langevin", LGV_KEY_IS_MAPPING, "friction and temperature of a heat bath"},
    [LGV_KEY_SYMMETRIES] = {"symmetries", LGV_KEY_IS_MAPPING,
        "name: generator xi(q); the momentum map p.xi is watched"},
    [LGV_KEY_OBSERVE] = {"observe", LGV_KEY_IS_MAPPING, "name: formula of what to look at"},
    [LGV_KEY_EXACT] = {"exact", LGV_KEY_IS_MAPPING,
        "the solution, name: formula in t, W[1], W[2], ... and start values q0, p0, ..."},
    [LGV_KEY_EVENTS] = {"events", LGV_KEY_IS_MAPPING, "name: condition; when it first holds is recorded"},
    [LGV_KEY_STOP] = {"stop", LGV_KEY_IS_TEXT, "the condition, or the name of an event, at which a path ends"},
    [LGV_KEY_CROSSED] = {"sections", LGV_KEY_IS_MAPPING,
        "Poincare sections, name: formula or {at, direction, observe}"},
    [LGV_KEY_METHODS] = {"methods", LGV_KEY_IS_MAPPING, "methods with coefficients of your own"},
    [LGV_KEY_RUN] = {"run", LGV_KEY_IS_MAPPING, "options of the run"},
    [LGV_KEY_DATA] = {"data", LGV_KEY_IS_MAPPING,
        "files that table(...) and file(...) name, as name: lines; without it they are read from the model's folder"},
};
const size_t lgv_model_key_count = sizeof lgv_model_keys / sizeof *lgv_model_keys;
