/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Replays a scenario of events written as text through a session and prints the account
 * of the criticality analysis. A line is
 *
 *	NS THREAD SUBSYS.EVENT key=value ...
 *
 * where the keys are the event's fields, plus stream= (default: the event's cpu, else 0)
 * and size= (makes a damaged record of that many bytes). Other lines:
 *
 *	options nmin=N threads_max=N paths_max=N pending=BYTES waits=1 rivals=1
 *		spins=IP
 *	advance NS		deliver all before NS
 *	finish NS		end the account there (default: at the last event)
 *	timeline N		show the mean parallelism in N equal parts
 *
 * A thread that is sampled at the ip spins= is not active from there on. With PEEK in the environment
 * the account is looked at after each event: that changes nothing.
 * Scenarios are ours: a mistake in one stops the replay.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/cpu_waits.h"
#include "analysis/criticality.h"
#include "analysis/files.h"
#include "analysis/others.h"
#include "analysis/stacks.h"
#include "analysis/untold.h"
#include "analysis/waits.h"
#include "session/syscalls.h"
#include "session/session.h"
#include "session/threads.h"
#include "values.h"

enum { STREAMS = 4, KEYS_MAX = 24, TIMELINE_MAX = 64, FRAMES_MAX = 64 };

static const char *scenario;
static int line_number;

__attribute__((noreturn, format(printf, 1, 2)))
static void stop(const char *format, ...)
{
	va_list args;

	fprintf(stderr, "%s:%d: ", scenario, line_number);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(2);
}

/* The key=value pairs of a line; each must be asked for, or it is a mistake. */
struct keys {
	struct {
		const char *key, *value;
		bool is_used;
	} list[KEYS_MAX];
	size_t count;
};

static void keys_parse(struct keys *keys)
{
	char *word;

	keys->count = 0;
	while ((word = strtok(NULL, " \t\n"))) {
		char *equals = strchr(word, '=');

		if (*word == '#')
			break;
		if (!equals || keys->count == KEYS_MAX)
			stop("'%s' is no key=value", word);
		*equals = '\0';
		keys->list[keys->count].key = word;
		keys->list[keys->count].value = equals + 1;
		keys->list[keys->count++].is_used = false;
	}
}

static const char *key_text(struct keys *keys, const char *key, const char *otherwise)
{
	for (size_t i = 0; i < keys->count; i++) {
		if (strcmp(keys->list[i].key, key))
			continue;
		keys->list[i].is_used = true;
		return keys->list[i].value;
	}
	return otherwise;
}

static uint64_t number(const char *text)
{
	char *end;
	uint64_t value = strtoull(text, &end, 0);

	if (*end || end == text)
		stop("'%s' is no number", text);
	return value;
}

static uint64_t key_number(struct keys *keys, const char *key, uint64_t otherwise)
{
	const char *text = key_text(keys, key, NULL);

	return text ? number(text) : otherwise;
}

/* The place of a word in a list, or a plain number. */
static unsigned int key_word(struct keys *keys, const char *key, const char *const *words,
			     unsigned int otherwise)
{
	const char *text = key_text(keys, key, NULL);

	if (!text)
		return otherwise;
	for (unsigned int i = 0; words[i]; i++)
		if (!strcmp(words[i], text))
			return i;
	return number(text);
}

static void keys_end(struct keys *keys)
{
	for (size_t i = 0; i < keys->count; i++)
		if (!keys->list[i].is_used)
			stop("unknown key '%s'", keys->list[i].key);
}

static const char *const states[] = { "runnable", "sleeping", "blocked", "stopped", "dead", NULL };
static const char *const contexts[] = { "thread", "kernel", "softirq", "hardirq", NULL };
static const char *const phases[] = { "unknown", "blocked", "runnable", "running", "dead", NULL };

/* Large enough for every event that a scenario can write. */
union any_event {
	struct ev_header header;
	struct ev_collect_gap gap;
	struct ev_sched_switch switched;
	struct ev_sched_sample sample;
	struct ev_space_map map;
	struct ev_space_exec space_exec;
	struct ev_space_fork fork;
	struct ev_stack_frames frames;
	struct ev_thread_born born;
	struct ev_thread_found found;
	struct ev_thread_name name;
	struct ev_thread_exec exec;
	struct ev_thread_other other;
	struct ev_thread_waits waits;
	struct ev_sched_throttled throttled;
	struct ev_sched_hidden hidden;
	struct ev_sched_wake wake;
	struct ev_file_path path;
	struct ev_file_socket socket;
	struct ev_file_host host;
	uint64_t room[8 + FRAMES_MAX];
};

