/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "states/cpu_log.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "states/block_owners.h"
#include "states/share_log.h"
#include "states/state_block.h"
#include "states/state_gaps.h"
#include "states/states.h"
#include "values.h"

struct logged_cpu {
	struct share_thread shares; /* its number is the CPU's */
	uint8_t at_begin;           /* what the block says that it did at its beginning: enum cpu_share */
};

struct cpu_log {
	struct share_log *shares;
	const struct state_gaps *gaps;
	uint64_t gaps_until_ns; /* those that end later are still to come */
	struct logged_cpu *cpus[CPUS_MAX];
	uint32_t cpu_count; /* the highest one, plus 1 */
	uint64_t block_ns;  /* when the block begins */
	bool has_begun;     /* changes behind the block's beginning have come */
};

static struct logged_cpu *get_cpu(struct cpu_log *log, uint32_t cpu)
{
	if (!log->cpus[cpu]) {
		log->cpus[cpu] = xcalloc(1, sizeof(*log->cpus[cpu]));
		log->cpus[cpu]->shares.number = cpu;
	}
	if (cpu >= log->cpu_count)
		log->cpu_count = cpu + 1;
	return log->cpus[cpu];
}

/* Nobody asks what a CPU did before something is known of it. */
static void change(struct cpu_log *log, struct logged_cpu *cpu, uint64_t time_ns, uint8_t share)
{
	uint8_t before = cpu->shares.has_begun ? cpu->shares.share : CPU_SHARE_UNKNOWN;

	if (share != before)
		share_log_change(log->shares, &cpu->shares, time_ns, share);
}

/* From the end of a gap to its next change nobody knows what a CPU does. */
static void pass_gaps(struct cpu_log *log, uint64_t time_ns)
{
	const struct state_gap *gap;

	while ((gap = state_gaps_after(log->gaps, log->gaps_until_ns)) && gap->end_ns <= time_ns) {
		log->gaps_until_ns = gap->end_ns;
		for (uint32_t cpu = 0; cpu < log->cpu_count; cpu++)
			if (log->cpus[cpu])
				change(log, log->cpus[cpu], gap->end_ns, CPU_SHARE_UNKNOWN);
	}
}

static uint8_t share_of(const struct cpu_log *log, const struct owner_change *owner)
{
	const struct state_gap *gap = state_gaps_after(log->gaps, owner->since_ns);
	struct cpu_state state = { .thread = owner->thread, .tid = owner->tid };

	if (!owner->is_known || (gap && gap->end_ns <= owner->time_ns))
		return CPU_SHARE_UNKNOWN;
	return cpu_state_share(&state);
}

/* All CPUs do what the block says of its beginning; of which it says nothing, nobody knows. */
static void begin_block(struct cpu_log *log)
{
	log->has_begun = true;
	pass_gaps(log, log->block_ns);
	for (uint32_t cpu = 0; cpu < log->cpu_count; cpu++)
		if (log->cpus[cpu])
			change(log, log->cpus[cpu], log->block_ns, log->cpus[cpu]->at_begin);
}

static void on_owner(void *data, const struct owner_change *owner)
{
	struct cpu_log *log = data;
	struct logged_cpu *cpu = get_cpu(log, owner->cpu);

	if (owner->time_ns == log->block_ns) {
		cpu->at_begin = share_of(log, owner);
		return;
	}
	if (!log->has_begun)
		begin_block(log);
	pass_gaps(log, owner->time_ns);
	change(log, cpu, owner->time_ns, share_of(log, owner));
}

void cpu_log_add(struct cpu_log *log, const struct state_block *block)
{
	log->block_ns = block->first_ns;
	log->has_begun = false;
	for (uint32_t cpu = 0; cpu < log->cpu_count; cpu++)
		if (log->cpus[cpu])
			log->cpus[cpu]->at_begin = CPU_SHARE_UNKNOWN;
	block_owners_each(block, on_owner, log);
	if (!log->has_begun)
		begin_block(log);
}

struct cpu_log *cpu_log_new(struct trace_writer *writer, const struct state_gaps *gaps)
{
	struct cpu_log *log = xcalloc(1, sizeof(*log));

	log->shares = share_log_new(writer, TRACE_CHUNK_CPU_SHARES);
	log->gaps = gaps;
	return log;
}

void cpu_log_finish(struct cpu_log *log, uint64_t end_ns)
{
	pass_gaps(log, end_ns);
	for (uint32_t cpu = 0; cpu < log->cpu_count; cpu++)
		if (log->cpus[cpu])
			share_log_end(log->shares, &log->cpus[cpu]->shares, end_ns);
	share_log_finish(log->shares);
}

void cpu_log_free(struct cpu_log *log)
{
	if (!log)
		return;
	for (uint32_t cpu = 0; cpu < log->cpu_count; cpu++)
		free(log->cpus[cpu]);
	share_log_free(log->shares);
	free(log);
}
