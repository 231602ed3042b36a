/* Bytes between the caller and the program while its calls are announced to us, until the program has ended. */
#ifndef PS_PUMP_H
#define PS_PUMP_H

#include "trace.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

enum { INPUT = 0, OUTPUT = 1, ERRORS = 2 };
enum { DRAIN_MS = 500 };

/* One stream: `from` and `to` are -1 where it is not ours to move; `ended` says that the caller ended it. */
static struct stream {
    int from, to, ended;
    size_t held;
    struct text moved;
    char part[65536];
    size_t sent;
} streams[3];

static void end_stream(struct stream *s, int keep_from)
{
    if (!keep_from && s->from >= 0)
        close(s->from);
    s->from = -1;
    s->held = 0;
}

static void keep_bytes(struct stream *s, const char *at, size_t length)
{
    size_t room = told.cap > s->moved.length ? told.cap - s->moved.length : 0;
    append(&s->moved, at, length < room ? length : room);
    if (length > room)
        say_word(s == &streams[INPUT] ? "stdin_too_large" : "output_too_large");
}

/* From the program to the caller, who may have gone: then the program meets the closed pipe as it would have. */
static void move_out(struct stream *s)
{
    ssize_t got = read(s->from, s->part, sizeof s->part);
    if (got < 0 && errno == EINTR)
        return;
    if (got <= 0) {
        end_stream(s, 0);
        return;
    }
    keep_bytes(s, s->part, (size_t)got);
    size_t done = 0;
    while (done < (size_t)got) {
        ssize_t put = write(s->to, s->part + done, (size_t)got - done);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0) {
            end_stream(s, 0);
            return;
        }
        done += (size_t)put;
    }
}

static void close_input(struct stream *s)
{
    if (s->to >= 0)
        close(s->to);
    s->to = -1;
    end_stream(s, 1);
}

static void fill_input(struct stream *s)
{
    ssize_t got = read(s->from, s->part, sizeof s->part);
    if (got < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (got <= 0) {
        s->ended = 1;
        close_input(s);
        return;
    }
    s->held = (size_t)got;
    s->sent = 0;
}

static void move_in(struct stream *s)
{
    ssize_t put = write(s->to, s->part + s->sent, s->held - s->sent);
    if (put < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (put < 0) { /* the program reads no more: how much it was given says nothing, how it ends does */
        s->ended = 1;
        close_input(s);
        return;
    }
    keep_bytes(s, s->part + s->sent, (size_t)put);
    s->sent += (size_t)put;
    if (s->sent == s->held)
        s->held = 0;
}

static void wait_for(struct pollfd *watched, int fd, short events)
{
    watched->fd = fd;
    watched->events = events;
    watched->revents = 0;
}

/* One look at everything. `over` is the program's end; 0 when nothing was left to look at in time. */
static int turn(int listener, int over, int milliseconds)
{
    struct stream *in = &streams[INPUT];
    struct pollfd watched[5];
    wait_for(&watched[0], listener, POLLIN);
    wait_for(&watched[1], over, POLLIN);
    wait_for(&watched[2], in->held ? in->to : in->from, in->held ? POLLOUT : POLLIN);
    wait_for(&watched[3], streams[OUTPUT].from, POLLIN);
    wait_for(&watched[4], streams[ERRORS].from, POLLIN);
    int ready = poll(watched, 5, milliseconds);
    if (ready <= 0)
        return ready < 0 && errno == EINTR ? 2 : 0;
    if (watched[0].revents & POLLIN)
        serve(listener);
    for (int i = OUTPUT; i <= ERRORS; i++)
        if (watched[2 + i].revents)
            move_out(&streams[i]);
    if (watched[2].revents && in->held)
        move_in(in);
    else if (watched[2].revents)
        fill_input(in);
    if (watched[1].revents)
        return 1;
    return 2;
}

/* Serve the program until it has ended and its outputs are read; what keeps them open afterwards is named. */
static void serve_program(int listener, int over)
{
    while (turn(listener, over, -1) != 1)
        ;
    close_input(&streams[INPUT]);
    while (streams[OUTPUT].from >= 0 || streams[ERRORS].from >= 0)
        if (!turn(listener, -1, DRAIN_MS)) {
            say_word("leaves_process");
            break;
        }
}

#endif
