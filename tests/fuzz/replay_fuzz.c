/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A trace whose events and names are arbitrary but well-formed, through all that a report is made of: the
 * engine, findings, and both views. The account closes, and the JSON parses. The first byte says whether
 * numbers are made small, so that events meet; then come the size of the names, these, and events in
 * their code.
 */
#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/text.h"
#include "engine/replay.h"
#include "findings/findings.h"
#include "report/report.h"
#include "input.h"
#include "session/event_kinds.h"
#include "tame.h"
#include "trace/event_code.h"
#include "trace/trace_writer.h"
#include "view/view.h"

enum { EVENTS_COUNT_MAX = 2000, EVENT_BYTES_MAX = 1 << 16 };

/* Bits of the first byte. */
enum { IS_TAME = 1, HAS_RUN = 2, HAS_ALL_PATHS = 4 };

/* The trace has the names: nobody is needed who reads files. */
pid_t fork(void)
{
	errno = ENOSYS;
	return -1;
}

static void ignore(const char *line)
{
	(void)line;
}

int LLVMFuzzerInitialize(int *count, char ***args)
{
	(void)count, (void)args;
	fail_set_sink(ignore);
	return 0;
}

static void put_run(struct trace_writer *writer)
{
	static const char text[] = "command\0host\0kernel";
	uint64_t buffer[16] = { 0 };
	struct ev_collect_run *e = (struct ev_collect_run *)buffer;

	_Static_assert(sizeof(*e) + sizeof(text) <= sizeof(buffer), "it fits");
	e->header = (struct ev_header){ .subsys = TRACE_SUBSYS_COLLECT, .event = TRACE_EVENT_COLLECT_RUN };
	e->text_bytes = sizeof(text);
	memcpy(e->pids, text, sizeof(text));
	trace_writer_event(writer, &e->header);
}

static void put_events(struct trace_writer *writer, const struct input *input, bool is_tame)
{
	static uint64_t buffer[EVENT_BYTES_MAX / sizeof(uint64_t)];
	struct ev_header *header;
	struct event_decoder *decoder;
	struct event_forms forms;

	event_forms_here(&forms);
	decoder = event_decoder_new(&forms);
	event_decoder_begin(decoder, input->bytes, input->size);
	for (int i = 0; i < EVENTS_COUNT_MAX && event_decoder_next(decoder, &header) > 0; i++) {
		if (event_bytes(header) > sizeof(buffer))
			continue;
		memcpy(buffer, header, event_bytes(header));
		if (is_tame)
			tame((struct ev_header *)buffer);
		trace_writer_event(writer, (const struct ev_header *)buffer);
	}
	event_decoder_free(decoder);
}

static void write_trace(const char *path, struct input *input, unsigned int flags)
{
	size_t names_bytes = take_number(input, 2);
	struct trace_writer *writer;

	if (names_bytes > input->size)
		names_bytes = input->size;
	if (trace_writer_open(path, &writer))
		abort();
	/* There are always some: else it would be files of this machine that name things. */
	trace_writer_chunk(writer, TRACE_CHUNK_NAMES, input->bytes, names_bytes, NULL);
	input->bytes += names_bytes;
	input->size -= names_bytes;
	if (flags & HAS_RUN)
		put_run(writer);
	put_events(writer, input, flags & IS_TAME);
	if (trace_writer_close(writer))
		abort();
}

static void check(const struct report *report, const struct fold_rules *fold)
{
	struct view_style style = { .fold = fold, .is_verbose = true };
	struct text text = { 0 };
	json_error_t error;
	json_t *root;

	if (report->totals.accounting_error_ns)
		abort();
	text_view.show(report, &style, &text);
	text.length = 0;
	if (text_pages_parse("locks,klocks", &style.pages))
		abort();
	text_view.show(report, &style, &text);
	text.length = 0;
	json_view.show(report, &style, &text);
	root = json_loads(text.bytes, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL, &error);
	if (!root)
		abort();
	json_decref(root);
	text_fini(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct input input = { bytes, size };
	unsigned int flags = take_number(&input, 1);
	int fd = memfd_create("trace", MFD_CLOEXEC);
	struct findings *findings;
	struct replay *replay;
	char path[64];

	if (fd < 0)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	write_trace(path, &input, flags);
	if (replay_open(path, &(struct replay_options){ 0 }, &replay))
		abort();
	findings = replay_findings(replay, flags & HAS_ALL_PATHS ? SIZE_MAX : 10);
	check(findings_report(findings), replay_fold_rules(replay));
	findings_free(findings);
	replay_close(replay);
	close(fd);
	return 0;
}
