/* One fault in a process, below Python: loaded by LD_PRELOAD, compiled by faults.py, which has the words.

   FAULT_PLAN is "FOLDER|STATE|NUMBER|ACTION|ARGUMENT". Calls that change something below FOLDER are counted in
   STATE, a file that all processes of a trial share, and written down in STATE.calls, a line each:
   NUMBER TAB CALL TAB SIZE TAB PATH (of a sync the size of the file, of a rename the new path too). At call
   NUMBER the fault happens. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

static pid_t ready;
static char folder[PATH_MAX], action[16];
static long number, argument;
static int calls = -1;
static volatile uint64_t *counted;      /* [0] calls so far, [1] seconds by which the clock went back */

enum kind { WRITE, MAKE, CHANGE, SYNC };  /* what a full disk refuses: WRITE and MAKE */

static void load(void) {
    const char *plan = getenv("FAULT_PLAN");
    char state[PATH_MAX], path[PATH_MAX + 8];
    if (ready == getpid() || plan == NULL) return;
    folder[0] = 0;
    if (sscanf(plan, "%4095[^|]|%4095[^|]|%ld|%15[^|]|%ld", folder, state, &number, action, &argument) != 5) return;
    int file = syscall(SYS_openat, AT_FDCWD, state, O_RDWR | O_CLOEXEC, 0);
    counted = file < 0 ? NULL : mmap(NULL, 16, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (counted == MAP_FAILED) counted = NULL;
    syscall(SYS_close, file);
    snprintf(path, sizeof path, "%s.calls", state);
    calls = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (calls >= 0 && calls < 100) {     /* out of the way of descriptors that programs expect to be low */
        int high = syscall(SYS_fcntl, calls, F_DUPFD_CLOEXEC, 100);
        syscall(SYS_close, calls);
        calls = high;
    }
    ready = getpid();
}

static int below(const char *path) {
    size_t length = strlen(folder);
    return length && counted && strncmp(path, folder, length) == 0 && (path[length] == '/' || !path[length]);
}

static int of_descriptor(int descriptor, char *path) {
    char link[64];
    load();
    if (!folder[0]) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, path, PATH_MAX - 1);
    if (length <= 0) return 0;
    path[length] = 0;
    return below(path);
}

static int of_path(int from, const char *given, char *path) {
    char link[64], start[PATH_MAX];
    load();
    if (!folder[0] || given == NULL) return 0;
    if (given[0] == '/') {
        snprintf(path, PATH_MAX, "%s", given);
        return below(path);
    }
    snprintf(link, sizeof link, from == AT_FDCWD ? "/proc/self/cwd" : "/proc/self/fd/%d", from);
    ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, start, PATH_MAX - 1);
    if (length <= 0) return 0;
    start[length] = 0;
    if (snprintf(path, PATH_MAX, "%s/%s", start, given) >= PATH_MAX) return 0;
    return below(path);
}

static void limit_memory(long more) {
    char line[256];
    long pages = 0;
    int file = syscall(SYS_openat, AT_FDCWD, "/proc/self/statm", O_RDONLY, 0);
    ssize_t length = syscall(SYS_read, file, line, sizeof line - 1);
    syscall(SYS_close, file);
    if (length > 0) { line[length] = 0; pages = atol(line); }
    struct rlimit limit = { (rlim_t)pages * 4096 + more, (rlim_t)pages * 4096 + more };
    setrlimit(RLIMIT_AS, &limit);
}

/* Counts a call. Returns 0 when it is to be made, 1 when the process is to die behind it, 2 when half of it is to
   be made before, -1 when it fails with errno. */
static int fault(enum kind kind, const char *call, long size, const char *path, const char *other) {
    char line[2 * PATH_MAX + 64];
    uint64_t now = __sync_add_and_fetch(&counted[0], 1);
    int length = snprintf(line, sizeof line, "%lu\t%s\t%ld\t%s%s%s\n", now, call, size, path, other ? "\t" : "", other ? other : "");
    syscall(SYS_write, calls, line, length);
    if ((long)now < number || number == 0) return 0;
    int first = (long)now == number;
    if (!strcmp(action, "fails") || (first && !strcmp(action, "fails-once"))) {
        if (argument == ENOSPC && kind != WRITE && kind != MAKE) return 0;
        errno = argument;
        return -1;
    }
    if (!first) return 0;
    if (!strcmp(action, "before")) kill(getpid(), SIGKILL);
    if (!strcmp(action, "behind")) return 1;
    if (!strcmp(action, "inside")) return 2;
    if (!strcmp(action, "signal")) kill(getpid(), argument);
    if (!strcmp(action, "memory")) limit_memory(argument);
    if (!strcmp(action, "clock")) counted[1] = argument;
    if (!strcmp(action, "gone")) {
        int ends[2];
        if (pipe(ends) == 0) { dup2(ends[1], argument); syscall(SYS_close, ends[0]); syscall(SYS_close, ends[1]); }
    }
    if (!strcmp(action, "full")) {
        int file = syscall(SYS_openat, AT_FDCWD, "/dev/full", O_WRONLY, 0);
        dup2(file, argument);
    }
    return 0;
}

#define REAL(name) static __typeof__(name) *real; if (!real) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)
/* Makes the call, and only then the process dies. */
#define AFTER(how, result) \
    do { __typeof__(result) made = (result); if ((how) > 0) kill(getpid(), SIGKILL); return made; } while (0)

ssize_t write(int descriptor, const void *data, size_t size) {
    char path[PATH_MAX];
    REAL(write);
    if (!of_descriptor(descriptor, path)) return real(descriptor, data, size);
    int how = fault(WRITE, "write", size, path, NULL);
    if (how < 0) {
        if (errno == ENOSPC && (long)counted[0] == number && size > 1 && argument == ENOSPC)
            return real(descriptor, data, size / 2);  /* what had room */
        return -1;
    }
    AFTER(how, real(descriptor, data, how == 2 ? (size + 1) / 2 : size));
}

