/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "query/trace_states.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "activity/event_context.h"
#include "base/fail.h"
#include "base/memory.h"
#include "base/out/out_file.h"
#include "base/text.h"
#include "engine/trace_open.h"
#include "findings/names/path_names.h"
#include "graph/graph_label.h"
#include "klocks/klocks.h"
#include "query/trace_states_make.h"
#include "query/trace_states_place.h"
#include "session/event_kinds.h"
#include "session/hosts.h"
#include "session/session.h"
#include "session/threads.h"
#include "spans/execution_log.h"
#include "stacks/stacks.h"
#include "states/states.h"
#include "symbol/symbol.h"
#include "trace/trace_reader.h"
#include "waits/files.h"
#include "waits/others.h"

/* States take about 2 bytes an event. */
enum { PENDING_BYTES_MAX = 1 << 20, IN_MEMORY_EVENTS_MAX = 1 << 20 };

static void on_run(void *data, const struct ev_header *header)
{
	struct trace_states *all = data;
	size_t size_bytes = event_bytes(header);

	free(all->run);
	all->run = memcpy(xcalloc(1, size_bytes), header, size_bytes);
}

static void on_end(void *data, const struct ev_header *header)
{
	const struct ev_collect_end *e = (const struct ev_collect_end *)header;
	struct trace_states *all = data;

	all->has_ended = e->exit_status != UINT32_MAX;
	free(all->end);
	all->end = memcpy(xcalloc(1, event_bytes(header)), header, event_bytes(header));
}

/* The file's events define threads, mappings, stacks and files. */
static void take_events(struct trace_states *all)
{
	struct trace_reader *file = states_file(all->states);
	const struct ev_header *header;
	int got;

	while ((got = trace_reader_next(file, &header)))
		if (got == 1)
			session_hand_out(all->session, header);
		else if (got != -EBADMSG)
			break;
}

static bool lives_at_end(void *data, uint32_t thread)
{
	struct trace_states *all = data;
	uint64_t end_ns = states_end_ns(all->states);
	struct state state;

	return end_ns && states_at(all->states, thread, end_ns - 1, &state);
}

/* They are many, so states do not have them. */
static void take_own_events(struct trace_states *all, struct trace_reader *trace)
{
	const struct ev_header *header;
	int got;

	trace_reader_seek(trace, 0);
	while ((got = trace_reader_next(trace, &header)))
		if (got == 1)
			execution_log_take_own(all->executions, header);
		else if (got != -EBADMSG)
			break;
}

static void open_listeners(struct trace_states *all, bool opens_files)
{
	static const struct event_handler handlers[] = {
		{ EV_COLLECT_RUN, on_run },
		{ EV_COLLECT_END, on_end },
		{ 0 },
	};

	all->session = session_new(1, PENDING_BYTES_MAX);
	all->threads = threads_new(all->session);
	all->stacks = stacks_new(all->session, 0);
	all->symbols = symbols_new(all->session);
	symbols_set_offline(all->symbols, opens_files);
	all->files = files_new(all->session, 0);
	all->others = others_new(all->session);
	all->hosts = hosts_new(all->session);
	all->context = event_context_new(all->session, all->threads, false);
	all->klocks = klocks_new(all->session, all->threads);
	all->executions = execution_log_new(all->session);
	all->names = path_names_new(all->symbols, all->stacks, NULL);
	session_subscribe(all->session, handlers, all);
}

static void open_rest(struct trace_states *all, struct trace_reader *trace, bool opens_files, const char *own_span)
{
	open_listeners(all, opens_files);
	trace_take_names(trace, all->symbols, NULL);
	take_events(all);
	if (own_span)
		execution_log_add(all->executions, own_span);
	if (execution_log_wants_own(all->executions))
		take_own_events(all, trace);
	execution_log_finish(all->executions, lives_at_end, all);
}

/* What is there already and is of the trace; -1: there is none. */
static int find(const struct states_places *places, const struct trace_reader *trace, bool opens_files,
		const char **path)
{
	for (unsigned int i = 0; i < places->count; i++) {
		int fd = states_place_open(&places->list[i]);

		*path = places->list[i].path.bytes;
		if (fd >= 0 && trace_states_are_of(fd, trace, opens_files)) {
			states_place_use(&places->list[i]);
			return fd;
		}
		if (fd >= 0)
			close(fd);
	}
	return -1;
}

static int fail_without_place(const char *trace_path, int err)
{
	if (err)
		return fail(err, "cannot write %s.states, the index that queries of %s need", trace_path, trace_path);
	return fail_plain(-EPERM,
			  "cannot write the index that queries of %s need: other users can write to its directory, "
			  "and you have no cache directory; set XDG_CACHE_HOME to a directory that only you can write "
			  "to",
			  trace_path);
}

static void take_no_pause(void *data)
{
	(void)data;
}

/* Once more if stacks came too late for those who look at it meanwhile, who have what they have got. */
static int make_there(const struct states_place *place, struct out_file *file, const char *trace_path,
		      struct trace_reader *trace, bool opens_files, struct states_waiter *waiter)
{
	const char *path = place->path.bytes;
	int fd = trace_states_make(file, path, trace_path, trace, opens_files, waiter), err;

	if (fd != -EAGAIN)
		return fd;
	waiter->show = NULL;
	err = states_place_make(place, &file);
	return err ? fail_without_place(trace_path, err)
		   : trace_states_make(file, path, trace_path, trace, opens_files, waiter);
}

