/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/execution_means.h"

#include "compare/difference.h"
#include "lanes/aligned_tile.h"
#include "results/results.h"
#include "serve/answer.h"
#include "serve/drawn_together.h"
#include "serve/execution_grouping.h"
#include "serve/viewed.h"
#include "view/json/json_fields.h"
#include "view/trace/difference_result.h"

enum { COMPARED = 2, STATUS_BAD_REQUEST = 400 };

static void add_group(const struct execution_grouping *grouping, struct execution_group *group,
		      const struct viewed *viewed, const int64_t range_ns[2], struct sample samples[SHARES])
{
	size_t count;
	const struct aligned_row *rows = drawn_together_rows(grouping, group, viewed, &count);

	for (size_t i = 0; i < count; i++) {
		uint64_t ns[SHARES] = { 0 };

		aligned_add_shares(viewed->all.states, &rows[i], range_ns[0], range_ns[1], ns);
		for (unsigned int share = 0; share < SHARES; share++)
			sample_add(&samples[share], ns[share]);
	}
}

static void put_means(struct sample samples[COMPARED][SHARES], const int64_t range_ns[2], struct text *out)
{
	struct difference differences[SHARES], *asked[SHARES];
	struct result_state_means results[SHARES];
	struct result_means means = { .from_ns = range_ns[0], .to_ns = range_ns[1], .states = results };

	for (unsigned int share = 0; share < SHARES; share++) {
		if (samples[0][share].mean == 0 && samples[1][share].mean == 0)
			continue;
		results[means.state_count].share = share;
		differences[means.state_count] = difference_of(&samples[0][share], &samples[1][share]);
		asked[means.state_count] = &differences[means.state_count];
		means.state_count++;
	}
	differences_correct(asked, means.state_count);
	for (size_t i = 0; i < means.state_count; i++)
		results[i].ns = difference_result(&differences[i]);
	json_put_document(out, result_means_type(), &means);
}

void execution_answer_means(struct execution_grouping *grouping, const struct viewed *viewed,
			    const struct request *request, struct reply *reply)
{
	static const char *const names[COMPARED] = { "group", "other" };
	struct sample samples[COMPARED][SHARES] = { 0 };
	int64_t range_ns[2], numbers[COMPARED];
	bool is_right = request_number(request, "from", 0, INT64_MAX / 2, &range_ns[0]) &&
			request_number(request, "to", range_ns[0], INT64_MAX / 2, &range_ns[1]);

	for (unsigned int i = 0; i < COMPARED; i++)
		is_right = is_right && request_number(request, names[i], 0, grouping->count, &numbers[i]);
	if (!is_right) {
		reply_fail(
			reply, STATUS_BAD_REQUEST,
			"means need a range of time since the beginning, from and to, and numbers of two groups, group "
			"and other, from 0 to %u",
			grouping->count);
		return;
	}
	for (unsigned int i = 0; i < COMPARED; i++)
		add_group(grouping, &grouping->groups[numbers[i]], viewed, range_ns, samples[i]);
	put_means(samples, range_ns, &reply->body);
}
