/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Private to the model file loader: the file as a tree with places (load_yaml.c), and the sections that are read from
 * it (load.c: the whole, parameters, Hamiltonian; load_state.c: coordinates, momenta, velocities, symmetries;
 * load_rotations.c: start values and inertia of rotations; load_bodies.c: xi and mu; load_maxwell.c: Maxwellian start
 * values; load_noise.c: noise and constraints; load_bath.c: forces, friction and temperature; legendre.c: the
 * Lagrangian; load_observe.c: observables, exact solution, run; load_events.c: events and stop; raw.c: methods, which
 * the method stage reads; load_discrete.c: those that are discrete Lagrangians). */
#ifndef LGV_LOAD_H
#define LGV_LOAD_H

#include "model/csv.h"
#include "model/model.h"

#define LGV_MAX_FILE 1000000 /* bytes, without the section data that a model keeps its files in */
#define LGV_MAX_TEXT 16000000 /* with it */
#define LGV_MAX_ENTRIES 1000 /* of one section */

enum lgv_yaml_kind { LGV_YAML_SCALAR, LGV_YAML_SEQUENCE, LGV_YAML_MAPPING, LGV_YAML_ALIAS };

/* A node; nodes are numbered in the order of the text.  Children of a mapping alternate: key, value, key, value. */
struct lgv_yaml_node {
    enum lgv_yaml_kind kind;
    char quote;      /* scalars: 0 plain, ' or " quoted, | block */
    char *text;      /* scalars: the value */
    size_t at;       /* byte in the file: of the first character inside the quotes */
    int first, next; /* child, sibling; -1 none */
    int count;       /* children */
};

struct lgv_yaml {
    struct lgv_yaml_node *node;
    size_t count, capacity;
};

/* What is being declared: one coordinate or momentum with all its components. */
struct lgv_declared {
    char name[LGV_MAX_NAME];
    long length; /* 0: not an array */
    int dim;
    long offset, size; /* components */
    int part;          /* of a body in SE3, whose position and rotation are declared apart: 1 and 2; 0: of none */
    long beside;       /* part 2: the offset of part 1 */
    bool coupled;      /* by the inertia: both momenta are in the body frame */
    bool reduced;      /* a momentum alone, in the dual of so(3) or se(3) */
    double period, from; /* shown in [from, from + period); period 0: as it is */
};

struct lgv_file {
    char *name, *text;
};

struct lgv_loader {
    struct lgv_model *m;
    const char *file, *text;
    struct lgv_error *err;
    struct lgv_yaml yaml;
    const struct lgv_override *override;
    size_t noverrides;
    double *rows; /* [m->ntabulated] numbers of tables that wait until all parameters are known; see load_table.c */
    struct lgv_declared *coordinate, *momentum, *velocity;
    size_t ncoordinates, nmomenta, nvelocities;
    int *maxwellian;  /* [np] where that is the start value of a momentum or velocity; 0: it has another one */
    int langevin;     /* that section, which is read after the Lagrangian; -1: there is none */
    int *velocity_of; /* [np] velocities in terms of q and p, once they are needed; see legendre.c */
    int *mu_of;       /* [np] the same of LGV_MU, -1 where there is none; see load_bodies.c */
    int observe;      /* that section, for messages; -1: there is none */
    int data;         /* the section of that name, -1: there is none */
    struct lgv_file *files; /* read from the folder of the model */
    size_t nfiles, files_capacity;
    int mass;         /* the one mass of all velocities (v = p/mass), or -1 */
};

/* The keys of a model file, in the order of lgv_model_keys. */
enum lgv_key {
    LGV_KEY_NAME,
    LGV_KEY_PARAMETERS,
    LGV_KEY_PROCESSES,
    LGV_KEY_WHERE,
    LGV_KEY_COORDINATES,
    LGV_KEY_MOMENTA,
    LGV_KEY_VELOCITIES,
    LGV_KEY_HAMILTONIAN,
    LGV_KEY_KINETIC,
    LGV_KEY_POTENTIAL,
    LGV_KEY_LAGRANGIAN,
    LGV_KEY_STIFF,
    LGV_KEY_CONSTRAINTS,
    LGV_KEY_PENALTY,
    LGV_KEY_CUTOFF,
    LGV_KEY_NOISE,
    LGV_KEY_NOISE_ITO,
    LGV_KEY_NOISE_POTENTIAL,
    LGV_KEY_FORCE,
    LGV_KEY_LANGEVIN,
    LGV_KEY_SYMMETRIES,
    LGV_KEY_OBSERVE,
    LGV_KEY_EXACT,
    LGV_KEY_EVENTS,
    LGV_KEY_STOP,
    LGV_KEY_CROSSED,
    LGV_KEY_METHODS,
    LGV_KEY_RUN,
    LGV_KEY_DATA,
    LGV_KEYS
};

