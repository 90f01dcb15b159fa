/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The program lgv: commands as tables.  A command's flags are rows that feed parsing, --help and the reference page;
 * commands that run something also take every row of lgv_run_options as a flag. */
#ifndef LGV_CLI_H
#define LGV_CLI_H

#include "engine/engine.h"

#include <jansson.h>

/* Exit codes. */
enum { LGV_EXIT_DONE = 0, LGV_EXIT_BROKEN = 1, LGV_EXIT_INPUT = 2, LGV_EXIT_CANNOT = 3, LGV_EXIT_UNKNOWN = 4 };

struct lgv_flags {
    struct lgv_study_texts study; /* the first: offsets in it are offsets here */
    bool help, json, quiet, no_files, no_report, full, all, keep_checkpoint;
    const char *out, *keep_source, *increments, *part, *checkpoint, *checkpoint_steps, *paths, *threads, *until;
    const char *until_stderr, *max_time;
    const char *path, *last, *every; /* replay */
    bool mlmc;
    const char *format; /* explain */
};

#define LGV_FLAG_SET SIZE_MAX /* offset of --set: may be given many times, kept in lgv_arguments.given */

/* A run option or --set NAME=VALUE of the command line, in the order given.  The texts belong to argv, except names. */
struct lgv_given {
    char *name;
    const char *value;
    bool set; /* from --set: a parameter of the model or a run option */
};

struct lgv_arguments {
    const struct lgv_command *command;
    struct lgv_flags flags;
    const char *operand; /* the first; NULL when not given */
    const char **operands;
    size_t noperands, operand_capacity;
    struct lgv_given *given;
    size_t ngiven, capacity;
    char *line; /* the whole command line, quoted for a shell */
    bool no_memory;
};

struct lgv_command {
    const char *name;
    const char *operand;  /* "FILE", "[NAME]" (may be left out), "FILE ..." (one or more) or NULL */
    const char *summary;  /* half a line */
    const char *about;    /* paragraphs separated by "\n\n" */
    const char *examples; /* lines */
    bool run_options;
    const struct lgv_study_kind *study; /* its options are flags, too; or NULL */
    const struct lgv_flag *flag;
    size_t nflags;
    int (*run)(const struct lgv_arguments *a);
};
extern const struct lgv_command *const lgv_commands[];
extern const size_t lgv_command_count;
extern const struct lgv_command lgv_command_run, lgv_command_resume, lgv_command_merge, lgv_command_replay,
    lgv_command_sweep, lgv_command_compare, lgv_command_converge, lgv_command_check, lgv_command_explain,
    lgv_command_new, lgv_command_completion, lgv_command_schema,
    lgv_command_methods, lgv_command_report, lgv_command_cite, lgv_command_ends, lgv_command_reproduce,
    lgv_command_reference;

/* main.c: the whole program; returns the exit code. */
int lgv_main(int argc, char **argv);
/* Of several processes that run one command together (lgv-mpi), is this one that prints nothing and writes no files? */
bool lgv_silent(void);

/* ---- arguments.c ---- */

/* Flag number k of a command, those of its study first; NULL behind the last. */
const struct lgv_flag *lgv_command_flag(const struct lgv_command *c, size_t k);
/* False: a message was printed, the caller ends with LGV_EXIT_INPUT (or _CANNOT when memory is out). */
bool lgv_arguments_read(const struct lgv_command *command, int argc, char **argv, struct lgv_arguments *out);
void lgv_arguments_free(struct lgv_arguments *a);
/* Says which parameters and abbreviations of the file no formula uses, and that a matrix is not quite a rotation. */
void lgv_warn_model(struct lgv_model *m);
/* Studies look at no events. */
void lgv_warn_events(const struct lgv_model *m, const char *command);
/* The model file with the parameters of --set, and the settings of its run: section with the options given. */
enum lgv_status lgv_arguments_model(const struct lgv_arguments *a, struct lgv_model **m, struct lgv_settings *settings,
                                    struct lgv_error *err);
/* Directory for the files of a command, malloc'd: as given, or lgv-NAME and the suffix.  NULL: no files are wanted. */
/* The same also where this process writes no files. */
char *lgv_output_place(const struct lgv_arguments *a, const struct lgv_model *m, const char *suffix);
char *lgv_output_directory(const struct lgv_arguments *a, const struct lgv_model *m, const char *suffix);

