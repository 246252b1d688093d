/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A trace and its lanes, as the page of the viewer learns of them. */
#pragma once

#include <stdint.h>

struct lanes;
struct text;
struct trace_states;

/* name: how the user calls the trace. Times are in ns since its first event. */
void lanes_put_json(struct text *out, const char *name, const struct trace_states *all, const struct lanes *lanes);

/* lanes_key() as JSON and requests have it. */
enum { LANES_KEY_BYTES = 17 };
void lanes_put_key(uint64_t key, char text[static LANES_KEY_BYTES]);

/* "running", "lock": SHARES of them. */
const char *lane_share_name(unsigned int share);
