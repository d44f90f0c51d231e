/* A bare loop that starts requests at planned times: what a start costs on this machine, without Onrush.
 *
 *   pacer PORT RATE SECONDS CONNECTIONS
 *
 * Sends GET /delay/0/NUMBER to 127.0.0.1, NUMBER from 1, over kept connections, start k at k / RATE seconds of the
 * monotonic clock by an absolute timerfd, and reads the answers. Says "earliest NS": how long after its time the
 * start was made that was the least late. A start that finds no free connection ends the program. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { EVENTS = 256 };

static void die(const char *what) {
    perror(what);
    exit(1);
}

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void arm(int timer, int64_t at) {
    struct itimerspec spec = {.it_value = {at / 1000000000LL, at % 1000000000LL}};
    if (timerfd_settime(timer, TFD_TIMER_ABSTIME, &spec, NULL)) die("timerfd");
}

static int connected(int port, int poll) {
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int on = 1, fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (struct sockaddr *)&address, sizeof address)) die("connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event);
    return fd;
}

static void start(int fd, uint64_t number) {
    char request[128];
    int length = snprintf(request, sizeof request, "GET /delay/0/%llu HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
                          (unsigned long long)number);
    if (send(fd, request, length, MSG_NOSIGNAL) != length) die("send");
}

int main(int count, char **words) {
    if (count != 5) {
        fprintf(stderr, "usage: pacer PORT RATE SECONDS CONNECTIONS\n");
        return 2;
    }
    int port = atoi(words[1]), connections = atoi(words[4]), poll = epoll_create1(0), idle_count = 0;
    int64_t rate = atoll(words[2]), starts = rate * atoll(words[3]), earliest = INT64_MAX;
    int *idle = calloc(connections, sizeof *idle);
    if (!idle) die("calloc");
    while (idle_count < connections) idle[idle_count++] = connected(port, poll);
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.fd = timer};
    epoll_ctl(poll, EPOLL_CTL_ADD, timer, &event);
    int64_t origin = now() + 100000000LL, started = 0;
    arm(timer, origin);
    while (started < starts || idle_count < connections) {
        struct epoll_event events[EVENTS];
        int ready = epoll_wait(poll, events, EVENTS, -1);
        for (int at = 0; at < ready; at++) {
            char answer[512];
            if (events[at].data.fd == timer) continue;
            if (recv(events[at].data.fd, answer, sizeof answer, 0) <= 0) die("recv");
            idle[idle_count++] = events[at].data.fd;
        }
        int64_t planned = 0, late;
        while (started < starts && (late = now() - (planned = origin + started * 1000000000LL / rate)) >= 0) {
            if (!idle_count) {
                fprintf(stderr, "no free connection for start %lld\n", (long long)started);
                return 1;
            }
            if (late < earliest) earliest = late;
            start(idle[--idle_count], ++started);
        }
        if (started < starts) arm(timer, planned);
    }
    printf("earliest %lld\n", (long long)earliest);
    return 0;
}
