/* An upstream that is not the bottleneck: upstream PORT. One thread, epoll.

   A chat without "stream":true is answered with a static completion. With it, the last "content" of
   the request says how: "PAUSE EVENTS AT_ONCE", as in "0.02 250 1" (250 events, one every 20 ms) or
   "0 20000 50" (bursts of 50, as fast as they are taken). A body of more than ROOM is not kept. */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define ROOM 65536
#define MOST 65536 /* descriptors */
#define COPIES 256 /* events at once, at most */

struct conn {
    char *in;
    size_t got, skip, out_len, out_at; /* skip: bytes of a large body that are still to come */
    const char *out;
    int streaming, waiting; /* waiting: for room to write */
    double pause, due;
    long left, at_once, odd;
    char *burst; /* the chunks of a burst and one more, ours to free */
};

static struct conn *conns[MOST];
static int epfd, highest; /* descriptor */
static char whole[2048], event_text[2][512], last[1024];
static size_t whole_len, last_len, event_len;
static const char head[] =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
/* Two words in turn: who sees one of them too often takes it for a model gone wrong. */
#define EVENT(word) \
    "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1," \
    "\"model\":\"gpt-4o\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"" word "\"}," \
    "\"finish_reason\":null}]}\n\n"
static const char event_json[2][sizeof EVENT("word ")] = {EVENT("word "), EVENT("text ")};
static const char last_json[] =
    "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1,"
    "\"model\":\"gpt-4o\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
    "data: [DONE]\n\n";
static const char answer_json[] =
    "{\"id\":\"chatcmpl-1\",\"object\":\"chat.completion\",\"created\":1,\"model\":\"gpt-4o\","
    "\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"Snow, then more.\"},"
    "\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":250,\"completion_tokens\":5,"
    "\"total_tokens\":255}}";

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void drop(int fd) {
    struct conn *c = conns[fd];
    conns[fd] = NULL;
    free(c->in), free(c->burst), free(c);
    close(fd);
}

static void watch(int fd, int how, unsigned events) {
    struct epoll_event e = {.events = events, .data.fd = fd};
    epoll_ctl(epfd, how, fd, &e);
}

/* Write what is to be written. -1 when the connection is gone, 0 when it has to wait. */
static int flush(int fd, struct conn *c) {
    while (c->out_at < c->out_len) {
        ssize_t n = send(fd, c->out + c->out_at, c->out_len - c->out_at, MSG_NOSIGNAL);
        if (n < 0 && errno == EAGAIN) {
            if (!c->waiting) watch(fd, EPOLL_CTL_MOD, EPOLLIN | EPOLLOUT);
            c->waiting = 1;
            return 0;
        }
        if (n < 0) return -1;
        c->out_at += n;
    }
    if (c->waiting) watch(fd, EPOLL_CTL_MOD, EPOLLIN);
    c->waiting = 0;
    return 1;
}

static int put(int fd, struct conn *c, const char *data, size_t len) {
    c->out = data, c->out_len = len, c->out_at = 0;
    return flush(fd, c);
}

/* Go on with a stream until it has to wait. -1 when the connection is gone. */
static int stream(int fd, struct conn *c) {
    for (;;) {
        int done = flush(fd, c);
        if (done <= 0 || !c->streaming) return done;
        if (c->left <= 0) {
            c->streaming = 0;
            free(c->burst), c->burst = NULL;
            return put(fd, c, last, last_len);
        }
        if (c->pause > 0 && c->due > now()) return 1;
        c->due += c->pause, c->left -= c->at_once;
        put(fd, c, c->burst + c->odd * event_len, c->at_once * event_len);
        c->odd ^= c->at_once & 1;
    }
}

static void begin(struct conn *c, const char *content) {
    c->pause = 0, c->left = 1, c->at_once = 1;
    sscanf(content, "%lf %ld %ld", &c->pause, &c->left, &c->at_once);
    if (c->at_once < 1 || c->at_once > COPIES) c->at_once = 1;
    c->burst = malloc((c->at_once + 1) * event_len);
    for (long i = 0; i <= c->at_once; i++)
        memcpy(c->burst + i * event_len, event_text[i & 1], event_len);
    c->streaming = 1, c->odd = 0;
    c->due = now();
    c->out = head, c->out_len = sizeof head - 1, c->out_at = 0;
}

