/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the area of a process with libpinchtrace, as lib/pinchtrace_format.h has it. The process is hostile: it may forge
 * all of the area and truncate its file. So it is read by pread(2), never mapped; what was read is a copy, which is checked
 * and not read again; and each call ends after so much work. What does not change is checked once, and must stay as it is.
 *
 * Owns: areas that others write, and where they are found.
 * Used by: helper, collect/own, outside, cmd.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "area/listener.h"
#include "pinchtrace_format.h"

struct area;

/* As of the last call that read the header. */
struct area_facts {
	uint32_t pid;      /* in the process's own PID namespace */
	uint32_t clock;    /* PINCHTRACE_CLOCK_X */
	uint64_t start_ns; /* CLOCK_BOOTTIME */
	uint32_t ring_capacity;
	uint32_t ring_count;
	uint32_t ended_count;                         /* of these, those whose threads have ended */
	uint64_t lost;                                /* events for which there was no ring, or no space in it */
	uint64_t overwritten;                         /* slots of ended threads that others got before they were read */
	bool has_ended;                               /* the process left by exit() */
	char program[32];                             /* with a NUL; any bytes */
	struct pinchtrace_pair first_pair, last_pair; /* by the machine's CLOCK_MONOTONIC */
};

/*
 * fd: readable; becomes the area's if this succeeds. -EBADMSG: it has no sound area; -EXDEV: it lies on a file system
 * whose reading could take for ever; -EINVAL: it is no regular file; or another negative errno.
 */
int area_open(int fd, struct area **out);

/* Accepts NULL. */
void area_close(struct area *area);

/* Of the file; it stays the area's. */
int area_fd(const struct area *area);

/* Reads the header again. -EBADMSG: it is not sound any more; or another negative errno. */
int area_refresh(struct area *area);

/* Valid until the area is closed. */
const struct area_facts *area_facts(const struct area *area);

/*
 * Hands out each schema text that was registered since the last call: at most AREA_SCHEMA_TEXTS_MAX of a process, further
 * ones never. text has a NUL behind length bytes, and is valid during the call. Nobody has checked that it is JSON.
 */
int area_schemas(struct area *area, void (*on_text)(void *data, const char *text, size_t length), void *data);

enum { AREA_SCHEMA_TEXTS_MAX = 256, AREA_SCHEMA_BYTES_MAX = 4 << 20 };

/*
 * Hands out what rings have got since the last call. *until_ticks: in, a moment read from the clock before the call; out,
 * the moment up to which all events of the area have been handed out. That is lower when a thread is in the middle of
 * writing one: then it is that of the last event of its ring, or when the ring was last complete. A thread can be stopped
 * there, or have died: the caller bounds how long it waits. What a thread stores takes a moment to reach another CPU, so
 * an event can be as much older than the moment before.
 *
 * -EBADMSG: the area is not sound any more; or another negative errno.
 */
int area_take(struct area *area, const struct area_listener *listener, uint64_t *until_ticks);

/* Whether the last area_take() stopped because it had done enough: another one goes on. */
bool area_has_more(const struct area *area);

/* Events before that moment are not handed out, nor counted as lost. */
void area_skip(struct area *area, uint64_t before_ticks);

/* Of the fullest ring at the last area_take(): slots that it took, of its capacity; 0 to 1. */
double area_fill(const struct area *area);
