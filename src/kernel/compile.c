/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Generated C text -> shared object -> symbols: the compiler, and building one object.  The cache is in cache.c. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "kernel/compile.h"
#include "kernel/cache.h"
#include "base/process.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct lgv_module {
    void *handle;
    bool cached;
};

enum { PRINTED_LIMIT = 65536, PRINTED_LINES = 20, MAX_FLAGS = 16 };

/* -march=native is safe here: one machine, and lanes never mix, so a path's bits are still its own.  Which products are
 * fused with a sum is decided by the text (FUSED in lanes.h): by clang as written, while gcc must not choose. */
static const char *const clang_flags[] = {
    "-std=gnu17", "-O3", "-march=native",    "-fno-math-errno",        "-fno-trapping-math", "-fPIC",
    "-w",         "-c",  "-ffp-contract=on", "-fno-crash-diagnostics", /* else Ctrl-C leaves its reports in $TMPDIR */
    NULL};
static const char *const gcc_flags[] = {"-std=gnu17",
                                        "-O3",
                                        "-march=native",
                                        "-fno-math-errno",
                                        "-fno-trapping-math",
                                        "-fPIC",
                                        "-w",
                                        "-c",
                                        "-ffp-contract=off",
                                        "-Wno-psabi",
                                        NULL};

static const char *const *compiler_flags(const struct lgv_compiler *cc) {
    return cc->kind == LGV_COMPILER_CLANG ? clang_flags : gcc_flags;
}

/* ---- finding the compiler ---- */

/* `-v` prints a line "... clang version 14.0.6" or "gcc version 12.2.0 ..."; `--version` of gcc does not name gcc when
 * it is called cc.  False when there is no such line. */
static bool read_version(struct lgv_compiler *cc, const char *text) {
    const char *line = NULL;
    if ((line = strstr(text, "clang version ")))
        cc->kind = LGV_COMPILER_CLANG;
    else if ((line = strstr(text, "gcc version ")))
        cc->kind = LGV_COMPILER_GCC;
    else
        return false;
    while (line > text && line[-1] != '\n') line--;
    snprintf(cc->version, sizeof cc->version, "%.*s", (int)strcspn(line, "\n"), line);
    return true;
}

static int run(const struct lgv_compiler *cc, char *const argv[], const char *tmpdir, double seconds,
               struct lgv_text *printed) {
    return lgv_process_run(&(struct lgv_process){.argv = argv,
                                                 .tmpdir = tmpdir,
                                                 .bare = true,
                                                 .seconds = seconds,
                                                 .progress = cc->progress,
                                                 .user = cc->user,
                                                 .limit = PRINTED_LIMIT,
                                                 .printed = printed});
}

static enum lgv_status ask_version(struct lgv_compiler *cc, struct lgv_error *err) {
    char flag[] = "-v", *argv[] = {cc->path, flag, NULL};
    struct lgv_text printed = {0};
    int code = run(cc, argv, NULL, 60, &printed);
    enum lgv_status status = LGV_OK;
    if (code == LGV_PROCESS_STOPPED)
        status = lgv_fail(err, LGV_INTERRUPTED, "interrupted while the compiler was asked for its version");
    else if (code == LGV_PROCESS_TOO_LONG)
        status = lgv_fail(err, LGV_CANNOT_RUN, "compiler %s does not answer -v", cc->path);
    else if (code == LGV_PROCESS_NOT_STARTED)
        status = lgv_fail(err, LGV_CANNOT_RUN, "compiler %s cannot be started: %s", cc->path, strerror(errno));
    else if (printed.failed)
        status = lgv_fail_memory(err);
    else if (code > 0)
        status = lgv_fail(err, LGV_CANNOT_RUN, "compiler %s does not work: -v ends with code %d", cc->path, code);
    else if (!read_version(cc, printed.data ? printed.data : ""))
        status = lgv_fail(err, LGV_CANNOT_RUN, "compiler %s is neither clang nor gcc", cc->path);
    lgv_text_free(&printed);
    return status;
}

