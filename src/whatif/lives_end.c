/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When a run ends: what others do in the background is no part of its length. */
#include "whatif/lives_internal.h"

static bool is_tied(const struct lives *lives, const struct life *life)
{
	for (size_t i = life->first; i < life->end; i++)
		if (lives->steps[i].kind == STEP_WAIT || lives->steps[i].kind == STEP_WAKE)
			return true;
	return false;
}

bool lives_have_awaited(const struct lives *lives)
{
	for (size_t i = 0; i < lives->count; i++)
		if (lives->lives[i].is_awaited && lives->lives[i].first < lives->lives[i].end)
			return true;
	return false;
}

/* When no process ended it is those that have to do with each other, if any do. */
static void choose_awaited(struct lives *lives)
{
	if (lives_have_awaited(lives))
		return;
	for (size_t i = 0; i < lives->count; i++)
		lives->lives[i].is_awaited = is_tied(lives, &lives->lives[i]);
	if (lives_have_awaited(lives))
		return;
	for (size_t i = 0; i < lives->count; i++)
		lives->lives[i].is_awaited = true;
}

void lives_find_end(struct lives *lives)
{
	choose_awaited(lives);
	for (size_t i = 0; i < lives->count; i++) {
		const struct life *life = &lives->lives[i];

		if (life->is_awaited && life->first < life->end && lives->steps[life->end - 1].end_ns > lives->end_ns)
			lives->end_ns = lives->steps[life->end - 1].end_ns;
	}
}
