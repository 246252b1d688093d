/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * No message is received before it is sent. Where the threads at both ends of a connection ask and answer each other, data
 * cannot come to one end before the other end had what it answers, since it answered last. If the clocks say so, their
 * offset is corrected as far as its uncertainty allows.
 */
#pragma once

#include <stdint.h>

struct merge_peers;

/* What came too early, by the clocks as they were at first, and as they are now. */
struct merge_order {
	uint64_t corrected, left;
	uint64_t left_ns_max; /* how much too early, at most */
};

/* Corrects clocks of hosts of which one has asked the other's. */
struct merge_order merge_order_correct(const struct merge_peers *peers);
