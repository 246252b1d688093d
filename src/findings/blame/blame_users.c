/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who had the CPUs or the disk that threads waited for. Algorithm 1 of wPerf (Zhou et al., OSDI 2018), lines 28, 29, 39 and 40:
 * where a thread had no CPU, or waited for a disk, its time is charged on to who used that meanwhile.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "account/code_samples.h"
#include "account/criticality.h"
#include "base/table.h"
#include "base/whole.h"
#include "chains/blocked_on.h"
#include "findings/blame/blame_internal.h"
#include "findings/parts/code_path_key.h"
#include "findings/parts/findings_internal.h"
#include "findings/parts/words.h"
#include "waits/block_users.h"

/* TOLD: in words. */
enum { USERS_MAX = 8, USERS_TOLD = 3 };

/* A part of the time below share_min is not reported; code needs errors_min of its standard errors to be named. */
static const double share_min = 0.03, errors_min = 2;

struct users {
	struct findings *findings;
	struct report_user *rows;
	size_t count, capacity;
};

/* What reads the same is one: code without symbols on several paths. */
static void add(struct users *users, struct report_user row)
{
	if (!row.ns)
		return;
	for (size_t i = 0; i < users->count; i++)
		if (users->rows[i].kind == row.kind && !strcmp(users->rows[i].text, row.text)) {
			users->rows[i].ns += row.ns;
			return;
		}
	ARRAY_GROW(users->rows, users->count, users->capacity, 16);
	users->rows[users->count++] = row;
}

/* --- Threads of the program ------------------------------------------------------------------------ */

/* Code that threads of one name ran. */
struct code {
	const struct report_frame *frames;
	const char *name;
	size_t frame_count;
	double weight, heaviest;
};

/* By struct code; the caller frees the table. */
static struct table *merge_code(struct findings *findings, const struct blocked_sum *sum)
{
	struct table *table = table_new();

	for (const struct blocked_code *place = sum->code; place; place = place->next) {
		const struct code_sample *sample = place->code;
		const struct report_frame *frames;
		const char *name = findings_group_name(findings, sample->name);
		enum stack_end end;
		size_t frame, count;
		struct code *code;
		uint64_t key;

		if (sample->stratum->source != findings->code_source)
			continue;
		count = path_names_sample_frames(findings->names, sample->pid, sample->first_ns, sample->stack,
						 sample->ip, sample->kernel_ip, &frames, &end);
		if (!count)
			continue;
		key = hash_string(findings_code_path_key(findings, frames, count, &frame), name);
		code = table_find(table, key);
		if (!code) {
			code = arena_alloc(findings->arena, sizeof(*code));
			code->name = name;
			table_put(table, key, code);
		}
		code->weight += place->weight;
		if (place->weight > code->heaviest) {
			code->heaviest = place->weight;
			code->frames = frames + frame;
			code->frame_count = count - frame;
		}
	}
	return table;
}

static const char *code_words(struct findings *findings, const struct code *code)
{
	const char *where = words_frame(findings, &code->frames[0]);

	return arena_printf(findings->arena, "%s in thread %s", where, code->name);
}

/* What samples do not tell apart stays one row. */
static void add_program(struct users *users, double ns)
{
	struct findings *findings = users->findings;
	const struct blocked_on *blocked = criticality_blocked_on(findings->input.criticality);
	const struct blocked_sum *sum = blocked ? blocked_on_cpu_sum(blocked) : NULL;
	double weight = sum ? sum->weight[findings->code_source] : 0, rest_ns = ns;
	double n = sum ? sum->sample_count[findings->code_source] : 0;
	struct table *table = weight > 0 ? merge_code(findings, sum) : NULL;
	const struct code *code;
	size_t cursor = 0;

	while (table && (code = table_next(table, &cursor))) {
		double share = code->weight / weight;
		double error = sqrt(fmax(share * (1 - share), 1 / (n + 1)) / (n + 1));

		if (share <= errors_min * error)
			continue;
		add(users, (struct report_user){ .ns = whole(share * ns),
						 .text = code_words(findings, code),
						 .kind = RIVAL_PROGRAM,
						 .name = code->name,
						 .frames = code->frames,
						 .frame_count = code->frame_count });
		rest_ns -= share * ns;
	}
	table_free(table);
	add(users,
	    (struct report_user){ .ns = rest_ns > 0 ? whole(rest_ns) : 0,
				  .text = rest_ns < ns ? "other code of this program" : "threads of this program",
				  .kind = RIVAL_PROGRAM });
}

