/* What a ring and a wait for a batch would gain a client that keeps CONNECTIONS busy, and what they cost in lateness.
 *
 *     cc -O2 -o batches batches.c && taskset -c 1 ./batches PORT CONNECTIONS SECONDS epoll|ring [WAIT_US]
 *
 * A closed loop without a script: each answer is followed by the next request. All answers that are there are read, with the kernel's
 * stamp of their arrival, then all requests are sent. WAIT_US: after the first answer so long is waited for others. An answer is taken
 * to come in one piece, so the server's must be small. Prints requests per CPU second, how many answers a turn had, and how long
 * an answer lay between its arrival and the next request on its connection. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/io_uring.h>
#include <linux/net_tstamp.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 2048, BUFFER = 2048, CONTROL = 64, BUFFERS = 4096, GROUP = 1, ENTRIES = 4096 };
static const char REQUEST[] = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
static int sockets[MOST], ready[MOST], readies;
static int64_t arrived[MOST];
static uint64_t requests, turns;
static uint32_t *lateness;
static uint64_t latenesses;
static const uint64_t KEPT = 1 << 22;

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static int64_t now(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static int connected(uint16_t port) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int one = 1, stamps = SOF_TIMESTAMPING_RX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to)) fail("connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING, &stamps, sizeof stamps)) fail("SO_TIMESTAMPING");
    return fd;
}

/* When an answer was here, by the control messages of its recvmsg. */
static void arrive(int at, const struct cmsghdr *head, size_t length, ssize_t bytes) {
    if (bytes <= 0) {
        fprintf(stderr, "the server closed a connection\n");
        exit(1);
    }
    arrived[at] = 0;
    if (length >= CMSG_LEN(sizeof(struct timespec)) && head->cmsg_type == SCM_TIMESTAMPING) {
        struct timespec stamp;
        memcpy(&stamp, CMSG_DATA(head), sizeof stamp);
        arrived[at] = stamp.tv_sec * 1000000000ll + stamp.tv_nsec;
    }
    ready[readies++] = at;
}

/* The next request of a connection is handed to the kernel now. */
static void leave(int at, int64_t time) {
    requests++;
    if (arrived[at] && latenesses < KEPT) lateness[latenesses++] = time - arrived[at];
}

static int by_size(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void by_epoll(int count, int64_t until, int wait_us) {
    int poll = epoll_create1(0);
    static struct epoll_event events[MOST];
    for (int i = 0; i < count; i++) {
        struct epoll_event event = {.events = EPOLLIN, .data.u32 = i};
        if (epoll_ctl(poll, EPOLL_CTL_ADD, sockets[i], &event)) fail("epoll_ctl");
        if (send(sockets[i], REQUEST, sizeof REQUEST - 1, 0) < 0) fail("send");
    }
    while (now(CLOCK_MONOTONIC) < until) {
        int found = epoll_wait(poll, events, MOST, 1000);
        if (wait_us && found > 0 && found < count) {
            struct timespec pause = {.tv_nsec = wait_us * 1000};
            nanosleep(&pause, NULL);
            found = epoll_wait(poll, events, MOST, 0);
        }
        readies = 0;
        turns++;
        for (int i = 0; i < found; i++) {
            char content[BUFFER];
            union { char bytes[CONTROL]; struct cmsghdr head; } control;
            struct iovec part = {content, sizeof content};
            struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = CONTROL};
            int at = events[i].data.u32;
            ssize_t bytes = recvmsg(sockets[at], &message, MSG_DONTWAIT);
            if (bytes < 0 && errno == EAGAIN) continue;
            arrive(at, &control.head, message.msg_controllen, bytes);
        }
        for (int i = 0; i < readies; i++) {
            leave(ready[i], now(CLOCK_REALTIME));
            if (send(sockets[ready[i]], REQUEST, sizeof REQUEST - 1, 0) < 0) fail("send");
        }
    }
}