/* What tells one installed program from another, or NULL for scripts: those may call anything. */
static char *program_identity(const char *path) {
    struct lgv_text t = {0};
    struct stat info;
    char magic[4] = "", *real = realpath(path, NULL);
    FILE *f = real ? fopen(real, "re") : NULL;
    if (f && fstat(fileno(f), &info) == 0 && fread(magic, 1, 4, f) == 4 && memcmp(magic, "\177ELF", 4) == 0)
        lgv_text_add(&t, "%s %lld %lld.%09ld %llu\n", real, (long long)info.st_size, (long long)info.st_mtim.tv_sec,
                     info.st_mtim.tv_nsec, (unsigned long long)info.st_ino);
    if (f) fclose(f);
    free(real);
    if (t.failed) lgv_text_free(&t);
    return t.data;
}

/* The answer to -v is kept in the cache: asking takes longer than loading a kernel from there. */
static enum lgv_status compiler_identify(struct lgv_compiler *cc, struct lgv_error *err) {
    static const char *const none[] = {NULL};
    char key[LGV_CACHE_KEY], *folder = NULL, *identity = program_identity(cc->path), *note = NULL;
    enum lgv_status status = LGV_OK;
    if (identity && lgv_cache_folder(&folder, NULL) == LGV_OK && folder) {
        lgv_cache_key(identity, "", none, key);
        note = lgv_cache_recall(folder, key, identity);
    }
    if (!note || !read_version(cc, note)) {
        status = ask_version(cc, err);
        if (status == LGV_OK && identity && folder) lgv_cache_remember(folder, key, identity, cc->version);
    }
    free(note);
    free(identity);
    free(folder);
    return status;
}

enum lgv_status lgv_compiler_find(const char *wanted, struct lgv_compiler *out, struct lgv_error *err) {
    static const char *const usual[] = {"clang", "gcc", "cc"};
    const char *origin = "";
    memset(out, 0, sizeof *out);
    if (!wanted || !*wanted) {
        wanted = getenv("LGV_CC");
        origin = " (from LGV_CC)";
    }
    if (wanted && *wanted) {
        if (!lgv_process_find(wanted, out->path, sizeof out->path))
            return lgv_fail(err, LGV_CANNOT_RUN,
                            "compiler \"%.200s\"%s was not found; clang (Debian package clang) or gcc is needed",
                            wanted, origin);
        return compiler_identify(out, err);
    }
    enum lgv_status status = lgv_fail(
        err, LGV_CANNOT_RUN, "no C compiler was found: install clang (Debian package clang), or name one with LGV_CC");
    for (size_t k = 0; k < sizeof usual / sizeof *usual; k++) {
        if (!lgv_process_find(usual[k], out->path, sizeof out->path)) continue;
        status = compiler_identify(out, err);
        if (status == LGV_OK) {
            if (err) *err = (struct lgv_error){0}; /* what did not work before does not matter any more */
            return status;
        }
    }
    return status;
}

/* ---- one compilation ---- */

/* Somebody has ended the compiler, or had it ended here. */
static bool interrupted(int code) {
    return code == LGV_PROCESS_STOPPED || code == 128 + SIGINT || code == 128 + SIGTERM || code == 128 + SIGHUP;
}

/* How long it may take. */
static enum lgv_status time_limit(double *seconds, struct lgv_error *err) {
    const char *text = getenv("LGV_COMPILE_SECONDS");
    char *end = NULL;
    *seconds = text && *text ? strtod(text, &end) : 1800;
    if (*seconds > 0 && !(end && *end)) return LGV_OK;
    return lgv_fail(err, LGV_BAD_INPUT, "LGV_COMPILE_SECONDS: a number above 0 is wanted, not \"%.80s\"", text);
}