/* In the first place where it can be. */
static int make(const struct states_places *places, const char *trace_path, struct trace_reader *trace,
		bool opens_files, struct states_waiter *waiter, const char **path)
{
	struct out_file *file;
	int err = 0;

	for (unsigned int i = 0; i < places->count; i++) {
		err = states_place_make(&places->list[i], &file);
		*path = places->list[i].path.bytes;
		if (!err)
			return make_there(&places->list[i], file, trace_path, trace, opens_files, waiter);
	}
	return fail_without_place(trace_path, err);
}

static int open_states(int fd, const char *path, struct trace_states *all)
{
	char link[64];
	int err;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	err = states_open(link, &all->states);
	return err ? fail(err, "cannot read %s", path) : 0;
}

/* In memory, where nobody else sees it. */
static int make_in_memory(const char *trace_path, struct trace_reader *trace, bool opens_files, const char **path)
{
	struct states_waiter waiter = { .pause = { .take = take_no_pause, .period_ns = UINT64_MAX / 2 } };
	struct out_file *file;
	int memory, fd;
	char link[64];

	if (trace_reader_extent(trace)->events > IN_MEMORY_EVENTS_MAX)
		return -E2BIG;
	memory = memfd_create("pinch-states", MFD_CLOEXEC);
	if (memory < 0)
		return -errno;
	snprintf(link, sizeof(link), "/dev/fd/%d", memory);
	fd = out_file_open(link, 0, &file);
	if (!fd)
		fd = trace_states_make(file, NULL, trace_path, trace, opens_files, &waiter);
	close(memory);
	*path = trace_path;
	return fd;
}

/* How states are made that are not there yet. */
struct making_how {
	struct states_waiter *waiter;
	bool is_for_once;
	const char *own_span;
};

static int open_any(const char *trace_path, bool opens_files, const struct making_how *how, struct trace_states *all)
{
	struct states_places places;
	struct trace_reader *trace;
	int fd, err = trace_open(trace_path, &trace);
	const char *path = NULL;

	*all = (struct trace_states){ 0 };
	if (err)
		return err;
	states_places_find(trace_path, trace, &places);
	fd = find(&places, trace, opens_files, &path);
	if (fd < 0 && how->is_for_once)
		fd = make_in_memory(trace_path, trace, opens_files, &path);
	else if (fd < 0)
		fd = make(&places, trace_path, trace, opens_files, how->waiter, &path);
	err = fd < 0 ? fd : open_states(fd, path, all);
	if (fd >= 0)
		close(fd);
	if (!err) {
		all->path = xstrdup(path);
		open_rest(all, trace, opens_files, how->own_span);
	}
	trace_reader_close(trace);
	states_places_fini(&places);
	return err;
}

int trace_states_open_waiting(const char *trace_path, bool opens_files, struct states_waiter *waiter,
			      struct trace_states *all)
{
	return open_any(trace_path, opens_files, &(struct making_how){ .waiter = waiter }, all);
}

int trace_states_open(const char *trace_path, bool opens_files, const char *own_span, struct trace_states *all)
{
	return open_any(trace_path, opens_files, &(struct making_how){ .own_span = own_span }, all);
}

int trace_states_open_for_once(const char *trace_path, bool opens_files, struct trace_states *all)
{
	return open_any(trace_path, opens_files, &(struct making_how){ .is_for_once = true }, all);
}

int trace_states_open_growing(const char *states_path, bool opens_files, struct trace_states *all)
{
	int err;

	*all = (struct trace_states){ 0 };
	err = states_open_growing(states_path, &all->states);
	if (err)
		return err;
	all->path = xstrdup(states_path);
	open_listeners(all, opens_files);
	take_events(all);
	return 0;
}

int trace_states_grow(struct trace_states *all)
{
	int err = states_grow(all->states);

	take_events(all);
	return err;
}

void trace_states_close(struct trace_states *all)
{
	if (all->states && states_damaged_count(all->states))
		warn("%s is damaged: remove it, and pinch makes it again", all->path);
	free(all->path);
	path_names_free(all->names);
	execution_log_free(all->executions);
	others_free(all->others);
	hosts_free(all->hosts);
	event_context_free(all->context);
	files_free(all->files);
	klocks_free(all->klocks);
	symbols_free(all->symbols);
	stacks_free(all->stacks);
	threads_free(all->threads);
	session_free(all->session);
	states_close(all->states);
	free(all->run);
	free(all->end);
	*all = (struct trace_states){ 0 };
}

uint64_t trace_states_time(const struct trace_states *all, uint64_t since_ns)
{
	uint64_t first_ns = all->first_ns ? all->first_ns
			    : all->run    ? all->run->header.time_ns
					  : states_begin_ns(all->states);

	return since_ns < UINT64_MAX - first_ns ? first_ns + since_ns : UINT64_MAX;
}

struct graph_labels *trace_states_labels(const struct trace_states *all, const struct fold_rules *fold,
					 bool is_by_group)
{
	struct graph_labels *labels = graph_labels_new(&(struct graph_names){
		.threads = all->threads,
		.others = all->others,
		.hosts = all->hosts,
		.files = all->files,
		.klocks = all->klocks,
		.symbols = all->symbols,
		.paths = all->names,
		.fold = fold,
		.activities = states_activities(all->states),
	});

	graph_labels_group(labels, is_by_group);
	return labels;
}
