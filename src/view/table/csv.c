/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/table/csv.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/text.h"
#include "report/report.h"
#include "report/report_cause.h"

enum column {
	TABLE,
	RANK,
	NAME,
	KIND,
	DETAIL,
	PID,
	TID,
	THREADS,
	COUNT,
	CMETRIC,
	RUNNING,
	RUNNABLE,
	BLOCKED,
	WAITED,
	IDLE,
	P50,
	P99,
	LONGEST,
	HELD,
	COLUMNS,
};

static const char *const titles[COLUMNS] = {
	[TABLE] = "table",
	[RANK] = "rank",
	[NAME] = "name",
	[KIND] = "kind",
	[DETAIL] = "detail",
	[PID] = "pid",
	[TID] = "tid",
	[THREADS] = "threads",
	[COUNT] = "count",
	[CMETRIC] = "cmetric_ns",
	[RUNNING] = "running_ns",
	[RUNNABLE] = "cpu_wait_ns",
	[BLOCKED] = "blocked_ns",
	[WAITED] = "wait_ns",
	[IDLE] = "idle_ns",
	[P50] = "p50_ns",
	[P99] = "p99_ns",
	[LONGEST] = "max_ns",
	[HELD] = "hold_ns",
};

/* Of one row; numbers that it has not are not told. */
struct row {
	const char *table, *name, *kind, *detail;
	uint64_t numbers[COLUMNS];
	uint32_t has; /* a bit for each of them */
};

static void set(struct row *row, enum column column, uint64_t number)
{
	row->numbers[column] = number;
	row->has |= 1u << column;
}

static void put_quoted(struct text *out, const char *string)
{
	struct text escaped = { 0 };

	if (!string || !*string)
		return;
	text_put_escaped(&escaped, string);
	text_put(out, strchr("=+-@", *escaped.bytes) ? "\"'" : "\"");
	for (const char *c = escaped.bytes; *c; c++)
		text_put_bytes(out, *c == '"' ? "\"\"" : c, *c == '"' ? 2 : 1);
	text_put(out, "\"");
	text_fini(&escaped);
}

static void put_row(struct text *out, const struct row *row)
{
	const char *const words[COLUMNS] = { [NAME] = row->name, [KIND] = row->kind, [DETAIL] = row->detail };

	text_put(out, row->table);
	for (unsigned int column = TABLE + 1; column < COLUMNS; column++) {
		text_put(out, ",");
		if (row->has & 1u << column)
			text_printf(out, "%llu", (unsigned long long)row->numbers[column]);
		else
			put_quoted(out, words[column]);
	}
	text_put(out, "\r\n");
}

static void put_titles(struct text *out)
{
	for (unsigned int column = 0; column < COLUMNS; column++)
		text_printf(out, "%s%s", column ? "," : "", titles[column]);
	text_put(out, "\r\n");
}

static const char *frame_name(const struct report_frame *frames, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (frames[i].function)
			return frames[i].function;
	return count ? frames[0].module : NULL;
}

/* "inner < caller < ...", as the text has it. */
static void put_stack(struct text *out, const struct report_frame *frames, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		text_put(out, i ? " < " : "");
		text_put(out, frames[i].function ? frames[i].function
			      : frames[i].module ? frames[i].module
						 : "[unknown]");
	}
}

static void put_thread(struct text *out, const struct report_thread *thread, const char *group)
{
	struct row row = { .table = "thread", .name = thread->name, .kind = group };

	set(&row, PID, thread->pid);
	set(&row, TID, thread->tid);
	set(&row, THREADS, thread->thread_count > 1 ? thread->thread_count : 1);
	set(&row, COUNT, thread->slices);
	set(&row, CMETRIC, thread->cmetric_ns);
	set(&row, RUNNING, thread->running_ns);
	set(&row, RUNNABLE, thread->cpu_wait_ns);
	set(&row, BLOCKED, thread->blocked_ns);
	put_row(out, &row);
}

