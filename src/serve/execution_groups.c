/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/execution_groups.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "serve/answer.h"
#include "serve/drawn_together.h"
#include "serve/execution_grouping.h"
#include "serve/group_question.h"
#include "serve/own_command.h"

/* Each that makes and each that waits keeps one of the server's threads: http_server.c. */
enum {
	KEPT = 4,
	MAKING_MAX = 2,
	WAITING_MAX = 4,
	FIXED_ARGUMENTS = 6,
	STATUS_INTERNAL = 500,
	STATUS_UNAVAILABLE = 503
};

struct kept_grouping {
	char *key; /* NULL: it is free */
	uint64_t used;
	unsigned int users; /* so many look at it or wait for it: it stays */
	bool is_made;       /* else somebody makes it */
	struct execution_grouping grouping;
};

struct execution_groups {
	const char *trace_path;
	bool opens_files;
	pthread_mutex_t lock; /* of all that follows, but for groupings that are made */
	pthread_cond_t has_changed;
	unsigned int making, waiting;
	uint64_t uses;
	struct kept_grouping kept[KEPT];
};

struct execution_groups *execution_groups_new(const char *trace_path, bool opens_files)
{
	struct execution_groups *groups = xcalloc(1, sizeof(*groups));

	groups->trace_path = trace_path;
	groups->opens_files = opens_files;
	pthread_mutex_init(&groups->lock, NULL);
	pthread_cond_init(&groups->has_changed, NULL);
	return groups;
}

static void forget(struct kept_grouping *kept)
{
	free(kept->key);
	drawn_together_free(&kept->grouping);
	execution_grouping_fini(&kept->grouping);
	*kept = (struct kept_grouping){ 0 };
}

void execution_groups_free(struct execution_groups *groups)
{
	if (!groups)
		return;
	for (size_t i = 0; i < KEPT; i++)
		forget(&groups->kept[i]);
	pthread_cond_destroy(&groups->has_changed);
	pthread_mutex_destroy(&groups->lock);
	free(groups);
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

/* --- With the lock ------------------------------------------------------------------------------- */

/* NULL: there is none with this key. */
static struct kept_grouping *find(struct execution_groups *groups, const char *key)
{
	for (size_t i = 0; i < KEPT; i++)
		if (groups->kept[i].key && !strcmp(groups->kept[i].key, key))
			return &groups->kept[i];
	return NULL;
}

/* The one that nobody looks at and that was asked for longest ago, empty. NULL: all are looked at. */
static struct kept_grouping *find_free(struct execution_groups *groups)
{
	struct kept_grouping *oldest = NULL;

	for (size_t i = 0; i < KEPT; i++)
		if (!groups->kept[i].users && (!oldest || groups->kept[i].used < oldest->used))
			oldest = &groups->kept[i];
	if (oldest)
		forget(oldest);
	return oldest;
}

/* Gives the lock away meanwhile. NULL: the reply says why there is none. */
static struct kept_grouping *make_kept(struct execution_groups *groups, const struct group_question *question,
				       struct kept_grouping *kept, struct reply *reply)
{
	struct text messages = { 0 };
	int err;

	kept->users = 1;
	groups->making++;
	pthread_mutex_unlock(&groups->lock);
	err = make(groups, question, &kept->grouping, &messages);
	if (err)
		reply_failed(reply, err, &messages);
	text_fini(&messages);
	pthread_mutex_lock(&groups->lock);
	groups->making--;
	kept->users--;
	kept->is_made = !err;
	pthread_cond_broadcast(&groups->has_changed);
	if (!err)
		return kept;
	forget(kept);
	return NULL;
}

/* Whether it may wait, and has done so until something changed. */
static bool wait_for_others(struct execution_groups *groups)
{
	if (groups->waiting == WAITING_MAX)
		return false;
	groups->waiting++;
	pthread_cond_wait(&groups->has_changed, &groups->lock);
	groups->waiting--;
	return true;
}

/* NULL: the reply says why there is none, or nothing, if others make it and the caller does not wait. */
static struct kept_grouping *find_or_make(struct execution_groups *groups, const struct group_question *question,
					  const char *key, bool waits, struct reply *reply)
{
	for (;;) {
		struct kept_grouping *kept = find(groups, key);

		if (kept && kept->is_made)
			return kept;
		if (!kept && groups->making < MAKING_MAX && (kept = find_free(groups))) {
			kept->key = xstrdup(key);
			return make_kept(groups, question, kept, reply);
		}
		if (!waits)
			return NULL;
		if (!wait_for_others(groups)) {
			reply_fail(reply, STATUS_UNAVAILABLE,
				   "executions are being grouped for other readers: ask again later");
			return NULL;
		}
	}
}

struct execution_grouping *execution_groups_take(struct execution_groups *groups, const struct request *request,
						 bool waits, struct reply *reply)
{
	struct text key = { 0 };
	struct group_question question;
	struct kept_grouping *kept;

	group_question_read(request, &question);
	group_question_put_key(&question, &key);
	pthread_mutex_lock(&groups->lock);
	kept = find_or_make(groups, &question, key.bytes, waits, reply);
	if (kept) {
		kept->used = ++groups->uses;
		kept->users++;
	}
	pthread_mutex_unlock(&groups->lock);
	text_fini(&key);
	return kept ? &kept->grouping : NULL;
}

void execution_groups_release(struct execution_groups *groups, struct execution_grouping *grouping)
{
	pthread_mutex_lock(&groups->lock);
	for (size_t i = 0; i < KEPT; i++)
		if (&groups->kept[i].grouping == grouping)
			groups->kept[i].users--;
	pthread_cond_broadcast(&groups->has_changed);
	pthread_mutex_unlock(&groups->lock);
}
