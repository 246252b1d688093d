/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a history of states says, as plain text. */
#pragma once

#include <stdint.h>

struct states;

struct question {
	uint32_t who; /* a thread, or a CPU */
	uint64_t from_ns, to_ns;
	unsigned int depth_max;
};

void print_states(struct states *states, const struct question *question);
void print_cpu(struct states *states, const struct question *question);
void print_shares(struct states *states, const struct question *question);
void print_graph(struct states *states, const struct question *question);
void print_path(struct states *states, const struct question *question);