/* ---- load_yaml.c; every bool is false when the error has been filled ---- */

bool lgv_yaml_read(struct lgv_loader *l);
void lgv_yaml_free(struct lgv_yaml *y);
const struct lgv_yaml_node *lgv_yaml_node(const struct lgv_loader *l, int node);
int lgv_yaml_next(const struct lgv_loader *l, int node); /* sibling, -1 none */
/* Messages at a byte of the file, at a node, at a character of a scalar's value. */
bool lgv_yaml_fail_at(struct lgv_loader *l, size_t at, const char *format, ...) __attribute__((format(printf, 3, 4)));
bool lgv_yaml_fail(struct lgv_loader *l, int node, const char *format, ...) __attribute__((format(printf, 3, 4)));
bool lgv_yaml_fail_in(struct lgv_loader *l, int node, const struct lgv_formula_error *why);
bool lgv_yaml_memory(struct lgv_loader *l);
/* The text of a scalar that is not empty, else NULL with a message that expected `what`. */
const char *lgv_yaml_text(struct lgv_loader *l, int node, const char *what);
/* The node is a mapping / sequence of at most LGV_MAX_ENTRIES (limit) entries. */
bool lgv_yaml_mapping(struct lgv_loader *l, int node, const char *what);
bool lgv_yaml_sequence(struct lgv_loader *l, int node, long limit, const char *what);
void lgv_yaml_place(const struct lgv_loader *l, int node, int *line, int *column);

/* for (each key, value of a mapping) */
#define LGV_EACH(l, mapping, key, value)                                                                               \
    for (int key = lgv_yaml_node(l, mapping)->first, value = lgv_yaml_next(l, key); key >= 0;                          \
         key = lgv_yaml_next(l, value), value = lgv_yaml_next(l, key))

/* A formula in which the given uses may appear; nest as in lgv_formula_parse. */
bool lgv_load_formula(struct lgv_loader *l, int node, const char *place, unsigned allow, struct lgv_value *out,
                      int *nest);
bool lgv_load_number(struct lgv_loader *l, int node, const char *place, unsigned allow, int *out);
/* The value of a formula of parameters. */
bool lgv_load_constant(struct lgv_loader *l, int node, const char *place, double *out);
bool lgv_load_value_now(struct lgv_loader *l, int node, int formula, double *out);
/* A new name: well formed, not reserved, not in use. */
bool lgv_load_new_name(struct lgv_loader *l, int node, const char *name);
/* Forgets the symbols added last, down to `count`. */
void lgv_load_drop(struct lgv_scope *scope, size_t count);
bool lgv_load_value(struct lgv_loader *l, const char *name, int node); /* adds the name of a number */

/* ---- load_data.c: files of numbers ---- */

bool lgv_load_data(struct lgv_loader *l, int node); /* the section; -1: there is none */
/* The text of a file, or NULL; node: where it is named. */
const char *lgv_load_file(struct lgv_loader *l, int node, const char *name);
bool lgv_load_keep_data(struct lgv_loader *l); /* at the end: the text of the model gets the files that were read */
void lgv_load_files_free(struct lgv_loader *l);

/* WORD(FILE, a, b, ...) as the whole of a value: is it one; its words, the file first, and the numbers of the file,
 * which the caller frees also after a failure; the column of a name or number. */
#define LGV_MAX_FILE_WORDS 16
struct lgv_file_call {
    char word[LGV_MAX_FILE_WORDS][256];
    size_t count;
    struct lgv_csv csv;
};
bool lgv_load_is_call(const struct lgv_loader *l, int node, const char *word);
bool lgv_load_call(struct lgv_loader *l, int node, struct lgv_file_call *out);
/* file(FILE) or file(FILE, columns): the numbers of `name`, [rows][columns]. */
bool lgv_load_numbers(struct lgv_loader *l, int node, const char *name, long rows, int columns, double *out);
/* The column of that name or number; refused where not all of it are numbers, as lgv_load_column_at does. */
bool lgv_load_column(struct lgv_loader *l, int node, const struct lgv_file_call *c, const char *name, long *out);
bool lgv_load_column_at(struct lgv_loader *l, int node, const struct lgv_file_call *c, long column);

