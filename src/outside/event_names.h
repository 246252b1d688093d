/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a program calls its events, as the schemas say that it has registered (trace_register()). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event_kind;
struct event_names;
struct text;

struct event_names *event_names_new(void);
void event_names_free(struct event_names *names);

/* Takes a schema in; one that is not understood names nothing. */
void event_names_take(struct event_names *names, const char *text, size_t length);

/* NULL: nothing names it. Borrowed. */
const char *event_names_subsystem(const struct event_names *names, uint32_t subsystem);

/* The kind of an event with so many bytes, its header included. NULL: nothing describes it. Borrowed. */
const struct event_kind *event_names_kind(const struct event_names *names, uint32_t subsystem, uint32_t event,
					  size_t size_bytes);

/* A name, or the number of a subsystem. False: there is none of that name. */
bool event_names_find(const struct event_names *names, const char *word, size_t length, uint32_t *subsystem);

/* "net.SEND", or with numbers in place of names: subsystem | event << 16. False: there is none. */
bool event_names_find_event(const struct event_names *names, const char *word, uint32_t *key);

/* Puts "net.SEND", with numbers where there are no names. */
void event_names_put(const struct event_names *names, uint32_t key, struct text *out);

/* Puts the names of all subsystems, with commas between; of one subsystem's events. "none" if there are none. */
void event_names_put_subsystems(const struct event_names *names, struct text *out);
void event_names_put_events(const struct event_names *names, uint32_t subsystem, struct text *out);
