/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a call path's time on the CPU was spent waiting there: by the code that was sampled. */
#include "analysis/findings_internal.h"

#include "analysis/fold.h"
#include "analysis/spin_loop.h"

enum { CODE_BYTES = 8192, PLACES_MAX = 64 };

/* By the function's name, or by its code. */
static bool is_spin(struct findings *findings, const struct path_metrics *path, uint64_t ip)
{
	struct symbol_frame named[SYMBOL_INLINE_MAX] = { 0 };
	struct report_frame frame = { 0 };
	struct spin_loop loop;
	uint8_t code[CODE_BYTES];
	uint64_t begin;
	size_t bytes;

	symbols_resolve(findings->input.symbols, path->pid, path->first_ns, ip, false, named,
			SYMBOL_INLINE_MAX);
	frame.function = named->function;
	frame.module = named->module;
	if (fold_is_spin(findings->input.fold, &frame))
		return true;
	bytes = symbols_read_code(findings->input.symbols, path->pid, path->first_ns, ip, code,
				  sizeof(code), &begin);
	return bytes && spin_loop_find(findings->spin, code, bytes, begin, ip, &loop);
}

bool findings_is_spin(struct findings *findings, const struct path_metrics *path)
{
	uint64_t count = 0, spinning = 0;

	if (!findings->spin)
		findings->spin = spin_finder_new(NULL, NULL);
	if (!findings->spin || !path->pid)
		return false;
	for (size_t i = 0; i < path->sample_kind_count && i < PLACES_MAX; i++) {
		const struct sample_count *sample = &path->samples[i];

		if (sample->is_stack_top || !sample->ip)
			continue;
		count += sample->count;
		if (!sample->kernel_ip && is_spin(findings, path, sample->ip))
			spinning += sample->count;
	}
	return spinning * 2 > count;
}
