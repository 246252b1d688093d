/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare/figures.h"

#include <string.h>

#include "base/text.h"
#include "spans/features.h"

void figure_put_name(struct text *out, unsigned int figure)
{
	static const char *const names[FIGURES] = {
		[FIGURE_DURATION] = "duration",
		[FIGURE_SHARES + SHARE_UNKNOWN] = "unknown",
		[FIGURE_SHARES + SHARE_RUNNING] = "cpu.running",
		[FIGURE_SHARES + SHARE_SPINNING] = "cpu.spinning",
		[FIGURE_SHARES + SHARE_RUNNABLE] = "cpu.waiting",
		[FIGURE_TRANSFERS] = "transfers",
		[FIGURE_READ_BYTES] = "read.bytes",
		[FIGURE_WRITTEN_BYTES] = "written.bytes",
		[FIGURE_FAULTS] = "faults",
		[FIGURE_CALLS] = "io.count",
		[FIGURE_CALL_BYTES] = "io.bytes",
		[FIGURE_WAKES] = "wakes",
		[FIGURE_INTERRUPTS] = "interrupts",
		[FIGURE_SOFTIRQS] = "softirqs",
		[FIGURE_BLOCKS] = "block.count",
		[FIGURE_BLOCK_BYTES] = "block.bytes",
	};

	if (names[figure])
		text_put(out, names[figure]);
	else if (figure >= FIGURE_WAITS)
		text_printf(out, "wait.%s.count", wait_cause_name(figure - FIGURE_WAITS));
	else
		text_printf(out, "lost.%s", wait_cause_name(figure - FIGURE_SHARES - SHARE_BLOCKED));
}

unsigned int figure_find(const char *name)
{
	struct text text = { 0 };
	unsigned int figure;

	for (figure = 0; figure < FIGURES; figure++) {
		text.length = 0;
		figure_put_name(&text, figure);
		if (!strcmp(text.bytes, name))
			break;
	}
	text_fini(&text);
	return figure;
}

void figures_add(double values[FIGURES], const struct features *features)
{
	values[FIGURE_DURATION] += features->duration_ns;
	for (unsigned int share = 0; share < SHARES; share++)
		values[FIGURE_SHARES + share] += features->ns[share];
	for (unsigned int cause = 0; cause < CAUSES; cause++)
		values[FIGURE_WAITS + cause] += features->count[SHARE_BLOCKED + cause];
	values[FIGURE_TRANSFERS] += features->transfers;
	values[FIGURE_READ_BYTES] += features->read_bytes;
	values[FIGURE_WRITTEN_BYTES] += features->written_bytes;
	values[FIGURE_FAULTS] += features->faults;
	values[FIGURE_CALLS] += features->io_count;
	values[FIGURE_CALL_BYTES] += features->io_bytes;
	values[FIGURE_WAKES] += features->wakes;
	values[FIGURE_INTERRUPTS] += features->interrupts;
	values[FIGURE_SOFTIRQS] += features->softirqs;
	values[FIGURE_BLOCKS] += features->block_count;
	values[FIGURE_BLOCK_BYTES] += features->block_bytes;
}
