/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Follows USDT probes: puts probes into their sites in each file that traced processes map and that has them, and hands out what
 * their events are called (user.SCHEMA). The kernel side records the events (user.EVENT). What is attached goes with it.
 */
#pragma once

#include "session/session.h"

struct kernel;
struct symbols;
struct text;
struct usdt_probes;
struct usdt_specs;

/* Borrows all of them. */
struct usdt_probes *usdt_probes_new(struct session *session, struct symbols *symbols, struct kernel *kernel,
				    const struct usdt_specs *specs);
void usdt_probes_free(struct usdt_probes *probes);

/*
 * Attaches to those files that are known by their path, and to the program of a command that is going to be started, before any
 * process maps them: their first hits are recorded, too. program: NULL: none. 0, or -ENOENT after having said that a file which is
 * given by its path has no such probe.
 */
int usdt_probes_expect(struct usdt_probes *probes, const char *program);

/* Attaches to what has been mapped since the last call. */
void usdt_probes_update(struct usdt_probes *probes);

/* Sentences about what could not be followed, a NUL after each. */
void usdt_probes_put_notes(const struct usdt_probes *probes, struct text *notes);
