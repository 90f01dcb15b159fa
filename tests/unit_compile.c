/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Compiling and caching: build, hit, other source, concurrent writers, damaged entries, unusable folders, messages. */
#include "kernel/cache.h"
#include "kernel/compile.h"
#include "kernel/kernel.h"
#include "base/process.h"

#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

static char root[64], cache[80], log_path[80], wrapper[80];
static struct lgv_compiler counted; /* a compiler that leaves a line in log_path whenever it compiles */

static void write_file(const char *path, const char *text, mode_t mode) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(chmod(path, mode), 0);
}

static size_t count_runs(void) {
    size_t size = 0;
    char *text = lgv_read_file(log_path, 1 << 20, &size, NULL);
    free(text);
    return text ? size : 0;
}

/* Files in folder; the name of one that ends in `ending` goes to name. */
static size_t list_folder(const char *folder, const char *ending, char *name, size_t room) {
    DIR *dir = opendir(folder);
    size_t count = 0;
    struct dirent *entry;
    assert_non_null(dir);
    while ((entry = readdir(dir))) {
        size_t n = strlen(entry->d_name), m = strlen(ending);
        if (entry->d_name[0] == '.') continue;
        count++;
        if (n > m && strcmp(entry->d_name + n - m, ending) == 0)
            snprintf(name, room, "%.80s/%.80s", folder, entry->d_name);
    }
    closedir(dir);
    return count;
}

static void empty_folder(const char *folder) {
    char name[200];
    while (list_folder(folder, "", name, sizeof name) > 0) assert_int_equal(unlink(name), 0);
}

static int setup(void **state) {
    (void)state;
    char text[2400];
    struct lgv_compiler real;
    const char *base = getenv("TMPDIR");
    signal(SIGINT, SIG_DFL); /* ignored from outside, perhaps, and so by what is started here */
    signal(SIGTERM, SIG_DFL);
    snprintf(root, sizeof root, "%s/lgv-unit-XXXXXX", base && *base && strlen(base) <= 40 ? base : "/tmp");
    if (!mkdtemp(root) || setenv("XDG_CACHE_HOME", root, 1) != 0 || unsetenv("LGV_CC") != 0 ||
        lgv_compiler_find(NULL, &real, NULL) != LGV_OK)
        return -1;
    snprintf(cache, sizeof cache, "%s/lgv", root);
    snprintf(log_path, sizeof log_path, "%s/log", root);
    snprintf(wrapper, sizeof wrapper, "%s/cc", root);
    snprintf(text, sizeof text, "#!/bin/sh\n[ \"$1\" = -v ] || printf x >> %s\nexec %s \"$@\"\n", log_path, real.path);
    write_file(wrapper, text, 0700);
    empty_folder(cache); /* of what is remembered about the compiler; a wrapper is always asked */
    return lgv_compiler_find(wrapper, &counted, NULL) == LGV_OK ? 0 : -1;
}

static int teardown(void **state) {
    (void)state;
    empty_folder(cache);
    rmdir(cache);
    unlink(log_path);
    unlink(wrapper);
    return rmdir(root);
}

static void call_and_free(struct lgv_module *module, int want) {
    int (*answer)(void);
    void *symbol = lgv_module_symbol(module, "answer");
    assert_non_null(symbol);
    memcpy(&answer, &symbol, sizeof answer);
    assert_int_equal(answer(), want);
    assert_null(lgv_module_symbol(module, "no_such_symbol"));
    lgv_module_free(module);
}

static void build(int value, bool want_cached) {
    char source[100];
    struct lgv_module *module;
    struct lgv_error err = {0};
    double seconds = -1.0;
    snprintf(source, sizeof source, "int answer(void) { return %d; }\n", value);
    if (lgv_module_build(source, &counted, NULL, &module, &seconds, &err) != LGV_OK) fail_msg("%s", err.message);
    assert_int_equal(lgv_module_cached(module), want_cached);
    assert_true(want_cached ? seconds == 0.0 : seconds > 0.0);
    call_and_free(module, value);
}

