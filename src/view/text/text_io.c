/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files and sockets, by how long threads waited for them. */
#include <string.h>

#include "report/report.h"
#include "view/io_words.h"
#include "view/page.h"
#include "view/text/text_sections.h"
#include "view/view.h"

enum { DETAIL_COLUMN = 12 };

static const char deleted[] = " (deleted)";

static void put_figures(struct page *page, uint64_t wait_ns, uint64_t max_ns, uint64_t count)
{
	page_pad_to(page, 2);
	page_put_duration(page, wait_ns, 9);
	page_put_duration(page, max_ns, 11);
	page_put_count(page, count, 9);
	page_put(page, "  ");
}

/* Space for the name, if the direction is to come behind it. */
static uint32_t name_capacity(const struct page *page, const struct report_transfer *transfer)
{
	const char *direction = io_direction(transfer);

	return page_columns_left(page) - (*direction ? 2 + strlen(direction) : 0);
}

static void put_direction(struct page *page, const struct report_transfer *transfer)
{
	page_color(page, PAGE_DIM);
	page_put(page, "  ");
	page_put(page, io_direction(transfer));
	page_end_line(page);
}

static void put_words(struct page *page, const char *path)
{
	if (!*io_plain_words(path))
		return;
	page_color(page, PAGE_DIM);
	page_put(page, " (");
	page_put_name(page, io_plain_words(path), page_columns_left(page) - 1);
	page_put(page, ")");
}

static void put_detail(struct page *page, const char *label, struct text *detail)
{
	if (detail->length) {
		page_pad_to(page, DETAIL_COLUMN);
		page_color(page, PAGE_DIM);
		page_put(page, label);
		page_put_name(page, detail->bytes, page_columns_left(page));
		page_end_line(page);
	}
	text_fini(detail);
}

static void put_details(struct page *page, const struct report_transfer *transfer, const struct report_peer *peer)
{
	struct text text = { 0 };

	io_put_peer(&text, peer);
	put_detail(page, "other end: ", &text);
	io_put_asked(&text, transfer);
	put_detail(page, "", &text);
}

static void show_heading(struct page *page, const char *title)
{
	page_heading(page, title, "idle waits left out");
	page_color(page, PAGE_DIM);
	page_put(page, "     waited    longest    times");
	page_end_line(page);
}

static void show_files(struct page *page, const struct report *report)
{
	for (size_t i = 0; i < report->file_count; i++) {
		const struct report_file *file = &report->files[i];

		if (!i)
			show_heading(page, "Files that threads waited for");
		put_figures(page, file->wait_ns - file->idle_ns, file->max_ns, file->waits);
		page_put_path(page, file->path,
			      name_capacity(page, &file->transfer) - (file->is_deleted ? strlen(deleted) : 0));
		if (file->is_deleted)
			page_put(page, deleted);
		put_words(page, file->path);
		put_direction(page, &file->transfer);
		put_details(page, &file->transfer, &file->other_end);
	}
}

static void show_sockets(struct page *page, const struct report *report)
{
	struct text peer = { 0 };

	for (size_t i = 0; i < report->socket_count; i++) {
		const struct report_socket *socket = &report->sockets[i];

		if (!i)
			show_heading(page, "Sockets that threads waited for");
		put_figures(page, socket->wait_ns - socket->idle_ns, socket->max_ns, socket->waits);
		page_put(page, socket_family_name(socket->family));
		page_put(page, " ");
		page_put_name(page, *socket->local ? socket->local : "unnamed",
			      name_capacity(page, &socket->transfer) / 2);
		if (*socket->peer) {
			io_put_address(&peer, socket);
			page_put(page, " to ");
			page_put_name(page, peer.bytes, name_capacity(page, &socket->transfer));
			text_fini(&peer);
		}
		put_direction(page, &socket->transfer);
		put_details(page, &socket->transfer, &socket->other_end);
	}
}

void text_io_show(struct page *page, const struct report *report)
{
	show_files(page, report);
	show_sockets(page, report);
}
