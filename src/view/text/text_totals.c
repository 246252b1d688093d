/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the figures rest on: counts, the account of the wall time, losses, cost, notes. */
#include "view/text/text_sections.h"

#include <inttypes.h>

#include "report/report.h"
#include "view/page.h"

static double share_of(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / whole : 0;
}

/* "1 stall", "3 stalls". */
static void put_counted(struct text *text, uint64_t count, const char *noun, const char *plural)
{
	text_put_count(text, count);
	text_put(text, " ");
	text_put(text, count == 1 ? noun : plural);
}

/* Three decimals of a second, so that the two sides of the account can be compared. */
static void put_exact(struct text *text, uint64_t duration_ns)
{
	if (duration_ns >= 1000000000)
		text_printf(text, "%.3f s", duration_ns / 1e9);
	else
		text_put_duration(text, duration_ns);
}

static void show_counts(struct page *page, const struct report *report)
{
	struct text text = { 0 };

	put_counted(&text, report->totals.threads, "thread", "threads");
	text_put(&text, ", up to ");
	text_put_count(&text, report->totals.alive_max);
	text_put(&text, " alive at once; ");
	put_counted(&text, report->totals.slices, "slice", "slices");
	text_put(&text, " in ");
	put_counted(&text, report->totals.switches, "switch", "switches");
	text_put(&text, ", ");
	text_put_count(&text, report->totals.critical_slices);
	text_put(&text, " critical (");
	page_text_share(&text, share_of(report->totals.critical_slices, report->totals.slices));
	text_put(&text, "); ");
	put_counted(&text, report->totals.samples, "sample", "samples");
	text_put(&text, ", ");
	put_counted(&text, report->totals.stack_tops, "stack top", "stack tops");
	text_put(&text, "; critical: at most N_min threads active, here ");
	if (report->totals.is_nmin_default)
		text_put(&text, "half of the living threads");
	else
		text_printf(&text, "%" PRIu32, report->totals.nmin);
	page_paragraph(page, "Totals     ", text.bytes);
	text_fini(&text);
}

static void put_share_of(struct text *text, uint64_t count, uint64_t all, const char *what)
{
	if (!count)
		return;
	text_put(text, ", ");
	page_text_share(text, share_of(count, all));
	text_put(text, what);
}

static void show_stacks(struct page *page, const struct report *report)
{
	const uint64_t *ends = report->stacks.ends;
	uint64_t taken = report->stacks.taken;
	struct text text = { 0 };

	text_put_count(&text, taken);
	text_printf(&text, " taken, %.1f frames on average, ", (double)report->stacks.frames / taken);
	text_put_duration(&text, report->stacks.ns / taken);
	text_put(&text, " each; ");
	page_text_share(&text, share_of(ends[STACK_COMPLETE], taken));
	text_put(&text, " complete");
	put_share_of(&text, ends[STACK_TRUNCATED], taken, " too deep");
	put_share_of(&text, ends[STACK_NO_TABLE], taken, " with missing callers");
	put_share_of(&text, ends[STACK_UNREADABLE], taken, " partly unreadable");
	page_paragraph(page, "Stacks     ", text.bytes);
	text_fini(&text);
}

static void show_account(struct page *page, const struct report *report)
{
	int64_t error_ns = report->totals.accounting_error_ns;
	uint64_t error_size_ns = error_ns < 0 ? -(uint64_t)error_ns : (uint64_t)error_ns;
	struct text text = { 0 };

	put_exact(&text, report->totals.cmetric_ns + report->totals.stalled_ns);
	text_put(&text, " of ");
	put_exact(&text, report->target.wall_ns);
	text_put(&text, ": CMetric of all threads ");
	put_exact(&text, report->totals.cmetric_ns);
	text_put(&text, " + stalled ");
	put_exact(&text, report->totals.stalled_ns);
	text_put(&text, error_ns < 0 ? ", accounting error -" : ", accounting error ");
	text_put_duration(&text, error_size_ns);
	text_put(&text, ", unexplained transitions ");
	text_put_count(&text, report->losses.unexplained_transitions + report->balance.threads.unexplained_waits);
	page_paragraph(page, "Accounted  ", text.bytes);
	text_fini(&text);
}

static void show_loss(struct page *page, const char **label, uint64_t count, const char *singular, const char *plural,
		      const char *meaning)
{
	struct text text = { 0 };

	if (!count)
		return;
	text_put_count(&text, count);
	text_printf(&text, " %s %s", count == 1 ? singular : plural, meaning);
	page_color(page, PAGE_YELLOW);
	page_paragraph(page, *label, text.bytes);
	*label = "           ";
	text_fini(&text);
}

