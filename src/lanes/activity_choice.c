/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lanes/activity_choice.h"

#include <string.h>

#include "base/clock.h"
#include "lanes/part_choice.h"

/* The verdicts of this filter, in the first place; those of the filter that was used longest ago make place for a new one. */
static uint8_t judge_of(struct activity_choices *choices, struct activity_store *store,
			const struct part_filter *filter)
{
	struct part_filter *filters = choices->filters;
	uint8_t judge;
	size_t place = 0;

	while (place < ACTIVITY_JUDGES - 1 && choices->judges[place] &&
	       memcmp(&filters[place], filter, sizeof(*filter)) != 0)
		place++;
	judge = choices->judges[place];
	if (!judge || memcmp(&filters[place], filter, sizeof(*filter)) != 0) {
		judge = judge ? judge : place + 1;
		activity_store_forget(store, judge - 1);
	}
	memmove(filters + 1, filters, place * sizeof(*filters));
	memmove(choices->judges + 1, choices->judges, place * sizeof(*choices->judges));
	filters[0] = *filter;
	choices->judges[0] = judge;
	return judge - 1;
}

struct activity_chooser activity_choices_begin(struct activity_choices *choices, struct activity_store *store,
					       struct part_choice *choice, uint64_t budget_ns)
{
	return (struct activity_chooser){
		.store = store,
		.choice = choice,
		.deadline_ns = clock_ns() + budget_ns,
		.judge = choice ? judge_of(choices, store, part_choice_filter(choice)) : 0,
	};
}

static bool is_chosen(struct part_choice *choice, const struct kept_activity *activity)
{
	uint64_t end_ns = activity->end_ns > activity->begin_ns ? activity->end_ns : activity->begin_ns + 1;

	return part_choice_has_any(choice, activity->thread, activity->begin_ns, end_ns) ||
	       (activity->end_thread && part_choice_has_any(choice, activity->end_thread, activity->begin_ns, end_ns));
}

bool activity_chooser_has(struct activity_chooser *chooser, size_t at)
{
	const struct kept_activity *activity;
	enum activity_verdict verdict;
	size_t count;

	if (!chooser->choice)
		return true;
	activity = &activity_store_list(chooser->store, &count)[at];
	verdict = activity->verdicts[chooser->judge];
	if (verdict == ACTIVITY_UNJUDGED && clock_ns() >= chooser->deadline_ns) {
		chooser->is_late = true;
		return false;
	}
	if (verdict == ACTIVITY_UNJUDGED) {
		verdict = is_chosen(chooser->choice, activity) ? ACTIVITY_CHOSEN : ACTIVITY_NOT_CHOSEN;
		activity_store_judge(chooser->store, at, chooser->judge, verdict);
	}
	return verdict == ACTIVITY_CHOSEN;
}

void activity_choices_forget(struct activity_choices *choices, struct activity_store *store)
{
	memset(choices, 0, sizeof(*choices));
	for (size_t i = 0; i < ACTIVITY_JUDGES; i++)
		activity_store_forget(store, i);
}