/* Returns the size of what it filled in. */
typedef size_t fill_function(union any_event *e, struct keys *keys);

static size_t fill_header(union any_event *e, struct keys *keys)
{
	(void)keys;
	return sizeof(e->header);
}

/* By its name or number; none when it is not given. */
static uint16_t key_syscall(struct keys *keys)
{
	const char *text = key_text(keys, "syscall", NULL);

	if (!text)
		return SYSCALL_NONE;
	for (uint32_t i = 0; i < SYSCALLS_MAX; i++)
		if (syscall_name(i) && !strcmp(syscall_name(i), text))
			return i;
	return number(text);
}

static size_t fill_gap(union any_event *e, struct keys *keys)
{
	e->gap.lost = key_number(keys, "lost", 1);
	e->gap.cpu = key_number(keys, "cpu", 0);
	return sizeof(e->gap);
}

static size_t fill_switch(union any_event *e, struct keys *keys)
{
	const char *stack = key_text(keys, "stack", NULL);

	e->switched.next = key_number(keys, "next", 0);
	e->switched.state = key_word(keys, "state", states, 0);
	e->switched.cpu = key_number(keys, "cpu", 0);
	if (stack) {
		e->switched.flags = SWITCH_HAS_STACK;
		e->switched.stack = number(stack);
	}
	if (key_number(keys, "skipped", 0))
		e->switched.flags = SWITCH_STACK_SKIPPED;
	if (key_number(keys, "after_hidden", 0))
		e->switched.flags |= SWITCH_AFTER_HIDDEN;
	e->switched.keep = atof(key_text(keys, "keep", "0")) * 0x1p32;
	e->switched.syscall = key_syscall(keys);
	e->switched.object = key_number(keys, "object", 0);
	e->switched.value = key_number(keys, "value", 0);
	e->switched.operation = key_number(keys, "operation", 0);
	e->switched.owners[0] = key_number(keys, "owner", key_number(keys, "bytes", 0));
	return sizeof(e->switched);
}

static size_t fill_wake(union any_event *e, struct keys *keys)
{
	const char *stack = key_text(keys, "stack", NULL);
	const char *wait_stack = key_text(keys, "wait_stack", NULL);

	e->wake.waker = key_number(keys, "waker", 0);
	e->wake.tid = key_number(keys, "tid", e->wake.waker);
	e->wake.context = key_word(keys, "context", contexts, WAKE_THREAD);
	e->wake.syscall = key_syscall(keys);
	e->wake.flags = key_number(keys, "to_die", 0) ? WAKE_TO_DIE : 0;
	e->wake.keep = atof(key_text(keys, "keep", "0")) * 0x1p32;
	if (stack) {
		e->wake.flags |= WAKE_HAS_STACK;
		e->wake.stack = number(stack);
	}
	if (wait_stack) {
		e->wake.flags |= WAKE_HAS_WAIT_STACK;
		e->wake.wait_stack = number(wait_stack);
	}
	return sizeof(e->wake);
}

/* The name of one file, below the root. */
static size_t fill_path(union any_event *e, struct keys *keys)
{
	const char *name = key_text(keys, "name", "");
	char *names = (char *)(&e->path + 1);
	size_t bytes = strlen(name) + 1;

	e->path.file = key_number(keys, "file", 0);
	e->path.mode = key_number(keys, "mode", 0100644);
	e->path.links = key_number(keys, "links", 1);
	memcpy(names, name, bytes);
	e->path.name_bytes = bytes;
	if (!key_number(keys, "anonymous", 0)) {
		memcpy(names + bytes, "/", 2);
		e->path.name_bytes += 2;
	}
	return sizeof(e->path) + e->path.name_bytes;
}

