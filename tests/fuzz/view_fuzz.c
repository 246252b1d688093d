/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Both views of reports whose strings and numbers come from the input. What they write has no
 * control character but the newline; the text is valid UTF-8 and keeps to the page, and the
 * JSON parses.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "report/report.h"
#include "klocks/lengths.h"
#include "stacks/fold.h"
#include "tui/model.h"
#include "view/view.h"

enum { ITEMS_MAX = 12 };

/* Takes the input apart; zeros follow its end. */
struct source {
	const uint8_t *bytes;
	size_t left;
	struct arena *arena;
	bool is_modest; /* numbers are such as a report may have */
};

static uint8_t take_byte(struct source *source)
{
	if (!source->left)
		return 0;
	source->left--;
	return *source->bytes++;
}

/* Small, large and extreme numbers alike. */
static uint64_t take_number(struct source *source)
{
	unsigned int count = take_byte(source) % 9;
	uint64_t number = 0;

	while (count--)
		number = number << 8 | take_byte(source);
	return source->is_modest ? number & 0xffffff : number;
}

static double take_double(struct source *source)
{
	uint64_t bits = take_number(source);
	double value;

	if (take_byte(source) % 2 || source->is_modest)
		return bits / 256.0;
	memcpy(&value, &bits, sizeof(value));
	return value;
}

static size_t take_count(struct source *source)
{
	return take_byte(source) % ITEMS_MAX;
}

static const char *take_string(struct source *source)
{
	size_t length = take_byte(source) % 80;
	char *string = arena_alloc(source->arena, length + 1);

	for (size_t i = 0; i < length; i++)
		string[i] = take_byte(source);
	return string;
}

static const char *take_string_or_null(struct source *source)
{
	return take_byte(source) % 4 ? take_string(source) : NULL;
}

static const char *const *take_strings(struct source *source, size_t count)
{
	const char **strings = arena_alloc(source->arena, (count + 1) * sizeof(*strings));

	for (size_t i = 0; i < count; i++)
		strings[i] = take_string(source);
	return strings;
}

static const struct report_frame *take_frames(struct source *source, size_t count)
{
	static const char *const known[] = { "start_thread", "clone3", "std::__invoke", "main" };
	struct report_frame *frames = arena_alloc(source->arena, (count + 1) * sizeof(*frames));

	for (size_t i = 0; i < count; i++) {
		uint8_t bits = take_byte(source);

		frames[i] = (struct report_frame){
			.function = bits & 4 ? known[bits % 4] : take_string_or_null(source),
			.file = take_string_or_null(source),
			.line = take_number(source),
			.module = take_string_or_null(source),
			.offset = take_number(source),
			.is_inlined = bits & 8,
			.is_kernel = bits & 16,
		};
	}
	return frames;
}

static const struct report_line *take_lines(struct source *source, size_t count)
{
	struct report_line *lines = arena_alloc(source->arena, (count + 1) * sizeof(*lines));

	for (size_t i = 0; i < count; i++)
		lines[i] =
			(struct report_line){ take_string_or_null(source), take_number(source), take_number(source) };
	return lines;
}

static const struct report_function *take_functions(struct source *source, size_t count)
{
	struct report_function *functions = arena_alloc(source->arena, (count + 1) * sizeof(*functions));

	for (size_t i = 0; i < count; i++) {
		functions[i].name = take_string(source);
		functions[i].samples = take_number(source);
		functions[i].stack_tops = take_number(source);
		functions[i].line_count = take_count(source);
		functions[i].lines = take_lines(source, functions[i].line_count);
	}
	return functions;
}

static void take_paths(struct source *source, struct report *report)
{
	struct report_path *paths;

	report->path_count = take_count(source);
	report->totals.paths = take_number(source);
	paths = arena_alloc(source->arena, (report->path_count + 1) * sizeof(*paths));
	for (size_t i = 0; i < report->path_count; i++) {
		paths[i].rank = take_number(source);
		paths[i].cmetric_ns = take_number(source);
		paths[i].wall_share = take_double(source);
		paths[i].slices = take_number(source);
		paths[i].stalled_ns = take_number(source);
		paths[i].is_estimated = take_byte(source) & 1;
		paths[i].thread_name_count = take_count(source) % 5;
		paths[i].thread_names = take_strings(source, paths[i].thread_name_count);
		paths[i].thread_count = take_number(source);
		paths[i].frame_count = take_count(source);
		paths[i].frames = take_frames(source, paths[i].frame_count);
		paths[i].function_count = take_count(source);
		paths[i].functions = take_functions(source, paths[i].function_count);
	}
	report->paths = paths;
}

