/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/execution_grouping.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "compare/figures.h"

/* A number and what ends it, a comma or the line. */
static bool read_number(const char **at, uint64_t *out)
{
	char *end;

	if ((**at < '0' || **at > '9') && **at != '-')
		return false;
	*out = **at == '-' ? (uint64_t)strtoll(*at, &end, 10) : strtoull(*at, &end, 10);
	if (*end == '\r')
		end++;
	if (*end != ',' && *end != '\n')
		return false;
	*at = end + 1;
	return true;
}

static bool read_execution(const char **at, struct execution_grouping *grouping, size_t capacity)
{
	size_t place = grouping->executions.count;
	uint64_t group, thread, begin_thread, value;
	struct execution *execution = &grouping->executions.list[place];

	if (place == capacity || !read_number(at, &group) || group > GROUPS_MAX || !read_number(at, &thread) ||
	    !read_number(at, &begin_thread) || !read_number(at, &execution->begin_ns) ||
	    !read_number(at, &execution->end_ns))
		return false;
	execution->thread = thread;
	execution->begin_thread = begin_thread;
	grouping->group_of[place] = group;
	for (unsigned int figure = 0; figure < FIGURES; figure++) {
		if (!read_number(at, &value))
			return false;
		if (figure >= FIGURE_SHARES && figure < FIGURE_SHARES + SHARES)
			grouping->groups[group].ns[figure - FIGURE_SHARES] += value;
	}
	grouping->groups[group].count++;
	grouping->executions.count++;
	return true;
}

static size_t count_lines(const char *csv)
{
	size_t count = 0;

	while ((csv = strchr(csv, '\n'))) {
		csv++;
		count++;
	}
	return count;
}

static void find_members(struct execution_grouping *grouping)
{
	for (unsigned int i = 0; i <= GROUPS_MAX; i++) {
		struct execution_group *group = &grouping->groups[i];

		group->members = xcalloc(group->count + 1, sizeof(*group->members));
		if (group->count && i)
			grouping->count = i;
		group->count = 0;
	}
	for (size_t place = 0; place < grouping->executions.count; place++) {
		struct execution_group *group = &grouping->groups[grouping->group_of[place]];

		group->members[group->count++] = place;
	}
}

int execution_grouping_read(const char *csv, struct execution_grouping *out)
{
	static const char names[] = "group,thread,begin_thread,begin_ns,end_ns,duration,";
	size_t capacity = count_lines(csv);
	bool is_read = !strncmp(csv, names, sizeof(names) - 1);

	*out = (struct execution_grouping){ 0 };
	out->executions.list = xcalloc(capacity + 1, sizeof(*out->executions.list));
	out->group_of = xcalloc(capacity + 1, sizeof(*out->group_of));
	csv = is_read ? strchr(csv, '\n') : NULL;
	if (csv)
		csv++;
	while (csv && *csv && is_read)
		is_read = read_execution(&csv, out, capacity);
	find_members(out);
	return csv && is_read ? 0 : -EBADMSG;
}

void execution_grouping_fini(struct execution_grouping *grouping)
{
	for (unsigned int i = 0; i <= GROUPS_MAX; i++) {
		free(grouping->groups[i].members);
	}
	free(grouping->executions.list);
	free(grouping->group_of);
	*grouping = (struct execution_grouping){ 0 };
}

struct execution execution_grouping_at(const struct execution_grouping *grouping, uint32_t place, uint64_t first_ns)
{
	struct execution execution = grouping->executions.list[place];

	execution.begin_ns += first_ns;
	execution.end_ns += first_ns;
	return execution;
}