/* Of IPv4, between this machine and itself or another one. */
static size_t fill_socket(union any_event *e, struct keys *keys)
{
	e->socket.file = key_number(keys, "file", 0);
	e->socket.family = 2;
	e->socket.local_port = key_number(keys, "local_port", 0);
	e->socket.peer_port = key_number(keys, "peer_port", 0);
	memcpy(e->socket.local, (uint8_t[]){ 127, 0, 0, 1 }, 4);
	memcpy(e->socket.peer, (uint8_t[]){ key_number(keys, "peer", 127), 0, 0, 1 }, 4);
	return sizeof(e->socket) + 1;
}

static size_t fill_hidden(union any_event *e, struct keys *keys)
{
	e->hidden.begin_ns = key_number(keys, "begin_ns", 0);
	e->hidden.tid = key_number(keys, "tid", 1);
	e->hidden.cpu = key_number(keys, "cpu", 0);
	return sizeof(e->hidden);
}

static size_t fill_throttled(union any_event *e, struct keys *keys)
{
	e->throttled.throttled_ns = key_number(keys, "throttled_ns", 0);
	return sizeof(e->throttled);
}

/* Of the same addresses. */
static size_t fill_host(union any_event *e, struct keys *keys)
{
	const char *name = key_text(keys, "name", "");

	e->host.family = 2;
	memcpy(e->host.address, (uint8_t[]){ key_number(keys, "peer", 127), 0, 0, 1 }, 4);
	memcpy(e->host.name, name, strnlen(name, sizeof(e->host.name)));
	return sizeof(e->host);
}

static size_t fill_other(union any_event *e, struct keys *keys)
{
	const char *name = key_text(keys, "name", "");

	e->other.tid = key_number(keys, "tid", 0);
	e->other.pid = key_number(keys, "pid", 0);
	e->other.is_kernel = key_number(keys, "kernel", 0);
	memcpy(e->other.name, name, strnlen(name, sizeof(e->other.name)));
	return sizeof(e->other);
}

static size_t fill_sample(union any_event *e, struct keys *keys)
{
	e->sample.ip = key_number(keys, "ip", 0);
	e->sample.kernel_ip = key_number(keys, "kernel_ip", 0);
	return sizeof(e->sample);
}

static size_t fill_map(union any_event *e, struct keys *keys)
{
	const char *path = key_text(keys, "path", "/bin/true");

	e->map.pid = key_number(keys, "pid", 0);
	memcpy(e->map.path, path, strlen(path) + 1);
	/* The record ends before its NUL: damaged. */
	return sizeof(e->map) + strlen(path) + !key_number(keys, "cut", 0);
}

static size_t fill_space_exec(union any_event *e, struct keys *keys)
{
	e->space_exec.pid = key_number(keys, "pid", 0);
	return sizeof(e->space_exec);
}

static size_t fill_fork(union any_event *e, struct keys *keys)
{
	e->fork.pid = key_number(keys, "pid", 0);
	e->fork.parent_pid = key_number(keys, "parent_pid", 0);
	return sizeof(e->fork);
}

static size_t add_frames(union any_event *e, size_t count, const char *list)
{
	size_t added = 0;
	char *end;

	while (*list) {
		if (count + added >= FRAMES_MAX)
			stop("too many frames");
		e->frames.frames[count + added++] = strtoull(list, &end, 0);
		if (end == list || (*end && *end != ','))
			stop("'%s' is no list of frames", list);
		list = *end ? end + 1 : end;
	}
	return added;
}

static size_t fill_frames(union any_event *e, struct keys *keys)
{
	size_t kernel, user;

	e->frames.stack = key_number(keys, "stack", 0);
	kernel = add_frames(e, 0, key_text(keys, "kernel", ""));
	user = add_frames(e, kernel, key_text(keys, "user", ""));
	e->frames.kernel_count = kernel;
	e->frames.user_count = user;
	return sizeof(e->frames) + (kernel + user) * sizeof(uint64_t);
}

static void fill_name(char to[16], const char *name)
{
	memset(to, 0, 16);
	memcpy(to, name, strnlen(name, 16));	/* 16 bytes without NUL are possible */
}

static size_t fill_born(union any_event *e, struct keys *keys)
{
	e->born.parent = key_number(keys, "parent", 0);
	e->born.tid = key_number(keys, "tid", e->header.thread);
	e->born.pid = key_number(keys, "pid", 1);
	fill_name(e->born.name, key_text(keys, "name", ""));
	return sizeof(e->born);
}