static enum lgv_status compile_failed(const struct lgv_compiler *cc, int code, const char *printed,
                                      struct lgv_error *err) {
    size_t length = 0;
    for (int line = 0; line < PRINTED_LINES && printed[length]; line++) {
        length += strcspn(printed + length, "\n");
        length += printed[length] == '\n';
    }
    while (length > 0 && printed[length - 1] == '\n') length--;
    return lgv_fail(err, LGV_CANNOT_RUN, "compiler %s failed on the generated kernel (code %d):\n%.*s", cc->path, code,
                    (int)length, printed);
}

/* What of a source is compiled; see LGV_SHARED_END. */
enum half { WHOLE, SHARED, OWN, OWN_LOOP, OWN_REST };

static const char *const *half_flags(const struct lgv_compiler *cc, enum half half, const char *list[MAX_FLAGS]) {
    static const char *const define[] = {NULL, "-DLGV_HALF=1", "-DLGV_HALF=2", "-DLGV_HALF=2", "-DLGV_HALF=2"};
    size_t n = 0;
    for (const char *const *f = compiler_flags(cc); *f; f++) list[n++] = *f;
    list[n++] = define[half];
    if (half == OWN_LOOP || half == OWN_REST)
        list[n++] = half == OWN_LOOP ? "-DLGV_QUARTER=1" : "-DLGV_QUARTER=2";
    list[n] = NULL;
    return list;
}

/* The code of lgv_process_run. */
static int run_compiler(const struct lgv_compiler *cc, enum half half, char *source, char *object, const char *work,
                        double limit, struct lgv_text *printed) {
    char *argv[MAX_FLAGS + 5], path[sizeof cc->path], out_flag[] = "-o", copy[MAX_FLAGS][32];
    const char *list[MAX_FLAGS];
    size_t n = 0;
    memcpy(path, cc->path, sizeof path);
    argv[n++] = path;
    for (const char *const *f = half_flags(cc, half, list); *f; f++, n++) {
        snprintf(copy[n - 1], sizeof copy[0], "%s", *f);
        argv[n] = copy[n - 1];
    }
    argv[n++] = source;
    argv[n++] = out_flag;
    argv[n++] = object;
    argv[n] = NULL;
    return run(cc, argv, work, limit, printed);
}

static bool succeeded(int code, const char *object) {
    return (code == 0 || code == LGV_PROCESS_UNKNOWN) && access(object, R_OK) == 0;
}

/* One library of up to three objects, no start files.  The linker is called directly where there is one: by way of
 * clang it takes 40 ms more. */
static int link_objects(const struct lgv_compiler *cc, const struct lgv_cache_files *files, char *const object[3],
                        struct lgv_text *printed) {
    char path[sizeof cc->path], shared[] = "-shared", out_flag[] = "-o", math[] = "-lm";
    char *argv[9] = {path, shared, out_flag, files->new_object};
    size_t n = 4;
    for (int k = 0; k < 3; k++)
        if (object[k]) argv[n++] = object[k];
    argv[n] = math;
    if (lgv_process_find("ld", path, sizeof path)) {
        int code = run(cc, argv, files->work, 0, printed);
        if (succeeded(code, files->new_object)) return code;
    }
    memcpy(path, cc->path, sizeof path);
    lgv_text_free(printed);
    return run(cc, argv, files->work, 0, printed);
}

/* ---- several compilations at the same time ---- */

/* One of them, in a thread. */
struct job {
    struct lgv_compiler cc;
    enum half half;
    char *source, *object, *work;
    double limit;
    struct lgv_text printed;
    int code, error; /* of lgv_process_run, and errno then */
    pthread_t thread;
    bool begun, running;
    atomic_bool unwanted;
};

static int is_unwanted(void *user, double fraction) {
    (void)fraction;
    return atomic_load((atomic_bool *)user);
}

static void *job_work(void *user) {
    struct job *j = user;
    j->code = run_compiler(&j->cc, j->half, j->source, j->object, j->work, j->limit, &j->printed);
    j->error = errno;
    return NULL;
}

/* Signals go to the threads of the caller. */
static void job_begin(struct job *j) {
    sigset_t all, old;
    j->cc.progress = is_unwanted; /* the caller's is asked by the thread of the caller only */
    j->cc.user = &j->unwanted;
    j->begun = true;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    j->running = pthread_create(&j->thread, NULL, job_work, j) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (!j->running) job_work(j);
}