/* Read what is left of a large body and forget it, then answer. -1 when the connection is gone. */
static int skip(int fd, struct conn *c) {
    static char waste[1 << 20];
    while (c->skip) {
        ssize_t n = recv(fd, waste, c->skip < sizeof waste ? c->skip : sizeof waste, 0);
        if (n <= 0) return n < 0 && errno == EAGAIN ? 1 : -1;
        c->skip -= n;
    }
    return put(fd, c, whole, whole_len);
}

/* Read, and answer a request that is there as a whole. -1 when the connection is gone. */
static int answer(int fd, struct conn *c) {
    if (c->skip) return skip(fd, c);
    ssize_t n = recv(fd, c->in + c->got, ROOM - 1 - c->got, 0);
    if (n <= 0) return n < 0 && errno == EAGAIN ? 1 : -1;
    c->got += n;
    c->in[c->got] = 0;
    char *body = strstr(c->in, "\r\n\r\n");
    if (!body) return c->got < ROOM - 1 ? 1 : -1;
    body += 4;
    char *length = strcasestr(c->in, "\r\ncontent-length:");
    size_t size = length && length < body ? strtoul(length + 17, NULL, 10) : 0;
    if (body + size > c->in + ROOM - 1) {
        c->skip = size - (c->in + c->got - body), c->got = 0;
        return skip(fd, c);
    }
    if (c->in + c->got < body + size) return 1;
    c->got = 0;
    if (!strstr(body, "\"stream\":true") && !strstr(body, "\"stream\": true"))
        return put(fd, c, whole, whole_len);
    char *content = NULL, *next = body;
    while ((next = strstr(next, "\"content\":"))) content = next += 10;
    begin(c, content ? content + strspn(content, " \"") : "");
    return stream(fd, c);
}

static void welcome(int listener) {
    int fd, one = 1;
    while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
        if (fd >= MOST) { close(fd); continue; }
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        conns[fd] = calloc(1, sizeof(struct conn));
        conns[fd]->in = malloc(ROOM);
        if (fd > highest) highest = fd;
        watch(fd, EPOLL_CTL_ADD, EPOLLIN);
    }
}

/* Serve the streams whose time has come; milliseconds until the next one's, -1 for none. */
static int turn(void) {
    double next = -1, t = now();
    for (int fd = 0; fd <= highest; fd++) {
        struct conn *c = conns[fd];
        if (!c || !c->streaming || c->waiting || c->pause <= 0) continue;
        if (c->due <= t && stream(fd, c) < 0) { drop(fd); continue; }
        if (c->streaming && (next < 0 || c->due < next)) next = c->due;
    }
    return next < 0 ? -1 : next <= t ? 0 : (int)((next - t) * 1e3) + 1;
}

int main(int argc, char **argv) {
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    whole_len = sprintf(whole, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
        "Content-Length: %zu\r\n\r\n%s", sizeof answer_json - 1, answer_json);
    for (int i = 0; i < 2; i++)
        event_len = sprintf(event_text[i], "%zx\r\n%s\r\n", sizeof event_json[i] - 1, event_json[i]);
    last_len = sprintf(last, "%zx\r\n%s\r\n0\r\n\r\n", sizeof last_json - 1, last_json);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), one = 1, n;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(argc > 1 ? atoi(argv[1]) : 0)};
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 4096))
        return perror("upstream"), 1;
    epfd = epoll_create1(0);
    watch(listener, EPOLL_CTL_ADD, EPOLLIN);
    struct epoll_event found[256];
    while ((n = epoll_wait(epfd, found, 256, turn())) >= 0 || errno == EINTR) {
        for (int i = 0; i < n; i++) {
            int fd = found[i].data.fd, good = 1;
            struct conn *c = conns[fd]; /* none for the listener */
            if (fd == listener) welcome(listener);
            if (!c) continue;
            if (found[i].events & EPOLLOUT) good = stream(fd, c);
            if (good >= 0 && found[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) good = answer(fd, c);
            if (good < 0) drop(fd);
        }
    }
}