/* --- Others ---------------------------------------------------------------------------------------- */

static const char *rival_words(struct findings *findings, enum rival_kind kind, const char *name, uint32_t pid)
{
	switch (kind) {
	case RIVAL_PROGRAM:
		return name ? arena_printf(findings->arena, "thread %s", name) : "threads of this program";
	case RIVAL_PROCESS:
		return name ? arena_printf(findings->arena, "%s (%s)", name, findings_pid_words(findings, pid))
			    : "processes without a name";
	case RIVAL_KERNEL:
		return name ? arena_printf(findings->arena, "kernel thread %s", name) : "kernel threads";
	case RIVAL_IDLE:
		return "nobody: the CPU was idle";
	default:
		return "others";
	}
}

/* --- The cause -------------------------------------------------------------------------------------- */

static int by_time(const void *a, const void *b)
{
	const struct report_user *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return strcmp(x->text, y->text);
}

static const char *users_words(struct findings *findings, const struct report_root *root)
{
	const char *words = NULL;

	for (size_t i = 0; i < root->user_count && i < USERS_TOLD; i++) {
		double share = (double)root->users[i].ns / root->ns;

		if (share < share_min)
			break;
		words = arena_printf(findings->arena, "%s%s%.0f %% %s", words ? words : "", words ? ", " : "",
				     100 * share, root->users[i].text);
	}
	return words;
}

/* Frees them. */
static void put(struct users *users, struct report_root *root)
{
	struct report_user *rows;

	if (users->count)
		qsort(users->rows, users->count, sizeof(*users->rows), by_time);
	root->user_count = users->count < USERS_MAX ? users->count : USERS_MAX;
	rows = arena_alloc(users->findings->arena, (root->user_count + 1) * sizeof(*rows));
	for (size_t i = 0; i < root->user_count; i++)
		rows[i] = users->rows[i];
	root->users = rows;
	free(users->rows);
	root->taken_by = users_words(users->findings, root);
}

void blame_add_cpu_users(struct findings *findings, struct report_root *root)
{
	const struct report_thread_balance *threads = &findings->report.balance.threads;
	struct users users = { .findings = findings };
	double waited_ns = 0, program_ns = 0, scale;

	for (size_t i = 0; i < threads->rival_count; i++)
		waited_ns += threads->ran_instead[i].wait_ns;
	if (!(waited_ns > 0) || !root->ns)
		return;
	scale = root->ns / waited_ns;
	for (size_t i = 0; i < threads->rival_count; i++) {
		const struct report_rival *rival = &threads->ran_instead[i];

		if (rival->kind == RIVAL_PROGRAM)
			program_ns += rival->wait_ns * scale;
		else
			add(&users,
			    (struct report_user){ .ns = whole(rival->wait_ns * scale),
						  .text = rival_words(findings, rival->kind, rival->name, rival->pid),
						  .kind = rival->kind,
						  .name = rival->name,
						  .pid = rival->pid });
	}
	if (program_ns > 0)
		add_program(&users, program_ns);
	put(&users, root);
}

/* Of the device, or of the only one if that has another number, as a partition has; 0: of neither. */
static double time_of_disk(const struct block_users *all, uint32_t device, uint32_t *is)
{
	const struct block_user *user;
	double ns = 0, first_ns = 0;
	size_t cursor = 0;
	uint32_t first = 0;
	bool is_only = true;

	while ((user = block_users_next(all, &cursor))) {
		ns += user->device == device ? user->ns : 0;
		first = first ? first : user->device;
		is_only &= user->device == first;
		first_ns += user->ns;
	}
	*is = ns > 0 ? device : first;
	return ns > 0 ? ns : is_only ? first_ns : 0;
}

void blame_add_disk_users(struct findings *findings, struct report_root *root, uint32_t device)
{
	const struct block_users *all = findings->input.block_users;
	struct users users = { .findings = findings };
	const struct block_user *user;
	size_t cursor = 0;
	double used_ns = all ? time_of_disk(all, device, &device) : 0;

	if (!(used_ns > 0) || !root->ns)
		return;
	while ((user = block_users_next(all, &cursor))) {
		const char *name = *user->name ? arena_strdup(findings->arena, user->name) : NULL;

		if (user->device == device)
			add(&users, (struct report_user){ .ns = whole(root->ns * (user->ns / used_ns)),
							  .text = rival_words(findings, user->kind, name, user->pid),
							  .kind = user->kind,
							  .name = name,
							  .pid = user->pid });
	}
	put(&users, root);
}
