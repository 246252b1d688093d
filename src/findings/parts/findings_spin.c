/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What of the running time was spent waiting, by the code in which threads were seen: of a call path,
 * and of all threads. doc/metrics.md says how it is estimated.
 */
#include "findings/parts/findings_waits.h"

#include <stdlib.h>
#include <string.h>

#include "account/run_samples.h"
#include "base/pause.h"
#include "base/text.h"
#include "base/whole.h"
#include "findings/parts/words.h"
#include "spin/spin_judge.h"
#include "stacks/fold.h"

/* Beyond these, the places that are seen most seldom are taken for useful. */
enum { PATH_PLACES_MAX = 64, PLACES_MAX = 4096, SPINS_MAX = 64, BUSY_MAX = 128 };

/* Of all threads' time, or of their time on CPUs, which may be scarce, this much stands out. */
static const double share_min = 0.03, running_share_min = 0.1;

/* And that much of the wall time; of fewer samples, one more or less is too much. */
static const double wall_share_min = 0.01;

enum { EVIDENCE_MAX = 3, FINDING_SAMPLES_MIN = 30 };

bool findings_is_spin(struct findings *findings, const struct path_metrics *path)
{
	uint64_t count = 0, spinning = 0;

	if (!findings->input.judge || !path->pid)
		return false;
	for (size_t i = 0; i < path->sample_kind_count && i < PATH_PLACES_MAX; i++) {
		const struct sample_count *sample = &path->samples[i];

		if (sample->is_stack_top || !sample->ip)
			continue;
		count += sample->count;
		if (findings_is_spin_at(findings, path->pid, path->first_ns, sample->ip, sample->kernel_ip))
			spinning += sample->count;
	}
	return spinning * 2 > count;
}

static int places_by_count(const void *a, const void *b)
{
	const struct run_place *x = *(const struct run_place *const *)a;
	const struct run_place *y = *(const struct run_place *const *)b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	if (x->ip != y->ip)
		return x->ip < y->ip ? -1 : 1;
	return (x->first_ns > y->first_ns) - (x->first_ns < y->first_ns);
}

/* For the caller to free. */
static const struct run_place **sorted_places(const struct run_samples *samples, size_t *count)
{
	const struct run_place **places;

	*count = 0;
	while (run_samples_place(samples, *count))
		(*count)++;
	places = xcalloc(*count + 1, sizeof(*places));
	for (size_t i = 0; i < *count; i++)
		places[i] = run_samples_place(samples, i);
	qsort(places, *count, sizeof(*places), places_by_count);
	return places;
}

/* What the user knows the place: the innermost function that is no mere plumbing. */
static struct report_frame frame_of(struct findings *findings, const struct run_place *place)
{
	struct symbol_frame named[SYMBOL_INLINE_MAX] = { 0 };
	struct report_frame frame = { 0 };
	size_t count = 1;

	if (place->kernel_ip && !spin_judge_is_spin(findings->input.judge, place->pid, place->first_ns, place->ip, 0))
		symbols_resolve_kernel(findings->input.symbols, place->kernel_ip, named);
	else
		count = symbols_resolve(findings->input.symbols, place->pid, place->first_ns, place->ip, false, named,
					SYMBOL_INLINE_MAX);
	for (size_t i = 0; i < count; i++) {
		frame = (struct report_frame){
			.function = named[i].function,
			.file = named[i].file,
			.line = named[i].line,
			.module = named[i].program ? named[i].program : named[i].module,
			.file_module = named[i].program ? named[i].module : NULL,
			.offset = named[i].offset,
			.is_kernel = named[i].is_kernel,
		};
		if (!fold_is_plumbing(findings->input.fold, &frame))
			break;
	}
	return frame;
}

