/* A wall clock that is set while a process runs: LD_PRELOAD this, and nobody else's clock moves.
 *
 *   CLOCK_AHEAD_MS       milliseconds to add from the beginning: a machine whose clock is wrong
 *   CLOCK_STEP_S         seconds to add, from the step on
 *   CLOCK_STEP_FILE      the step comes when this file exists
 *
 * What a real step moves moves here, too: clock_gettime(CLOCK_REALTIME), gettimeofday, time, and the kernel's stamps
 * of received bytes (SO_TIMESTAMPNS, SO_TIMESTAMPING), which are wall-clock time. A stamp is moved only when the bytes
 * came after the step. Readings that a program takes from the vDSO without libc stay as they are. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static _Atomic int64_t stepped_at; /* real wall clock, ns; 0: not yet */
static _Atomic int64_t next_look;

static int64_t real_now(void) {
    struct timespec time;
    syscall(SYS_clock_gettime, CLOCK_REALTIME, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

/* What a moment of the real wall clock becomes, in ns. */
static int64_t moved(int64_t moment) {
    int64_t stepped = atomic_load(&stepped_at);
    if (!stepped && moment >= atomic_load(&next_look)) {
        const char *file = getenv("CLOCK_STEP_FILE");
        atomic_store(&next_look, moment + 1000000);
        if (file && !access(file, F_OK)) atomic_store(&stepped_at, stepped = moment);
    }
    const char *seconds = getenv("CLOCK_STEP_S"), *ahead = getenv("CLOCK_AHEAD_MS");
    int64_t step = stepped && moment >= stepped && seconds ? atoll(seconds) * 1000000000LL : 0;
    return moment + step + (ahead ? atoll(ahead) * 1000000LL : 0);
}

static void move(struct timespec *time) {
    int64_t moment = moved(time->tv_sec * 1000000000LL + time->tv_nsec);
    time->tv_sec = moment / 1000000000;
    time->tv_nsec = moment % 1000000000;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(clock, time);
    if (result || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE)) return result;
    move(time);
    return 0;
}

int gettimeofday(struct timeval *time, void *zone) {
    (void)zone;
    int64_t moment = moved(real_now());
    time->tv_sec = moment / 1000000000;
    time->tv_usec = moment % 1000000000 / 1000;
    return 0;
}

time_t time(time_t *into) {
    time_t seconds = moved(real_now()) / 1000000000;
    if (into) *into = seconds;
    return seconds;
}

ssize_t recvmsg(int fd, struct msghdr *message, int flags) {
    static ssize_t (*real)(int, struct msghdr *, int);
    if (!real) real = (ssize_t(*)(int, struct msghdr *, int))dlsym(RTLD_NEXT, "recvmsg");
    ssize_t got = real(fd, message, flags);
    if (got <= 0) return got;
    for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part; part = CMSG_NXTHDR(message, part)) {
        if (part->cmsg_level != SOL_SOCKET) continue;
        if (part->cmsg_type != SO_TIMESTAMPNS && part->cmsg_type != SO_TIMESTAMPING) continue;
        struct timespec stamp;
        memcpy(&stamp, CMSG_DATA(part), sizeof stamp);
        if (!stamp.tv_sec) continue;
        move(&stamp);
        memcpy(CMSG_DATA(part), &stamp, sizeof stamp);
    }
    return got;
}

/* Stamps also come with recvmsg by its number. Every call has at most six arguments, and more than it has do no harm. */
long syscall(long number, ...) {
    static long (*real)(long, ...);
    if (!real) real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    va_list list;
    va_start(list, number);
    long a = va_arg(list, long), b = va_arg(list, long), c = va_arg(list, long);
    long d = va_arg(list, long), e = va_arg(list, long), f = va_arg(list, long);
    va_end(list);
    if (number == SYS_recvmsg) return recvmsg((int)a, (struct msghdr *)b, (int)c);
    return real(number, a, b, c, d, e, f);
}