static void test_build_and_hit(void **state) {
    (void)state;
    size_t runs = count_runs();
    char name[200] = "";
    build(42, false);
    assert_int_equal(count_runs(), runs + 1);
    assert_int_equal(list_folder(cache, ".so", name, sizeof name), 2);
    build(42, true);
    assert_int_equal(count_runs(), runs + 1);
    build(43, false);
    assert_int_equal(count_runs(), runs + 2);
    struct stat info;
    assert_int_equal(stat(cache, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0700);
    empty_folder(cache);
}

static void test_keep_source(void **state) {
    (void)state;
    char path[120], source[] = "int answer(void) { return 7; }\n";
    struct lgv_module *module;
    struct lgv_error err;
    snprintf(path, sizeof path, "%s/kept.c", root);
    assert_int_equal(lgv_module_build(source, &counted, path, &module, NULL, &err), LGV_OK);
    lgv_module_free(module);
    char *kept = lgv_read_file(path, 1000, NULL, &err);
    assert_string_equal(kept, source);
    free(kept);
    unlink(path);
    assert_int_equal(lgv_module_build(source, &counted, "/no/such/folder/k.c", &module, NULL, &err), LGV_CANNOT_RUN);
    assert_non_null(strstr(err.message, "/no/such/folder/k.c"));
    assert_null(module);
}

/* An entry under the right name with another source in it, as after a collision of hashes. */
static void test_collision(void **state) {
    (void)state;
    char name[200] = "";
    empty_folder(cache);
    build(50, false);
    list_folder(cache, ".c", name, sizeof name);
    char *text = lgv_read_file(name, 10000, NULL, NULL), *digit = strstr(text, "50");
    *digit = '6';
    write_file(name, text, 0600);
    free(text);
    build(50, false);
    build(50, true);
}

static void test_damaged(void **state) {
    (void)state;
    char name[200] = "";
    struct stat info;
    empty_folder(cache);
    build(60, false);
    list_folder(cache, ".so", name, sizeof name);
    assert_int_equal(stat(name, &info), 0);
    assert_int_equal(truncate(name, info.st_size / 2), 0);
    build(60, false);
    build(60, true);
    write_file(name, "not an object\n", 0700);
    build(60, false);
    assert_int_equal(unlink(name), 0);
    build(60, false);
    list_folder(cache, ".c", name, sizeof name);
    assert_int_equal(unlink(name), 0);
    build(60, false);
    build(60, true);
    assert_int_equal(list_folder(cache, ".c", name, sizeof name), 2);
}

static void test_concurrent(void **state) {
    (void)state;
    enum { WRITERS = 6 };
    pid_t child[WRITERS];
    char name[200];
    int status;
    empty_folder(cache);
    for (int i = 0; i < WRITERS; i++) {
        child[i] = fork();
        assert_true(child[i] >= 0);
        if (child[i] == 0) {
            struct lgv_module *module;
            const char *source = i % 2 ? "int answer(void) { return 71; }\n" : "int answer(void) { return 70; }\n";
            int (*answer)(void), good = lgv_module_build(source, &counted, NULL, &module, NULL, NULL) == LGV_OK;
            void *symbol = good ? lgv_module_symbol(module, "answer") : NULL;
            memcpy(&answer, &symbol, sizeof answer);
            _exit(symbol && answer() == 70 + i % 2 ? 0 : 1);
        }
    }
    for (int i = 0; i < WRITERS; i++) {
        assert_int_equal(waitpid(child[i], &status, 0), child[i]);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    assert_int_equal(list_folder(cache, ".so", name, sizeof name), 4); /* two entries and nothing unfinished */
    build(70, true);
    build(71, true);
}

static void test_folders(void **state) {
    (void)state;
    char elsewhere[80], name[200];
    struct lgv_module *module;
    struct lgv_error err;
    assert_int_equal(chmod(cache, 0770), 0);
    assert_int_equal(lgv_module_build("int a;", &counted, NULL, &module, NULL, &err), LGV_CANNOT_RUN);
    assert_non_null(strstr(err.message, "can be written by other users"));
    assert_non_null(strstr(err.message, cache));
    assert_int_equal(chmod(cache, 0700), 0);
    /* A file stands where the folder should be: no cache, but the run goes on and leaves nothing behind. */
    setenv("XDG_CACHE_HOME", wrapper, 1);
    snprintf(elsewhere, sizeof elsewhere, "%s/tmp", root);
    assert_int_equal(mkdir(elsewhere, 0700), 0);
    char *old = lgv_copy(getenv("TMPDIR"));
    setenv("TMPDIR", elsewhere, 1);
    build(80, false);
    build(80, false);
    assert_int_equal(list_folder(elsewhere, "", name, sizeof name), 0);
    if (old)
        setenv("TMPDIR", old, 1);
    else
        unsetenv("TMPDIR");
    free(old);
    rmdir(elsewhere);
    setenv("XDG_CACHE_HOME", root, 1);
}

static void test_syntax_error(void **state) {
    (void)state;
    struct lgv_module *module;
    struct lgv_error err;
    char name[200];
    empty_folder(cache);
    assert_int_equal(lgv_module_build("int answer(void) { return oops; }\n", &counted, NULL, &module, NULL, &err),
                     LGV_CANNOT_RUN);
    assert_null(module);
    assert_non_null(strstr(err.message, "oops"));
    assert_non_null(strstr(err.message, wrapper));
    assert_int_equal(list_folder(cache, "", name, sizeof name), 0);
    char many[8000] = "";
    for (int i = 0; i < 200; i++) strcat(many, "int f(void) { return x; }\n");
    assert_int_equal(lgv_module_build(many, &counted, NULL, &module, NULL, &err), LGV_CANNOT_RUN);
    size_t lines = 0;
    for (const char *s = err.message; *s; s++) lines += *s == '\n';
    assert_true(lines <= 20);
}

static void test_find(void **state) {
    (void)state;
    struct lgv_compiler cc;
    struct lgv_error err;
    assert_int_equal(lgv_compiler_find("no-such-compiler", &cc, &err), LGV_CANNOT_RUN);
    assert_non_null(strstr(err.message, "no-such-compiler"));
    assert_non_null(strstr(err.message, "package clang"));
    setenv("LGV_CC", "nor-this; rm -rf x", 1);
    assert_int_equal(lgv_compiler_find(NULL, &cc, &err), LGV_CANNOT_RUN);
    assert_non_null(strstr(err.message, "from LGV_CC"));
    setenv("LGV_CC", wrapper, 1);
    assert_int_equal(lgv_compiler_find(NULL, &cc, &err), LGV_OK);
    assert_string_equal(cc.path, wrapper);
    assert_true(strlen(cc.version) > 3 && !strchr(cc.version, '\n'));
    unsetenv("LGV_CC");
    char *path = lgv_copy(getenv("PATH"));
    setenv("PATH", "/no/such/folder", 1);
    assert_int_equal(lgv_compiler_find(NULL, &cc, &err), LGV_CANNOT_RUN);
    assert_non_null(strstr(err.message, "package clang"));
    setenv("PATH", path, 1);
    free(path);
    assert_int_equal(lgv_compiler_find("true", &cc, &err), LGV_CANNOT_RUN);
    assert_non_null(strstr(err.message, "neither clang nor gcc"));
}

/* Both compilers must take the flags; gcc and clang are there wherever the tests run. */
static void test_both_kinds(void **state) {
    (void)state;
    static const char *const names[] = {"gcc", "clang"};
    static const char source[] = "typedef double vec __attribute__((vector_size(128)));\n"
                                 "double sqrt(double);\n"
                                 "vec twice(vec x) { return x + x; }\n"
                                 "int answer(void) { return (int)sqrt(81.0); }\n";
    for (size_t k = 0; k < 2; k++) {
        struct lgv_compiler cc;
        struct lgv_module *module;
        struct lgv_error err = {0};
        assert_int_equal(lgv_compiler_find(names[k], &cc, &err), LGV_OK);
        assert_int_equal(cc.kind, k == 0 ? LGV_COMPILER_GCC : LGV_COMPILER_CLANG);
        if (lgv_module_build(source, &cc, NULL, &module, NULL, &err) != LGV_OK) fail_msg("%s", err.message);
        call_and_free(module, 9);
    }
}

/* A compiler that is ended by SIGINT, as by Ctrl-C at the terminal. */
static void test_interrupted(void **state) {
    (void)state;
    char script[100], name[200];
    struct lgv_compiler cc = counted;
    struct lgv_module *module;
    struct lgv_error err;
    sigset_t mask;
    snprintf(script, sizeof script, "%s/stopped", root);
    write_file(script, "#!/bin/sh\nkill -INT $$\nsleep 600\n", 0700);
    snprintf(cc.path, sizeof cc.path, "%s", script);
    empty_folder(cache);
    assert_int_equal(lgv_module_build("int b;", &cc, NULL, &module, NULL, &err), LGV_INTERRUPTED);
    assert_int_equal(list_folder(cache, "", name, sizeof name), 0);
    unlink(script);
    assert_int_equal(sigprocmask(SIG_BLOCK, NULL, &mask), 0);
    assert_int_equal(sigismember(&mask, SIGINT), 0);
}

/* A compiler that is a script of ours. */
static struct lgv_compiler scripted(const char *text) {
    struct lgv_compiler cc = counted;
    snprintf(cc.path, sizeof cc.path, "%s/scripted", root);
    write_file(cc.path, text, 0700);
    empty_folder(cache);
    return cc;
}

static int stop_at_once(void *user, double fraction) {
    assert_true(fraction <= 0);
    ++*(int *)user;
    return 1;
}

/* A long compilation ends when the caller asks, when a signal waits, and when its time is over; nothing is left. */
static void test_ended(void **state) {
    (void)state;
    struct lgv_compiler cc = scripted("#!/bin/sh\nsleep 600 & wait\n");
    struct lgv_module *module;
    struct lgv_error err;
    char name[200];
    int asked = 0, got = 0;
    cc.progress = stop_at_once;
    cc.user = &asked;
    assert_int_equal(lgv_module_build("int c;", &cc, NULL, &module, NULL, &err), LGV_INTERRUPTED);
    assert_int_equal(asked, 1);
    cc.progress = NULL;
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, SIGTERM);
    assert_int_equal(sigprocmask(SIG_BLOCK, &one, NULL), 0);
    raise(SIGTERM);
    assert_int_equal(lgv_module_build("int c;", &cc, NULL, &module, NULL, &err), LGV_INTERRUPTED);
    assert_int_equal(sigwait(&one, &got), 0);
    assert_int_equal(sigprocmask(SIG_UNBLOCK, &one, NULL), 0);
    setenv("LGV_COMPILE_SECONDS", "0.2", 1);
    assert_int_equal(lgv_module_build("int c;", &cc, NULL, &module, NULL, &err), LGV_CANNOT_RUN);
    assert_non_null(strstr(err.message, "0.2 s"));
    assert_non_null(strstr(err.message, "LGV_COMPILE_SECONDS"));
    setenv("LGV_COMPILE_SECONDS", "soon", 1);
    assert_int_equal(lgv_module_build("int c;", &cc, NULL, &module, NULL, &err), LGV_BAD_INPUT);
    unsetenv("LGV_COMPILE_SECONDS");
    assert_int_equal(list_folder(cache, "", name, sizeof name), 0);
    unlink(cc.path);
}

/* Variables that change what a compiler does are not in the key of the cache, so the compiler must not see them. */
static void test_environment(void **state) {
    (void)state;
    char text[2600];
    snprintf(text, sizeof text,
             "#!/bin/sh\n[ -z \"$CCC_OVERRIDE_OPTIONS$CPATH$GCC_EXEC_PREFIX\" ] && [ \"$LC_ALL\" = C ] && [ -n "
             "\"$PATH\" ] || { echo seen; exit 7; }\nexec %s \"$@\"\n",
             wrapper);
    struct lgv_compiler cc = scripted(text);
    struct lgv_module *module = NULL;
    struct lgv_error err = {0};
    setenv("CCC_OVERRIDE_OPTIONS", "# +-Danswer=other", 1);
    setenv("CPATH", "/nowhere", 1);
    if (lgv_module_build("int answer(void) { return 5; }\n", &cc, NULL, &module, NULL, &err) != LGV_OK)
        fail_msg("%s", err.message);
    unsetenv("CCC_OVERRIDE_OPTIONS");
    unsetenv("CPATH");
    call_and_free(module, 5);
    unlink(cc.path);
}

/* An entry whose object is complete and cannot be loaded all the same: made again. */
static void test_unloadable(void **state) {
    (void)state;
    static const char source[] = "int answer(void) { return 77; }\n";
    char name[200] = "", key[LGV_CACHE_KEY], *end;
    struct lgv_cache_files files;
    empty_folder(cache);
    build(77, false);
    list_folder(cache, ".so", name, sizeof name);
    end = strrchr(name, '/') + 1;
    snprintf(key, sizeof key, "%.32s", end);
    assert_int_equal(lgv_cache_begin(cache, key, source, &files, NULL), LGV_OK);
    write_file(files.new_object, "not an object", 0700);
    assert_true(lgv_cache_commit(&files, source));
    lgv_cache_discard(&files);
    build(77, false);
    build(77, true);
}

/* An object that loads, but is not the kernel of the model. */
static void test_wrong_object(void **state) {
    (void)state;
    struct lgv_model *m = NULL;
    struct lgv_error err = {0};
    struct lgv_kernel k;
    struct lgv_kernel_options options = {.compiler = NULL};
    struct lgv_cache_files files;
    char name[200] = "", copy[200] = "", key[LGV_CACHE_KEY];
    const char text[] = "coordinates: {q: 0}\nmomenta: {p: 1}\nhamiltonian: p^2/2 + q^2/2\n";
    assert_int_equal(lgv_model_parse(text, "m.yaml", &m, &err), LGV_OK);
    empty_folder(cache);
    build(78, false);
    list_folder(cache, ".so", name, sizeof name);
    snprintf(copy, sizeof copy, "%s/copy", root);
    assert_int_equal(rename(name, copy), 0);
    empty_folder(cache);
    assert_int_equal(lgv_kernel_build(m, lgv_method_find("verlet"), &options, &k, &err), LGV_OK);
    lgv_kernel_free(&k);
    list_folder(cache, ".so", name, sizeof name);
    snprintf(key, sizeof key, "%.32s", strrchr(name, '/') + 1);
    memcpy(name + strlen(name) - 2, "c", 2);
    char *source = lgv_read_file(name, 1 << 24, &(size_t){0}, &err);
    assert_non_null(source);
    char *begin = strchr(source, '\n') + 1; /* behind the head */
    assert_int_equal(lgv_cache_begin(cache, key, begin, &files, NULL), LGV_OK);
    assert_int_equal(rename(copy, files.new_object), 0);
    assert_true(lgv_cache_commit(&files, begin));
    lgv_cache_discard(&files);
    free(source);
    for (int again = 0; again < 2; again++) {
        if (lgv_kernel_build(m, lgv_method_find("verlet"), &options, &k, &err) != LGV_OK) fail_msg("%s", err.message);
        assert_int_equal(k.compile_seconds > 0, !again);
        lgv_kernel_free(&k);
    }
    lgv_model_free(m);
}

static void test_process(void **state) {
    (void)state;
    char shell[] = "/bin/sh", flag[] = "-c", ok[] = "echo one; echo $TMPDIR >&2; exit 3",
         many[] = "head -c 300000 /dev/zero";
    char *argv[] = {shell, flag, ok, NULL}, *flood[] = {shell, flag, many, NULL};
    char none[] = "/no/such/program", *missing[] = {none, NULL};
    struct lgv_text printed = {0};
    struct lgv_process p = {.argv = argv, .tmpdir = "/some/folder", .limit = 100, .printed = &printed};
    assert_int_equal(lgv_process_run(&p), 3);
    assert_string_equal(printed.data, "one\n/some/folder\n");
    lgv_text_free(&printed);
    p = (struct lgv_process){.argv = flood, .limit = 100, .printed = &printed};
    assert_int_equal(lgv_process_run(&p), 0);
    assert_int_equal(printed.size, 100);
    lgv_text_free(&printed);
    p.argv = missing;
    assert_int_equal(lgv_process_run(&p), LGV_PROCESS_NOT_STARTED);
    assert_int_equal(errno, ENOENT);
    lgv_text_free(&printed);
    signal(SIGCHLD, SIG_IGN); /* a host program may do this; builds must still work */
    build(90, false);
    signal(SIGCHLD, SIG_DFL);
}

/* The answer of a compiler is remembered; a note that says something else is not believed. */
static void test_remembered(void **state) {
    (void)state;
    struct lgv_compiler first, second;
    char name[200] = "";
    empty_folder(cache);
    assert_int_equal(lgv_compiler_find(NULL, &first, NULL), LGV_OK);
    size_t notes = list_folder(cache, ".id", name, sizeof name);
    for (int k = 0; k < 3 && notes; k++) {
        assert_int_equal(notes, 1);
        assert_int_equal(lgv_compiler_find(NULL, &second, NULL), LGV_OK);
        assert_string_equal(first.version, second.version);
        assert_int_equal(first.kind, second.kind);
        write_file(name, k ? "" : "/another/program 1 2 3\nclang version 99\n", 0600);
    }
    empty_folder(cache);
}

/* Sources that begin alike: the shared piece gives 40, the own one adds to it. */
static void build_pieces(int add, bool want_cached) {
    char source[400];
    struct lgv_module *module;
    struct lgv_error err = {0};
    snprintf(source, sizeof source,
             "#if LGV_HALF == 2\n__attribute__((visibility(\"hidden\"))) int shared(void);\n#else\n"
             "int shared(void) { return 40; }\n#endif\n" LGV_SHARED_END "int answer(void) { return shared() + %d; }\n",
             add);
    if (lgv_module_build(source, &counted, NULL, &module, NULL, &err) != LGV_OK) fail_msg("%s", err.message);
    assert_int_equal(lgv_module_cached(module), want_cached);
    call_and_free(module, 40 + add);
}

/* What sources share is compiled once, kept, and made again when it is damaged. */
static void test_pieces(void **state) {
    (void)state;
    char part[200] = "", key[LGV_CACHE_KEY], *text;
    struct lgv_cache_files whole, files;
    struct stat info;
    size_t runs = count_runs();
    empty_folder(cache);
    build_pieces(1, false);
    assert_int_equal(count_runs(), runs + 2);
    assert_int_equal(list_folder(cache, ".o", part, sizeof part), 4);
    build_pieces(2, false);
    assert_int_equal(count_runs(), runs + 3);
    assert_int_equal(list_folder(cache, ".o", part, sizeof part), 6);
    build_pieces(1, true);
    assert_int_equal(count_runs(), runs + 3);
    assert_int_equal(stat(part, &info), 0);
    assert_int_equal(truncate(part, info.st_size / 2), 0); /* seen by its checksum */
    build_pieces(3, false);
    assert_int_equal(count_runs(), runs + 5);
    build_pieces(4, false);
    assert_int_equal(count_runs(), runs + 6);
    /* Complete, but nothing that can be linked: this kernel is compiled as a whole, for the next it is made again. */
    snprintf(key, sizeof key, "%.32s", strrchr(part, '/') + 1);
    memcpy(strrchr(part, '.'), ".c", 3);
    text = lgv_read_file(part, 10000, &(size_t){0}, NULL);
    assert_non_null(text);
    char *begin = strchr(text, '\n') + 1;
    assert_int_equal(lgv_cache_begin(cache, key, "", &whole, NULL), LGV_OK);
    assert_true(lgv_cache_shared(&whole, cache, key, begin, &files));
    write_file(files.new_object, "not an object", 0600);
    assert_true(lgv_cache_commit(&files, begin));
    lgv_cache_discard(&files);
    lgv_cache_discard(&whole);
    free(text);
    build_pieces(5, false);
    build_pieces(5, true);
    runs = count_runs();
    build_pieces(6, false);
    build_pieces(7, false);
    assert_int_equal(count_runs(), runs + 3);
    empty_folder(cache);
}

/* Without a linker in $PATH the compiler links; without a cache nothing is kept, and nothing is left behind. */
static void test_pieces_elsewhere(void **state) {
    (void)state;
    char name[200], elsewhere[80], *path = lgv_copy(getenv("PATH")), *old = lgv_copy(getenv("TMPDIR"));
    size_t runs = count_runs();
    empty_folder(cache);
    setenv("PATH", "/no/such/folder", 1);
    build_pieces(1, false);
    setenv("PATH", path, 1);
    assert_int_equal(count_runs(), runs + 3);
    setenv("XDG_CACHE_HOME", wrapper, 1);
    snprintf(elsewhere, sizeof elsewhere, "%s/tmp", root);
    assert_int_equal(mkdir(elsewhere, 0700), 0);
    setenv("TMPDIR", elsewhere, 1);
    build_pieces(1, false);
    build_pieces(1, false);
    assert_int_equal(list_folder(elsewhere, "", name, sizeof name), 0);
    if (old)
        setenv("TMPDIR", old, 1);
    else
        unsetenv("TMPDIR");
    rmdir(elsewhere);
    setenv("XDG_CACHE_HOME", root, 1);
    empty_folder(cache);
    free(path);
    free(old);
}

/* An error in the source is told once; a caller who asks for an end ends both compilers; neither leaves anything. */
static void test_pieces_fail(void **state) {
    (void)state;
    static const char broken[] = "int shared;\n" LGV_SHARED_END "int answer(void) { return oops; }\n";
    struct lgv_compiler cc;
    struct lgv_module *module;
    struct lgv_error err;
    char name[200], late[100], text[200];
    int asked = 0;
    empty_folder(cache);
    assert_int_equal(lgv_module_build(broken, &counted, NULL, &module, NULL, &err), LGV_CANNOT_RUN);
    assert_non_null(strstr(err.message, "oops"));
    snprintf(late, sizeof late, "%s/late", root);
    snprintf(text, sizeof text, "#!/bin/sh\nsleep 600\ntouch %s\n", late);
    cc = scripted(text);
    cc.progress = stop_at_once;
    cc.user = &asked;
    assert_int_equal(lgv_module_build(broken, &cc, NULL, &module, NULL, &err), LGV_INTERRUPTED);
    assert_int_equal(asked, 1);
    assert_int_equal(access(late, F_OK), -1); /* neither was waited for */
    assert_int_equal(list_folder(cache, "", name, sizeof name), 0);
    unlink(cc.path);
}

/* Its own half in two pieces that call each other, 1 with `one` in it. */
static enum lgv_status build_quarters(enum lgv_quarters quarters, const char *one, struct lgv_error *err) {
    char source[800];
    struct lgv_compiler cc = counted;
    struct lgv_module *module;
    snprintf(source, sizeof source,
             "#define HIDDEN __attribute__((visibility(\"hidden\")))\n"
             "#if LGV_HALF == 2\nHIDDEN int shared(void);\n#else\nint shared(void) { return 40; }\n#endif\n"
             LGV_SHARED_END "HIDDEN int one(int);\n"
             "#if LGV_QUARTER != 2\nint one(int x) { return x + %s; }\n#endif\n"
             "#if LGV_QUARTER != 1\nint answer(void) { return one(shared()); }\n#endif\n",
             one);
    cc.quarters = quarters;
    enum lgv_status status = lgv_module_build(source, &cc, NULL, &module, NULL, err);
    if (status == LGV_OK) call_and_free(module, 40 + atoi(one));
    return status;
}

/* As many compilers as there are pieces; an error in one of them is told, and nothing is left of the other. */
static void test_quarters(void **state) {
    (void)state;
    struct lgv_error err;
    char name[200];
    empty_folder(cache);
    size_t runs = count_runs();
    assert_int_equal(build_quarters(LGV_QUARTERS_ALWAYS, "1", &err), LGV_OK);
    assert_int_equal(count_runs(), runs + 3);
    assert_int_equal(build_quarters(LGV_QUARTERS_ALWAYS, "2", &err), LGV_OK);
    assert_int_equal(count_runs(), runs + 5);
    assert_int_equal(build_quarters(LGV_QUARTERS_NEVER, "3", &err), LGV_OK);
    assert_int_equal(count_runs(), runs + 6);
    assert_int_equal(build_quarters(LGV_QUARTERS_IDLE, "4", &err), LGV_OK);
    size_t files = list_folder(cache, "", name, sizeof name);
    assert_int_equal(build_quarters(LGV_QUARTERS_ALWAYS, "oops", &err), LGV_CANNOT_RUN);
    assert_non_null(strstr(err.message, "oops"));
    static const char second[] = "1; }\n#endif\n#if LGV_QUARTER == 2\nint two(void) { wrong";
    assert_int_equal(build_quarters(LGV_QUARTERS_ALWAYS, second, &err), LGV_CANNOT_RUN);
    assert_non_null(strstr(err.message, "wrong"));
    assert_int_equal(list_folder(cache, "", name, sizeof name), files);
    empty_folder(cache);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_build_and_hit), cmocka_unit_test(test_keep_source), cmocka_unit_test(test_collision),
        cmocka_unit_test(test_damaged),       cmocka_unit_test(test_concurrent),  cmocka_unit_test(test_folders),
        cmocka_unit_test(test_syntax_error),  cmocka_unit_test(test_find),        cmocka_unit_test(test_both_kinds),
        cmocka_unit_test(test_interrupted),   cmocka_unit_test(test_ended), cmocka_unit_test(test_environment),
        cmocka_unit_test(test_unloadable),    cmocka_unit_test(test_wrong_object), cmocka_unit_test(test_process),
        cmocka_unit_test(test_remembered),
        cmocka_unit_test(test_pieces), cmocka_unit_test(test_pieces_elsewhere), cmocka_unit_test(test_pieces_fail),
        cmocka_unit_test(test_quarters),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