/* Waits for it.  False: there is no object. */
static bool job_end(struct job *j, bool wanted) {
    if (!wanted) atomic_store(&j->unwanted, true);
    if (j->running) pthread_join(j->thread, NULL);
    j->running = false;
    return succeeded(j->code, j->object);
}

/* Processors that this process may use and nobody uses now, its own thread apart.  The fourth entry of /proc/loadavg
 * begins with the number of all threads that run. */
static long idle_processors(void) {
    cpu_set_t set;
    char line[200] = "", *entry = line;
    FILE *f = fopen("/proc/loadavg", "re");
    if (!f || !fgets(line, sizeof line, f)) entry = NULL;
    if (f) fclose(f);
    for (int k = 0; k < 3 && entry; k++) entry = (entry = strchr(entry, ' ')) ? entry + 1 : NULL;
    if (!entry || sched_getaffinity(0, sizeof set, &set) != 0) return 0;
    return CPU_COUNT(&set) - strtol(entry, NULL, 10) + 1;
}

/* ---- the half that kernels share ---- */

struct shared {
    struct lgv_cache_files files; /* where it is made; empty when the cache has it */
    char *text, *object;
    struct job job;
    bool made;
};

/* Takes it from the cache or begins to make it.  False: the source has no such half, or it cannot be made. */
static bool shared_begin(struct shared *s, const struct lgv_compiler *cc, const char *folder, const char *source,
                         const struct lgv_cache_files *files, double limit) {
    const char *list[MAX_FLAGS], *end = strstr(source, LGV_SHARED_END);
    char key[LGV_CACHE_KEY];
    *s = (struct shared){0};
    if (!end || !(s->text = strndup(source, (size_t)(end - source)))) return false;
    lgv_cache_key(s->text, cc->version, half_flags(cc, SHARED, list), key);
    if (folder && (s->object = lgv_cache_lookup(folder, key, ".o", s->text))) return true;
    if (!lgv_cache_shared(files, folder, key, s->text, &s->files) || !(s->object = lgv_copy(s->files.new_object)))
        return false;
    s->job = (struct job){.cc = *cc, .half = SHARED, .source = s->files.new_source, .object = s->files.new_object,
                          .work = files->work, .limit = limit};
    job_begin(&s->job);
    return true;
}

/* Is it there? */
static bool shared_wait(struct shared *s, bool wanted) {
    if (!s->job.begun) return true;
    return s->made = job_end(&s->job, wanted);
}

static void shared_free(struct shared *s) {
    lgv_cache_discard(&s->files);
    lgv_text_free(&s->job.printed);
    free(s->text);
    free(s->object);
}

/* ---- source file -> object file ---- */

static int build_whole(const struct lgv_compiler *cc, struct lgv_cache_files *files, double limit,
                       struct lgv_text *printed) {
    int code = run_compiler(cc, WHOLE, files->new_source, files->middle, files->work, limit, printed);
    return succeeded(code, files->middle) ? link_objects(cc, files, (char *[3]){files->middle}, printed) : code;
}

static bool in_quarters(const struct lgv_compiler *cc, int compilers) {
    return cc->quarters == LGV_QUARTERS_ALWAYS ||
           (cc->quarters == LGV_QUARTERS_IDLE && idle_processors() >= compilers);
}

/* The kernel's own half: the time loop, and at the same time the rest of it.  One of them is compiled here. */
static int build_quarters(const struct lgv_compiler *cc, struct lgv_cache_files *files, double limit,
                          struct lgv_text *printed) {
    struct job rest = {.cc = *cc, .half = OWN_REST, .source = files->new_source, .object = files->rest,
                       .work = files->work, .limit = limit};
    job_begin(&rest);
    int code = run_compiler(cc, OWN_LOOP, files->new_source, files->middle, files->work, limit, printed), error = errno;
    bool good = succeeded(code, files->middle);
    if (!job_end(&rest, good) && good) {
        lgv_text_free(printed);
        *printed = rest.printed;
        unlink(files->middle);
        errno = rest.error;
        return rest.code;
    }
    lgv_text_free(&rest.printed);
    errno = error;
    return code;
}

