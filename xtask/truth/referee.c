/* The referee of `cargo xtask truth`: an HTTP/1.1 server that shares no line with Onrush.
 *
 * For each request it notes when the kernel received its last piece (SO_TIMESTAMPNS; on unix sockets its own reading)
 * and its own clock right before and after the write of the answer, all on the wall clock, with the number the client
 * gave it. It counts the bytes of both directions. What a client says can be held against that.
 *
 *   referee FILE TRANSPORT [WORD...]
 *
 * TRANSPORT is tcp, tls:CERTIFICATE:KEY or unix:PATH. Words: "totals" keeps counts only; "realtime" runs before other
 * programs where that is allowed, so that a busy machine does not spoil its readings. It listens on a free port of
 * 127.0.0.1, says "port N", and at SIGTERM writes FILE.
 *
 * A request is GET /MODE/ARGUMENT/NUMBER or GET /MODE/ARGUMENT/NUMBER/EARLIER/NS, by which the client tells what it
 * measured for an earlier request. "delay" answers after ARGUMENT microseconds; "reset" resets the connection; "cut"
 * announces more than it sends and closes; "drop" closes without a word; "silent" never answers. "compute" uses the
 * core for ARGUMENT microseconds; "queue" serves one request after the other, each for ARGUMENT microseconds without
 * the core; "spread" answers after 0 to 2 ARGUMENT microseconds; "limit" answers ARGUMENT requests a second, and the
 * others with 429.
 *
 * FILE is binary, in the machine's order of bytes: struct totals, then a struct record for each request.
 *
 * One thread, epoll, a heap of due answers. Requests must fit into one buffer; pipelining is refused. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <unistd.h>

#include "referee.h"

enum { MAX_FD = 65536, BUFFER = 4096, EVENTS = 256 };
enum { DELAY, RESET, CUT, DROP, SILENT, COMPUTE, QUEUE, SPREAD, LIMIT, MODES };
static const char *const MODE_NAMES[MODES] = {"delay", "reset", "cut", "drop", "silent", "compute", "queue", "spread", "limit"};

struct connection {
    struct tls *tls;
    char bytes[BUFFER];
    size_t length;
    int64_t arrived;
};

struct record {
    uint64_t number, asked_us;
    int64_t arrived, begun, written; /* the answer's two are 0 where none was written */
    uint64_t told_number;            /* what the client told of an earlier request; 0 ns: nothing */
    int64_t told_ns;
};

struct totals {
    uint64_t requests, bytes_in, bytes_out, answered, records;
    uint64_t modes[MODES];
};

struct due {
    int64_t at; /* on the monotonic clock */
    int fd;
    uint32_t generation;
    size_t record;
};

static struct connection *connections[MAX_FD];
static uint32_t generations[MAX_FD];
static struct record *records;
static struct totals totals;
static size_t room;
static struct due *heap;
static size_t due_count, due_room;
static int timer, keeps_records = 1, is_tls, is_unix;

void die(const char *what) {
    perror(what);
    exit(1);
}

int64_t now(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void push_due(struct due item) {
    if (due_count == due_room) {
        due_room = due_room ? due_room * 2 : 1024;
        heap = realloc(heap, due_room * sizeof *heap);
        if (!heap) die("realloc");
    }
    size_t at = due_count++;
    while (at && heap[(at - 1) / 2].at > item.at) {
        heap[at] = heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap[at] = item;
}

static struct due pop_due(void) {
    struct due first = heap[0], last = heap[--due_count];
    size_t at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= due_count) break;
        if (child + 1 < due_count && heap[child + 1].at < heap[child].at) child++;
        if (heap[child].at >= last.at) break;
        heap[at] = heap[child];
        at = child;
    }
    if (due_count) heap[at] = last;
    return first;
}

static void arm(void) {
    struct itimerspec spec = {0};
    if (due_count) {
        spec.it_value.tv_sec = heap[0].at / 1000000000LL;
        spec.it_value.tv_nsec = heap[0].at % 1000000000LL;
    }
    timerfd_settime(timer, TFD_TIMER_ABSTIME, &spec, NULL);
}

static void drop(int fd) {
    tls_free(connections[fd]->tls);
    free(connections[fd]);
    connections[fd] = NULL;
    generations[fd]++;
    close(fd);
}

static ssize_t send_all(int fd, const char *bytes, size_t length) {
    ssize_t sent = send(fd, bytes, length, MSG_NOSIGNAL);
    if (sent > 0) totals.bytes_out += sent;
    if (sent > 0 && (size_t)sent != length) {
        fprintf(stderr, "a socket took %zd of %zu bytes\n", sent, length);
        exit(1);
    }
    return sent;
}

/* What TLS has for the socket. */
static ssize_t flush(int fd) {
    char bytes[16384];
    size_t length;
    ssize_t sent = 0;
    while ((length = tls_take(connections[fd]->tls, bytes, sizeof bytes))) sent = send_all(fd, bytes, length);
    return sent;
}