ssize_t pwrite64(int descriptor, const void *data, size_t size, off64_t at) {
    char path[PATH_MAX];
    REAL(pwrite64);
    if (!of_descriptor(descriptor, path)) return real(descriptor, data, size, at);
    int how = fault(WRITE, "pwrite", size, path, NULL);
    if (how < 0) return -1;
    AFTER(how, real(descriptor, data, how == 2 ? (size + 1) / 2 : size, at));
}

ssize_t pwrite(int descriptor, const void *data, size_t size, off_t at) { return pwrite64(descriptor, data, size, at); }

static long size_of(int descriptor) {
    struct stat about;
    return fstat(descriptor, &about) ? -1 : (long)about.st_size;
}

int fsync(int descriptor) {
    char path[PATH_MAX];
    REAL(fsync);
    if (!of_descriptor(descriptor, path)) return real(descriptor);
    int how = fault(SYNC, "sync", size_of(descriptor), path, NULL);
    if (how < 0) return -1;
    AFTER(how, real(descriptor));
}

int fdatasync(int descriptor) {
    char path[PATH_MAX];
    REAL(fdatasync);
    if (!of_descriptor(descriptor, path)) return real(descriptor);
    int how = fault(SYNC, "sync", size_of(descriptor), path, NULL);
    if (how < 0) return -1;
    AFTER(how, real(descriptor));
}

int ftruncate64(int descriptor, off64_t size) {
    char path[PATH_MAX];
    REAL(ftruncate64);
    if (!of_descriptor(descriptor, path)) return real(descriptor, size);
    int how = fault(CHANGE, "truncate", size, path, NULL);
    if (how < 0) return -1;
    AFTER(how, real(descriptor, size));
}

int ftruncate(int descriptor, off_t size) { return ftruncate64(descriptor, size); }

int renameat(int from, const char *old, int to, const char *new) {
    char path[PATH_MAX], other[PATH_MAX];
    REAL(renameat);
    of_path(from, old, path);
    if (!of_path(to, new, other)) return real(from, old, to, new);
    int how = fault(CHANGE, "rename", 0, path, other);
    if (how < 0) return -1;
    AFTER(how, real(from, old, to, new));
}

int rename(const char *old, const char *new) { return renameat(AT_FDCWD, old, AT_FDCWD, new); }

int linkat(int from, const char *old, int to, const char *new, int flags) {
    char path[PATH_MAX], other[PATH_MAX];
    int descriptor;
    REAL(linkat);
    if (sscanf(old, "/proc/self/fd/%d", &descriptor) == 1) of_descriptor(descriptor, path);
    else of_path(from, old, path);
    if (!of_path(to, new, other)) return real(from, old, to, new, flags);
    int how = fault(MAKE, "link", 0, path, other);
    if (how < 0) return -1;
    AFTER(how, real(from, old, to, new, flags));
}

int link(const char *old, const char *new) { return linkat(AT_FDCWD, old, AT_FDCWD, new, 0); }

int unlinkat(int from, const char *given, int flags) {
    char path[PATH_MAX];
    REAL(unlinkat);
    if (!of_path(from, given, path)) return real(from, given, flags);
    int how = fault(CHANGE, "unlink", 0, path, NULL);
    if (how < 0) return -1;
    AFTER(how, real(from, given, flags));
}

int unlink(const char *given) { return unlinkat(AT_FDCWD, given, 0); }
int rmdir(const char *given) { return unlinkat(AT_FDCWD, given, AT_REMOVEDIR); }

int mkdirat(int from, const char *given, mode_t mode) {
    char path[PATH_MAX];
    REAL(mkdirat);
    if (!of_path(from, given, path)) return real(from, given, mode);
    int how = fault(MAKE, "mkdir", 0, path, NULL);
    if (how < 0) return -1;
    AFTER(how, real(from, given, mode));
}

int mkdir(const char *given, mode_t mode) { return mkdirat(AT_FDCWD, given, mode); }

int openat64(int from, const char *given, int flags, ...) {
    char path[PATH_MAX];
    mode_t mode = 0;
    REAL(openat64);
    if (flags & (O_CREAT | O_TMPFILE)) {
        va_list more;
        va_start(more, flags);
        mode = va_arg(more, mode_t);
        va_end(more);
    }
    int writes = (flags & O_ACCMODE) != O_RDONLY && flags & (O_CREAT | O_TRUNC);
    if (!writes || !of_path(from, given, path)) return real(from, given, flags, mode);
    int how = fault(MAKE, flags & O_TRUNC ? "empty" : "open", 0, path, NULL);
    if (how < 0) return -1;
    AFTER(how, real(from, given, flags, mode));
}

#define OPEN(name, from) \
    mode_t mode = 0; \
    if (flags & (O_CREAT | O_TMPFILE)) { va_list more; va_start(more, flags); mode = va_arg(more, mode_t); va_end(more); } \
    return openat64(from, given, flags, mode)

int openat(int from, const char *given, int flags, ...) { OPEN(openat, from); }
int open(const char *given, int flags, ...) { OPEN(open, AT_FDCWD); }
int open64(const char *given, int flags, ...) { OPEN(open64, AT_FDCWD); }

int clock_gettime(clockid_t clock, struct timespec *time) {
    int result = syscall(SYS_clock_gettime, clock, time);
    if (clock == CLOCK_REALTIME && result == 0) {
        load();
        if (folder[0] && counted) time->tv_sec -= counted[1];
    }
    return result;
}
