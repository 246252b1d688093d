/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which call path code belongs to: to that of the user's own function in which it ran, and of what called that one. */
#include "findings/parts/code_path_key.h"

#include "base/table.h"
#include "findings/parts/findings_internal.h"
#include "stacks/fold.h"

uint64_t findings_code_key(const struct report_frame *frame)
{
	uint64_t key = hash_string(1, frame->module ? frame->module : "");

	return frame->function ? hash_string(key, frame->function) : hash_u64(key ^ frame->offset);
}

/* Whether a path may begin there: it is the user's own, and has a name unless none of them has. */
static bool is_own(const struct findings *findings, const struct report_frame *frame, bool wants_name)
{
	return (frame->function || !wants_name) && !fold_is_plumbing(findings->input.fold, frame);
}

/* The first of the user's own frames from there on; count: there is none. */
static size_t find_own(const struct findings *findings, const struct report_frame *frames, size_t count, size_t from,
		       bool wants_name)
{
	while (from < count && !is_own(findings, &frames[from], wants_name))
		from++;
	return from;
}

/* Recursion is one function. */
static size_t find_caller(const struct findings *findings, const struct report_frame *frames, size_t count,
			  size_t frame, bool wants_name)
{
	uint64_t key = findings_code_key(&frames[frame]);
	size_t caller = find_own(findings, frames, count, frame + 1, wants_name);

	while (caller < count && findings_code_key(&frames[caller]) == key)
		caller = find_own(findings, frames, count, caller + 1, wants_name);
	return caller;
}

uint64_t findings_code_path_key(const struct findings *findings, const struct report_frame *frames, size_t count,
				size_t *frame)
{
	bool has_name = find_own(findings, frames, count, 0, true) < count;
	size_t caller = count;
	uint64_t key;

	*frame = find_own(findings, frames, count, 0, has_name);
	if (*frame < count)
		caller = find_caller(findings, frames, count, *frame, has_name);
	else
		*frame = fold_find_headline(findings->input.fold, frames, count) - frames;
	key = findings_code_key(&frames[*frame]);
	for (size_t i = 0; i < *frame && findings->input.tells_kernel_apart; i++)
		key = hash_u64(key ^ hash_u64(findings_code_key(&frames[i])));
	return caller < count ? hash_u64(key ^ hash_u64(findings_code_key(&frames[caller]))) : key;
}