/* The record is SIZE_MAX where none is kept. */
static void answer(int fd, size_t record, const char *text, size_t length) {
    struct tls *tls = connections[fd]->tls;
    if (tls) tls_write(tls, text, length);
    int64_t begun = now(CLOCK_REALTIME);
    ssize_t sent = tls ? flush(fd) : send_all(fd, text, length);
    int64_t written = now(CLOCK_REALTIME);
    if (sent <= 0) return;
    totals.answered++;
    if (record != SIZE_MAX) {
        records[record].begun = begun;
        records[record].written = written;
    }
}

static const char OK[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
static const char REFUSED[] = "HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\n\r\n";
static const char SHORT[] = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf";

static size_t keep(struct record record) {
    if (!keeps_records) return SIZE_MAX;
    if (totals.records == room) {
        room = room ? room * 2 : 65536;
        records = realloc(records, room * sizeof *records);
        if (!records) die("realloc");
    }
    records[totals.records] = record;
    return totals.records++;
}

/* The number behind the next slash; stops where there is none. */
static uint64_t field(char **text) {
    if (**text != '/') return 0;
    return strtoull(*text + 1, text, 10);
}

static void answer_at(int64_t at, int fd, size_t record) {
    push_due((struct due){at, fd, generations[fd], record});
    if (heap[0].fd == fd) arm();
}

static void compute(int64_t us) {
    for (int64_t end = now(CLOCK_MONOTONIC) + us * 1000; now(CLOCK_MONOTONIC) < end;) continue;
}

/* When the queue has served everyone who came so far. */
static int64_t after_queue(int64_t us) {
    static int64_t free_at;
    int64_t time = now(CLOCK_MONOTONIC);
    free_at = (free_at > time ? free_at : time) + us * 1000;
    return free_at;
}

/* Whether a bucket that is filled at this rate, and holds a tenth of a second, has a token. */
static int has_token(int64_t rate) {
    static int64_t filled;
    static double tokens;
    int64_t time = now(CLOCK_MONOTONIC);
    double most = rate / 10.0;
    tokens = filled ? tokens + (time - filled) * 1e-9 * rate : most;
    if (tokens > most) tokens = most;
    filled = time;
    if (tokens < 1) return 0;
    tokens--;
    return 1;
}

static void serve(int fd, struct connection *connection) {
    connection->bytes[connection->length] = 0;
    connection->length = 0;
    char *text = connection->bytes;
    int mode = -1;
    for (int at = 0; at < MODES && mode < 0; at++) {
        size_t length = strlen(MODE_NAMES[at]);
        if (!strncmp(text, "GET /", 5) && !strncmp(text + 5, MODE_NAMES[at], length) && text[5 + length] == '/') {
            mode = at;
            text += 5 + length;
        }
    }
    struct record request = {.arrived = connection->arrived};
    request.asked_us = field(&text);
    request.number = field(&text);
    request.told_number = field(&text);
    request.told_ns = field(&text);
    if (mode < 0 || (*text != ' ' && *text != '?')) {
        fprintf(stderr, "cannot read this request: %.80s\n", connection->bytes);
        exit(1);
    }
    totals.requests++;
    totals.modes[mode]++;
    size_t record = keep(request);
    if (mode == DELAY && request.asked_us) {
        answer_at(now(CLOCK_MONOTONIC) + request.asked_us * 1000LL, fd, record);
    } else if (mode == DELAY) {
        answer(fd, record, OK, sizeof OK - 1);
    } else if (mode == COMPUTE) {
        compute(request.asked_us);
        answer(fd, record, OK, sizeof OK - 1);
    } else if (mode == QUEUE) {
        answer_at(after_queue(request.asked_us), fd, record);
    } else if (mode == SPREAD) {
        answer_at(now(CLOCK_MONOTONIC) + (int64_t)(2000.0 * request.asked_us * rand() / RAND_MAX), fd, record);
    } else if (mode == LIMIT && !has_token(request.asked_us)) {
        answer(fd, record, REFUSED, sizeof REFUSED - 1);
    } else if (mode == LIMIT) {
        answer(fd, record, OK, sizeof OK - 1);
    } else if (mode == RESET) {
        struct linger linger = {1, 0};
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
        drop(fd);
    } else if (mode == CUT) {
        answer(fd, record, SHORT, sizeof SHORT - 1);
        drop(fd);
    } else if (mode == DROP) {
        drop(fd);
    }
}

static int64_t stamp_of(struct msghdr *message) {
    for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part; part = CMSG_NXTHDR(message, part)) {
        if (part->cmsg_level == SOL_SOCKET && part->cmsg_type == SO_TIMESTAMPNS) {
            struct timespec stamp;
            memcpy(&stamp, CMSG_DATA(part), sizeof stamp);
            return stamp.tv_sec * 1000000000LL + stamp.tv_nsec;
        }
    }
    return now(CLOCK_REALTIME);
}

