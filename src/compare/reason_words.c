/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare/reasons.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/text.h"
#include "base/whole.h"

enum { LINKS_MAX = 4, WAY_MAX = 64 };

#define NONE SIZE_MAX

struct sentence {
	struct text *out;
	const struct comparison *comparison;
	const struct graph_set_node *nodes;
};

static bool is_thread(const struct graph_set_node *node)
{
	return node->kind == GRAPH_THREAD || node->kind == GRAPH_OTHER;
}

/* The one who does it, or NONE. */
static size_t thread_above(const struct sentence *t, size_t at)
{
	do {
		at = t->nodes[at].parent;
	} while (at != NONE && !is_thread(&t->nodes[at]));
	return at;
}

static double delta_of(const struct sentence *t, size_t at)
{
	return comparison_delta(t->comparison, at);
}

/* The child that most of the difference comes from. */
static size_t main_child(const struct sentence *t, size_t at)
{
	double delta = delta_of(t, at), sign = copysign(1, delta), most = fabs(delta) / 2;
	size_t found = NONE;

	for (size_t i = t->nodes[at].first; i != NONE; i = t->nodes[i].next) {
		double part = delta_of(t, i) * sign;

		if (part >= most) {
			most = part;
			found = i;
		}
	}
	return found;
}

static void put_who(struct sentence *t, size_t at)
{
	const struct graph_set_node *node = &t->nodes[at];
	size_t above = thread_above(t, at);

	if (above != NONE && !strcmp(t->nodes[above].label, node->label))
		text_put(t->out, "other ");
	text_put_escaped(t->out, *node->label ? node->label : "nameless");
	text_put(t->out, " threads");
}

/* Who else has requests there, if that is a quarter of the difference or more; NONE. */
static size_t disk_rival(const struct sentence *t, size_t disk)
{
	double delta = delta_of(t, disk), sign = copysign(1, delta), most = fabs(delta) / 4;
	size_t waiter = thread_above(t, disk), found = NONE;

	for (size_t i = t->nodes[disk].first; i != NONE; i = t->nodes[i].next) {
		double part = delta_of(t, i) * sign;

		if (!is_thread(&t->nodes[i]) || part < most)
			continue;
		if (waiter != NONE && !strcmp(t->nodes[i].label, t->nodes[waiter].label))
			continue;
		most = part;
		found = i;
	}
	return found;
}

static void put_disk(struct sentence *t, size_t disk)
{
	size_t rival = disk_rival(t, disk);

	text_put(t->out, ", waiting for the disk");
	if (rival == NONE)
		return;
	text_put(t->out, " that also serves ");
	put_who(t, rival);
}

/* ", waiting for ..." after a wait, ", which ... have" after one for a CPU. */
static void put_for(struct sentence *t, size_t wait, size_t at)
{
	bool is_of_cpu = t->nodes[wait].kind == GRAPH_CPU;

	switch (t->nodes[at].kind) {
	case GRAPH_THREAD:
	case GRAPH_OTHER:
		text_put(t->out, is_of_cpu ? " that " : ", waiting for ");
		put_who(t, at);
		text_put(t->out, is_of_cpu ? " have" : "");
		break;
	case GRAPH_DISK:
		put_disk(t, at);
		break;
	case GRAPH_NETWORK:
		text_put(t->out, ", waiting for the network");
		break;
	case GRAPH_SIGNAL:
		text_put(t->out, ", waiting for a signal");
		break;
	case GRAPH_INTERRUPT:
		text_put(t->out, ", waiting for an interrupt");
		break;
	default:
		break;
	}
}

/* "in lock held_lock", "running". */
static void put_doing(struct sentence *t, size_t at)
{
	switch (t->nodes[at].kind) {
	case GRAPH_WAIT:
		text_put(t->out, "in ");
		text_put_escaped(t->out, t->nodes[at].label);
		break;
	case GRAPH_RUNNING:
		text_put(t->out, "running");
		break;
	default:
		text_put(t->out, t->nodes[at].label);
		break;
	}
}

/* A queue: the one who is waited for is in the same wait. Its last one, and in *whom for whom that is. */
static size_t end_of_queue(const struct sentence *t, size_t wait, size_t *whom)
{
	for (;;) {
		size_t next;

		*whom = main_child(t, wait);
		if (*whom == NONE || t->nodes[*whom].kind != GRAPH_THREAD)
			return wait;
		next = main_child(t, *whom);
		if (next == NONE || t->nodes[next].kind != GRAPH_WAIT ||
		    strcmp(t->nodes[next].label, t->nodes[wait].label))
			return wait;
		wait = next;
	}
}

