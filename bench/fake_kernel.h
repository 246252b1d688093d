// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Stands in for collect/kernel.h and collect/urgency.h, as far as the collector needs them: the kernel side of a machine
 * with any number of CPUs. It writes the events of a trace into the rings of these CPUs, as the BPF programs would, when
 * the fake clock has come to their times; the readers of the rings are the real ones. What finds its ring full is lost
 * and counted; the threads are not listed again then.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct kernel;
struct trace_reader;

/*
 * Borrows the trace, which is at its beginning. slots_bytes: for switches and wake-ups, a CPU; 0: the default. 0, or a
 * negative errno, said.
 */
int fake_kernel_open(struct trace_reader *trace, unsigned int cpu_count, size_t slots_bytes, struct kernel **out);
void fake_kernel_close(struct kernel *kernel);

/* Whether all events have been written. */
bool fake_kernel_is_over(const struct kernel *kernel);
