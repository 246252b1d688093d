/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/io_words.h"

#include <string.h>

#include "base/text.h"
#include "report/report.h"
#include "view/page.h"

const char *io_plain_words(const char *path)
{
	static const struct {
		const char *path, *words;
	} known[] = {
		{ "[eventfd]", "event counter" },
		{ "[timerfd]", "timer" },
		{ "[signalfd]", "pending signals" },
		{ "[eventpoll]", "epoll: several files" },
		{ "[io_uring]", "request queue" },
		{ "[pidfd]", "process exit" },
		{ "[userfaultfd]", "page faults of other threads" },
		{ "inotify", "file changes" },
		{ "[fanotify]", "file changes" },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!strcmp(path, known[i].path))
			return known[i].words;
	return "";
}

const char *io_direction(const struct report_transfer *transfer)
{
	if (transfer->read_ns && transfer->write_ns)
		return "both";
	return transfer->read_ns ? "reading" : transfer->write_ns ? "writing" : "";
}

void io_put_address(struct text *text, const struct report_socket *socket)
{
	const char *port = strrchr(socket->peer, ':');

	if (socket->host && port) {
		text_put(text, socket->host);
		text_put(text, port);
	} else {
		text_put(text, socket->peer);
	}
}

void io_put_asked(struct text *text, const struct report_transfer *transfer)
{
	if (!transfer->asked_waits)
		return;
	text_put_size(text, transfer->asked_bytes / transfer->asked_waits);
	text_put(text, " per request");
}

void io_put_peer(struct text *text, const struct report_peer *peer)
{
	const char *process = peer->peer_name ? peer->peer_name : "a process";

	if (!peer->peer_name && !peer->peer_thread && !peer->peer_pid)
		return;
	if (peer->peer_thread && strcmp(peer->peer_thread, process)) {
		text_put_escaped(text, peer->peer_thread);
		text_put(text, " of ");
	}
	text_put_escaped(text, process);
	if (peer->peer_pid)
		text_printf(text, " (%u)", peer->peer_pid);
	if (peer->peer_share > 0) {
		text_put(text, ", which ended ");
		page_text_share(text, peer->peer_share);
		text_put(text, " of it");
	}
}
