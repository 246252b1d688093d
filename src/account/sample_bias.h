/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether samples at the kernel's tick are where threads are. How long each thread ran and how much of its CMetric is
 * critical are known exactly; where it ran, samples by timers beside the tick tell. Samples that are in step with what
 * threads do give themselves away by either.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "events.h"

struct criticality;

struct sample_bias;

struct sample_bias *sample_bias_new(void);
void sample_bias_free(struct sample_bias *bias);

/* A running thread was sampled; critical: 1/n in critical time, else 0. Samples by timers instead of ticks are nothing here. */
void sample_bias_add(struct sample_bias *bias, const struct ev_sched_sample *e, double critical);

/*
 * True if samples at ticks missed a thread, or met one too often, or critical time: by more than chance explains (4 standard
 * deviations), and by a third. Or if they met some code more often or less often than samples beside them, by more than 5 %
 * of those of a thread, or of all: by chance alone that happens in so many of all runs at most. Goes through all threads and
 * their code. criticality NULL: code alone is asked for.
 */
bool sample_bias_is_seen(const struct sample_bias *bias, const struct criticality *criticality, double chance);
