/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What every stage shares: errors, growing text, memory that is checked, files, and option tables. */
#ifndef LGV_BASE_H
#define LGV_BASE_H

#include <lgv/lgv.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

/* Fills err (NULL allowed) and returns status, so that `return lgv_fail(err, LGV_BAD_INPUT, "...", x);` works. */
enum lgv_status lgv_fail(struct lgv_error *err, enum lgv_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
enum lgv_status lgv_fail_memory(struct lgv_error *err);

/* A text that grows.  After a failed allocation it stays as it was and `failed` is set; check it once at the end. */
struct lgv_text {
    char *data; /* NUL-terminated, NULL while empty */
    size_t size, capacity;
    bool failed;
};
void lgv_text_add(struct lgv_text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void lgv_text_append(struct lgv_text *t, const char *data, size_t size);
void lgv_text_free(struct lgv_text *t);

/* A measured value for people: two digits of its standard error, and the value to the same place, "1.120 ± 0.014" or
 * "(1.120 ± 0.014)e-9".  An error that is not known (not finite, negative) is left out; "n/a" for a value that is not
 * finite.  80 bytes hold every result.  Returns out. */
const char *lgv_text_with_error(char *out, size_t size, double value, double error);

/* calloc that refuses overflow; array growth by doubling.  NULL / false when memory is out. */
void *lgv_new(size_t count, size_t size);
bool lgv_grow(void *array_pointer, size_t *capacity, size_t need, size_t item);
char *lgv_copy(const char *text);
char *lgv_copy_n(const char *text, size_t size);
/* The whole file; NULL with err filled.  Refuses files larger than `limit` bytes. */
char *lgv_read_file(const char *path, size_t limit, size_t *size, struct lgv_error *err);

/* Bytes that are read in order.  Behind the last one there are zeros and `bad` is set: check it once at the end. */
struct lgv_bytes {
    const char *at;
    size_t left;
    bool bad;
};
void lgv_bytes_take(struct lgv_bytes *b, void *out, size_t size);
uint64_t lgv_bytes_count(struct lgv_bytes *b); /* eight of them as a number */
void lgv_text_append_count(struct lgv_text *t, uint64_t n);

/* Seconds of a clock that only goes forward: for durations. */
double lgv_seconds(void);

/* The known word nearest to `word` (at most three edits away), or NULL: for "did you mean". */
const char *lgv_nearest(const char *word, const char *const *known, size_t count);

/* Bytes of the character at s; 0 when it is a control character, turns the writing direction or is not UTF-8.  Names
 * and titles come from model and result files: nothing of them may reach a terminal, gnuplot or HTML unexamined. */
size_t lgv_char_size(const char *s);
/* text (NULL is "") with '?' for every bad byte and a blank for line breaks, cut at a character when it is too long. */
const char *lgv_plain(char *out, size_t size, const char *text);
char *lgv_plain_copy(const char *text);   /* malloc'd, whole */
size_t lgv_text_width(const char *plain); /* characters, not bytes */

/* x with as few digits as read back to the same number; "n/a" when it is not finite. */
const char *lgv_exact(char *out, size_t size, double x);
/* x with `digits` digits for people. */
const char *lgv_brief(char *out, size_t size, double x, int digits);
/* 1234567 -> "1 234 567" */
const char *lgv_spaced(char *out, size_t size, uint64_t n);
/* 1.5e8 -> "150 million" */
const char *lgv_rate(char *out, size_t size, double per_second);

/* Small dense matrices A [n][n] by rows, destroyed; elimination with row interchanges. */
/* X of A X = B [n][m] replaces B.  False when a pivot is not above `least`. */
bool lgv_linear_solve(int n, int m, long double *A, long double *B, long double least);
long double lgv_linear_determinant(int n, long double *A); /* 0 when a column has no pivot at all */
/* The first column that depends on those before it, to within `least` of rows scaled to 1; -1: none. */
int lgv_linear_dependent(int n, long double *A, long double least);
/* Jacobi's method for a symmetric matrix: one rotation that makes entry (i, j) vanish, A <- r^T A r and
 * Q <- Q r; and all of them, Q^T A Q is diagonal. */
void lgv_linear_rotate(size_t n, double *A, double *Q, size_t i, size_t j);
void lgv_linear_diagonalise(size_t n, double *A, double *Q);

char *lgv_join(const char *dir, const char *name); /* dir/name, malloc'd; NULL: no memory */
/* Is there something else than a regular file? */
bool lgv_file_special(const char *path);
/* A file that is replaced whole or not at all, by way of a temporary one beside it, fsync and rename.  The maker fills
 * it, by the descriptor or by its name; it returns 0, what errno was, or -1 when it has filled err itself. */
typedef int lgv_file_maker(void *user, int fd, const char *path);
enum lgv_status lgv_file_made(const char *path, lgv_file_maker *make, void *user, struct lgv_error *err);
enum lgv_status lgv_file_replace(const char *path, const void *data, size_t size, struct lgv_error *err);
/* Removes temporary files in dir of processes that have ended without doing so. */
void lgv_file_sweep(const char *dir);
/* Name for a file from any text: letters, digits, '_' and '-' only, not empty.  A text that is too long ends in a
 * number made from all of it; with `distinct` also one in which a character was replaced. */
void lgv_file_name(char *out, size_t size, const char *prefix, const char *text, bool distinct);
#define LGV_HASH_START 14695981039346656037u
uint64_t lgv_hash(uint64_t hash, const void *data, size_t size); /* FNV-1a; goes on from `hash` */

/* One option of a method, a run or a command.  The same row feeds the model file, --set, --help, JSON, HDF5
 * and docs. */
enum lgv_option_type {
    LGV_REAL,
    LGV_COUNT,
    LGV_WORD,
    LGV_SWITCH,
    LGV_PROGRAM, /* a word that names a program to start: never from a model file, which anybody may have written */
    LGV_LIST     /* a longer word: names separated by commas */
};
struct lgv_option {
    const char *name;
    enum lgv_option_type type;
    const char *standard; /* default as text; "" for none */
    double low, high;     /* allowed range of REAL and COUNT, both ends included */
    const char *unit, *doc;
    size_t offset; /* of the field in the options struct: double, uint64_t, char[64], bool, char[64] or char[512] */
};
#define LGV_DIGITS(limit) LGV_DIGITS_(limit) /* a limit as a literal, for texts that name it */
#define LGV_DIGITS_(limit) #limit
#define LGV_WORD_SIZE 64
#define LGV_LIST_SIZE 512
#define LGV_MOST_COUNT 1e15 /* the limit of counts that have no other */
enum lgv_status lgv_option_set(const struct lgv_option *table, size_t count, void *options, const char *name,
                               const char *value, struct lgv_error *err);
/* "yes", "no" and other words for them; false for anything else. */
bool lgv_option_switch(const char *text, bool *out);
void lgv_option_defaults(const struct lgv_option *table, size_t count, void *options);
/* The value as text, as the model file would spell it. */
void lgv_option_get(const struct lgv_option *row, const void *options, char *out, size_t size);
/* The next entry of a list, without blanks around it; commas inside brackets are part of it.  False behind the last.
 * What is longer than `size` is cut. */
bool lgv_list_next(const char **list, char *out, size_t size);
const struct lgv_option *lgv_option_find(const struct lgv_option *table, size_t count, const char *name);

#endif