static const struct report_thread *take_threads(struct source *source, size_t count)
{
	struct report_thread *threads = arena_alloc(source->arena, (count + 1) * sizeof(*threads));

	for (size_t i = 0; i < count; i++) {
		threads[i] = (struct report_thread){
			.tid = take_number(source),
			.pid = take_number(source),
			.name = take_string_or_null(source),
			.group = take_string(source),
			.thread_count = take_number(source),
			.cmetric_ns = take_number(source),
			.cmetric_oncpu_ns = take_number(source),
			.running_ns = take_number(source),
			.cpu_wait_ns = take_number(source),
			.blocked_ns = take_number(source),
		};
	}
	return threads;
}

static void take_groups(struct source *source, struct report *report)
{
	struct report_group *groups;

	report->group_count = take_count(source) * 2;
	groups = arena_alloc(source->arena, (report->group_count + 1) * sizeof(*groups));
	for (size_t i = 0; i < report->group_count; i++) {
		groups[i].name = take_string(source);
		groups[i].is_start_function = take_byte(source) & 1;
		groups[i].thread_count = take_number(source);
		groups[i].cmetric_ns = take_number(source);
		groups[i].imbalance = take_double(source);
		groups[i].row_count = take_count(source);
		groups[i].threads = take_threads(source, groups[i].row_count);
	}
	report->groups = groups;
	report->thread_count = take_count(source);
	report->threads = take_threads(source, report->thread_count);
}

static const struct report_klock_stack *take_stacks(struct source *source, size_t count)
{
	struct report_klock_stack *stacks = arena_alloc(source->arena, (count + 1) * sizeof(*stacks));

	for (size_t i = 0; i < count; i++) {
		stacks[i].frame_count = 1 + take_count(source);
		stacks[i].frames = take_frames(source, stacks[i].frame_count);
	}
	return stacks;
}

static void take_klock_parts(struct source *source, struct report_klock *lock, size_t stack_count)
{
	struct report_klock_waiter *waiters = arena_alloc(source->arena, ITEMS_MAX * sizeof(*waiters));
	struct report_klock_owner *owners = arena_alloc(source->arena, ITEMS_MAX * sizeof(*owners));
	struct report_klock_path *paths = arena_alloc(source->arena, ITEMS_MAX * sizeof(*paths));

	lock->waiter_count = take_count(source);
	for (size_t i = 0; i < lock->waiter_count; i++)
		waiters[i] = (struct report_klock_waiter){
			.name = take_string_or_null(source),
			.context = take_byte(source) % 4,
			.pid = take_number(source),
			.tid = take_number(source),
			.waits = take_number(source),
			.wait_ns = take_number(source),
			.max_ns = take_number(source),
			.stack = take_byte(source) % (stack_count + 1),
		};
	lock->owner_count = take_count(source);
	for (size_t i = 0; i < lock->owner_count; i++)
		owners[i] = (struct report_klock_owner){
			.name = take_string_or_null(source),
			.tid = take_number(source),
			.waits = take_number(source),
			.wait_ns = take_number(source),
			.stack = take_byte(source) % (stack_count + 1),
		};
	lock->path_count = stack_count ? take_count(source) : 0;
	for (size_t i = 0; i < lock->path_count; i++)
		paths[i] = (struct report_klock_path){
			.stack = 1 + take_byte(source) % stack_count,
			.waits = take_number(source),
			.wait_ns = take_number(source),
		};
	lock->waiters = waiters;
	lock->owners = owners;
	lock->paths = paths;
}

