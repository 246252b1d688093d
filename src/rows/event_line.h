/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An event as a line, for people or for programs; what a traced program chose is escaped. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct ev_header;
struct event_kind;
struct text;

/* An event of that kind. */
struct event_line {
	const struct event_kind *kind;
	const struct ev_header *header;
	size_t size_bytes;        /* need not be what the event says */
	const uint32_t *argument; /* NULL: it is none of a program's own */
	uint64_t first_ns;        /* times are printed in seconds since then */
	int32_t cpu;              /* on which it happened; -1: unknown */
};

/* Seconds, thread, event, fields with their names; ends with a newline. */
void event_line_put(struct text *out, const struct event_line *line);

/* The fields of that alone, with a space between two of them. */
void event_line_put_fields(struct text *out, const struct event_line *line);

/* CPU, seconds, event and values without names, with one space between two of them: for awk. */
void event_line_put_log(struct text *out, const struct event_line *line);

/*
 * A string in quotes, as the first form has it: a quote in it does not seem to end it, nor a backslash to be of an
 * escape.
 */
void event_line_put_string(struct text *out, const char *string);

/* A JSON object. */
void event_line_put_json(struct text *out, const struct event_line *line);