/* ---- load_table.c ---- */

/* name(formal): table(FILE, ...), a function of one number; takes formal. */
bool lgv_load_table(struct lgv_loader *l, int key, int value, const char *name, char *formal);

/* A column as a function of the path: row k for path k, and for those behind the last row from the first on again. */
bool lgv_load_by_path(struct lgv_loader *l, int node, const struct lgv_csv *c, long column, int *out);
/* While parameters are read: a value for each point of a sweep; or for each path, by file(FILE, paths) or file(FILE,
 * column, paths), where *typical lies between the least and the largest; */
bool lgv_load_by_point(struct lgv_loader *l, const struct lgv_override *o, int *out);
bool lgv_load_paths_of(struct lgv_loader *l, int node, const char *name, double *typical, int *out);
bool lgv_load_by_point_end(struct lgv_loader *l); /* when all parameters are there */

/* ---- load_parameters.c ---- */

bool lgv_load_parameters(struct lgv_loader *l, int node); /* -1: there are none */

/* ---- load_drawn.c: random parameters ---- */

bool lgv_load_is_drawn(const struct lgv_loader *l, int formula); /* it has draws, or parameters that have */
bool lgv_load_typical(struct lgv_loader *l, int node, int formula, double *out);
bool lgv_load_drawn(struct lgv_loader *l, int key, int number, int formula); /* the parameter of that number is one */
bool lgv_load_add_parameter(struct lgv_loader *l, const char *name, double x);
bool lgv_load_processes(struct lgv_loader *l, int node);
bool lgv_load_drawn_check(struct lgv_loader *l); /* at the end: nothing that cannot be random is */
bool lgv_load_observe_drawn(struct lgv_loader *l);

/* ---- load_state.c ---- */

bool lgv_load_coordinates(struct lgv_loader *l, int node);
/* The name becomes known in formulas, of an array its first `entries`; a body when its second part is given. */
bool lgv_load_symbol(struct lgv_loader *l, const char *name, const struct lgv_declared *d, enum lgv_space space,
                     long entries);
bool lgv_load_momenta(struct lgv_loader *l, int node); /* -1: not given */
/* Reads a key as a declaration; the second part of a body, its rotation or angular momentum, behind the first; start
 * values and component names of all declared names, from [0] on. */
bool lgv_load_declare(struct lgv_loader *l, int key, struct lgv_declared *d);
struct lgv_declared lgv_load_second_part(const struct lgv_declared *d, int dim);
bool lgv_load_starts(struct lgv_loader *l, int node, const struct lgv_declared *d, enum lgv_space space, int *start,
                     char **component);
bool lgv_load_velocities(struct lgv_loader *l, int node);
bool lgv_load_symmetries(struct lgv_loader *l, int node);
/* A formula for every component of the configuration: a mapping name: formula (0 for names that are missing), a
 * sequence of all components or, where `spread` allows it, one formula for all.  out: [np] nodes, which begin as 0; at:
 * NULL, or [np] bytes of the file where they stand. */
bool lgv_load_per_coordinate(struct lgv_loader *l, int node, const char *place, unsigned allow, bool spread, int *out,
                             size_t *at);
/* A position for every coordinate, as name: value.  out: [nx] nodes. */
bool lgv_load_positions(struct lgv_loader *l, int node, const char *place, unsigned allow, int *out);

/* ---- load_kinetic.c ---- */

/* p^2/(2 m) summed over all momenta; node -1: mass 1. */
bool lgv_load_kinetic(struct lgv_loader *l, int node, int *out);

/* ---- load_reduced.c ---- */

bool lgv_load_reduced(struct lgv_loader *l, int node); /* momenta of a model without coordinates */
bool lgv_load_casimirs(struct lgv_loader *l);          /* behind the symmetries */

/* ---- load_rotations.c ---- */

/* A rotation as the four nodes of a unit quaternion: a rotation vector, a quaternion, Euler angles, a matrix, or
 * `uniform`. */
bool lgv_load_rotation(struct lgv_loader *l, int node, const char *place, unsigned allow, int out[4]);
/* m.I^-1 m/2 summed over all rotations and coupled bodies; node -1: I = 1. */
bool lgv_load_inertia(struct lgv_loader *l, int node, int *out);

/* ---- load_bodies.c ---- */