/* The way on to the bottom of it: who is waited for, and what that one does meanwhile. */
static void put_on(struct sentence *t, size_t at)
{
	for (int link = 0; link < LINKS_MAX; link++) {
		size_t first = main_child(t, at), whom, last = end_of_queue(t, at, &whom), next;

		if (first == NONE)
			return;
		put_for(t, at, whom == NONE ? first : whom);
		if (last != at && whom != NONE && is_thread(&t->nodes[whom]) &&
		    strcmp(t->nodes[whom].label, t->nodes[first].label)) {
			text_put(t->out, " behind ");
			put_who(t, first);
		}
		if (whom == NONE || t->nodes[at].kind == GRAPH_CPU || !is_thread(&t->nodes[whom]))
			return;
		next = main_child(t, whom);
		if (next == NONE || t->nodes[next].kind == GRAPH_ABSENT || t->nodes[next].kind == GRAPH_UNKNOWN)
			return;
		text_put(t->out, ", which are ");
		put_doing(t, next);
		at = next;
	}
}

/* From the first wait down to the reason, when that lies below others. */
static void put_way_to(struct sentence *t, size_t to)
{
	size_t way[WAY_MAX], count = 0;
	bool is_first = true;

	for (size_t at = t->nodes[to].parent; at != NONE && count < WAY_MAX; at = t->nodes[at].parent)
		way[count++] = at;
	while (count-- > 0) {
		if (t->nodes[way[count]].kind != GRAPH_WAIT || !count)
			continue;
		/* Of a queue, the last one says enough. */
		if (count > 1 && !strcmp(t->nodes[way[count]].label, t->nodes[way[count - 2]].label))
			continue;
		text_put(t->out, is_first ? "while they are " : ", which are ");
		put_doing(t, way[count]);
		put_for(t, way[count], way[count - 1]);
		is_first = false;
	}
	if (!is_first)
		text_put(t->out, ", which are ");
}

static void put_amount(struct sentence *t, const struct difference *ns)
{
	text_put_duration(t->out, whole(fabs(ns->delta) + 0.5));
	text_put(t->out, ns->delta > 0 ? " more" : " less");
	if (t->comparison->is_per_second)
		text_put(t->out, " of each second");
}

static void put_subject(struct sentence *t, size_t at)
{
	size_t first = at;

	text_put_escaped(t->out, t->comparison->sides[SECOND_SIDE].name);
	if (!t->comparison->is_of_runs) {
		text_put(t->out, " spend ");
		return;
	}
	while (t->nodes[first].parent != NONE && t->nodes[first].parent)
		first = t->nodes[first].parent;
	text_put(t->out, ": ");
	text_put_escaped(t->out, *t->nodes[first].label ? t->nodes[first].label : "nameless");
	text_put(t->out, " threads spend ");
}

/* Of how many executions that is true. */
static void put_how_many(struct sentence *t, size_t at)
{
	const struct graph_set_node *node = &t->nodes[at];
	const uint64_t *all = t->comparison->set->graph_counts;
	bool is_first_only = !node->ns[SECOND_SIDE].count, is_second_only = !node->ns[FIRST_SIDE].count;

	if (t->comparison->is_of_runs) {
		if (is_first_only || is_second_only)
			text_printf(t->out, "; only in %s run", is_first_only ? "the first" : "this");
		return;
	}
	text_printf(t->out, "; in %llu of %llu, and %llu of %llu ", (unsigned long long)node->ns[SECOND_SIDE].count,
		    (unsigned long long)all[SECOND_SIDE], (unsigned long long)node->ns[FIRST_SIDE].count,
		    (unsigned long long)all[FIRST_SIDE]);
	text_put_escaped(t->out, t->comparison->sides[FIRST_SIDE].name);
}

/* How much more, or less, of the running it is. */
static void put_function(struct text *out, const struct reason *reason)
{
	if (!reason->function)
		return;
	text_put(out, ", ");
	text_put_duration(out, whole(fabs(reason->function_ns) + 0.5));
	text_put(out, " ± ");
	text_put_duration(out, whole(reason->function_error_ns + 0.5));
	text_put(out, reason->function_ns > 0 ? " more of it in " : " less of it in ");
	text_put_escaped(out, reason->function);
}

void reason_put(struct text *out, const struct comparison *comparison, const struct reason *reason)
{
	struct sentence t = { out, comparison, comparison->set->nodes };

	put_subject(&t, reason->node);
	put_amount(&t, &reason->ns);
	text_put(out, " ");
	put_way_to(&t, reason->node);
	put_doing(&t, reason->node);
	put_function(out, reason);
	put_on(&t, reason->node);
	put_how_many(&t, reason->node);
}
