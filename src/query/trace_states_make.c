/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "query/trace_states_make.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "account/criticality.h"
#include "base/fail.h"
#include "base/memory.h"
#include "base/out/out_file.h"
#include "base/pause.h"
#include "base/table.h"
#include "base/text.h"
#include "engine/trace_open.h"
#include "findings/names/path_names.h"
#include "session/session.h"
#include "session/threads.h"
#include "stacks/stacks.h"
#include "states/activity.h"
#include "states/state_log.h"
#include "symbol/symbol.h"
#include "trace/trace_reader.h"
#include "trace/trace_threads.h"
#include "trace/trace_writer.h"
#include "waits/files.h"
#include "waits/others.h"

enum { VERSION = 11, OF_FILES = 1 << 16, PENDING_BYTES_MAX = 1 << 20, EVENTS_A_PAUSE = 4096, EVENTS_A_STEP = 1 << 20 };

static bool has_names(const struct trace_reader *trace)
{
	size_t count;
	const struct trace_place *places = trace_reader_places(trace, &count);

	for (size_t i = 0; i < count; i++)
		if (places[i].kind == TRACE_CHUNK_NAMES)
			return true;
	return false;
}

/* Names tell causes of waits: those of files may tell others. */
static struct trace_origin origin_of(const struct trace_reader *trace, bool opens_files)
{
	const struct trace_extent *extent = trace_reader_extent(trace);
	struct trace_origin origin = { .file_bytes = extent->file_bytes, .version = VERSION };

	if (opens_files && !has_names(trace))
		origin.version |= OF_FILES;
	memcpy(origin.id, extent->id, sizeof(origin.id));
	return origin;
}

bool trace_states_are_of(int fd, const struct trace_reader *trace, bool opens_files)
{
	struct trace_origin origin = origin_of(trace, opens_files);
	const struct trace_place *places;
	struct trace_reader *file;
	size_t count, size_bytes;
	const void *content;
	bool is_of = false;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (trace_reader_open(path, &file))
		return false;
	places = trace_reader_places(file, &count);
	for (size_t i = 0; i < count && !is_of; i++)
		is_of = places[i].kind == TRACE_CHUNK_ORIGIN && !trace_reader_content(file, i, &content, &size_bytes) &&
			size_bytes == sizeof(origin) && !memcmp(content, &origin, sizeof(origin));
	is_of = is_of && trace_reader_extent(file)->is_ended;
	trace_reader_close(file);
	return is_of;
}

/* --- Making --------------------------------------------------------------------------------- */

/* A rule knew a function above the wait. */
static const uintptr_t IS_NAMED = 1 << 16;

struct making {
	struct trace_writer *writer;
	struct session *session; /* the events' */
	struct path_names *names;
	struct table *causes;  /* by what they depend on; each plus 1, and IS_NAMED */
	struct table *futexes; /* causes of waits for them that have a stack, by their addresses; each plus 1 */
	uint64_t end_ns;
	bool opens_files;
	bool has_stacks; /* the trace is read for the second time */
	bool is_watched; /* by somebody at a terminal */
	struct states_waiter *waiter;
};

static uint64_t mix(uint64_t key, uint64_t value)
{
	return hash_u64(key ^ hash_u64(value));
}

/* Where waits have no stack, others for the same futex say what it is. */
static enum wait_cause cause_of_futex(struct making *making, const struct thread *thread,
				      const struct wait_facts *facts, enum wait_cause cause, bool is_named)
{
	uint64_t key = mix(facts->object, (uint64_t)thread->pid << 32 | thread->exec_count);
	uintptr_t known;

	if (is_named)
		table_put(making->futexes, key, (void *)(uintptr_t)(cause + 1));
	known = (uintptr_t)table_find(making->futexes, key);
	return known ? known - 1 : cause;
}

