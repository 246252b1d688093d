/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The page of what threads wait for outside the program: call paths, files, sockets. */
#include <string.h>

#include "base/text.h"
#include "report/report.h"
#include "report/report_fields.h"
#include "tui/rows/pages.h"
#include "tui/rows/rows.h"
#include "tui/rows/rows_waits.h"
#include "view/columns.h"
#include "view/io_words.h"
#include "view/page.h"

enum { NUMBER_WAITS = 0, NUMBER_FILES = 10, NUMBER_SOCKETS = 20 };
enum { DETAIL_PATH = 0, DETAIL_PEER = 5000, DETAIL_FACTS = 10000 };

static void put_titles(struct page *page, const struct row_context *context)
{
	row_put_wait_titles(page, wait_ordered_title(context));
	page_put(page, "what threads wait for");
}

static void put_file(struct page *page, const struct row *row, const struct row_context *context)
{
	const struct report_file *file = row->item;

	row_put_wait_figures(page, context,
			     &(struct wait_figures){
				     .wait_ns = file->wait_ns,
				     .idle_ns = file->idle_ns,
				     .waits = file->waits,
				     .ordered_ns = wait_ordered_ns(context, report_file_type(), file),
			     });
	row_put_object(page, file->path, page_columns_left(page) - (file->is_deleted ? 10 : 0));
	page_put(page, file->is_deleted ? " (deleted)" : "");
}

static void add_transfer(struct rows *rows, const struct row *row, struct text *line,
			 const struct report_transfer *transfer, const struct report_peer *peer)
{
	io_put_peer(line, peer);
	if (line->length)
		rows_add_whole(rows, row, DETAIL_PEER, "other end: ", line->bytes);
	text_fini(line);
	text_put(line, io_direction(transfer));
	if (line->length && transfer->asked_waits)
		text_put(line, ", ");
	io_put_asked(line, transfer);
	if (line->length)
		rows_add_text(rows, row, DETAIL_FACTS + 2, line->bytes);
	text_fini(line);
}

static void add_figures(struct rows *rows, const struct row *row, struct text *line, uint64_t max_ns, uint64_t idle_ns,
			uint64_t cmetric_ns)
{
	text_put(line, "longest wait ");
	text_put_duration(line, max_ns);
	if (idle_ns) {
		text_put(line, ", idle for ");
		text_put_duration(line, idle_ns);
	}
	text_put(line, "; CMetric of critical slices that ended there ");
	text_put_duration(line, cmetric_ns);
	rows_add_text(rows, row, DETAIL_FACTS + 1, line->bytes);
	text_fini(line);
}

static void add_file_rows(struct rows *rows, const struct row *row)
{
	const struct report_file *file = row->item;
	struct text line = { 0 };

	rows_add_whole(rows, row, DETAIL_PATH, "", file->path);
	if (*io_plain_words(file->path))
		text_printf(&line, "%s; ", io_plain_words(file->path));
	text_printf(&line, "%s; device %u:%u, inode %llu", wait_cause_name(file->cause), file->device.major,
		    file->device.minor, (unsigned long long)file->inode);
	rows_add_text(rows, row, DETAIL_FACTS, line.bytes);
	text_fini(&line);
	add_transfer(rows, row, &line, &file->transfer, &file->other_end);
	add_figures(rows, row, &line, file->max_ns, file->idle_ns, file->cmetric_ns);
}

static const struct row_kind file_kind = { put_file, add_file_rows };

static void put_socket(struct page *page, const struct row *row, const struct row_context *context)
{
	const struct report_socket *socket = row->item;
	struct text peer = { 0 };

	row_put_wait_figures(page, context,
			     &(struct wait_figures){
				     .wait_ns = socket->wait_ns,
				     .idle_ns = socket->idle_ns,
				     .waits = socket->waits,
				     .ordered_ns = wait_ordered_ns(context, report_socket_type(), socket),
			     });
	page_put(page, socket_family_name(socket->family));
	page_put(page, " ");
	page_put_name(page, *socket->local ? socket->local : "unnamed", page_columns_left(page) / 2);
	if (*socket->peer) {
		io_put_address(&peer, socket);
		page_put(page, " to ");
		page_put_name(page, peer.bytes, page_columns_left(page));
		text_fini(&peer);
	}
}

static void add_socket_rows(struct rows *rows, const struct row *row)
{
	const struct report_socket *socket = row->item;
	struct text line = { 0 };

	rows_add_whole(rows, row, DETAIL_PATH, "from ", *socket->local ? socket->local : "unnamed");
	text_printf(&line, "%s", *socket->peer ? socket->peer : "unnamed");
	if (socket->host)
		text_printf(&line, " (%s)", socket->host);
	rows_add_whole(rows, row, DETAIL_PATH + 100, "to ", line.bytes);
	text_fini(&line);
	add_transfer(rows, row, &line, &socket->transfer, &socket->other_end);
	add_figures(rows, row, &line, socket->max_ns, socket->idle_ns, socket->cmetric_ns);
}

static const struct row_kind socket_kind = { put_socket, add_socket_rows };

static void add_files(struct rows *rows, const struct report *report)
{
	const void *const *files = rows_sorted_by_column(rows, report->files, report->file_count, report_file_type(),
							 column_of(report_wait_type(), rows_context(rows)->sort));
	size_t shown = 0;

	for (size_t i = 0; i < report->file_count; i++) {
		const struct report_file *file = files[i];

		if (!rows_filter_has(rows, wait_cause_name(file->cause)))
			continue;
		if (!shown++)
			rows_add_heading(rows, NUMBER_FILES, "Files");
		rows_add(rows, NULL,
			 (struct row){
				 .kind = &file_kind,
				 .item = file,
				 .can_unfold = true,
				 .key = row_key(file->key, file - report->files),
			 });
	}
}

static void add_sockets(struct rows *rows, const struct report *report)
{
	const void *const *sockets =
		rows_sorted_by_column(rows, report->sockets, report->socket_count, report_socket_type(),
				      column_of(report_wait_type(), rows_context(rows)->sort));
	size_t shown = 0;

	for (size_t i = 0; i < report->socket_count; i++) {
		const struct report_socket *socket = sockets[i];

		if (!rows_filter_has(rows, "socket"))
			continue;
		if (!shown++)
			rows_add_heading(rows, NUMBER_SOCKETS, "Sockets");
		rows_add(rows, NULL,
			 (struct row){
				 .kind = &socket_kind,
				 .item = socket,
				 .can_unfold = true,
				 .key = row_key(socket->key, socket - report->sockets),
			 });
	}
}

static void add_rows(struct rows *rows)
{
	const struct report *report = rows_context(rows)->report;

	rows_add_waits(rows, NULL, GROUP_IO, CAUSE_UNKNOWN);
	add_files(rows, report);
	add_sockets(rows, report);
}

const struct tui_page io_page = {
	.name = "IO",
	.key = '4',
	.sorts = wait_sorts,
	.has_filter = true,
	.put_titles = put_titles,
	.add_rows = add_rows,
};