static bool is_same(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* The function's row; NULL: there is none. What has no names is one, as far as the user can tell. */
static struct findings_spin *find_spin(struct findings *findings, const struct report_frame *frame)
{
	for (size_t i = 0; i < findings->spin_count; i++) {
		struct findings_spin *spin = &findings->spins[i];

		if (is_same(spin->frame.function, frame->function) && is_same(spin->frame.module, frame->module))
			return spin;
	}
	return NULL;
}

struct findings_spin *findings_find_spin(struct findings *findings, uint32_t pid, uint64_t time_ns, uint64_t ip,
					 uint64_t kernel_ip)
{
	struct run_place place = { .pid = pid, .first_ns = time_ns, .ip = ip, .kernel_ip = kernel_ip };
	struct report_frame frame = frame_of(findings, &place);

	return find_spin(findings, &frame);
}

/* The same, made if need be; NULL when there are too many. Most are seen most often first. */
static struct findings_spin *spin_of(struct findings *findings, const struct report_frame *frame)
{
	struct findings_spin *spin = find_spin(findings, frame);

	if (spin || findings->spin_count == SPINS_MAX)
		return spin;
	spin = &findings->spins[findings->spin_count++];
	spin->frame = *frame;
	return spin;
}

const char *findings_busiest_function(struct findings *findings,
				      bool (*is_wanted)(const void *data, const struct run_place *place),
				      const void *data)
{
	struct {
		struct report_frame frame;
		uint64_t count;
	} functions[BUSY_MAX];
	size_t function_count = 0, count, k, most = 0;
	const struct run_place **places;

	if (!findings->input.samples)
		return NULL;
	places = sorted_places(findings->input.samples, &count);
	for (size_t i = 0, wanted = 0; i < count && wanted < BUSY_MAX; i++) {
		struct report_frame frame;

		if (!is_wanted(data, places[i]))
			continue;
		wanted++;
		frame = frame_of(findings, places[i]);
		for (k = 0; k < function_count; k++)
			if (is_same(functions[k].frame.function, frame.function))
				break;
		if (k == function_count) {
			functions[function_count].frame = frame;
			functions[function_count++].count = 0;
		}
		functions[k].count += places[i]->count;
		if (functions[k].count > functions[most].count)
			most = k;
	}
	free(places);
	return function_count ? words_frame(findings, &functions[most].frame) : NULL;
}

/* What ends the wait, if the code says: a variable, or the instruction that reads it. */
static void add_loop(struct findings *findings, struct findings_spin *spin, const struct run_place *place)
{
	struct spin_loop loop;

	if (spin->reads || place->kernel_ip ||
	    !spin_judge_find_loop(findings->input.judge, place->pid, place->first_ns, place->ip, &loop))
		return;
	if (*loop.reads)
		spin->reads = arena_strdup(findings->arena, loop.reads);
	if (loop.has_word)
		spin->word = object_name_of_lock(&findings->objects, place->pid, place->first_ns, loop.word);
}

static void add_names(struct findings *findings, struct findings_spin *spin, const struct run_place *place)
{
	for (size_t i = 0; i < place->name_count; i++) {
		size_t k = 0;

		while (k < spin->name_count && strcmp(spin->names[k], place->names[i]))
			k++;
		if (k == spin->name_count && k < FINDINGS_SPIN_NAMES_MAX)
			spin->names[spin->name_count++] = arena_strdup(findings->arena, place->names[i]);
	}
}

/* One more than there ever were active threads. */
static size_t levels_end(const struct report *report)
{
	return report->level_count ? report->parallelism[report->level_count - 1].active + 1 : 0;
}

static void add_place(struct findings *findings, const struct run_place *place, uint64_t *spun_at)
{
	struct report *report = &findings->report;
	struct report_frame frame = frame_of(findings, place);
	struct findings_spin *spin = spin_of(findings, &frame);

	report->balance.samples.spinning += place->count;
	for (const struct run_level *level = place->levels; level; level = level->next)
		if (level->active < levels_end(report))
			spun_at[level->active] += level->count;
	if (!spin)
		return;
	spin->count += place->count;
	add_loop(findings, spin, place);
	add_names(findings, spin, place);
}

void findings_prepare_spinning(struct findings *findings)
{
	struct symbol_request *requests;
	const struct run_place **places;
	size_t count, request_count = 0;

	if (!findings->input.judge || !findings->input.samples)
		return;
	places = sorted_places(findings->input.samples, &count);
	requests = xcalloc(count + 1, sizeof(*requests));
	for (size_t i = 0; i < count && i < PLACES_MAX; i++)
		if (places[i]->ip)
			requests[request_count++] = (struct symbol_request){
				.pid = places[i]->pid,
				.time_ns = places[i]->first_ns,
				.address = places[i]->ip,
			};
	spin_judge_prepare(findings->input.judge, requests, request_count);
	free(requests);
	free(places);
}

static void add_places(struct findings *findings, uint64_t *spun_at)
{
	size_t count;
	const struct run_place **places = sorted_places(findings->input.samples, &count);

	for (size_t i = 0; i < count && i < PLACES_MAX; i++) {
		const struct run_place *place = places[i];

		pause_take_if_due(findings->input.pause);
		if (findings_is_spin_at(findings, place->pid, place->first_ns, place->ip, place->kernel_ip))
			add_place(findings, place, spun_at);
	}
	free(places);
}

static double share_of(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / whole : 0;
}

/* Of the time with so many active threads, the part in which those that ran spun. */
static void split_wall(struct findings *findings, const uint64_t *spun_at)
{
	struct report *report = &findings->report;
	struct report_level *levels = arena_alloc(findings->arena, report->level_count * sizeof(*levels));
	double all = share_of(report->balance.samples.spinning, report->balance.samples.running);

	for (size_t i = 0; i < report->level_count; i++) {
		uint64_t count = run_samples_count_at(findings->input.samples, report->parallelism[i].active);
		double share = count ? share_of(spun_at[report->parallelism[i].active], count) : all;

		levels[i] = report->parallelism[i];
		levels[i].has_spinning = true;
		levels[i].spinning_ns = levels[i].active ? whole(levels[i].ns * share + 0.5) : 0;
		report->balance.wall.spinning_ns += levels[i].spinning_ns;
	}
	report->parallelism = levels;
	report->balance.wall.useful_ns -= report->balance.wall.spinning_ns;
}

static int spins_by_count(const void *a, const void *b)
{
	const struct findings_spin *x = a, *y = b;

	return (x->count < y->count) - (x->count > y->count);
}

static void take_account(struct findings *findings)
{
	struct report *report = &findings->report;
	struct criticality_totals totals = criticality_totals(findings->input.criticality);
	const struct thread_metrics *metrics;
	size_t cursor = 0;

	report->balance.wall.spinning_ns = totals.spun_ns;
	report->balance.wall.stalled_ns -= totals.spun_ns;
	while ((metrics = criticality_next_thread(findings->input.criticality, &cursor)))
		report->balance.threads.spinning_ns += metrics->spinning_ns;
}

void findings_add_spinning(struct findings *findings)
{
	struct report *report = &findings->report;
	uint64_t *spun_at = arena_alloc(findings->arena, levels_end(report) * sizeof(*spun_at));

	report->balance.wall.useful_ns = report->totals.active_ns;
	report->balance.wall.stalled_ns = report->totals.stalled_ns;
	if (!findings->input.judge || !findings->input.samples)
		return;
	findings->spins = arena_alloc(findings->arena, SPINS_MAX * sizeof(*findings->spins));
	report->balance.samples.running = run_samples_count(findings->input.samples);
	add_places(findings, spun_at);
	qsort(findings->spins, findings->spin_count, sizeof(*findings->spins), spins_by_count);
	if (findings->input.is_spin_inactive) {
		take_account(findings);
		return;
	}
	split_wall(findings, spun_at);
	report->balance.threads.spinning_ns =
		whole(report->balance.threads.running_ns *
			      share_of(report->balance.samples.spinning, report->balance.samples.running) +
		      0.5);
}

/* --- What stands out ------------------------------------------------------------------------- */

/* "spinner-0, spinner-1" */
static const char *names_of(struct findings *findings, const struct findings_spin *spin)
{
	const char *names = "";

	for (size_t i = 0; i < spin->name_count; i++)
		names = arena_printf(findings->arena, "%s%s%s", names, i ? ", " : "", spin->names[i]);
	return names;
}

/* The first path whose time was mostly spent there; 0: none. */
static uint32_t path_rank_of(const struct findings *findings, const char *function)
{
	const struct report *report = &findings->report;

	for (size_t i = 0; i < findings_paths_read(report) && function; i++)
		if (report->paths[i].function_count && !strcmp(report->paths[i].functions[0].name, function))
			return report->paths[i].rank;
	return 0;
}

static const char *const *evidence_of(struct findings *findings, const struct findings_spin *spin, double part,
				      size_t *count)
{
	const char **evidence = arena_alloc(findings->arena, EVIDENCE_MAX * sizeof(*evidence));
	const struct report *report = &findings->report;
	struct text time = { 0 };

	text_put_duration(&time, whole(part * report->balance.threads.running_ns));
	evidence[(*count)++] =
		arena_printf(findings->arena,
			     "%llu of %llu samples of running threads were there: %.0f %% of their time on CPUs, %s",
			     (unsigned long long)spin->count, (unsigned long long)report->balance.samples.running,
			     100 * part, time.bytes);
	text_fini(&time);
	evidence[(*count)++] = arena_printf(findings->arena, "threads: %s%s", names_of(findings, spin),
					    spin->name_count == FINDINGS_SPIN_NAMES_MAX ? " and maybe more" : "");
	if (spin->reads)
		evidence[(*count)++] = arena_printf(findings->arena, "the condition is read by: %s", spin->reads);
	return evidence;
}

size_t findings_put_spins(struct findings *findings, struct report_finding *rows, size_t max)
{
	const struct report *report = &findings->report;
	size_t count = 0;

	for (size_t i = 0; i < findings->spin_count && count < max; i++) {
		const struct findings_spin *spin = &findings->spins[i];
		double part = share_of(spin->count, report->balance.samples.running);
		double share = part * share_of(report->balance.threads.running_ns, report->balance.threads.busy_ns);
		struct report_finding *row = &rows[count];

		if ((share < share_min && part < running_share_min) || spin->count < FINDING_SAMPLES_MIN ||
		    part * report->balance.threads.running_ns < wall_share_min * report->target.wall_ns)
			break;
		if (2 * spin->covered > spin->met)
			continue;
		*row = (struct report_finding){
			.title = arena_printf(findings->arena, "threads spin in %s%s%s%s",
					      words_frame(findings, &spin->frame), spin->word ? ", until " : "",
					      spin->word ? spin->word : "", spin->word ? " changes" : ""),
			.pattern = PATTERN_SPIN,
			.cause = CAUSE_SPIN,
			.share = share,
			.path_rank = path_rank_of(findings, spin->frame.function),
		};
		row->evidence = evidence_of(findings, spin, part, &row->evidence_count);
		count++;
	}
	return count;
}
