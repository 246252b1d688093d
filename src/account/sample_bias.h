/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether samples are where threads are: how long each thread ran and how much of its CMetric is critical are
 * known exactly, so that samples that are in step with what threads do give themselves away.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct code_samples;
struct criticality;

/*
 * True if samples at this period, ns, missed a thread, or met one too often, or critical time: by more than
 * chance explains (4 standard deviations), and by a third. Goes through all threads.
 */
bool sample_bias_is_seen(const struct criticality *criticality, const struct code_samples *samples, uint64_t period_ns);
