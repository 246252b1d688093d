/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A span between two events of a program's own, as the user writes it: "request:BEGIN..END", "net:GOT..disk:DONE[key=argument]". With a
 * key, an end belongs to the beginning that has the same value in that field, in whatever thread or process; without one, to the last
 * one of its thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct own_event;
struct text;

enum own_span_role { OWN_SPAN_BEGINS, OWN_SPAN_ENDS, OWN_SPAN_ROLES };

struct own_span {
	char *subsystems[OWN_SPAN_ROLES], *events[OWN_SPAN_ROLES];
	char *key; /* "argument", or the name of a field; NULL: the thread */
};

/* Whether it is meant as one: it has a colon before its two dots. */
bool own_span_is_meant(const char *text);

/* 0, and the caller frees the span with own_span_fini(); or -EINVAL and in why what is wrong. */
int own_span_parse(const char *text, struct own_span *out, struct text *why);
void own_span_fini(struct own_span *span);

/* Whether the event begins, or ends, executions of the span. Case does not count. */
bool own_span_is(const struct own_span *span, enum own_span_role role, const struct own_event *event);

/* The key's value in an event: a number, or a hash of a string. False: the event has no such field. */
bool own_span_key(const struct own_span *span, const struct own_event *event, uint64_t *value);
