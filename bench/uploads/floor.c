// The least that receiving uploads can cost: epoll, recv into one buffer of 64 KiB, a fixed answer. `floor PORT`.
// The head is searched for its length once a request and must come in one piece; anything else is not HTTP to it.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SIZE = 64 * 1024, SOCKETS = 65536 };
static const char ANSWER[] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
static char buffer[SIZE + 1];
static long left[SOCKETS]; // of each body, by file descriptor; -1: a head is awaited

// What belongs to the body behind a head in the buffer.
static long begin(long received) {
    buffer[received] = 0;
    char *end = strstr(buffer, "\r\n\r\n"), *length = strcasestr(buffer, "content-length:");
    if (!end || !length || length > end) exit(2);
    return strtol(length + 15, 0, 10) - (received - (end + 4 - buffer));
}

static void receive(int fd) {
    for (;;) {
        long wanted = left[fd] < 0 || left[fd] > SIZE ? SIZE : left[fd];
        long received = recv(fd, buffer, wanted, 0);
        if (received < 0) return;
        if (received == 0) {
            close(fd);
            return;
        }
        left[fd] = left[fd] < 0 ? begin(received) : left[fd] - received;
        if (left[fd] > 0) {
            // A short read emptied the socket.
            if (received < wanted) return;
            continue;
        }
        left[fd] = -1;
        if (send(fd, ANSWER, sizeof ANSWER - 1, MSG_NOSIGNAL) < 0) close(fd);
        return;
    }
}

int main(int argc, char **argv) {
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), on = 1;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    at.sin_port = htons(argc > 1 ? atoi(argv[1]) : 0);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    setsockopt(listener, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (bind(listener, (void *)&at, sizeof at) || listen(listener, 4096)) {
        perror("cannot listen");
        return 1;
    }
    int events = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = listener}, ready[256];
    epoll_ctl(events, EPOLL_CTL_ADD, listener, &event);
    for (;;) {
        int count = epoll_wait(events, ready, 256, -1);
        for (int i = 0; i < count; i++) {
            if (ready[i].data.fd != listener) {
                receive(ready[i].data.fd);
                continue;
            }
            int fd;
            while ((fd = accept4(listener, 0, 0, SOCK_NONBLOCK)) >= 0) {
                if (fd >= SOCKETS) exit(3);
                left[fd] = -1;
                event.data.fd = fd;
                epoll_ctl(events, EPOLL_CTL_ADD, fd, &event);
            }
        }
    }
}
