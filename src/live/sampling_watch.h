/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Has threads sampled apart from the kernel's tick once they turn out to be in step with it: for which samples are taken
 * beside the ticks, often at the beginning, then rarely.
 */
#pragma once

#include <stdint.h>

struct engine;
struct kernel;
struct sample_bias;
struct session;

struct sampling_watch {
	struct sample_bias *bias;  /* NULL: nobody samples */
	uint64_t next_ns, wait_ns; /* 0: it has not begun */
	uint64_t looks;            /* the first one, at nothing, included */
};

/* Subscribes to the session, which is to have samples before analyses may have them. */
void sampling_watch_open(struct sampling_watch *watch, struct session *session);
void sampling_watch_close(struct sampling_watch *watch);

/* To be called again and again; looks at the samples at ever longer intervals. Costs nothing in between. */
void sampling_watch_step(struct sampling_watch *watch, const struct engine *engine, struct kernel *kernel,
			 uint64_t now_ns);
