/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a scenario is replayed through. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct replay {
	struct session *session;
	struct threads *threads;
	struct stacks *stacks;
	struct criticality *criticality;
	struct files *files;
	struct others *others;
	struct missing_wakeups *missing;
	struct waits *waits;         /* NULL unless asked for */
	struct cpu_waits *cpu_waits; /* the same, as the following */
	struct klocks *klocks;
	uint64_t last_ns, finish_ns;
	size_t timeline_count;
	uint64_t refused; /* -ENOSPC */
	bool is_bounded;  /* what the session holds */
	uint64_t spin_ip;
};

/* The account, as text. */
void replay_print(const struct replay *replay);
void replay_print_klocks(const struct replay *replay);