static void put_path(struct text *out, const struct report_path *path)
{
	struct row row = { .table = "path", .kind = wait_cause_name(path->cause) };
	struct text stack = { 0 };

	put_stack(&stack, path->frames, path->frame_count);
	row.name = frame_name(path->frames, path->frame_count);
	row.detail = stack.bytes;
	set(&row, RANK, path->rank);
	set(&row, THREADS, path->thread_count);
	set(&row, COUNT, path->slices);
	set(&row, CMETRIC, path->cmetric_ns);
	put_row(out, &row);
	text_fini(&stack);
}

static void put_wait(struct text *out, const struct report_wait *wait, size_t rank)
{
	char cause[REPORT_CAUSE_BYTES];
	struct row row = {
		.table = "wait",
		.name = wait->object,
		.kind = report_cause_text(cause, wait->cause, wait->syscall),
	};
	struct text stack = { 0 };

	put_stack(&stack, wait->frames, wait->frame_count);
	row.detail = stack.bytes;
	set(&row, RANK, rank);
	set(&row, COUNT, wait->waits);
	set(&row, CMETRIC, wait->cmetric_ns);
	set(&row, WAITED, wait->wait_ns);
	set(&row, IDLE, wait->idle_ns);
	set(&row, LONGEST, wait->max_ns);
	put_row(out, &row);
	text_fini(&stack);
}

static void put_lock(struct text *out, const struct report_lock *lock, size_t rank)
{
	struct row row = {
		.table = "lock",
		.name = lock->name ? lock->name : lock->address,
		.kind = lock->kind,
		.detail = lock->where,
	};

	set(&row, RANK, rank);
	set(&row, COUNT, lock->waits);
	set(&row, WAITED, lock->wait_ns);
	set(&row, IDLE, lock->idle_ns);
	set(&row, P50, lock->p50_ns);
	set(&row, P99, lock->p99_ns);
	set(&row, LONGEST, lock->max_ns);
	set(&row, HELD, lock->hold_ns);
	put_row(out, &row);
}

static void put_file(struct text *out, const struct report_file *file, size_t rank)
{
	struct row row = { .table = "file", .name = file->path, .kind = wait_cause_name(file->cause) };

	row.detail = file->is_deleted ? "deleted" : NULL;
	set(&row, RANK, rank);
	set(&row, COUNT, file->waits);
	set(&row, CMETRIC, file->cmetric_ns);
	set(&row, WAITED, file->wait_ns);
	set(&row, IDLE, file->idle_ns);
	set(&row, LONGEST, file->max_ns);
	put_row(out, &row);
}

static void put_socket(struct text *out, const struct report_socket *socket, size_t rank)
{
	struct row row = { .table = "socket", .kind = socket_family_name(socket->family), .detail = socket->host };
	struct text name = { 0 };

	text_printf(&name, "%s to %s", socket->local ? socket->local : "", socket->peer ? socket->peer : "");
	row.name = name.bytes;
	set(&row, RANK, rank);
	set(&row, COUNT, socket->waits);
	set(&row, CMETRIC, socket->cmetric_ns);
	set(&row, WAITED, socket->wait_ns);
	set(&row, IDLE, socket->idle_ns);
	set(&row, LONGEST, socket->max_ns);
	put_row(out, &row);
	text_fini(&name);
}

void csv_put(struct text *out, const struct report *report)
{
	put_titles(out);
	for (size_t i = 0; i < report->group_count; i++)
		for (size_t j = 0; j < report->groups[i].row_count; j++)
			put_thread(out, &report->groups[i].threads[j], report->groups[i].name);
	for (size_t i = 0; i < report->path_count; i++)
		put_path(out, &report->paths[i]);
	for (size_t i = 0; i < report->wait_count; i++)
		put_wait(out, &report->waits[i], i + 1);
	for (size_t i = 0; i < report->lock_count; i++)
		put_lock(out, &report->locks[i], i + 1);
	for (size_t i = 0; i < report->file_count; i++)
		put_file(out, &report->files[i], i + 1);
	for (size_t i = 0; i < report->socket_count; i++)
		put_socket(out, &report->sockets[i], i + 1);
}