static enum wait_cause cause_of(void *data, const struct thread *thread, uint64_t time_ns, uint64_t stack,
				const struct wait_facts *facts, enum wait_cause cause)
{
	struct making *making = data;
	uint64_t key =
		mix(mix(stack, (uint64_t)thread->pid << 32 | thread->exec_count),
		    (uint64_t)facts->syscall << 32 | (uint32_t)facts->operation << 16 | cause << 8 | facts->state);
	uintptr_t known = (uintptr_t)table_find(making->causes, key);
	struct wait_meaning meaning;

	if (!stack && wait_has_futex(facts))
		return cause_of_futex(making, thread, facts, cause, false);
	if (!known) {
		meaning = path_names_meaning(making->names, thread->pid, time_ns, stack, facts, cause);
		known = (meaning.cause + 1) | (meaning.is_named ? IS_NAMED : 0);
		table_put(making->causes, key, (void *)known);
	}
	if (known & IS_NAMED && wait_has_futex(facts))
		cause_of_futex(making, thread, facts, (known & ~IS_NAMED) - 1, true);
	return (known & ~IS_NAMED) - 1;
}

/* What others need to know to read the states, and where threads ran. */
static bool is_description(const struct ev_header *header)
{
	switch (header->subsys) {
	case TRACE_SUBSYS_THREAD:
		return header->event != TRACE_EVENT_THREAD_WAITS;
	case TRACE_SUBSYS_STACK:
		return header->event == TRACE_EVENT_STACK_FRAMES;
	case TRACE_SUBSYS_SCHED:
		return header->event == TRACE_EVENT_SCHED_SAMPLE;
	case TRACE_SUBSYS_KLOCK:
		return header->event == TRACE_EVENT_KLOCK_LOCK;
	case TRACE_SUBSYS_SPACE:
	case TRACE_SUBSYS_FILE:
	case TRACE_SUBSYS_SPAN:
		return true;
	case TRACE_SUBSYS_CLOCK:
		return header->event == TRACE_EVENT_CLOCK_HOST;
	case TRACE_SUBSYS_COLLECT:
		return header->event == TRACE_EVENT_COLLECT_RUN || header->event == TRACE_EVENT_COLLECT_GAP ||
		       header->event == TRACE_EVENT_COLLECT_END;
	}
	return false;
}

static unsigned int percent_done(const struct making *making, const struct trace_reader *trace)
{
	size_t count, at = trace_reader_at(trace);

	trace_reader_places(trace, &count);
	return count ? 50 * (making->has_stacks ? count + at : at) / count : 0;
}

/* Of a large trace it takes a while. */
static void report_progress(const struct making *making, const struct trace_reader *trace, bool is_over)
{
	if (!making->is_watched)
		return;
	if (is_over)
		fputs("\r\033[K", stderr);
	else
		fprintf(stderr, "\rpinch: indexing the trace for queries: %u %%", percent_done(making, trace));
}

/* Whether who waits still wants the states. */
static bool take_pause(struct making *making, const struct trace_reader *trace)
{
	if (!making->waiter)
		return true;
	making->waiter->percent = percent_done(making, trace);
	pause_take_if_due(&making->waiter->pause);
	return !making->waiter->is_cancelled;
}

/* Once: later queries read what is made here. */
static void report_left_out(const struct trace_reader *trace)
{
	struct text left_out = { 0 };

	if (trace_put_left_out(trace, &left_out))
		warn("in the trace, %s", left_out.bytes);
	text_fini(&left_out);
}

static bool is_frames(const struct ev_header *header)
{
	return header->subsys == TRACE_SUBSYS_STACK && header->event == TRACE_EVENT_STACK_FRAMES;
}

static void take_event(struct making *making, const struct ev_header *header)
{
	if (!making->has_stacks) {
		if (is_frames(header))
			session_hand_out(making->session, header);
		return;
	}
	session_hand_out(making->session, header);
	if (header->time_ns > making->end_ns)
		making->end_ns = header->time_ns;
	if (is_description(header))
		trace_writer_event(making->writer, header);
}