static size_t fill_found(union any_event *e, struct keys *keys)
{
	e->found.parent = key_number(keys, "parent", 0);
	e->found.tid = key_number(keys, "tid", e->header.thread);
	e->found.pid = key_number(keys, "pid", 1);
	e->found.phase = key_word(keys, "phase", phases, PHASE_UNKNOWN);
	e->found.cpu = key_number(keys, "cpu", 0);
	fill_name(e->found.name, key_text(keys, "name", ""));
	e->found.syscall = key_syscall(keys);
	e->found.object = key_number(keys, "object", 0);
	e->found.operation = key_number(keys, "operation", 0);
	return sizeof(e->found);
}

static size_t fill_waits(union any_event *e, struct keys *keys)
{
	e->waits.begin_ns = key_number(keys, "begin", 0);
	e->waits.stack = key_number(keys, "stack", 0);
	e->waits.state = key_word(keys, "state", states, 0);
	e->waits.value = key_number(keys, "value", 0);
	e->waits.owners[0] = key_number(keys, "owner", 0);
	return sizeof(e->waits);
}

static size_t fill_name_event(union any_event *e, struct keys *keys)
{
	fill_name(e->name.name, key_text(keys, "name", ""));
	return sizeof(e->name);
}

static size_t fill_exec(union any_event *e, struct keys *keys)
{
	e->exec.tid = key_number(keys, "tid", e->header.thread);
	fill_name(e->exec.name, key_text(keys, "name", ""));
	return sizeof(e->exec);
}

static const struct {
	const char *name;
	unsigned int id;
	fill_function *fill;
} kinds[] = {
	{ "collect.GAP", EV_COLLECT_GAP, fill_gap },
	{ "collect.SYNC_BEGIN", EV_COLLECT_SYNC_BEGIN, fill_header },
	{ "collect.SYNC_END", EV_COLLECT_SYNC_END, fill_header },
	{ "sched.SWITCH", EV_SCHED_SWITCH, fill_switch },
	{ "sched.WAKE", EV_SCHED_WAKE, fill_wake },
	{ "sched.SAMPLE", EV_SCHED_SAMPLE, fill_sample },
	{ "space.MAP", EV_SPACE_MAP, fill_map },
	{ "space.EXEC", EV_SPACE_EXEC, fill_space_exec },
	{ "space.FORK", EV_SPACE_FORK, fill_fork },
	{ "stack.FRAMES", EV_STACK_FRAMES, fill_frames },
	{ "thread.BORN", EV_THREAD_BORN, fill_born },
	{ "thread.FOUND", EV_THREAD_FOUND, fill_found },
	{ "thread.NAME", EV_THREAD_NAME, fill_name_event },
	{ "thread.EXEC", EV_THREAD_EXEC, fill_exec },
	{ "thread.OTHER", EV_THREAD_OTHER, fill_other },
	{ "thread.WAITS", EV_THREAD_WAITS, fill_waits },
	{ "sched.THROTTLED", EV_SCHED_THROTTLED, fill_throttled },
	{ "sched.HIDDEN", EV_SCHED_HIDDEN, fill_hidden },
	{ "file.PATH", EV_FILE_PATH, fill_path },
	{ "file.SOCKET", EV_FILE_SOCKET, fill_socket },
	{ "file.HOST", EV_FILE_HOST, fill_host },
	{ "nonsense.SUBSYSTEM", 999u << 16, fill_header },
	{ "nonsense.EVENT", EV_SCHED_SWITCH | 99, fill_header },
};

struct replay {
	struct session *session;
	struct threads *threads;
	struct stacks *stacks;
	struct criticality *criticality;
	struct files *files;
	struct others *others;
	struct untold *untold;
	struct waits *waits;		/* NULL unless asked for */
	struct cpu_waits *cpu_waits;	/* the same */
	uint64_t last_ns;
	size_t timeline_count;
	uint64_t refused;	/* -ENOSPC */
	uint64_t spin_ip;
};