/* Plain bytes are in the connection's buffer already, encrypted ones go through TLS; -1: the connection is over. */
static long decrypted(int fd, struct connection *connection, const char *bytes, size_t length) {
    tls_feed(connection->tls, bytes, length);
    long got = tls_read(connection->tls, connection->bytes + connection->length, BUFFER - 1 - connection->length);
    flush(fd);
    return got;
}

static void receive(int fd) {
    struct connection *connection = connections[fd];
    char control[256], encrypted[16384];
    struct iovec part = {connection->bytes + connection->length, BUFFER - 1 - connection->length};
    if (connection->tls) part = (struct iovec){encrypted, sizeof encrypted};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    ssize_t got = recvmsg(fd, &message, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) {
        drop(fd);
        return;
    }
    totals.bytes_in += got;
    connection->arrived = stamp_of(&message);
    long plain = connection->tls ? decrypted(fd, connection, encrypted, got) : got;
    if (plain < 0) {
        drop(fd);
        return;
    }
    connection->length += plain;
    if (connection->length >= 4 && !memcmp(connection->bytes + connection->length - 4, "\r\n\r\n", 4)) {
        serve(fd, connection);
    }
}

static void welcome(int listener, int poll) {
    for (;;) {
        int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0) return;
        if (fd >= MAX_FD) {
            close(fd);
            continue;
        }
        int on = 1;
        setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
        if (!is_unix) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        connections[fd] = calloc(1, sizeof(struct connection));
        if (!connections[fd]) die("calloc");
        if (is_tls) connections[fd]->tls = tls_new();
        struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
        epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event);
    }
}

static void answer_due(void) {
    uint64_t times;
    if (read(timer, &times, sizeof times) < 0 && errno != EAGAIN) die("timerfd");
    while (due_count && heap[0].at <= now(CLOCK_MONOTONIC)) {
        struct due due = pop_due();
        if (connections[due.fd] && generations[due.fd] == due.generation) answer(due.fd, due.record, OK, sizeof OK - 1);
    }
    arm();
}

static void write_account(const char *path) {
    FILE *file = fopen(path, "w");
    if (!file) die(path);
    fwrite(&totals, sizeof totals, 1, file);
    fwrite(records, sizeof *records, totals.records, file);
    if (fclose(file)) die(path);
}

static int listen_unix(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path, path, sizeof address.sun_path - 1);
    unlink(path);
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 65535)) die(path);
    printf("port 0\n");
    is_unix = 1;
    return listener;
}

static int listen_tcp(void) {
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    if (bind(listener, (struct sockaddr *)&address, length) || listen(listener, 65535)) die("listen");
    getsockname(listener, (struct sockaddr *)&address, &length);
    printf("port %d\n", ntohs(address.sin_port));
    return listener;
}

static int open_listener(char *transport) {
    if (!strncmp(transport, "unix:", 5)) return listen_unix(transport + 5);
    if (!strncmp(transport, "tls:", 4)) {
        char *certificate = strtok(transport + 4, ":"), *key = strtok(NULL, ":");
        if (!key) {
            fprintf(stderr, "expected tls:CERTIFICATE:KEY\n");
            exit(2);
        }
        tls_prepare(certificate, key);
        is_tls = 1;
    }
    return listen_tcp();
}

int main(int count, char **words) {
    if (count < 3) {
        fprintf(stderr, "usage: referee FILE TRANSPORT [totals] [realtime]\n");
        return 2;
    }
    for (int at = 3; at < count; at++) {
        struct sched_param priority = {1};
        if (!strcmp(words[at], "totals")) keeps_records = 0;
        if (!strcmp(words[at], "realtime") && sched_setscheduler(0, SCHED_FIFO, &priority)) perror("no realtime");
    }
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    int ends = signalfd(-1, &signals, SFD_CLOEXEC), poll = epoll_create1(EPOLL_CLOEXEC);
    timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    int sources[] = {ends, timer, open_listener(words[2])};
    for (int at = 0; at < 3; at++) {
        struct epoll_event event = {.events = EPOLLIN, .data.fd = sources[at]};
        epoll_ctl(poll, EPOLL_CTL_ADD, sources[at], &event);
    }
    fflush(stdout);
    for (;;) {
        struct epoll_event events[EVENTS];
        int ready = epoll_wait(poll, events, EVENTS, -1);
        for (int at = 0; at < ready; at++) {
            int fd = events[at].data.fd;
            if (fd == ends) {
                write_account(words[1]);
                return 0;
            } else if (fd == timer) {
                answer_due();
            } else if (fd == sources[2]) {
                welcome(fd, poll);
            } else if (connections[fd]) {
                receive(fd);
            }
        }
    }
}