struct ring {
    int fd;
    unsigned *sq_tail, *sq_mask, *sq_array, *cq_head, *cq_tail, *cq_mask, queued;
    struct io_uring_sqe *sqes;
    struct io_uring_cqe *cqes;
    struct io_uring_buf_ring *buffers;
    char *memory;
    uint16_t buffer_tail;
};

static struct ring set_up(void) {
    struct io_uring_params params = {.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_CQSIZE,
                                     .cq_entries = 4 * ENTRIES};
    struct ring ring = {.fd = syscall(SYS_io_uring_setup, ENTRIES, &params)};
    if (ring.fd < 0) fail("io_uring_setup");
    size_t sq_size = params.sq_off.array + params.sq_entries * sizeof(unsigned);
    size_t cq_size = params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe);
    size_t size = sq_size > cq_size ? sq_size : cq_size;
    char *rings = mmap(0, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring.fd, IORING_OFF_SQ_RING);
    ring.sqes = mmap(0, params.sq_entries * sizeof *ring.sqes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring.fd, IORING_OFF_SQES);
    if (rings == MAP_FAILED || ring.sqes == MAP_FAILED) fail("mmap");
    ring.sq_tail = (unsigned *)(rings + params.sq_off.tail);
    ring.sq_mask = (unsigned *)(rings + params.sq_off.ring_mask);
    ring.sq_array = (unsigned *)(rings + params.sq_off.array);
    ring.cq_head = (unsigned *)(rings + params.cq_off.head);
    ring.cq_tail = (unsigned *)(rings + params.cq_off.tail);
    ring.cq_mask = (unsigned *)(rings + params.cq_off.ring_mask);
    ring.cqes = (struct io_uring_cqe *)(rings + params.cq_off.cqes);
    ring.buffers = mmap(0, BUFFERS * sizeof(struct io_uring_buf), PROT_READ | PROT_WRITE, MAP_ANONYMOUS | MAP_PRIVATE, -1, 0);
    ring.memory = mmap(0, (size_t)BUFFERS * BUFFER, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | MAP_PRIVATE, -1, 0);
    struct io_uring_buf_reg reg = {.ring_addr = (uintptr_t)ring.buffers, .ring_entries = BUFFERS, .bgid = GROUP};
    if (syscall(SYS_io_uring_register, ring.fd, IORING_REGISTER_PBUF_RING, &reg, 1)) fail("IORING_REGISTER_PBUF_RING");
    return ring;
}

static void give(struct ring *ring, uint16_t id) {
    struct io_uring_buf *buffer = &ring->buffers->bufs[ring->buffer_tail++ & (BUFFERS - 1)];
    buffer->addr = (uintptr_t)(ring->memory + (size_t)id * BUFFER);
    buffer->len = BUFFER;
    buffer->bid = id;
    __atomic_store_n(&ring->buffers->tail, ring->buffer_tail, __ATOMIC_RELEASE);
}

static struct io_uring_sqe *ask(struct ring *ring, int opcode, int fd, uint64_t data) {
    unsigned tail = *ring->sq_tail + ring->queued++, at = tail & *ring->sq_mask;
    struct io_uring_sqe *sqe = &ring->sqes[at];
    memset(sqe, 0, sizeof *sqe);
    ring->sq_array[at] = at;
    sqe->opcode = opcode;
    sqe->fd = fd;
    sqe->user_data = data;
    return sqe;
}

static const uint64_t SEND = 1ull << 32;

static void send_by_ring(struct ring *ring, int at) {
    struct io_uring_sqe *sqe = ask(ring, IORING_OP_SEND, sockets[at], SEND);
    sqe->addr = (uintptr_t)REQUEST;
    sqe->len = sizeof REQUEST - 1;
    sqe->flags = IOSQE_CQE_SKIP_SUCCESS;
}

