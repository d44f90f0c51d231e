/* The least that a start on time costs: requests at a constant rate over kept connections, and nothing else.
 *
 *     cc -O2 -o floor floor.c && taskset -c 1 ./floor PORT RATE SECONDS
 *
 * One absolute timerfd for the next start, one epoll, send and recv; every answer is taken to come in one piece, so the server's
 * must be small. Prints CPU a request and how late the starts were. bench/README.md says what it is compared with. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { CONNECTIONS = 100, EVENTS = 64, TIMER = CONNECTIONS };
static const uint64_t SECOND = 1000000000;

static uint64_t read_clock(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * SECOND + t.tv_nsec;
}

static int by_size(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static int connected(uint16_t port) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) < 0) fail("connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
}

static void watch(int epoll, int fd, uint32_t number) {
    struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.u32 = number};
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) < 0) fail("epoll_ctl");
}

int main(int count, char **words) {
    if (count != 4) {
        fprintf(stderr, "usage: %s PORT RATE SECONDS\n", words[0]);
        return 2;
    }
    uint64_t rate = strtoull(words[2], NULL, 10), total = rate * strtoull(words[3], NULL, 10);
    uint64_t *late = calloc(total, sizeof *late);
    if (!rate || !total || !late) return 2;
    int epoll = epoll_create1(0), timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    int fds[CONNECTIONS], idle[CONNECTIONS], idles = 0;
    watch(epoll, timer, TIMER);
    for (int i = 0; i < CONNECTIONS; i++) {
        fds[i] = connected((uint16_t)atoi(words[1]));
        watch(epoll, fds[i], i);
        idle[idles++] = i;
    }
    const char request[] = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
    uint64_t begin = read_clock(CLOCK_MONOTONIC) + SECOND / 100, cpu = read_clock(CLOCK_THREAD_CPUTIME_ID);
    uint64_t started = 0, answered = 0, armed = 0;
    while (answered < total) {
        uint64_t now = read_clock(CLOCK_MONOTONIC), due;
        while (started < total && idles && (due = begin + started * SECOND / rate) <= now) {
            late[started++] = now - due;
            if (send(fds[idle[--idles]], request, sizeof request - 1, MSG_NOSIGNAL) < 0) fail("send");
            now = read_clock(CLOCK_MONOTONIC);
        }
        if (started < total && idles) {
            due = begin + started * SECOND / rate;
            struct itimerspec at = {.it_value = {due / SECOND, due % SECOND}};
            if (due != armed && timerfd_settime(timer, TFD_TIMER_ABSTIME, &at, NULL) < 0) fail("timerfd_settime");
            armed = due;
        }
        struct epoll_event events[EVENTS];
        int ready = epoll_wait(epoll, events, EVENTS, -1);
        for (int i = 0; i < ready; i++) {
            uint32_t number = events[i].data.u32;
            char answer[65536];
            if (number == TIMER) continue;
            if (recv(fds[number], answer, sizeof answer, 0) <= 0) fail("recv");
            idle[idles++] = number;
            answered++;
        }
    }
    double used = (double)(read_clock(CLOCK_THREAD_CPUTIME_ID) - cpu);
    qsort(late, total, sizeof *late, by_size);
    printf("%.1f us of CPU a request, %.3f cores; late by %.0f us (p50), %.0f us (p99)\n", used / 1e3 / total,
           used / 1e9 * rate / total, late[total / 2] / 1e3, late[total * 99 / 100] / 1e3);
    return 0;
}