static void push(struct replay *replay, const char *ns, struct keys *keys)
{
	union any_event e = { 0 };
	const char *thread = strtok(NULL, " \t\n"), *name = strtok(NULL, " \t\n");
	size_t i, size_bytes;
	unsigned int stream;

	if (!thread || !name)
		stop("a line is: NS THREAD EVENT key=value ...");
	keys_parse(keys);
	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(kinds[i].name, name))
			break;
	if (i == sizeof(kinds) / sizeof(*kinds))
		stop("unknown event '%s'", name);
	e.header.time_ns = number(ns);
	e.header.thread = number(thread);
	e.header.subsys = kinds[i].id >> 16;
	e.header.event = kinds[i].id & 0xffff;
	size_bytes = kinds[i].fill(&e, keys);
	size_bytes = key_number(keys, "size", size_bytes);
	stream = key_number(keys, "stream", key_number(keys, "cpu", 0) % STREAMS);
	keys_end(keys);
	if (stream >= STREAMS || size_bytes > sizeof(e))
		stop("stream or size out of range");
	if (e.header.time_ns > replay->last_ns)
		replay->last_ns = e.header.time_ns;
	replay->refused += session_push(replay->session, stream, &e, size_bytes) == -ENOSPC;
}

/*
 * Looks at the account in the middle of it, as a report does that is shown while the program runs:
 * its waits add up to the time that threads were blocked.
 */
static void peek(void *data, const struct ev_header *header)
{
	struct replay *replay = data;
	const struct thread_metrics *thread;
	uint64_t blocked_ns = 0, waited_ns = 0;
	size_t cursor = 0;

	criticality_advance(replay->criticality, header->time_ns);
	criticality_count_open_waits(replay->criticality);
	while ((thread = criticality_next_thread(replay->criticality, &cursor)))
		blocked_ns += thread->blocked_ns;
	for (enum wait_cause cause = 0; replay->waits && cause < CAUSES; cause++)
		waited_ns += waits_by_cause(replay->waits, cause).wait_ns;
	criticality_uncount_open_waits(replay->criticality);
	if (replay->waits && blocked_ns != waited_ns)
		stop("at %llu: blocked for %llu, waited for %llu",
		     (unsigned long long)header->time_ns, (unsigned long long)blocked_ns,
		     (unsigned long long)waited_ns);
}

/* After every event of every kind; the last to subscribe, it comes when the others have had it. */
static void start_peeking(struct replay *replay)
{
	static struct event_handler handlers[sizeof(kinds) / sizeof(*kinds) + 1];
	size_t count = 0;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (strncmp(kinds[i].name, "nonsense", 8) != 0)
			handlers[count++] = (struct event_handler){ kinds[i].id, peek };
	session_subscribe(replay->session, handlers, replay);
}

static bool is_spinning(void *data, const struct thread *thread, uint64_t time_ns, uint64_t ip,
			uint64_t kernel_ip)
{
	const struct replay *replay = data;

	(void)thread;
	(void)time_ns;
	return ip == replay->spin_ip && !kernel_ip;
}

static void start(struct replay *replay, struct keys *keys)
{
	struct criticality_options options = {
		.nmin = key_number(keys, "nmin", 0),
		.threads_max = key_number(keys, "threads_max", 0),
		.paths_max = key_number(keys, "paths_max", 0),
	};
	bool has_waits = key_number(keys, "waits", 0), has_rivals = key_number(keys, "rivals", 0);

	replay->spin_ip = key_number(keys, "spins", 0);
	if (replay->spin_ip) {
		options.is_spinning = is_spinning;
		options.spin_data = replay;
	}
	replay->session = session_new(STREAMS, key_number(keys, "pending", 1 << 20));
	keys_end(keys);
	replay->threads = threads_new(replay->session);
	replay->stacks = stacks_new(replay->session, 0);
	options.stacks = replay->stacks;
	replay->files = files_new(replay->session, 0);
	replay->others = others_new(replay->session);
	options.untold = replay->untold = untold_new(replay->session);
	if (has_waits)
		options.waits = replay->waits = waits_new(replay->files, replay->others,
							  replay->untold);
	if (has_rivals)
		replay->cpu_waits = cpu_waits_new(replay->session, replay->others);
	replay->criticality = criticality_new(replay->session, replay->threads, &options);
	if (getenv("PEEK"))
		start_peeking(replay);
}