/* Whatever is wrong with the shared half, the kernel is then compiled as a whole. */
static int build_object(const struct lgv_compiler *cc, const char *folder, const char *source,
                        struct lgv_cache_files *files, double limit, struct lgv_text *printed) {
    struct shared s;
    int code;
    if (!shared_begin(&s, cc, folder, source, files, limit)) {
        code = build_whole(cc, files, limit, printed);
    } else {
        bool quarters = strstr(source, "LGV_QUARTER") && in_quarters(cc, s.job.running ? 3 : 2);
        code = quarters ? build_quarters(cc, files, limit, printed)
                        : run_compiler(cc, OWN, files->new_source, files->middle, files->work, limit, printed);
        bool good = succeeded(code, files->middle), ready = shared_wait(&s, good);
        char *object[3] = {files->middle, s.object, quarters ? files->rest : NULL};
        if (good && ready) code = link_objects(cc, files, object, printed);
        if (good && !(ready && succeeded(code, files->new_object)) && !interrupted(code)) {
            unlink(s.object);
            lgv_text_free(printed);
            code = build_whole(cc, files, limit, printed);
        } else if (s.made && folder) {
            lgv_cache_commit(&s.files, s.text);
        }
    }
    shared_free(&s);
    return code;
}

/* *place is set when the trouble is the folder (full, read-only), not the source. */
static enum lgv_status compile(const struct lgv_compiler *cc, const char *folder, const char *source,
                               struct lgv_cache_files *files, bool *place, struct lgv_error *err) {
    double limit;
    enum lgv_status status = time_limit(&limit, err);
    if (status != LGV_OK) return status;
    struct lgv_text printed = {0};
    int code = build_object(cc, folder, source, files, limit, &printed);
    const char *text = printed.data ? printed.data : "";
    if (code == LGV_PROCESS_NOT_STARTED) {
        status = lgv_fail(err, LGV_CANNOT_RUN, "compiler %s cannot be started: %s", cc->path, strerror(errno));
    } else if (code == LGV_PROCESS_TOO_LONG) {
        status = lgv_fail(err, LGV_CANNOT_RUN,
                          "compiler %s was ended: it took more than %g s for the kernel of this model; set "
                          "LGV_COMPILE_SECONDS to allow more, or try an explicit method or another compiler",
                          cc->path, limit);
    } else if (interrupted(code)) {
        status = lgv_fail(err, LGV_INTERRUPTED, "interrupted while the kernel was compiled");
    } else if (code > 0 || access(files->new_object, R_OK) != 0) {
        *place = strstr(text, "No space left") || strstr(text, "quota exceeded") || strstr(text, "Read-only file");
        status = compile_failed(cc, code, text, err);
    }
    lgv_text_free(&printed);
    return status;
}

static enum lgv_status load(const char *object, bool cached, struct lgv_module **out, struct lgv_error *err) {
    struct lgv_module *module = lgv_new(1, sizeof *module);
    if (!module) return lgv_fail_memory(err);
    module->handle = dlopen(object, RTLD_NOW | RTLD_LOCAL);
    module->cached = cached;
    if (!module->handle) {
        const char *reason = dlerror();
        free(module);
        return lgv_fail(err, LGV_CANNOT_RUN, "the compiled kernel cannot be loaded: %s", reason ? reason : object);
    }
    *out = module;
    return LGV_OK;
}

