/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An event as a line, for people or for programs; what a traced program chose is escaped. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct ev_header;
struct event_kind;
struct text;

/* An event of that kind with its size, which need not be what it says. Its time is printed in seconds since first_ns. */
void event_line_put(struct text *out, const struct event_kind *kind, const struct ev_header *header, size_t size_bytes,
		    uint64_t first_ns);

/* A JSON object. */
void event_line_put_json(struct text *out, const struct event_kind *kind, const struct ev_header *header,
			 size_t size_bytes);