static void replay_line(struct replay *replay, char *line, uint64_t *finish_ns)
{
	const char *word = strtok(line, " \t\n");
	struct keys keys = { .count = 0 };

	if (!word || *word == '#')
		return;
	if (!strcmp(word, "options")) {
		if (replay->session)
			stop("options come first");
		keys_parse(&keys);
		start(replay, &keys);
		return;
	}
	if (!replay->session)
		start(replay, &keys);
	if (!strcmp(word, "advance"))
		session_advance(replay->session, number(strtok(NULL, " \t\n") ?: ""));
	else if (!strcmp(word, "finish"))
		*finish_ns = number(strtok(NULL, " \t\n") ?: "");
	else if (!strcmp(word, "timeline"))
		replay->timeline_count = number(strtok(NULL, " \t\n") ?: "");
	else
		push(replay, word, &keys);
}

/* Nanoseconds with three decimals, without those that are 0. */
static void print_fixed(fixed_ns value)
{
	uint64_t thousandths = (uint64_t)((value * 1000 + (1u << 31)) >> 32);
	char text[32];
	int length = snprintf(text, sizeof(text), "%llu.%03llu",
			      (unsigned long long)(thousandths / 1000),
			      (unsigned long long)(thousandths % 1000));

	while (text[length - 1] == '0')
		length--;
	printf("%.*s", length - (text[length - 1] == '.'), text);
}

static void print_nonzero(const char *name, uint64_t value)
{
	if (value)
		printf(" %s %llu", name, (unsigned long long)value);
}

static void print_totals(const struct replay *replay)
{
	struct criticality_totals t = criticality_totals(replay->criticality);
	struct session_counts s = session_counts(replay->session);

	printf("time: begin %llu end %llu wall %llu active %llu stalled %llu",
	       (unsigned long long)t.begin_ns, (unsigned long long)t.end_ns,
	       (unsigned long long)t.wall_ns, (unsigned long long)t.active_ns,
	       (unsigned long long)t.stalled_ns);
	print_nonzero("spun", t.spun_ns);
	printf("\ncmetric: sum %llu closure error %lld, critical time %llu, "
	       "of critical slices %llu\n",
	       (unsigned long long)t.cmetric_ns, (long long)t.closure_error_ns,
	       (unsigned long long)t.critical_ns, (unsigned long long)t.oncpu_cmetric_critical_ns);
	printf("threads: %llu alive %llu alive-max %llu active-max %llu nmin %u\n",
	       (unsigned long long)t.thread_count, (unsigned long long)t.alive_count,
	       (unsigned long long)t.alive_count_max, (unsigned long long)t.active_count_max,
	       t.nmin);
	printf("slices: %llu critical %llu", (unsigned long long)t.slices,
	       (unsigned long long)t.critical_slices);
	print_nonzero("kept", t.stacks_kept);
	print_nonzero("skipped", t.stacks_skipped);
	print_nonzero("missing", t.stacks_missing);
	print_nonzero("switches", t.switches);
	print_nonzero("stalls", t.stalls);
	print_nonzero("samples", t.samples);
	print_nonzero("samples-dropped", t.samples_dropped);
	print_nonzero("stack-tops", t.stack_tops);
	if (t.keep_min < 1)
		printf(" keep-min %g", t.keep_min);
	printf("\nlosses:");
	print_nonzero("unordered", t.unordered);
	print_nonzero("gaps", t.gaps);
	print_nonzero("lost", t.lost_records);
	print_nonzero("gap-ns", t.gap_ns);
	print_nonzero("malformed", s.malformed);
	print_nonzero("late", s.late);
	print_nonzero("refused", replay->refused);
	printf("\nactive:");
	for (uint32_t n = 0; n < PARALLELISM_MAX; n++)
		if (criticality_time_at(replay->criticality, n))
			printf(" %u:%llu", n,
			       (unsigned long long)criticality_time_at(replay->criticality, n));
	printf("\n");
}