/* ---- help.c ---- */

void lgv_help_overview(FILE *out);
void lgv_help_command(FILE *out, const struct lgv_command *c);
/* Name of a run option as a flag: check_states -> check-states. */
const char *lgv_flag_name(const struct lgv_option *row, char *out, size_t size);
/* "number, above 0, default 0.01", for help and reference. */
void lgv_option_describe(const struct lgv_option *row, char *out, size_t size);
/* Words of text in lines of at most 100 columns, each after `indent` blanks; the first line is at column `at`. */
void lgv_wrap(FILE *out, const char *text, size_t indent, size_t at);

/* ---- terminal.c ---- */

bool lgv_colour(FILE *stream);
/* "lgv: message" on stderr; messages with a place in a file as they are, for editors.  Returns the exit code. */
int lgv_complain(const struct lgv_error *err, enum lgv_status status);
void lgv_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Prints the document to stdout and frees it; NULL: memory is out.  Returns the exit code: `code` when all is well. */
int lgv_print_json(json_t *document, int code);
/* Ends the output on stdout: a full disk is an error too. */
int lgv_finish(int code);

/* From now on SIGINT, SIGTERM and SIGHUP ask the run to stop; a second one kills. */
void lgv_stop_on_signals(void);
void lgv_stop_keeps(bool results);             /* whether there is something to lose; else the first signal ends all */
void lgv_stop_removes(const char *directory);  /* then, when it is empty */
bool lgv_stop_asked(void);
struct lgv_meter {
    bool shown, drawn, warns; /* warns: of a run that will not end */
    double begin, last;
    double first, first_time; /* the first fraction that was done, and when */
};
void lgv_meter_begin(struct lgv_meter *meter, bool wanted);
/* Shows a phase that has no progress to tell. */
void lgv_meter_phase(struct lgv_meter *meter, const char *what);
int lgv_meter_progress(void *meter, double fraction); /* an lgv_progress */
void lgv_meter_end(struct lgv_meter *meter);

/* ---- methods.c ---- */

#define LGV_ADDITIVE_QUADRATIC " where H = p.M^-1 p/2 + U(q) with constant masses" /* behind such an order */
const char *lgv_cli_order(double order, char out[16]); /* "-" for NaN: there is none */
/* Orders for the tables: of methods that are for a bath those in a bath, of others those with noise. */
bool lgv_cli_of_bath(const struct lgv_method *m);
double lgv_cli_strong(const struct lgv_method *m);
double lgv_cli_weak(const struct lgv_method *m);
#define LGV_CLI_ORDERS                                                                                                 \
    "order: without noise; strong and weak: with one noise or commuting noises, of methods for a bath "                \
    "(`langevin`) with constant friction and no other noise."

/* ---- new.c ---- */

/* The name of template number k of `lgv new`, NULL behind the last. */
const char *lgv_template_name(size_t k, char *out, size_t size);

/* ---- completion.c ---- */

/* Prints the text, or writes it to the file of --out, and frees it; with --json and a field as a document of that one
 * field.  Returns the exit code. */
int lgv_put_text(const struct lgv_arguments *a, struct lgv_text *t, const char *field);

/* ---- run.c ---- */

/* Makes a directory and its parents; true in *made when it was not there.  It must be writable, and no other lgv may
 * be writing to it.  Leftovers of killed ones are removed. */
enum lgv_status lgv_directory(const char *dir, bool *made, struct lgv_error *err);
/* The same without the lock, for files of names that nobody else writes: several lgv may do so at once. */
enum lgv_status lgv_directory_shared(const char *dir, bool *made, struct lgv_error *err);
/* Summary or JSON of a result, its files in dir (NULL: none); returns the exit code.  status is that of the run. */
int lgv_run_show(const struct lgv_arguments *a, struct lgv_result *r, const char *dir, enum lgv_status status);
/* An old report must not stay beside new results. */
void lgv_forget_report(const char *dir);
/* Figures and report.html in dir; missing gnuplot is a warning.  Returns the exit code: `code` when all is well. */
int lgv_pages(const struct lgv_result *r, const char *dir, int code);

