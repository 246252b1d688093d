/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Carries records from the kernel to a session: drains the rings, guarantees how far they
 * are complete, and has the living threads listed again when records were lost.
 *
 * Owns: the kernel side: loading it, draining it, unwinding for it.
 * Used by: options, scope, live, cmd.
 */
#pragma once

#include <stdint.h>

#include "collect/kernel.h"
#include "collect/ring/sideband.h"
#include "session/session.h"

struct collector;
struct own_areas;

/* Streams that a session needs for this many rings. */
unsigned int collector_stream_count(const struct kernel *kernel);

/* Borrows all three. sideband may be NULL. */
struct collector *collector_new(struct session *session, struct kernel *kernel, struct sideband *sideband);
void collector_free(struct collector *collector);

/* The stream for events of programs' own, which come from there from now on. */
unsigned int collector_own_stream(const struct collector *collector);
void collector_set_own_areas(struct collector *collector, struct own_areas *areas);

/* Lists the living threads, between SYNC_BEGIN and SYNC_END. */
int collector_list_threads(struct collector *collector);

/* Reports where blocked threads wait. Those for which there is no space are left out. */
void collector_list_waits(struct collector *collector);

/*
 * Where stacks are left out: reports the stacks of those that have been blocked for long, now and then. Each wait is
 * reported once so, and once more by collector_list_waits().
 */
void collector_list_long_waits(struct collector *collector);

/* Reports how many connections wait to be accepted; collector_look() does so now and then. 0, or a negative errno. */
int collector_list_listeners(struct collector *collector);

/* In how many ms collector_look() has to be called again. */
int collector_wait_ms(const struct collector *collector);

/* Has the kernel side tell how often kernel locks were taken, also after kernel_detach(). */
void collector_list_holds(struct collector *collector);

/* Takes in what there is, delivers what is complete, and looks. */
void collector_poll(struct collector *collector);

/* Looks at what makes no records of its own: what stacks cost, and what lies in sockets and pipes. */
void collector_look(struct collector *collector);

/* Takes in what there is and delivers nothing: for while the analyses must stay as they are. */
void collector_take_in(struct collector *collector);

/* How far events have been delivered: none before that time will come any more. */
uint64_t collector_delivered_ns(const struct collector *collector);

/* After kernel_detach(): takes in and delivers the rest. */
void collector_finish(struct collector *collector);

/* How full the fullest ring was at the last poll, 0 to 1: the faster to poll again. */
double collector_fill(const struct collector *collector);
