/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An event as a line, for people or for programs; what a traced program chose is escaped. */
#pragma once

#include <stdint.h>

struct ev_header;
struct text;

/* Its time is told in seconds since first_ns. */
void event_line_put(struct text *out, const struct ev_header *header, uint64_t first_ns);

/* A JSON object. */
void event_line_put_json(struct text *out, const struct ev_header *header);