/* ---- report.c ---- */

/* FILE, or FILE/results.h5 when it is a directory; malloc'd. */
char *lgv_results_of(const char *file);

/* ---- mlmc.c ---- */

/* lgv run --mlmc */
int lgv_run_mlmc(const struct lgv_arguments *a, struct lgv_model *m, const struct lgv_settings *s);

/* ---- resume.c ---- */

#define LGV_CHECKPOINT_FLAGS                                                                                           \
    {"checkpoint", 0, "SECONDS", offsetof(struct lgv_flags, checkpoint),                                               \
     "how often the state of the run is saved to the directory, for `lgv resume` (default 600; 0: only when it is "    \
     "interrupted)"},                                                                                                  \
        {"checkpoint-steps", 0, "N", offsetof(struct lgv_flags, checkpoint_steps),                                     \
         "save it also after about N steps of all paths together"},                                                    \
        {"keep-checkpoint", 0, NULL, offsetof(struct lgv_flags, keep_checkpoint),                                      \
         "keep the state of the finished run: `lgv resume DIR --paths N` adds paths to it; with extendable=yes "     \
         "it is always kept"},                                                                                         \
        {"max-time", 0, "SECONDS", offsetof(struct lgv_flags, max_time),                                               \
         "stop after so many seconds as if interrupted, with the results so far and the state for `lgv resume`"}

/* How a run is saved on its way. */
struct lgv_saving {
    const char *dir; /* NULL: it is not */
    const char *place; /* directory of its files, also of a process that writes no results; NULL: there is none */
    bool fresh;        /* it begins: what another run has recorded there is removed */
    double interval, last;
    double every, last_share, path_steps; /* steps between two savings, the share done at the last one, all steps */
    double share; /* of the paths that were collected before */
    double until; /* when the time is over; 0: never */
    bool due, keep, over;
    bool saved; /* there is a state to go on from */
    bool failing; /* the last one could not be saved */
    bool damaged; /* the newer state is: it does not take the place of the one before */
    struct lgv_meter *meter;
};
/* False: a message was printed. */
bool lgv_saving_begin(struct lgv_saving *s, const struct lgv_arguments *a, const char *dir, struct lgv_meter *meter);
/* Has the directory the state of a run? */
bool lgv_saving_there(const char *dir);
/* All paths that are missing.  LGV_INTERRUPTED: a signal has stopped it, and what can be saved is saved. */
enum lgv_status lgv_saving_run(struct lgv_saving *s, struct lgv_engine *e, struct lgv_error *err);
/* Says that it is not complete, and how to go on. */
void lgv_saving_tell(const struct lgv_saving *s);
/* After the results were written: single paths that were recorded become one file.  Returns the exit code: `code` when
 * all is well.  The engine is as lgv_saving_run has left it, or finished. */
int lgv_saving_paths(const struct lgv_saving *s, const struct lgv_arguments *a, struct lgv_engine *e, bool complete,
                     int code);
/* After the results were written, with this exit code: `complete` runs need no state any more, unless it is to be kept
 * or they could not be written. */
void lgv_saving_end(struct lgv_saving *s, bool complete, int code);

/* ---- record.c ---- */

/* Where single paths of a run in `dir` are stored on their way. */
char *lgv_recorded_in(const char *dir);
/* What is in the folders becomes dir/paths.h5.  Returns the exit code: `code` when all is well. */
int lgv_recorded_join(const struct lgv_arguments *a, struct lgv_engine *e, const char *const *folder, size_t folders,
                      const char *dir, bool complete, int code);

/* ---- part.c ---- */

/* lgv run --part K/N */
int lgv_run_part(const struct lgv_arguments *a, struct lgv_model *m, const struct lgv_settings *s);

/* ---- compare.c ---- */

/* Prints (--json) and writes (dir/NAME.json) the document, frees it; returns the exit code. */
int lgv_study_show(const struct lgv_arguments *a, char *json, const char *dir, const char *name, int code);
/* Says what was written; returns the exit code. */
int lgv_study_written(const struct lgv_arguments *a, const char *dir, const char *name, enum lgv_status status,
                      bool drawn, const struct lgv_error *err, int code);

#endif