static void take_klocks(struct source *source, struct report_klocks *klocks)
{
	static const char *const kinds[] = { "mutex", "rwsem read", "percpu-rwsem write", "spinlock" };
	static const uint32_t lengths[LENGTHS];
	struct report_klock *locks = arena_alloc(source->arena, ITEMS_MAX * sizeof(*locks));
	struct report_klock_kind *rows = arena_alloc(source->arena, ITEMS_MAX * sizeof(*rows));

	klocks->stack_count = take_count(source);
	klocks->stacks = take_stacks(source, klocks->stack_count);
	klocks->lock_count = take_count(source);
	klocks->waited_count = klocks->lock_count ? 1 + take_byte(source) % klocks->lock_count : 0;
	for (size_t i = 0; i < klocks->lock_count; i++) {
		locks[i] = (struct report_klock){
			.name = take_string_or_null(source),
			.kind = i < klocks->waited_count ? kinds[take_byte(source) % 4] : take_string(source),
			.address = take_byte(source) % 8 ? "0xffff888104a3c118" : "others",
			.cache = take_string_or_null(source),
			.where = take_string_or_null(source),
			.waits = take_number(source),
			.wait_ns = take_number(source),
			.p50_ns = take_number(source),
			.p90_ns = take_number(source),
			.p99_ns = take_number(source),
			.max_ns = take_number(source),
			.unfinished = take_number(source),
			.given_up = take_number(source),
			.acquisitions = take_number(source),
			.take_ns = take_number(source),
			.holds = take_number(source),
			.hold_ns = take_number(source),
			.max_hold_ns = take_number(source),
			.histogram = lengths,
		};
		take_klock_parts(source, &locks[i], klocks->stack_count);
	}
	klocks->locks = locks;
	klocks->kind_count = take_count(source);
	for (size_t i = 0; i < klocks->kind_count; i++)
		rows[i] = (struct report_klock_kind){
			kinds[i % 4],        take_number(source),
			take_number(source), take_number(source),
			take_number(source), take_number(source),
			take_number(source), take_number(source),
			take_number(source), lengths,
		};
	klocks->kinds = rows;
	klocks->waits = klocks->lock_count ? 1 + take_number(source) / 2 : 0;
	klocks->wait_ns = take_number(source);
	klocks->tracing_ns = take_number(source);
	klocks->counts_acquisitions = take_byte(source) & 1;
	klocks->acquisitions = take_number(source);
	klocks->hold_ns = take_number(source);
	klocks->take_cost_ns = take_number(source);
	klocks->hold_cost_ns = take_number(source);
}

static void take_parallelism(struct source *source, struct report *report)
{
	struct report_level *levels;
	double *timeline;
	uint64_t n = 0;

	report->level_count = 1 + take_number(source) % 65536;
	levels = arena_alloc(source->arena, report->level_count * sizeof(*levels));
	for (size_t i = 0; i < report->level_count; i++) {
		levels[i].active = n;
		levels[i].ns = source->left ? take_number(source) : 1;
		n += source->left ? 1 + take_byte(source) % 16 : 1;
	}
	report->parallelism = levels;
	report->timeline_count = take_count(source) * 40;
	timeline = arena_alloc(source->arena, (report->timeline_count + 1) * sizeof(double));
	for (size_t i = 0; i < report->timeline_count && source->left; i++)
		timeline[i] = take_double(source);
	report->timeline = timeline;
}

static void take_report(struct source *source, struct report *report)
{
	uint64_t *losses = (uint64_t *)&report->losses, *cost = (uint64_t *)&report->cost;
	uint32_t *pids = arena_alloc(source->arena, ITEMS_MAX * sizeof(*pids));

	report->target.command = take_string_or_null(source);
	report->target.pids = pids;
	report->target.pid_count = take_count(source);
	for (size_t i = 0; i < report->target.pid_count; i++)
		pids[i] = take_number(source);
	report->target.wall_ns = take_number(source);
	report->target.exit_status = (int)take_number(source);
	report->target.is_running = take_byte(source) & 1;
	report->totals.active_ns = take_number(source);
	report->totals.stalled_ns = take_number(source);
	report->totals.cmetric_ns = take_number(source);
	report->totals.critical_ns = take_number(source);
	report->totals.accounting_error_ns = (int64_t)take_number(source);
	report->totals.threads = take_number(source);
	report->totals.alive_max = take_number(source);
	report->totals.switches = take_number(source);
	report->totals.slices = take_number(source);
	report->totals.critical_slices = take_number(source);
	report->totals.stalls = take_number(source);
	report->totals.parallelism = take_double(source);
	report->totals.nmin = take_number(source);
	report->totals.is_nmin_default = take_byte(source) & 1;
	/* All of these are 64-bit numbers, keep_min among them. */
	for (size_t i = 0; i < sizeof(report->losses) / 8; i++)
		losses[i] = take_number(source);
	for (size_t i = 0; i < sizeof(report->cost) / 8; i++)
		cost[i] = take_number(source);
	take_parallelism(source, report);
	take_paths(source, report);
	take_groups(source, report);
	report->note_count = take_count(source);
	report->notes = take_strings(source, report->note_count);
	take_klocks(source, &report->kernel_locks);
}