static void print_threads(const struct replay *replay)
{
	const struct thread_metrics *m;
	size_t cursor = 0;

	while ((m = criticality_next_thread(replay->criticality, &cursor))) {
		if (m->thread)
			printf("thread %u '%s' pid %u:", m->thread->number, m->name,
			       m->thread->pid);
		else
			printf("%llu threads '%s':", (unsigned long long)m->thread_count, m->name);
		printf(" oncpu ");
		print_fixed(m->cmetric_oncpu);
		printf(" runqueue ");
		print_fixed(m->cmetric_runqueue);
		printf(" | running %llu runnable %llu blocked %llu | slices %llu critical %llu",
		       (unsigned long long)m->running_ns, (unsigned long long)m->runnable_ns,
		       (unsigned long long)m->blocked_ns, (unsigned long long)m->slices,
		       (unsigned long long)m->critical_slices);
		print_nonzero("spinning", m->spinning_ns);
		print_nonzero("spin-preempted", m->spin_preempted_ns);
		print_nonzero("stalls-ended-ns", m->stalls_ended_ns);
		print_nonzero("path", m->path);
		printf("%s\n", m->is_alive ? " alive" : "");
	}
}

static void print_paths(const struct replay *replay)
{
	const struct path_metrics *m;
	size_t cursor = 0;

	while ((m = criticality_next_path(replay->criticality, &cursor))) {
		printf("path %llu of pid %u exec %u from %llu: cmetric %.3f slices %llu",
		       (unsigned long long)m->stack, m->pid, m->exec_count,
		       (unsigned long long)m->first_ns, m->cmetric_ns,
		       (unsigned long long)m->slices);
		if (m->slices_estimated != m->slices)
			printf(" of %g", m->slices_estimated);
		print_nonzero("stalled", m->stalled_ns);
		printf(" | %zu threads:", m->thread_count);
		for (size_t i = 0; i < m->thread_count && i < PATH_THREADS_MAX; i++)
			printf(" %u", m->threads[i]->number);
		printf("\n");
		for (size_t i = 0; i < m->sample_kind_count; i++) {
			const struct sample_count *s = &m->samples[i];

			printf("  %llu at 0x%llx", (unsigned long long)s->count,
			       (unsigned long long)s->ip);
			if (s->kernel_ip)
				printf(" kernel 0x%llx", (unsigned long long)s->kernel_ip);
			printf("%s\n", s->is_stack_top ? " (stack top)" : "");
		}
	}
}

static const char *file_name(const struct replay *replay, uint64_t file)
{
	const struct file_info *info = files_find(replay->files, file);

	if (!info)
		return "?";
	return *info->peer ? info->peer : info->path;
}

static void print_wakers(const struct wait_waker *waker)
{
	for (; waker; waker = waker->next) {
		printf("  %s", waker_kind_name(waker->kind));
		if (waker->thread)
			printf(" %u", waker->thread->number);
		if (waker->name[0])
			printf(" '%s'", waker->name);
		printf(" stack %llu: waited %.6g times %g cmetric %.6g\n",
		       (unsigned long long)waker->stack, waker->wait_ns, waker->count,
		       waker->cmetric_ns);
	}
}

static void print_file(const struct replay *replay, const struct wait_file *file)
{
	const struct file_info *info = files_find(replay->files, file->file);

	printf("file %s: waited %llu idle %llu times %llu", file_name(replay, file->file),
	       (unsigned long long)file->sum.wait_ns, (unsigned long long)file->sum.idle_ns,
	       (unsigned long long)file->sum.count);
	print_nonzero("reading", file->direction_ns[FILE_READING]);
	print_nonzero("writing", file->direction_ns[FILE_WRITING]);
	print_nonzero("bytes", file->asked_bytes);
	if (info && files_host(replay->files, info))
		printf(" host %s", files_host(replay->files, info));
	printf("\n");
	for (const struct wait_peer *peer = file->peers; peer; peer = peer->next)
		printf("  other end '%s' of pid %u: ended %llu\n",
		       peer->thread ? peer->thread->name : peer->name, peer->pid,
		       (unsigned long long)peer->wait_ns);
}

