/* The log of one call: records of a tag, a length in 8 bytes (little endian) and that many bytes, gathered in memory. */
#ifndef PS_LOG_H
#define PS_LOG_H

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct text {
    char *at;
    size_t length, room;
};

static __attribute__((noreturn)) void give_up(const char *step)
{
    fprintf(stderr, "recorder: %s: %s\n", step, strerror(errno));
    _exit(127);
}

static void append(struct text *to, const void *from, size_t length)
{
    if (to->length + length + 1 > to->room) {
        to->room = (to->length + length + 1) * 2;
        to->at = realloc(to->at, to->room);
        if (!to->at)
            give_up("memory");
    }
    if (length)
        memcpy(to->at + to->length, from, length);
    to->length += length;
    to->at[to->length] = 0;
}

static void append_number(struct text *to, uint64_t value)
{
    append(to, &value, sizeof value);
}

static struct text records;

static void say(char tag, const void *payload, size_t length)
{
    append(&records, &tag, 1);
    append_number(&records, length);
    append(&records, payload, length);
}

/* A reason for which the call can be no case: said once each, whatever follows. */
static void say_word(const char *word)
{
    static const char *said[16];
    for (int i = 0; i < 16; i++) {
        if (said[i] && !strcmp(said[i], word))
            return;
        if (!said[i]) {
            said[i] = word;
            say('W', word, strlen(word));
            return;
        }
    }
}

static void write_all(int fd, const char *at, size_t length)
{
    while (length) {
        ssize_t done = write(fd, at, length);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return;
        at += done;
        length -= (size_t)done;
    }
}

#endif
