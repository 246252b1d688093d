/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/report_pages.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "serve/answer.h"
#include "serve/own_command.h"

enum { KEPT = 4, MOMENT_BYTES = 32, STATUS_BAD_REQUEST = 400, STATUS_INTERNAL = 500 };

struct page {
	int64_t from_ns, to_ns;
	uint64_t used; /* 0: there is none */
	struct text html;
};

struct report_pages {
	const char *trace_path;
	pthread_mutex_t lock; /* one report is made at a time */
	uint64_t uses;
	struct page kept[KEPT];
};

struct report_pages *report_pages_new(const char *trace_path)
{
	struct report_pages *pages = xcalloc(1, sizeof(*pages));

	pages->trace_path = trace_path;
	pthread_mutex_init(&pages->lock, NULL);
	return pages;
}

void report_pages_free(struct report_pages *pages)
{
	if (!pages)
		return;
	for (size_t i = 0; i < KEPT; i++)
		text_fini(&pages->kept[i].html);
	pthread_mutex_destroy(&pages->lock);
	free(pages);
}

static int report(const char *path, struct text *html, struct text *messages)
{
	return own_command_run((const char *const[]){ "report", "-q", "--html", "-", path, NULL }, html, messages);
}

static int cut_to(const struct report_pages *pages, const struct page *page, const char *path, struct text *messages)
{
	char from[MOMENT_BYTES], to[MOMENT_BYTES];
	struct text out = { 0 };
	int err;

	snprintf(from, sizeof(from), "%lldns", (long long)page->from_ns);
	snprintf(to, sizeof(to), "%lldns", (long long)page->to_ns);
	err = own_command_run(
		(const char *const[]){ "cut", "-o", path, "--from", from, "--to", to, pages->trace_path, NULL }, &out,
		messages);
	text_fini(&out);
	return err;
}

/* By way of a trace of that part, in a directory that nobody else can read. */
static int report_part(const struct report_pages *pages, struct page *page, struct text *messages)
{
	char place[] = "/var/tmp/pinch-view-XXXXXX", path[sizeof(place) + 16], states[sizeof(path) + 16];
	int err;

	if (!mkdtemp(place))
		return -errno;
	snprintf(path, sizeof(path), "%s/part.pinch", place);
	snprintf(states, sizeof(states), "%s.states", path);
	err = cut_to(pages, page, path, messages);
	if (!err)
		err = report(path, &page->html, messages);
	unlink(states);
	unlink(path);
	rmdir(place);
	return err;
}

static struct page *find(struct report_pages *pages, int64_t from_ns, int64_t to_ns)
{
	struct page *oldest = &pages->kept[0];

	for (size_t i = 0; i < KEPT; i++) {
		struct page *page = &pages->kept[i];

		if (page->used && page->from_ns == from_ns && page->to_ns == to_ns)
			return page;
		if (page->used < oldest->used)
			oldest = page;
	}
	oldest->used = 0;
	oldest->html.length = 0;
	oldest->from_ns = from_ns;
	oldest->to_ns = to_ns;
	return oldest;
}

static void answer(struct report_pages *pages, int64_t from_ns, int64_t to_ns, struct reply *reply)
{
	struct page *page = find(pages, from_ns, to_ns);
	bool is_whole = !from_ns && to_ns == INT64_MAX;
	struct text messages = { 0 };
	int err = 0;

	if (!page->used)
		err = is_whole ? report(pages->trace_path, &page->html, &messages)
			       : report_part(pages, page, &messages);
	if (err) {
		reply_fail(reply, STATUS_INTERNAL, "the report cannot be made: %s",
			   messages.length ? messages.bytes : strerror(-err));
	} else {
		page->used = ++pages->uses;
		text_put_bytes(&reply->body, page->html.bytes, page->html.length);
		reply->type = "text/html; charset=utf-8";
		reply->is_constant = true;
	}
	text_fini(&messages);
}

void report_pages_answer(struct report_pages *pages, const struct request *request, struct reply *reply)
{
	int64_t from_ns = 0, to_ns = INT64_MAX;

	request_number(request, "from", 0, INT64_MAX, &from_ns);
	request_number(request, "to", 0, INT64_MAX, &to_ns);
	if (from_ns >= to_ns) {
		reply_fail(reply, STATUS_BAD_REQUEST, "a report needs a range of time that is not empty");
		return;
	}
	pthread_mutex_lock(&pages->lock);
	answer(pages, from_ns, to_ns, reply);
	pthread_mutex_unlock(&pages->lock);
}