static int take_events(struct making *making, struct trace_reader *trace, struct session *session)
{
	const struct ev_header *header;
	uint64_t events = 0;
	int got;

	making->session = session;
	trace_reader_allow_threads(trace, TRACE_THREADS_MAX, TRACE_THREADS_EVER_MAX);
	while ((got = trace_reader_next(trace, &header))) {
		if (!(++events % EVENTS_A_STEP))
			report_progress(making, trace, false);
		if (!(events % EVENTS_A_PAUSE) && !take_pause(making, trace))
			return -ECANCELED;
		if (got != 1 && got != -EBADMSG)
			return got;
		if (got == 1)
			take_event(making, header);
	}
	if (events >= EVENTS_A_STEP)
		report_progress(making, trace, true);
	return 0;
}

/* What waits are called decides about their causes, and frames of a stack may stand behind the wait that names it. */
static int read_stacks(struct making *making, struct trace_reader *trace, struct stacks **out)
{
	struct session *session = session_new(1, PENDING_BYTES_MAX);
	int err;

	*out = stacks_new(session, 0);
	err = take_events(making, trace, session);
	making->has_stacks = true;
	session_free(session);
	return err;
}

static int write_states(struct making *making, struct trace_reader *trace)
{
	struct session *session = session_new(1, PENDING_BYTES_MAX);
	struct threads *threads = threads_new(session);
	struct stacks *stacks;
	struct symbols *symbols = symbols_new(session);
	struct files *files = files_new(session, 0);
	struct others *others = others_new(session);
	struct trace_origin origin = origin_of(trace, making->opens_files);
	struct criticality *criticality;
	struct activity_log *activities;
	struct state_log *log;
	int err = read_stacks(making, trace, &stacks);

	symbols_set_offline(symbols, making->opens_files);
	making->names = path_names_new(symbols, stacks, NULL);
	making->causes = table_new();
	making->futexes = table_new();
	trace_writer_chunk(making->writer, TRACE_CHUNK_ORIGIN, &origin, sizeof(origin), NULL);
	trace_take_names(trace, symbols, NULL);
	log = state_log_new(making->writer, &(struct state_log_options){
						    .threads = threads,
						    .files = files,
						    .others = others,
						    .cause_of = cause_of,
						    .cause_data = making,
					    });
	criticality = criticality_new(session, threads,
				      &(struct criticality_options){
					      .has_no_paths = true,
					      .listener = state_log_listener(log),
					      .is_of_all = true,
				      });
	state_log_subscribe(log, session);
	activities = activity_log_new(session, making->writer);
	if (!err)
		err = take_events(making, trace, session);
	if (!err && !making->waiter)
		report_left_out(trace);
	state_log_finish(log, making->end_ns);
	activity_log_finish(activities, making->end_ns);
	activity_log_free(activities);
	criticality_free(criticality);
	state_log_free(log);
	path_names_free(making->names);
	table_free(making->causes);
	table_free(making->futexes);
	others_free(others);
	files_free(files);
	symbols_free(symbols);
	stacks_free(stacks);
	threads_free(threads);
	session_free(session);
	return err;
}

static int fail_to_write(int err, const char *path, const char *trace_path)
{
	return path ? fail(err, "cannot write %s, the index that queries of %s need", path, trace_path) : err;
}

int trace_states_make(struct out_file *file, const char *path, const char *trace_path, struct trace_reader *trace,
		      bool opens_files, struct states_waiter *waiter)
{
	struct making making = {
		.opens_files = opens_files,
		.is_watched = !waiter && isatty(STDERR_FILENO),
		.waiter = waiter,
	};
	int err = trace_writer_begin(file, NULL, &making.writer), fd;

	if (err)
		return fail_to_write(err, path, trace_path);
	err = write_states(&making, trace);
	if (err) {
		trace_writer_discard(making.writer);
		return err == -ECANCELED || !path ? err : fail(err, "cannot read %s", trace_path);
	}
	fd = fcntl(trace_writer_fd(making.writer), F_DUPFD_CLOEXEC, 0);
	err = fd < 0 ? -errno : 0;
	if (err)
		trace_writer_discard(making.writer);
	else
		err = trace_writer_close(making.writer);
	if (!err)
		return fd;
	if (fd >= 0)
		close(fd);
	return fail_to_write(err, path, trace_path);
}
