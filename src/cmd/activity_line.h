/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An activity as a line, for people or for programs; what programs and scripts chose is escaped. */
#pragma once

#include <stdint.h>

struct activity;
struct event_context;
struct text;

/* Its begin is printed in seconds since first_ns; the context names its thread. */
void activity_line_put(struct text *out, const struct activity *activity, const struct event_context *context,
		       uint64_t first_ns);

/* A JSON object. */
void activity_line_put_json(struct text *out, const struct activity *activity, const struct event_context *context);