/* xi_R and mu_R of each rotation and body; xi and mu, where it is the only name. */
bool lgv_load_body_names(struct lgv_loader *l);
/* H_p, and LGV_MU in terms of p and the step, -1 where it is no function of them.  out: [np] nodes, 0 at first. */
bool lgv_load_hamiltonian_velocities(struct lgv_loader *l, int *out);
bool lgv_load_step_momenta(struct lgv_loader *l, int *out);

/* ---- load_maxwell.c ---- */

bool lgv_load_is_maxwellian(const struct lgv_loader *l, int node);
/* Start values of the momenta, or velocities, that are to be Maxwellian, at the temperature of the section `langevin`
 * (-1: there is none) or at their own.  The energy has been read. */
bool lgv_load_maxwellian(struct lgv_loader *l, bool velocities, int langevin);

/* ---- load_noise.c ---- */

/* A family each(k=1..N, ...), whose ranges are constant. */
struct lgv_family {
    const char *what; /* "noises" */
    size_t limit;     /* on their number */
    size_t count;     /* 0 for a range like 2..N with N = 1 */
    int position;     /* integer expression: number of the member, from 0 */
};
bool lgv_load_family(struct lgv_loader *l, int node, int nest, struct lgv_family *f);
/* One noise or a family of them, from number `first` on: the formula, and where its weights are. */
bool lgv_load_one_noise(struct lgv_loader *l, int node, const char *place, unsigned allow, size_t first,
                        struct lgv_noise *out);
enum lgv_noise_kind { LGV_NOISE_STRATONOVICH, LGV_NOISE_ITO, LGV_NOISE_POTENTIAL };
bool lgv_load_noise(struct lgv_loader *l, int node, enum lgv_noise_kind kind);
bool lgv_load_constraints(struct lgv_loader *l, int node);

/* ---- load_ito.c ---- */

/* A noise in the sense of Ito: what it adds in that of Stratonovich is taken from the Hamiltonian, or it is refused. */
bool lgv_load_ito(struct lgv_loader *l, int node, struct lgv_noise *h);

/* ---- load_discrete.c ---- */

/* The methods of the file that are discrete Lagrangians. */
bool lgv_load_discrete(struct lgv_loader *l, int node);
void lgv_load_discrete_free(struct lgv_model *m);

/* ---- load_bath.c ---- */

bool lgv_load_force(struct lgv_loader *l, int node);
bool lgv_load_langevin(struct lgv_loader *l, int node);
/* Where friction and temperature of that section stand, -1 without a section; false: its keys are wrong. */
bool lgv_load_langevin_keys(struct lgv_loader *l, int node, int *friction, int *temperature);

/* ---- load_stiff.c ---- */

bool lgv_load_stiff(struct lgv_loader *l, int node);

/* ---- load_penalty.c ---- */

/* Constraints become a part of H: behind them, before what asks for their number. */
bool lgv_load_penalty(struct lgv_loader *l, int node);

/* ---- load_cutoff.c ---- */

bool lgv_load_cutoff(struct lgv_loader *l, int node);
bool lgv_load_near_check(struct lgv_loader *l, int node); /* at the end; node: what is told */

/* ---- load_fixman.c ---- */

/* The Fixman term of `langevin`, if that asks for it, becomes a part of H. */
bool lgv_load_fixman(struct lgv_loader *l, int node);

/* ---- legendre.c ---- */

/* L, its Hamiltonian or energy, and the start momenta L_v. */
bool lgv_load_lagrangian(struct lgv_loader *l, int node);
/* The formula with velocities and LGV_MU in terms of momenta, where there is a Hamiltonian in closed form. */
int lgv_load_without_velocities(struct lgv_loader *l, int formula);

/* ---- load_observe.c ---- */

bool lgv_load_observe(struct lgv_loader *l, int node);
bool lgv_load_exact(struct lgv_loader *l, int node);
bool lgv_load_run(struct lgv_loader *l, int node);

/* ---- load_events.c ---- */

bool lgv_load_events(struct lgv_loader *l, int node);
bool lgv_load_stop(struct lgv_loader *l, int node);

/* ---- load_sections.c ---- */

bool lgv_load_sections(struct lgv_loader *l, int node);
void lgv_load_sections_free(struct lgv_model *m);

/* ---- raw.c ---- */

/* A section as it stands; node -1: *out stays as it is. */
bool lgv_load_raw(struct lgv_loader *l, int node, struct lgv_raw **out);
void lgv_load_raw_free(struct lgv_raw *r);

#endif
