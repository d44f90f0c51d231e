/* The referee of `cargo xtask truth`: an HTTP/1.1 server that shares no line with Onrush.
 *
 * For each request it notes when the kernel received the first byte (SO_TIMESTAMPNS) and when its own write of the
 * answer returned, both on the wall clock, with the number the client gave it and the bytes of both directions. What a
 * client says of a request can be held against that.
 *
 *   referee FILE    listens on a free port of 127.0.0.1, says "port N", and at SIGTERM writes FILE
 *
 * A request is GET /MODE/ARGUMENT/NUMBER: "delay" answers after ARGUMENT microseconds; "reset" resets the connection;
 * "cut" announces more than it sends and closes; "silent" never answers. FILE has a line for each request:
 * NUMBER ARRIVED_NS WRITTEN_NS BYTES_IN BYTES_OUT, 0 where nothing was written, and a last line: total N IN OUT.
 *
 * One thread, epoll, a heap of due answers. Requests must fit into one buffer; pipelining is refused. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { MAX_FD = 65536, BUFFER = 4096, EVENTS = 256 };

struct connection {
    char bytes[BUFFER];
    size_t length;
    int64_t arrived;
};

struct record {
    uint64_t number;
    int64_t arrived, written;
    uint32_t in, out;
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
static size_t recorded, room;
static struct due *heap;
static size_t due_count, due_room;
static uint64_t total_in, total_out;
static int timer;

static void die(const char *what) {
    perror(what);
    exit(1);
}

static int64_t now(clockid_t clock) {
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
    free(connections[fd]);
    connections[fd] = NULL;
    generations[fd]++;
    close(fd);
}

static void answer(int fd, size_t record, const char *text, size_t length) {
    ssize_t written = send(fd, text, length, MSG_NOSIGNAL);
    int64_t at = now(CLOCK_REALTIME);
    if (written > 0) {
        records[record].written = at;
        records[record].out = written;
        total_out += written;
    }
}

static const char OK[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
static const char SHORT[] = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf";

static void serve(int fd, struct connection *connection) {
    char mode[16];
    unsigned long argument;
    unsigned long long number;
    connection->bytes[connection->length] = 0;
    if (sscanf(connection->bytes, "GET /%15[a-z]/%lu/%llu ", mode, &argument, &number) != 3) {
        fprintf(stderr, "cannot read this request: %.80s\n", connection->bytes);
        exit(1);
    }
    if (recorded == room) {
        room = room ? room * 2 : 65536;
        records = realloc(records, room * sizeof *records);
        if (!records) die("realloc");
    }
    size_t record = recorded++;
    records[record] = (struct record){number, connection->arrived, 0, connection->length, 0};
    connection->length = 0;
    if (!strcmp(mode, "delay")) {
        if (argument == 0) {
            answer(fd, record, OK, sizeof OK - 1);
        } else {
            push_due((struct due){now(CLOCK_MONOTONIC) + argument * 1000LL, fd, generations[fd], record});
            arm();
        }
    } else if (!strcmp(mode, "reset")) {
        struct linger linger = {1, 0};
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
        drop(fd);
    } else if (!strcmp(mode, "cut")) {
        answer(fd, record, SHORT, sizeof SHORT - 1);
        drop(fd);
    }
}

static void receive(int fd) {
    struct connection *connection = connections[fd];
    char control[256];
    struct iovec part = {connection->bytes + connection->length, BUFFER - 1 - connection->length};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    ssize_t got = recvmsg(fd, &message, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) {
        drop(fd);
        return;
    }
    total_in += got;
    if (connection->length == 0) {
        connection->arrived = now(CLOCK_REALTIME);
        for (struct cmsghdr *part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part)) {
            if (part->cmsg_level == SOL_SOCKET && part->cmsg_type == SO_TIMESTAMPNS) {
                struct timespec stamp;
                memcpy(&stamp, CMSG_DATA(part), sizeof stamp);
                connection->arrived = stamp.tv_sec * 1000000000LL + stamp.tv_nsec;
            }
        }
    }
    connection->length += got;
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
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        connections[fd] = calloc(1, sizeof(struct connection));
        if (!connections[fd]) die("calloc");
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

static void write_records(const char *path) {
    FILE *file = fopen(path, "w");
    if (!file) die(path);
    for (size_t at = 0; at < recorded; at++) {
        struct record *r = &records[at];
        fprintf(file, "%llu %lld %lld %u %u\n", (unsigned long long)r->number, (long long)r->arrived,
                (long long)r->written, r->in, r->out);
    }
    fprintf(file, "total %zu %llu %llu\n", recorded, (unsigned long long)total_in, (unsigned long long)total_out);
    if (fclose(file)) die(path);
}

int main(int count, char **words) {
    if (count != 2) {
        fprintf(stderr, "usage: referee FILE\n");
        return 2;
    }
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    int ends = signalfd(-1, &signals, SFD_CLOEXEC), poll = epoll_create1(EPOLL_CLOEXEC);
    timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    if (bind(listener, (struct sockaddr *)&address, length) || listen(listener, 4096)) die("listen");
    getsockname(listener, (struct sockaddr *)&address, &length);
    int sources[] = {ends, timer, listener};
    for (int at = 0; at < 3; at++) {
        struct epoll_event event = {.events = EPOLLIN, .data.fd = sources[at]};
        epoll_ctl(poll, EPOLL_CTL_ADD, sources[at], &event);
    }
    printf("port %d\n", ntohs(address.sin_port));
    fflush(stdout);
    for (;;) {
        struct epoll_event events[EVENTS];
        int ready = epoll_wait(poll, events, EVENTS, -1);
        for (int at = 0; at < ready; at++) {
            int fd = events[at].data.fd;
            if (fd == ends) {
                write_records(words[1]);
                return 0;
            } else if (fd == timer) {
                answer_due();
            } else if (fd == listener) {
                welcome(listener, poll);
            } else if (connections[fd]) {
                receive(fd);
            }
        }
    }
}