/* Compiles in `folder` and keeps the result there as `key`; with NULL in a temporary folder, keeping nothing. */
static enum lgv_status build_in(const char *folder, const char *key, const char *source, const struct lgv_compiler *cc,
                                bool *place, struct lgv_module **out, struct lgv_error *err) {
    struct lgv_cache_files files;
    *place = true;
    enum lgv_status status = lgv_cache_begin(folder, key, source, &files, err);
    if (status != LGV_OK) return status;
    *place = false;
    status = compile(cc, folder, source, &files, place, err);
    if (status == LGV_OK) {
        status = load(files.new_object, false, out, err);
        *place = status != LGV_OK; /* a file system without execute permission, for one */
    }
    /* The object is loaded whatever becomes of the cache; a cache that cannot be written costs time, not the run. */
    if (status == LGV_OK && folder) lgv_cache_commit(&files, source);
    lgv_cache_discard(&files);
    return status;
}

static enum lgv_status keep_text(const char *path, const char *source, struct lgv_error *err) {
    FILE *f = fopen(path, "we");
    bool good = f && fputs(source, f) >= 0;
    int saved = errno;
    if (f && fclose(f) != 0) {
        good = false;
        saved = errno;
    }
    return good ? LGV_OK : lgv_fail(err, LGV_CANNOT_RUN, "%s: %s", path, strerror(saved));
}

/* Signals that are ignored stay out: nohup and background jobs mean to go on. */
static void stopping_signals(sigset_t *set) {
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action;
    sigemptyset(set);
    for (size_t k = 0; k < sizeof signals / sizeof *signals; k++) {
        if (sigaction(signals[k], NULL, &action) == 0 && action.sa_handler != SIG_IGN) sigaddset(set, signals[k]);
    }
}

static enum lgv_status build_new(const char *folder, const char *key, const char *source, const struct lgv_compiler *cc,
                                 struct lgv_module **out, struct lgv_error *err) {
    sigset_t held, old;
    bool place = true;
    enum lgv_status status = LGV_CANNOT_RUN;
    /* A signal ends the compiler at once, and comes to this thread when the files are removed. */
    stopping_signals(&held);
    pthread_sigmask(SIG_BLOCK, &held, &old);
    if (folder) {
        lgv_cache_sweep(folder);
        status = build_in(folder, key, source, cc, &place, out, err);
    }
    if (status != LGV_OK && status != LGV_INTERRUPTED && place)
        status = build_in(NULL, key, source, cc, &place, out, err);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return status;
}

enum lgv_status lgv_module_build(const char *source, const struct lgv_compiler *cc, const char *keep_source,
                                 struct lgv_module **out, double *seconds, struct lgv_error *err) {
    char key[LGV_CACHE_KEY], *folder = NULL, *object = NULL;
    enum lgv_status status = LGV_OK;
    *out = NULL;
    if (seconds) *seconds = 0.0;
    if (keep_source && (status = keep_text(keep_source, source, err)) != LGV_OK) return status;
    if ((status = lgv_cache_folder(&folder, err)) != LGV_OK) return status;
    lgv_cache_key(source, cc->version, compiler_flags(cc), key);
    if (folder && (object = lgv_cache_lookup(folder, key, ".so", source)) && load(object, true, out, NULL) == LGV_OK) {
        status = LGV_OK;
    } else {
        double start = lgv_seconds();
        status = build_new(folder, key, source, cc, out, err);
        if (seconds) *seconds = lgv_seconds() - start;
    }
    free(object);
    free(folder);
    return status;
}

void lgv_module_forget(const char *source, const struct lgv_compiler *cc) {
    char key[LGV_CACHE_KEY], *folder = NULL, *object = NULL;
    if (lgv_cache_folder(&folder, NULL) != LGV_OK || !folder) return;
    lgv_cache_key(source, cc->version, compiler_flags(cc), key);
    if ((object = lgv_cache_lookup(folder, key, ".so", source))) unlink(object);
    free(object);
    free(folder);
}

void *lgv_module_symbol(const struct lgv_module *module, const char *name) {
    return dlsym(module->handle, name);
}

bool lgv_module_cached(const struct lgv_module *module) {
    return module->cached;
}

void lgv_module_free(struct lgv_module *module) {
    if (!module) return;
    dlclose(module->handle);
    free(module);
}