static void require(bool is_true, const char *claim, const struct text *text)
{
	if (is_true)
		return;
	fprintf(stderr, "false: %s\n%s\n", claim, text->bytes);
	abort();
}

static bool has_control(const struct text *text)
{
	for (size_t i = 0; i < text->length; i++) {
		unsigned char c = text->bytes[i], next = i + 1 < text->length ? text->bytes[i + 1] : 0;

		if ((c < 0x20 && c != '\n') || c == 0x7f || (c == 0xc2 && next < 0xa0))
			return true;
	}
	return false;
}

/* Jansson refuses strings that are not UTF-8. */
static bool is_utf8(const struct text *text)
{
	json_t *string = json_stringn(text->bytes, text->length);

	json_decref(string);
	return string;
}

static size_t widest_line(const struct text *text)
{
	size_t widest = 0, columns = 0;

	for (size_t i = 0; i < text->length; i++) {
		if (text->bytes[i] == '\n')
			columns = 0;
		else if ((text->bytes[i] & 0xc0) != 0x80 && ++columns > widest)
			widest = columns;
	}
	return widest;
}

static void check_text(const struct report *report, const struct view_style *style, bool is_modest)
{
	struct text text = { 0 };

	text_view.show(report, style, &text);
	require(text.length == strlen(text.bytes), "the text holds no NUL", &text);
	require(!has_control(&text), "the text holds no control character", &text);
	require(is_utf8(&text), "the text is UTF-8", &text);
	require(!is_modest || widest_line(&text) <= style->width, "the text keeps to the page", &text);
	text_fini(&text);
}

static void check_json(const struct report *report, const struct view_style *style)
{
	struct text text = { 0 };
	json_error_t error;
	json_t *root;

	json_view.show(report, style, &text);
	require(!has_control(&text), "the JSON holds no control character", &text);
	/* Jansson has no integers above 2^63. */
	root = json_loads(text.bytes, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL, &error);
	require(root, error.text, &text);
	json_decref(root);
	text_fini(&text);
}

/* Every row of every page of the terminal UI, all unfolded. */
static void check_rows(const struct report *report, const struct view_style *style)
{
	struct model *model = model_new(&(struct model_options){
		.fold = style->fold,
		.has_unicode = style->has_unicode,
	});
	struct text line = { 0 };

	model_set_report(model, report);
	model_set_size(model, style->width + 20, 20);
	for (enum page_number page = 0; page < PAGES; page++) {
		model_go_to(model, page);
		model_unfold_all(model);
		model_next_sort(model);
		for (size_t i = 0; i < model_count(model); i++) {
			line.length = 0;
			model_put_row(model, i, &line);
			require(!has_control(&line), "the row holds no control character", &line);
			require(is_utf8(&line), "the row is UTF-8", &line);
			require(widest_line(&line) <= style->width + 20, "the row keeps to the screen", &line);
		}
	}
	text_fini(&line);
	model_free(model);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static struct fold_rules *rules;
	struct source source = { bytes, size, arena_new(), false };
	struct report report = { 0 };
	uint8_t mode = take_byte(&source);
	struct view_style style = {
		.width = VIEW_WIDTH_MIN + take_byte(&source),
		.has_unicode = mode & 16,
		.is_verbose = mode & 32,
	};

	source.is_modest = mode & 128;
	if (!rules)
		rules = fold_rules_new();
	style.fold = mode & 64 ? rules : NULL;
	take_report(&source, &report);
	check_text(&report, &style, source.is_modest);
	text_pages_parse("KLOCKS", &style.pages);
	check_text(&report, &style, source.is_modest);
	check_json(&report, &style);
	check_rows(&report, &style);
	arena_free(source.arena);
	return 0;
}
