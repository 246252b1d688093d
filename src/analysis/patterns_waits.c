/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Findings of waits for anything but locks. */
#include "analysis/draft.h"

#include <string.h>

/*
 * A thread that has nothing to do but to wait for the end of those that do the work, as main() of many
 * programs, is no finding.
 */
static bool is_mere_parent(const struct report *report, const struct report_wait *wait,
			   uint64_t lost_ns)
{
	return (!strcmp(wait->cause, "join") || !strcmp(wait->cause, "child")) &&
	       report->totals.alive_max >= 3 && lost_ns <= 1.2 * report->target.wall_ns;
}

/* What threads wait for that is no lock: one finding a cause and place. */
static const char *wait_title(struct findings *findings, const struct report_wait *wait,
			      const char *object)
{
	const struct report_waker *waker = wait->waker_count ? &wait->wakers[0] : NULL;
	const char *where = draft_place(findings, wait->frames, wait->frame_count);
	const char *by = waker && waker->frame_count
				 ? draft_place(findings, waker->frames, waker->frame_count) : NULL;
	const char *in = where ? arena_printf(findings->arena, " in %s", where) : "";
	const char *what = object ? arena_printf(findings->arena, " %s",
						 draft_object(findings, object)) : "";

	if (!strcmp(wait->cause, "condition") || !strcmp(wait->cause, "semaphore"))
		return arena_printf(findings->arena, "threads wait for a %s%s%s%s%s", wait->cause, what,
				    in, by ? ", signalled in " : "", by ? by : "");
	if (wait->kind)
		return arena_printf(findings->arena, "threads wait for %ss%s%s%s", wait->kind, in,
				    by ? ", let go of in " : "", by ? by : "");
	if (!strcmp(wait->cause, "join"))
		return arena_printf(findings->arena, "threads wait%s for others to end", in);
	if (!strcmp(wait->cause, "page-fault"))
		return arena_printf(findings->arena, "threads wait%s for pages to be read", in);
	if (!strcmp(wait->cause, "kernel-lock"))
		return arena_printf(findings->arena, "threads wait%s for locks of the kernel", in);
	if (!strcmp(wait->cause, "child"))
		return arena_printf(findings->arena, "threads wait%s for child processes", in);
	if (!strcmp(wait->cause, "sleep"))
		return arena_printf(findings->arena, "threads sleep%s", in);
	if (!strcmp(wait->cause, "poll"))
		return arena_printf(findings->arena, "threads poll descriptors%s%s%s", in,
				    by ? ", woken in " : "", by ? by : "");
	return arena_printf(findings->arena, "threads wait for %s%s%s%s", wait->cause, object ? "" : "s",
			    what, in);
}

/* Waits that read the same: of one kind of lock that is made of other waits, or of equal titles. */
struct alike {
	const char *kind, *title;
	const struct report_wait *heaviest;
	uint32_t rank;
	uint64_t lost_ns, idle_ns, count, max_ns, places;
};

/* Of files and sockets one place may wait for any number, each time for another. */
static bool has_many_objects(const struct report_wait *wait)
{
	return !strcmp(wait->cause, "file") || !strcmp(wait->cause, "socket");
}

static struct alike *find_alike(struct findings *findings, struct alike *rows, size_t *count,
				const struct report_wait *wait)
{
	const char *title = wait_title(findings, wait, has_many_objects(wait) ? NULL : wait->object);

	for (size_t i = 0; i < *count; i++)
		if (wait->kind ? rows[i].kind && !strcmp(rows[i].kind, wait->kind)
			       : !rows[i].kind && !strcmp(rows[i].title, title))
			return &rows[i];
	if (*count == FINDINGS_MAX)
		return NULL;
	rows[*count] = (struct alike){ .kind = wait->kind, .title = title, .heaviest = wait };
	return &rows[(*count)++];
}

static void add_alike(struct findings *findings, struct draft *draft, const struct alike *alike)
{
	const struct report_wait *wait = alike->heaviest;
	uint64_t lost_ns = alike->lost_ns - alike->idle_ns;
	double share = draft_lost(findings, lost_ns);
	struct report_finding *row;
	const char *title;

	if (share < finding_share_min || is_mere_parent(&findings->report, wait, lost_ns))
		return;
	title = alike->places == 1 ? wait_title(findings, wait, wait->object) : alike->title;
	row = draft_add(findings, draft, "wait", wait->cause, share, "%s", title);
	if (row)
		row->wait_rank = alike->rank;
	draft_say(findings, row, "%s",
		  draft_lengths(findings, alike->count, alike->lost_ns, alike->max_ns));
	if (alike->places > 1)
		draft_say(findings, row, "%llu rows of the waits; the heaviest has %.0f %% of it%s%s",
			  (unsigned long long)alike->places,
		    100 * draft_share(wait->lost_ns - wait->idle_ns, alike->lost_ns - alike->idle_ns),
			  wait->object ? ": " : "", wait->object ? wait->object : "");
}

void patterns_add_waits(struct findings *findings, struct draft *draft)
{
	const struct report *report = &findings->report;
	struct alike rows[FINDINGS_MAX];
	size_t count = 0;

	for (size_t i = 0; i < report->wait_count; i++) {
		const struct report_wait *wait = &report->waits[i];
		struct alike *alike;

		/* So many that are smaller do not read the same. */
		if (draft_share(wait->lost_ns - wait->idle_ns, report->balance.busy_ns) <
		    finding_share_min / 30)
			break;
		if ((!strcmp(wait->cause, "lock") && !wait->kind) || !strcmp(wait->cause, "barrier"))
			continue;	/* by lock */
		alike = find_alike(findings, rows, &count, wait);
		if (!alike)
			break;
		if (!alike->places++)
			alike->rank = i + 1;
		alike->lost_ns += wait->lost_ns;
		alike->idle_ns += wait->idle_ns;
		alike->count += wait->count;
		if (wait->max_ns > alike->max_ns)
			alike->max_ns = wait->max_ns;
	}
	for (size_t i = 0; i < count; i++)
		add_alike(findings, draft, &rows[i]);
}
