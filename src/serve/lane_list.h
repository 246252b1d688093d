/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lanes that a request names: "0-5,9,12". */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lanes;
struct request;

enum { LANES_AT_ONCE_MAX = 512 };

struct lane_list {
	uint32_t ids[LANES_AT_ONCE_MAX];
	size_t count;
};

/* In the order in which they are named. False: there are none, too many, or some that the trace has not. */
bool lane_list_read(const struct request *request, const struct lanes *lanes, struct lane_list *out);

/* The same of so many lanes, whatever they are. */
bool lane_list_read_below(const struct request *request, size_t count, struct lane_list *out);