void text_losses_show(struct page *page, const struct report *report)
{
	double keep_min = report->losses.keep_min;
	struct text gaps = { 0 }, not_kept = { 0 }, hidden = { 0 };
	const char *label = "Lost       ";

	text_put(&gaps, "with lost events, because a ring buffer was full: ");
	text_put_duration(&gaps, report->losses.gap_ns);
	text_put(&gaps, " in total");
	text_put(&not_kept, "not kept, to limit the cost");
	if (keep_min > 0 && keep_min < 1)
		text_printf(&not_kept, " (at least one in %.0f was kept)", 1 / keep_min);
	text_put(&not_kept, ": paths marked ~ are estimates");
	show_loss(page, &label, report->losses.gaps, "gap", "gaps", gaps.bytes);
	show_loss(page, &label, report->losses.records, "event", "events",
		  "lost in gaps; what threads did there is inferred from later events");
	show_loss(page, &label, report->losses.samples, "sample", "samples", "lost: the sampler's buffer was full");
	show_loss(page, &label, report->losses.malformed, "record", "records",
		  "malformed and skipped: please report this");
	show_loss(page, &label, report->losses.late, "event", "events", "too late to be sorted by time");
	text_put(&hidden, "of threads that this kernel hides from tracers");
	if (report->balance.threads.hidden_waits) {
		text_put(&hidden, "; ");
		text_put_count(&hidden, report->balance.threads.hidden_waits);
		text_printf(&hidden, " %s of the program ended there, without a recorded waker",
			    report->balance.threads.hidden_waits == 1 ? "wait" : "waits");
	}
	show_loss(page, &label, report->losses.hidden, "switch", "switches", hidden.bytes);
	show_loss(page, &label, report->balance.threads.unexplained_waits, "wait", "waits",
		  "without a recorded waker and without an explanation: please report this");
	show_loss(page, &label, report->losses.unexplained_transitions, "change of state", "changes of state",
		  "inconsistent with the one before, corrected");
	show_loss(page, &label, report->losses.stacks_unreadable, "critical slice", "critical slices",
		  "with a stack that could not be read");
	show_loss(page, &label, report->losses.stacks_not_kept, "stack", "stacks", not_kept.bytes);
	show_loss(page, &label, report->losses.stacks_resent, "stack", "stacks",
		  "sent again by the kernel side; nothing is missing");
	show_loss(page, &label, report->losses.mappings, "file mapping", "file mappings",
		  "lost: some functions may have no name");
	show_loss(page, &label, report->losses.threads_untracked, "thread", "threads", "beyond the limit, not traced");
	text_fini(&gaps);
	text_fini(&not_kept);
	text_fini(&hidden);
}

static void show_cost(struct page *page, const struct report *report)
{
	struct text text = { 0 };

	if (!report->cost.events) {
		page_paragraph(page, "Cost       ", "not known: the recording had not ended, or was killed");
		return;
	}
	if (report->cost.bpf_runs) {
		text_put_duration(&text, report->cost.bpf_ns);
		text_put(&text, " inside BPF programs (");
		page_text_share(&text, share_of(report->cost.bpf_ns, report->target.wall_ns));
		text_put(&text, " of the wall time, ");
		text_put_duration(&text, report->cost.bpf_ns / report->cost.bpf_runs);
		text_put(&text, " per run); ");
	}
	text_put_duration(&text, report->cost.collector_cpu_ns);
	text_put(&text, " of CPU to collect ");
	put_counted(&text, report->cost.events, "event", "events");
	if (report->cost.events_deferred) {
		text_put(&text, ", of which ");
		text_put_count(&text, report->cost.events_deferred);
		text_put(&text, " were analysed later");
	}
	if (report->cost.target_waited_ns) {
		text_put(&text, ", for which threads waited ");
		text_put_duration(&text, report->cost.target_waited_ns);
	}
	text_put(&text, "; peak memory ");
	text_put_size(&text, report->cost.peak_rss_bytes);
	text_put(&text, "; start-up ");
	text_put_duration(&text, report->cost.startup_ns);
	text_put(&text, ", post-processing ");
	text_put_duration(&text, report->cost.post_processing_ns);
	page_paragraph(page, "Cost       ", text.bytes);
	text_fini(&text);
}

void text_totals_show(struct page *page, const struct report *report)
{
	size_t begin;

	page_end_line(page);
	if (report->totals.threads) {
		show_counts(page, report);
		show_account(page, report);
	}
	if (report->stacks.taken)
		show_stacks(page, report);
	begin = page->out->length;
	text_losses_show(page, report);
	if (page->out->length == begin)
		page_paragraph(page, "Lost       ", "nothing");
	if (report->cost.collector_cpu_ns) /* not known about a part of a trace */
		show_cost(page, report);
	for (size_t i = 0; i < report->note_count; i++) {
		struct text text = { 0 };

		page_text_name(page, &text, report->notes[i]);
		page_paragraph(page, i ? "           " : "Notes      ", text.bytes);
		text_fini(&text);
	}
}