static void by_ring(int count, int64_t until, int wait_us) {
    struct ring ring = set_up();
    static struct msghdr shape = {.msg_controllen = CONTROL};
    for (int id = 0; id < BUFFERS; id++) give(&ring, id);
    for (int i = 0; i < count; i++) {
        struct io_uring_sqe *sqe = ask(&ring, IORING_OP_RECVMSG, sockets[i], i);
        sqe->addr = (uintptr_t)&shape;
        sqe->len = 1;
        sqe->ioprio = IORING_RECV_MULTISHOT;
        sqe->flags = IOSQE_BUFFER_SELECT;
        sqe->buf_group = GROUP;
        send_by_ring(&ring, i);
    }
    while (now(CLOCK_MONOTONIC) < until) {
        struct __kernel_timespec second = {.tv_sec = 1};
        struct io_uring_getevents_arg more = {.ts = (uintptr_t)&second, .pad = wait_us}; /* min_wait_usec since Linux 6.12 */
        unsigned queued = ring.queued, least = wait_us ? count : 1;
        __atomic_store_n(ring.sq_tail, *ring.sq_tail + queued, __ATOMIC_RELEASE);
        ring.queued = 0;
        int64_t time = now(CLOCK_REALTIME);
        for (int i = 0; i < readies; i++) leave(ready[i], time);
        readies = 0;
        if (syscall(SYS_io_uring_enter, ring.fd, queued, least, IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG, &more, sizeof more) < 0 &&
            errno != ETIME)
            fail("io_uring_enter");
        turns++;
        unsigned head = *ring.cq_head, tail = __atomic_load_n(ring.cq_tail, __ATOMIC_ACQUIRE);
        for (; head != tail; head++) {
            struct io_uring_cqe *cqe = &ring.cqes[head & *ring.cq_mask];
            if (cqe->user_data == SEND || !(cqe->flags & IORING_CQE_F_MORE)) {
                fprintf(stderr, "a receive or a send ended: %s\n", strerror(-cqe->res));
                exit(1);
            }
            uint16_t id = cqe->flags >> IORING_CQE_BUFFER_SHIFT;
            struct io_uring_recvmsg_out *out = (void *)(ring.memory + (size_t)id * BUFFER);
            arrive(cqe->user_data, (struct cmsghdr *)(out + 1), out->controllen, out->payloadlen);
            give(&ring, id);
            send_by_ring(&ring, cqe->user_data);
        }
        __atomic_store_n(ring.cq_head, head, __ATOMIC_RELEASE);
    }
}

int main(int argc, char **argv) {
    if (argc < 5 || atoi(argv[2]) > MOST) {
        fprintf(stderr, "usage: batches PORT CONNECTIONS SECONDS epoll|ring [WAIT_US], at most %d connections\n", MOST);
        return 2;
    }
    int count = atoi(argv[2]), wait_us = argc > 5 ? atoi(argv[5]) : 0;
    lateness = malloc(KEPT * sizeof *lateness);
    for (int i = 0; i < count; i++) sockets[i] = connected(atoi(argv[1]));
    int64_t until = now(CLOCK_MONOTONIC) + atoll(argv[3]) * 1000000000ll;
    (strcmp(argv[4], "ring") ? by_epoll : by_ring)(count, until, wait_us);
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    double user = used.ru_utime.tv_sec + used.ru_utime.tv_usec / 1e6, kernel = used.ru_stime.tv_sec + used.ru_stime.tv_usec / 1e6;
    qsort(lateness, latenesses, sizeof *lateness, by_size);
    printf("%s wait %d us, %d connections: %.0f requests/s, %.0f per CPU second, user %.2f us, kernel %.2f us, %.1f a turn, next request %.1f us after the "
           "answer (p99 %.1f), stamped %.0f %%\n",
           argv[4], wait_us, count, requests / atof(argv[3]), requests / (user + kernel), user * 1e6 / requests, kernel * 1e6 / requests,
           (double)requests / turns, lateness[latenesses / 2] / 1e3, lateness[latenesses * 99 / 100] / 1e3, 100.0 * latenesses / (requests < KEPT ? requests : KEPT));
    return 0;
}
