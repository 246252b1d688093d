/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/execution_groups.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "compare/figures.h"
#include "serve/answer.h"
#include "serve/group_question.h"
#include "serve/own_command.h"

enum { KEPT = 4, FIXED_ARGUMENTS = 6, STATUS_INTERNAL = 500 };

struct kept_grouping {
	char *key; /* NULL: it is free */
	uint64_t used;
	struct execution_grouping grouping;
};

struct execution_groups {
	const char *trace_path;
	bool opens_files;
	pthread_mutex_t lock; /* of all that follows */
	uint64_t uses;
	struct kept_grouping kept[KEPT];
};

struct execution_groups *execution_groups_new(const char *trace_path, bool opens_files)
{
	struct execution_groups *groups = xcalloc(1, sizeof(*groups));

	groups->trace_path = trace_path;
	groups->opens_files = opens_files;
	pthread_mutex_init(&groups->lock, NULL);
	return groups;
}

static void forget(struct kept_grouping *kept)
{
	free(kept->key);
	execution_grouping_fini(&kept->grouping);
	*kept = (struct kept_grouping){ 0 };
}

void execution_groups_free(struct execution_groups *groups)
{
	if (!groups)
		return;
	for (size_t i = 0; i < KEPT; i++)
		forget(&groups->kept[i]);
	pthread_mutex_destroy(&groups->lock);
	free(groups);
}

/* --- What pinch compare says --------------------------------------------------------------------- */

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
		free(grouping->groups[i].drawn);
		free(grouping->groups[i].parts);
	}
	free(grouping->executions.list);
	free(grouping->group_of);
	*grouping = (struct execution_grouping){ 0 };
}

/* --- Those of a question ------------------------------------------------------------------------- */

/* The one with this key, or one that is free. */
static struct kept_grouping *find(struct execution_groups *groups, const char *key)
{
	struct kept_grouping *oldest = &groups->kept[0];

	for (size_t i = 0; i < KEPT; i++) {
		if (groups->kept[i].key && !strcmp(groups->kept[i].key, key))
			return &groups->kept[i];
		if (groups->kept[i].used < oldest->used)
			oldest = &groups->kept[i];
	}
	forget(oldest);
	return oldest;
}

static int make(const struct execution_groups *groups, const struct group_question *question,
		struct execution_grouping *out, struct text *messages)
{
	const char *arguments[FIXED_ARGUMENTS + GROUP_ARGUMENTS_MAX] = { "compare", "--executions", "-" };
	struct text csv = { 0 };
	size_t count = 3 + group_question_put_arguments(question, arguments + 3);
	int err;

	if (groups->opens_files)
		arguments[count++] = "--symbols-from-files";
	arguments[count] = groups->trace_path;
	err = own_command_run(arguments, &csv, messages);
	if (!err)
		err = execution_grouping_read(csv.length ? csv.bytes : "", out);
	text_fini(&csv);
	return err;
}

/* What the command said first. */
static void reply_failed(struct reply *reply, int err, const struct text *messages)
{
	int length = messages->length ? (int)strcspn(messages->bytes, "\n") : 0;

	reply_fail(reply, STATUS_INTERNAL, "%.*s", length ? length : INT_MAX,
		   length ? messages->bytes : strerror(-err));
}

struct execution_grouping *execution_groups_take(struct execution_groups *groups, const struct request *request,
						 struct reply *reply)
{
	struct text key = { 0 }, messages = { 0 };
	struct group_question question;
	struct kept_grouping *kept;
	int err = 0;

	group_question_read(request, &question);
	group_question_put_key(&question, &key);
	pthread_mutex_lock(&groups->lock);
	kept = find(groups, key.bytes);
	if (!kept->key)
		err = make(groups, &question, &kept->grouping, &messages);
	if (err) {
		forget(kept);
		pthread_mutex_unlock(&groups->lock);
		reply_failed(reply, err, &messages);
	} else {
		if (!kept->key)
			kept->key = xstrdup(key.bytes);
		kept->used = ++groups->uses;
	}
	text_fini(&key);
	text_fini(&messages);
	return err ? NULL : &kept->grouping;
}

void execution_groups_release(struct execution_groups *groups)
{
	pthread_mutex_unlock(&groups->lock);
}