static void print_waits(const struct replay *replay)
{
	const struct wait_path *path;
	const struct wait_lock *lock;
	const struct wait_file *file;
	size_t cursor;

	for (enum wait_cause cause = 0; cause < CAUSES; cause++) {
		struct wait_sum sum = waits_by_cause(replay->waits, cause);

		if (sum.count)
			printf("cause %s: waited %llu idle %llu times %llu max %llu\n",
			       wait_cause_name(cause), (unsigned long long)sum.wait_ns,
			       (unsigned long long)sum.idle_ns, (unsigned long long)sum.count,
			       (unsigned long long)sum.max_ns);
	}
	for (cursor = 0; (path = waits_next_path(replay->waits, &cursor));) {
		printf("wait %s at %llu of pid %u: waited %.6g idle %.6g times %g object 0x%llx\n",
		       wait_cause_name(path->cause), (unsigned long long)path->stack, path->pid,
		       path->wait_ns, path->idle_ns, path->count, (unsigned long long)path->object);
		print_wakers(path->wakers);
	}
	for (cursor = 0; (lock = waits_next_lock(replay->waits, &cursor));) {
		uint32_t lengths[LENGTHS] = { 0 };

		wait_lock_add_lengths(lock, lengths);
		printf("lock 0x%llx: waited %llu times %llu half %llu queue %u held %llu in %llu "
		       "holder %u", (unsigned long long)lock->object,
		       (unsigned long long)lock->sum.wait_ns, (unsigned long long)lock->sum.count,
		       (unsigned long long)wait_lengths_quantile_ns(lengths, &lock->sum, 0.5), lock->queue_max,
		       (unsigned long long)lock->hold_ns, (unsigned long long)lock->holds,
		       lock->holders[0].tid);
		if (lock->holder_path)
			printf(", which waited %llu, at %llu",
			       (unsigned long long)lock->holder_waited_ns,
			       (unsigned long long)lock->holder_path->stack);
		printf("\n");
		print_wakers(lock->unlockers);
	}
	for (cursor = 0; (file = waits_next_file(replay->waits, &cursor));)
		print_file(replay, file);
	printf("odd waits: %llu",
	       (unsigned long long)waits_untold(replay->waits, UNTOLD_ODD));
	print_nonzero("hidden", waits_untold(replay->waits, UNTOLD_HIDDEN));
	print_nonzero("lost", waits_untold(replay->waits, UNTOLD_LOST));
	printf("\n");
}

static void print_rivals(const struct replay *replay)
{
	struct cpu_throttling throttling = cpu_waits_throttling(replay->cpu_waits);
	static const char *const kinds[RIVAL_KINDS] = { "program", "process", "kernel", "idle" };
	const struct rival *rival;
	size_t cursor = 0;

	while ((rival = cpu_waits_next(replay->cpu_waits, &cursor)))
		printf("%s '%s' pid %u had the CPU for %llu of waiting\n", kinds[rival->kind],
		       rival->name, rival->pid, (unsigned long long)rival->wait_ns);
	if (throttling.count)
		printf("throttled for %llu, %llu times, max %llu\n",
		       (unsigned long long)throttling.throttled_ns,
		       (unsigned long long)throttling.count, (unsigned long long)throttling.max_ns);
}

static void print_timeline(const struct replay *replay)
{
	double average[TIMELINE_MAX];
	size_t count;

	if (!replay->timeline_count || replay->timeline_count > TIMELINE_MAX)
		return;
	count = criticality_timeline(replay->criticality, average, replay->timeline_count);
	printf("timeline:");
	for (size_t i = 0; i < count; i++)
		printf(" %.3f", average[i]);
	printf("\n");
}

int main(int argc, char **argv)
{
	struct replay replay = { 0 };
	uint64_t finish_ns = 0;
	char line[4096];
	FILE *file;

	if (argc != 2)
		return fprintf(stderr, "Usage: replay SCENARIO\n"), 2;
	scenario = argv[1];
	file = fopen(scenario, "r");
	if (!file)
		return perror(scenario), 2;
	while (fgets(line, sizeof(line), file)) {
		line_number++;
		replay_line(&replay, line, &finish_ns);
	}
	fclose(file);
	if (!replay.session)
		stop("no events");
	session_finish(replay.session);
	criticality_finish(replay.criticality, finish_ns ? finish_ns : replay.last_ns);
	print_totals(&replay);
	print_threads(&replay);
	print_paths(&replay);
	if (replay.waits)
		print_waits(&replay);
	if (replay.cpu_waits)
		print_rivals(&replay);
	print_timeline(&replay);
	criticality_free(replay.criticality);
	waits_free(replay.waits);
	cpu_waits_free(replay.cpu_waits);
	others_free(replay.others);
	untold_free(replay.untold);
	files_free(replay.files);
	stacks_free(replay.stacks);
	threads_free(replay.threads);
	session_free(replay.session);
	return 0;
}
