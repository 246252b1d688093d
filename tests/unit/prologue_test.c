/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A trace that begins anywhere in another one says from there on what that one says: random schedules
 * go whole, up to a moment and from that moment on through the analyses, and whole less beginning is rest.
 */
#include "test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "account/criticality.h"
#include "klocks/klocks.h"
#include "session/event_kinds.h"
#include "session/session.h"
#include "session/threads.h"
#include "symbol/space/space.h"
#include "trace/prologue/prologue.h"
#include "values.h"
#include "waits/files.h"
#include "waits/others.h"
#include "waits/sums/missing_wakeups.h"
#include "waits/sums/waits.h"

enum {
	SEEDS = 3000,
	LOSSY_SEEDS = 2000,
	THREADS_MAX = 12,
	MODEL_CPUS_MAX = 4,
	STEPS_MAX = 300,
	EVENTS_MAX_ = 8192,
	STACKS = 20,
	FILES = 10,
	OTHERS = 8,
	PIDS = 4,
	LOCKS = 6,
};

/* A stream of events, one after the other. */
struct stream {
	struct ev_header *events[EVENTS_MAX_];
	size_t count;
};

struct truth {
	uint8_t phase;
	uint32_t cpu;
	uint64_t block_ns;
	bool is_woken_early;
};

static struct {
	uint32_t seed, random;
	uint64_t now_ns;
	unsigned int loss_percent;
	uint32_t cpu_count;
	struct truth truth[THREADS_MAX + 1];
	uint32_t running[MODEL_CPUS_MAX];
	bool has_forked;
	struct stream whole;
} w;

#define CHECK_SEED(condition)                                        \
	do {                                                         \
		if (!(condition))                                    \
			fail_msg("seed %u: %s", w.seed, #condition); \
	} while (0)

static uint32_t pick(uint32_t below)
{
	w.random = w.random * 1664525 + 1013904223;
	return (uint64_t)w.random * below >> 32;
}

static void stream_add(struct stream *stream, const struct ev_header *header)
{
	size_t size_bytes = event_bytes(header);

	CHECK_SEED(event_is_well_formed(header, size_bytes));
	CHECK_SEED(stream->count < EVENTS_MAX_);
	stream->events[stream->count++] = memcpy(malloc(size_bytes), header, size_bytes);
}

static void stream_clear(struct stream *stream)
{
	while (stream->count)
		free(stream->events[--stream->count]);
}

/* --- A random schedule ---------------------------------------------------------------------- */

static struct ev_header header_of(enum event_id id, uint32_t thread)
{
	return (struct ev_header){
		.time_ns = w.now_ns,
		.thread = thread,
		.subsys = id >> 16,
		.event = id & 0xffff,
	};
}

static void put(const void *event)
{
	stream_add(&w.whole, event);
}

/* Some records of the scheduler are lost. */
static void put_lossy(const void *event)
{
	if (!w.loss_percent || pick(100) >= w.loss_percent)
		put(event);
}

static uint32_t pid_of(uint32_t thread)
{
	return 100 + thread % PIDS;
}

static uint64_t file_of(uint32_t i)
{
	return (uint64_t)i << 5 | 1 << 1 | 1;
}

static void emit_stack(uint64_t stack)
{
	struct {
		struct ev_stack_frames e;
		uint64_t frames[2];
	} e = { .e = { .header = header_of(EV_STACK_FRAMES, 0), .stack = stack, .user_count = 2 } };

	put(&e);
}

static void emit_file(uint32_t i)
{
	struct {
		struct ev_file_path e;
		char name[8];
	} e = { .e = { .header = header_of(EV_FILE_PATH, 0),
		       .file = file_of(i),
		       .mode = 0010600,
		       .links = 1,
		       .name_bytes = 1 } };

	put(&e);
}

static void emit_other(uint32_t tid)
{
	struct ev_thread_other e = {
		.header = header_of(EV_THREAD_OTHER, 0),
		.tid = tid,
		.pid = tid & ~1u,
	};

	put(&e);
}

static const uint64_t first_lock = 0x5000000000000000;

static uint64_t pick_lock(void)
{
	return first_lock + pick(LOCKS);
}

/* Each second one is a file's. */
static void emit_lock(uint32_t i)
{
	struct ev_klock_lock e = {
		.header = header_of(EV_KLOCK_LOCK, 0),
		.lock = first_lock + i,
		.file = i % 2 ? file_of(1 + i) : 0,
		.object = i % 2 ? KLOCK_OF_INODE : KLOCK_OF_NOTHING,
	};

	put(&e);
}

/* Of a thread, or of one that is not traced. */
static void wait_for_lock(void)
{
	uint32_t thread = pick(2) ? 1 + pick(THREADS_MAX) : 0;
	struct ev_klock_wait e = {
		.header = header_of(EV_KLOCK_WAIT, thread),
		.begin_ns = w.now_ns - pick(w.now_ns),
		.lock = pick_lock(),
		.kind = pick(KLOCK_KINDS),
		.tid = thread ? thread : 1000 + pick(OTHERS),
		.owner = pick(2) ? 1000 + pick(OTHERS) : 0,
		.owner_stack = pick(STACKS + 1),
		.flags = pick(2) ? KLOCK_HAS_STACK : 0,
	};

	if (w.truth[thread].phase == PHASE_UNKNOWN && thread)
		return;
	if (e.flags)
		e.stack = pick(STACKS + 1);
	put(&e);
}

static void hold_lock(void)
{
	struct ev_klock_held e = {
		.header = header_of(EV_KLOCK_HELD, 0),
		.lock = pick_lock(),
		.taken = pick(3) - 1ull,
		.holds = pick(3),
		.hold_ns = pick(1000),
		.kind = "mutex",
	};

	put(&e);
}

/* What events refer to is recorded at some time, sometimes again. */
static void emit_something(void)
{
	switch (pick(4)) {
	case 0:
		emit_stack(1 + pick(STACKS));
		break;
	case 1:
		emit_file(1 + pick(FILES));
		break;
	case 2:
		emit_other(1000 + pick(OTHERS));
		break;
	case 3:
		emit_lock(pick(LOCKS));
		break;
	}
}

static void put_program(uint32_t pid, const char *name)
{
	struct ev_user_program e = { .header = header_of(EV_USER_PROGRAM, 0), .pid = pid };

	snprintf(e.program, sizeof(e.program), "%s", name);
	put(&e);
}

static void name_something(void)
{
	char name[16];

	snprintf(name, sizeof(name), "program %u", pick(100));
	put_program(100 + pick(PIDS), name);
}

static void map_something(void)
{
	struct {
		struct ev_space_map e;
		char path[16];
	} map = { .e = { .header = header_of(EV_SPACE_MAP, 0),
			 .pid = 100 + pick(PIDS),
			 .start = 4096 * (1 + pick(20)),
			 .size = 4096 * (1 + pick(6)),
			 .file_offset = 4096 * pick(3),
			 .inode = 1 + pick(5) } };
	struct ev_space_fork fork = {
		.header = header_of(EV_SPACE_FORK, 0),
		.pid = 100 + pick(PIDS),
		.parent_pid = 100 + pick(PIDS),
	};
	struct ev_space_exec exec = { .header = header_of(EV_SPACE_EXEC, 0), .pid = 100 + pick(PIDS) };

	switch (pick(14)) {
	case 0:
		put(&fork);
		w.has_forked = true;
		break;
	case 1:
		put(&exec);
		break;
	case 2:
	case 3:
		name_something();
		break;
	default:
		/* What is found in a parent later, its children had, too: that is not repeated. */
		if (!pick(4) && !w.has_forked)
			map.e.header.event = TRACE_EVENT_SPACE_FOUND;
		put(&map);
	}
}

/* A thread in this phase, 0: none. */
static uint32_t pick_thread(uint8_t phase)
{
	uint32_t start = pick(THREADS_MAX);

	for (uint32_t k = 0; k < THREADS_MAX; k++) {
		uint32_t i = 1 + (start + k) % THREADS_MAX;

		if (w.truth[i].phase == phase && !w.truth[i].is_woken_early)
			return i;
	}
	return 0;
}

static void birth(void)
{
	uint32_t i = pick_thread(PHASE_UNKNOWN);
	struct ev_thread_born e = {
		.header = header_of(EV_THREAD_BORN, i),
		.tid = i,
		.pid = pid_of(i),
		.name = "born",
	};

	if (!i)
		return;
	w.truth[i].phase = PHASE_RUNNABLE;
	put_lossy(&e);
}

static void put_wake(uint32_t i)
{
	struct ev_sched_wake e = {
		.header = header_of(EV_SCHED_WAKE, i),
		.syscall = SYSCALL_NONE,
		.tid = pick(2) ? 1000 + pick(OTHERS) : 0,
	};

	if (pick(2) && !w.loss_percent)
		e.waker = e.tid = 1 + pick(THREADS_MAX);
	put_lossy(&e);
}

static void wake(void)
{
	uint32_t i = pick_thread(PHASE_BLOCKED);

	if (!i)
		return;
	w.truth[i].phase = PHASE_RUNNABLE;
	put_wake(i);
}

/* Its record comes before that of the switch with which the thread blocks. */
static void wake_early(void)
{
	uint32_t i = w.running[pick(w.cpu_count)];

	if (!i || w.truth[i].is_woken_early)
		return;
	w.truth[i].is_woken_early = true;
	put_wake(i);
}

static void fill_wait(struct ev_sched_switch *e)
{
	static const uint16_t calls[] = { SYS_futex, SYS_read, SYS_wait4, SYS_nanosleep };

	e->syscall = calls[pick(4)];
	e->object = e->syscall == SYS_read ? file_of(1 + pick(FILES)) : 0x1000 + 8 * pick(4);
	e->value = pick(3);
	e->owners[0] = pick(10);
	if (pick(2)) {
		e->flags = SWITCH_HAS_STACK;
		e->stack = pick(STACKS + 1);
		e->keep = pick(2) ? 0 : 1u << 31;
	} else {
		e->flags = SWITCH_STACK_SKIPPED;
	}
	if (!pick(5)) {
		e->flags |= SWITCH_KERNEL_LOCK;
		e->object = pick_lock();
		e->value = pick(3) ? 1000 + pick(OTHERS) : 0;
	}
}

static void switch_out(uint32_t prev, struct ev_sched_switch *e)
{
	struct truth *t = &w.truth[prev];

	e->state = pick(12) ? pick(3) : SWITCH_DEAD;
	if (t->is_woken_early)
		e->state = SWITCH_SLEEPING;
	t->phase = e->state == SWITCH_DEAD                            ? PHASE_DEAD
		   : e->state == SWITCH_RUNNABLE || t->is_woken_early ? PHASE_RUNNABLE
								      : PHASE_BLOCKED;
	t->is_woken_early = false;
	t->block_ns = w.now_ns;
	if (e->state == SWITCH_SLEEPING || e->state == SWITCH_BLOCKED)
		fill_wait(e);
	else if (e->state == SWITCH_RUNNABLE && !e->next)
		e->value = 1000 + pick(OTHERS);
}

static void change(uint32_t cpu)
{
	uint32_t prev = w.running[cpu], next = pick(5) ? pick_thread(PHASE_RUNNABLE) : 0;
	struct ev_sched_switch e = {
		.header = header_of(EV_SCHED_SWITCH, prev),
		.next = next,
		.cpu = cpu,
		.syscall = SYSCALL_NONE,
	};

	if (!prev && !next && pick(4))
		return;
	if (prev)
		switch_out(prev, &e);
	if (next) {
		w.truth[next].phase = PHASE_RUNNING;
		w.truth[next].cpu = cpu;
	}
	w.running[cpu] = next;
	put_lossy(&e);
}

static void rename_one(void)
{
	uint32_t i = 1 + pick(THREADS_MAX);
	struct ev_thread_name e = { .header = header_of(EV_THREAD_NAME, i), .name = "renamed" };

	if (w.truth[i].phase != PHASE_UNKNOWN && w.truth[i].phase != PHASE_DEAD)
		put(&e);
}

static void title_one(void)
{
	uint32_t i = 1 + pick(THREADS_MAX);
	struct ev_thread_title e = { .header = header_of(EV_THREAD_TITLE, i) };

	snprintf(e.title, sizeof(e.title), "title %u", pick(100));
	if (w.truth[i].phase != PHASE_UNKNOWN && w.truth[i].phase != PHASE_DEAD)
		put(&e);
}

static void put_found(uint32_t i)
{
	struct ev_thread_found e = {
		.header = header_of(EV_THREAD_FOUND, i),
		.tid = i,
		.pid = pid_of(i),
		.name = "found",
		.phase = w.truth[i].phase,
		.cpu = w.truth[i].cpu,
		.syscall = SYSCALL_NONE,
	};

	if (e.phase == PHASE_BLOCKED) {
		e.syscall = SYS_futex;
		e.object = 0x1000;
	}
	put(&e);
}

static void put_listing(uint32_t i, uint64_t begin_ns)
{
	struct ev_thread_waits e = {
		.header = header_of(EV_THREAD_WAITS, i),
		.begin_ns = begin_ns,
		.stack = pick(STACKS + 1),
		.state = SWITCH_SLEEPING,
		.value = pick(3),
	};

	put(&e);
}

/* Some threads live already. */
static void attach(void)
{
	for (uint32_t i = 1; i <= THREADS_MAX; i++) {
		uint32_t cpu = pick(w.cpu_count);

		if (pick(3))
			continue;
		w.truth[i].phase = pick(2) ? PHASE_RUNNABLE : PHASE_BLOCKED;
		if (!w.running[cpu] && pick(2)) {
			w.truth[i].phase = PHASE_RUNNING;
			w.truth[i].cpu = cpu;
			w.running[cpu] = i;
		}
		put_found(i);
		if (w.truth[i].phase == PHASE_BLOCKED && pick(2))
			put_listing(i, 0);
	}
}

static void list_wait(void)
{
	uint32_t i = pick_thread(PHASE_BLOCKED);

	if (i && w.truth[i].block_ns)
		put_listing(i, w.truth[i].block_ns);
}

static bool is_alive(uint8_t phase)
{
	return phase != PHASE_UNKNOWN && phase != PHASE_DEAD;
}

static void resync(void)
{
	struct ev_collect_gap gap = { .header = header_of(EV_COLLECT_GAP, 0), .lost = 1 };
	struct ev_header header = header_of(EV_COLLECT_SYNC_BEGIN, 0);

	put(&gap);
	put(&header);
	for (uint32_t i = 1; i <= THREADS_MAX; i++)
		if (is_alive(w.truth[i].phase))
			put_found(i);
	if (!pick(4)) {
		put(&gap); /* this list does not count */
		put(&header);
		for (uint32_t i = 1; i <= THREADS_MAX; i++)
			if (is_alive(w.truth[i].phase))
				put_found(i);
	}
	header = header_of(EV_COLLECT_SYNC_END, 0);
	put(&header);
}

static uint64_t pick_step_ns(void)
{
	return pick(4) ? pick(2000) : pick(2) ? 0 : pick(1000000);
}

static void step(void)
{
	w.now_ns += pick_step_ns();
	switch (pick(16)) {
	case 15:
		hold_lock();
		break;
	case 14:
		wait_for_lock();
		break;
	case 0:
		birth();
		break;
	case 1:
	case 2:
	case 3:
		wake();
		break;
	case 4:
		pick(2) ? rename_one() : title_one();
		break;
	case 5:
		emit_something();
		break;
	case 6:
		/* What a child has of its parent goes by the time: nothing else is mapped at that of a fork. */
		w.now_ns++;
		map_something();
		break;
	case 7:
		list_wait();
		break;
	case 8:
		if (!pick(4)) {
			wake_early();
			w.now_ns += pick(5000);
			for (uint32_t cpu = 0; cpu < w.cpu_count; cpu++)
				if (w.truth[w.running[cpu]].is_woken_early)
					change(cpu);
		}
		break;
	default:
		change(pick(w.cpu_count));
	}
	if (w.loss_percent && !pick(60))
		resync();
}

static void make_stream(uint32_t seed, unsigned int loss_percent)
{
	static const struct {
		struct ev_collect_run e;
		char text[8];
	} run = { { .text_bytes = 3 }, "" };
	struct ev_collect_run *e = memcpy(calloc(1, sizeof(run)), &run, sizeof(run));

	memset(&w, 0, sizeof(w));
	w.seed = seed;
	w.random = seed * 2654435761u + 1;
	w.loss_percent = loss_percent;
	w.cpu_count = 1 + pick(MODEL_CPUS_MAX);
	w.now_ns = 1000;
	e->header = header_of(EV_COLLECT_RUN, 0);
	put(e);
	free(e);
	if (pick(2))
		attach();
	w.now_ns++;
	for (uint32_t steps = 20 + pick(STEPS_MAX); steps; steps--)
		step();
	w.now_ns++;
}

/* --- The rest, from an event on --------------------------------------------------------------- */

static void emit(void *data, const struct ev_header *header)
{
	stream_add(data, header);
}

/* Where an event of the whole stream is in the rest. */
static size_t place[EVENTS_MAX_];

static void cut_from(size_t at, uint64_t time_ns, struct stream *rest)
{
	const struct prologue_out out = { emit, rest, NULL };
	struct prologue *prologue = prologue_new();

	for (size_t i = 0; i < at; i++)
		prologue_follow(prologue, w.whole.events[i], false);
	prologue_begin(prologue, time_ns, &out);
	for (size_t i = at; i < w.whole.count; i++) {
		prologue_refer(prologue, w.whole.events[i], &out);
		place[i] = rest->count;
		stream_add(rest, w.whole.events[i]);
		prologue_follow(prologue, w.whole.events[i], true);
	}
	prologue_free(prologue);
}

/* --- What the analyses make of a stream ------------------------------------------------------- */

struct account {
	struct session *session;
	struct threads *threads;
	struct files *files;
	struct others *others;
	struct missing_wakeups *missing;
	struct waits *waits;
	struct klocks *klocks;
	struct criticality *criticality;
};

static void account_init(struct account *a, const struct stream *stream, size_t count, uint64_t end_ns)
{
	a->session = session_new(1, 1 << 20);
	a->threads = threads_new(a->session);
	a->files = files_new(a->session, 0);
	a->others = others_new(a->session);
	a->missing = missing_wakeups_new(a->session);
	a->waits = waits_new(a->files, a->others, a->missing);
	a->klocks = klocks_new(a->session, a->threads);
	a->criticality = criticality_new(a->session, a->threads,
					 &(struct criticality_options){
						 .waits = a->waits,
						 .missing = a->missing,
					 });
	for (size_t i = 0; i < count; i++)
		session_hand_out(a->session, stream->events[i]);
	criticality_finish(a->criticality, end_ns);
}

static void account_fini(struct account *a)
{
	criticality_free(a->criticality);
	klocks_free(a->klocks);
	waits_free(a->waits);
	missing_wakeups_free(a->missing);
	others_free(a->others);
	files_free(a->files);
	threads_free(a->threads);
	session_free(a->session);
}

/* Zeros when there is none. */
static struct thread_metrics metrics_of(const struct account *a, uint32_t number)
{
	const struct thread_metrics *metrics;
	size_t cursor = 0;

	while ((metrics = criticality_next_thread(a->criticality, &cursor)))
		if (metrics->thread->number == number)
			return *metrics;
	return (struct thread_metrics){ 0 };
}

static bool is_near(fixed_ns whole, fixed_ns before, fixed_ns rest)
{
	return fabsl(((long double)whole - before - rest) / 4294967296.0L) < 1e-3;
}

static void compare_thread(uint32_t i, const struct account *whole, const struct account *before,
			   const struct account *rest)
{
	struct thread_metrics a = metrics_of(whole, i), b = metrics_of(before, i);
	struct thread_metrics c = metrics_of(rest, i);

	CHECK_SEED(a.running_ns - b.running_ns == c.running_ns);
	CHECK_SEED(a.runnable_ns - b.runnable_ns == c.runnable_ns);
	CHECK_SEED(a.blocked_ns - b.blocked_ns == c.blocked_ns);
	CHECK_SEED(is_near(a.cmetric_oncpu, b.cmetric_oncpu, c.cmetric_oncpu));
	CHECK_SEED(is_near(a.cmetric_runqueue, b.cmetric_runqueue, c.cmetric_runqueue));
	CHECK_SEED(a.is_alive == c.is_alive);
	if (a.is_alive) {
		CHECK_SEED(!strcmp(a.name, c.name) && a.thread->pid == c.thread->pid);
		CHECK_SEED(!a.thread->title == !c.thread->title &&
			   (!a.thread->title || !strcmp(a.thread->title, c.thread->title)));
	}
}

/* Those that last at the moment were counted up to there, and are counted again. */
static void compare_waits(const struct account *whole, const struct account *before, const struct account *rest)
{
	size_t lasting = criticality_totals(before->criticality).alive_count -
			 criticality_counts(before->criticality).active,
	       counted = 0;

	for (int cause = 0; cause < CAUSES; cause++) {
		struct wait_sum a = waits_by_cause(whole->waits, cause);
		struct wait_sum b = waits_by_cause(before->waits, cause);
		struct wait_sum c = waits_by_cause(rest->waits, cause);

		CHECK_SEED(a.wait_ns - b.wait_ns == c.wait_ns);
		counted += b.count + c.count - a.count;
	}
	CHECK_SEED(counted == lasting);
}

/* Of all ways in which it is taken. */
static struct lock_sum {
	uint64_t waits, wait_ns, acquisitions, hold_ns;
} sum_of_lock(const struct account *a, uint64_t lock)
{
	struct lock_sum sum = { 0 };
	const struct klock *klock;
	size_t cursor = 0;

	while ((klock = klocks_next(a->klocks, &cursor))) {
		sum.waits += klock->lock == lock ? klock->sum.waits : 0;
		sum.wait_ns += klock->lock == lock ? klock->sum.wait_ns : 0;
		sum.acquisitions += klock->lock == lock ? klock->holding.acquisitions : 0;
		sum.hold_ns += klock->lock == lock ? klock->holding.hold_ns : 0;
	}
	return sum;
}

static void compare_locks(const struct account *whole, const struct account *before, const struct account *rest)
{
	for (uint64_t lock = first_lock; lock < first_lock + LOCKS; lock++) {
		struct lock_sum a = sum_of_lock(whole, lock), b = sum_of_lock(before, lock);
		struct lock_sum c = sum_of_lock(rest, lock);

		CHECK_SEED(a.acquisitions - b.acquisitions == c.acquisitions && a.hold_ns - b.hold_ns == c.hold_ns);
		CHECK_SEED(a.waits - b.waits == c.waits && a.wait_ns - b.wait_ns == c.wait_ns);
		if (c.waits || c.acquisitions)
			CHECK_SEED(!klocks_find(rest->klocks, lock) == !klocks_find(whole->klocks, lock));
	}
}

static void compare(const struct stream *rest, size_t at, uint64_t time_ns)
{
	struct criticality_totals a, b, c;
	struct account whole, before, after;

	account_init(&whole, &w.whole, w.whole.count, w.now_ns);
	account_init(&before, &w.whole, at, time_ns);
	account_init(&after, rest, rest->count, w.now_ns);
	for (uint32_t i = 1; i <= THREADS_MAX; i++)
		compare_thread(i, &whole, &before, &after);
	compare_waits(&whole, &before, &after);
	compare_locks(&whole, &before, &after);
	a = criticality_totals(whole.criticality);
	b = criticality_totals(before.criticality);
	c = criticality_totals(after.criticality);
	CHECK_SEED(a.stalled_ns - b.stalled_ns == c.stalled_ns);
	CHECK_SEED(a.active_ns - b.active_ns == c.active_ns);
	CHECK_SEED(a.unordered - b.unordered == c.unordered);
	CHECK_SEED(a.alive_count == c.alive_count && c.closure_error_ns == 0);
	account_fini(&whole);
	account_fini(&before);
	account_fini(&after);
}

TEST(whole_less_beginning_is_rest)
{
	for (uint32_t seed = 1; seed <= SEEDS; seed++) {
		struct stream rest = { .count = 0 };
		uint64_t time_ns;
		size_t at;

		make_stream(seed, 0);
		at = 1 + pick(w.whole.count - 1);
		time_ns = w.whole.events[at]->time_ns;
		if (pick(2))
			time_ns -= pick(1 + time_ns - w.whole.events[at - 1]->time_ns);
		cut_from(at, time_ns, &rest);
		compare(&rest, at, time_ns);
		stream_clear(&rest);
		stream_clear(&w.whole);
	}
}

/* --- What events refer to --------------------------------------------------------------------- */

struct known {
	bool stacks[STACKS + 1], files[FILES + 1], others[OTHERS], locks[LOCKS];
};

static bool is_lock(uint64_t object)
{
	return object - first_lock < LOCKS;
}

static void learn(struct known *known, const struct ev_header *header)
{
	switch ((unsigned int)header->subsys << 16 | header->event) {
	case EV_STACK_FRAMES:
		known->stacks[((const struct ev_stack_frames *)header)->stack] = true;
		break;
	case EV_FILE_PATH:
		known->files[((const struct ev_file_path *)header)->file >> 5] = true;
		break;
	case EV_THREAD_OTHER:
		known->others[((const struct ev_thread_other *)header)->tid - 1000] = true;
		break;
	case EV_KLOCK_LOCK:
		known->locks[((const struct ev_klock_lock *)header)->lock - first_lock] = true;
		break;
	}
}

static void check_other(uint32_t tid, const struct known *all, const struct known *rest)
{
	if (tid >= 1000)
		CHECK_SEED(rest->others[tid - 1000] == all->others[tid - 1000]);
}

static void check_lock(uint64_t lock, const struct known *all, const struct known *rest)
{
	CHECK_SEED(rest->locks[lock - first_lock] == all->locks[lock - first_lock]);
}

static void check_lock_wait(const struct ev_klock_wait *e, const struct known *all, const struct known *rest)
{
	CHECK_SEED(rest->stacks[e->stack] == all->stacks[e->stack]);
	CHECK_SEED(rest->stacks[e->owner_stack] == all->stacks[e->owner_stack]);
	check_lock(e->lock, all, rest);
	check_other(e->owner, all, rest);
	check_other(e->tid, all, rest);
}

/* Whatever the event refers to and all has, rest has, too. */
static void check_references(const struct ev_header *header, const struct known *all, const struct known *rest)
{
	const struct ev_sched_switch *e = (const void *)header;
	const struct ev_sched_wake *wake = (const void *)header;
	const struct ev_thread_waits *waits = (const void *)header;
	const struct ev_thread_found *found = (const void *)header;
	const struct ev_klock_lock *lock = (const void *)header;

	switch ((unsigned int)header->subsys << 16 | header->event) {
	case EV_KLOCK_WAIT:
		check_lock_wait((const void *)header, all, rest);
		break;
	case EV_KLOCK_HELD:
		check_lock(((const struct ev_klock_held *)header)->lock, all, rest);
		break;
	case EV_KLOCK_LOCK:
		if (lock->file)
			CHECK_SEED(rest->files[lock->file >> 5] == all->files[lock->file >> 5]);
		break;
	case EV_THREAD_FOUND:
		if (found->phase == PHASE_BLOCKED && is_lock(found->object))
			check_lock(found->object, all, rest);
		break;
	case EV_SCHED_SWITCH:
		CHECK_SEED(rest->stacks[e->stack] == all->stacks[e->stack]);
		if (e->flags & SWITCH_KERNEL_LOCK) {
			check_lock(e->object, all, rest);
			check_other(e->value, all, rest);
		} else if (e->syscall == SYS_read)
			CHECK_SEED(rest->files[e->object >> 5] == all->files[e->object >> 5]);
		else if (e->syscall == SYSCALL_NONE && e->value)
			CHECK_SEED(rest->others[e->value - 1000] == all->others[e->value - 1000]);
		break;
	case EV_SCHED_WAKE:
		if (!wake->waker && wake->tid)
			CHECK_SEED(rest->others[wake->tid - 1000] == all->others[wake->tid - 1000]);
		break;
	case EV_THREAD_WAITS:
		CHECK_SEED(rest->stacks[waits->stack] == all->stacks[waits->stack]);
		if (waits->flags & SWITCH_KERNEL_LOCK)
			check_other(waits->value, all, rest);
		break;
	}
}

TEST(what_events_refer_to_is_recorded_before_them)
{
	for (uint32_t seed = 1; seed <= SEEDS; seed++) {
		struct known all = { 0 }, recorded = { 0 };
		struct stream rest = { .count = 0 };
		size_t at, next = 0;

		make_stream(seed, 0);
		at = 1 + pick(w.whole.count - 1);
		cut_from(at, w.whole.events[at]->time_ns, &rest);
		for (size_t i = 0; i < w.whole.count; i++) {
			for (; i >= at && next < place[i]; next++) {
				check_references(rest.events[next], &all, &recorded);
				learn(&recorded, rest.events[next]);
			}
			if (i >= at)
				check_references(w.whole.events[i], &all, &recorded);
			learn(&all, w.whole.events[i]);
		}
		stream_clear(&rest);
		stream_clear(&w.whole);
	}
}

TEST(times_do_not_go_back)
{
	for (uint32_t seed = 1; seed <= SEEDS; seed++) {
		struct stream rest = { .count = 0 };
		size_t at;

		make_stream(seed, 0);
		at = 1 + pick(w.whole.count - 1);
		cut_from(at, w.whole.events[at]->time_ns, &rest);
		for (size_t i = 1; i < rest.count; i++)
			CHECK_SEED(rest.events[i - 1]->time_ns <= rest.events[i]->time_ns);
		CHECK_SEED(rest.events[0]->event == TRACE_EVENT_COLLECT_RUN);
		stream_clear(&rest);
		stream_clear(&w.whole);
	}
}

/* --- Mappings ----------------------------------------------------------------------------------- */

static void map_all(struct spaces *spaces, const struct stream *stream)
{
	for (size_t i = 0; i < stream->count; i++) {
		const struct ev_header *header = stream->events[i];
		const struct ev_space_map *e = (const void *)header;
		struct mapping mapping;

		if (header->subsys != TRACE_SUBSYS_SPACE)
			continue;
		if (header->event == TRACE_EVENT_SPACE_FORK) {
			const struct ev_space_fork *fork = (const void *)header;

			spaces_fork(spaces, fork->pid, fork->parent_pid, header->time_ns);
			continue;
		}
		if (header->event == TRACE_EVENT_SPACE_EXEC) {
			spaces_exec(spaces, e->pid, header->time_ns);
			continue;
		}
		mapping = (struct mapping){ e->start, e->start + e->size, e->file_offset, e->inode };
		if (header->event == TRACE_EVENT_SPACE_MAP)
			spaces_map(spaces, e->pid, header->time_ns, &mapping);
		else
			spaces_found(spaces, e->pid, header->time_ns, &mapping);
	}
}

TEST(each_process_has_mapped_what_it_had)
{
	for (uint32_t seed = 1; seed <= SEEDS; seed++) {
		struct spaces *all = spaces_new(100000), *after = spaces_new(100000);
		struct stream rest = { .count = 0 };
		size_t at;

		make_stream(seed, 0);
		at = 1 + pick(w.whole.count - 1);
		cut_from(at, w.whole.events[at]->time_ns, &rest);
		map_all(all, &w.whole);
		map_all(after, &rest);
		for (uint32_t pid = 100; pid < 100 + PIDS; pid++)
			for (uint64_t address = 2048; address < 4096 * 30; address += 4096) {
				struct space_hit a, b;

				spaces_find(all, pid, w.now_ns, address, &a);
				spaces_find(after, pid, w.now_ns, address, &b);
				CHECK_SEED(a.is_mapped == b.is_mapped);
				CHECK_SEED(a.mapping.module == b.mapping.module);
				CHECK_SEED(a.mapping.start == b.mapping.start);
				CHECK_SEED(a.mapping.file_offset == b.mapping.file_offset);
			}
		spaces_free(all);
		spaces_free(after);
		stream_clear(&rest);
		stream_clear(&w.whole);
	}
}

/* --- Programs with events of their own ------------------------------------------------------------ */

/* What the process calls itself at the end of the stream; empty: nothing is known. */
static const char *program_of(const struct stream *stream, uint32_t pid)
{
	const char *program = "";

	for (size_t i = 0; i < stream->count; i++) {
		const struct ev_header *header = stream->events[i];
		const struct ev_user_program *e = (const void *)header;
		bool is_new = header->subsys == TRACE_SUBSYS_SPACE &&
			      (header->event == TRACE_EVENT_SPACE_FORK || header->event == TRACE_EVENT_SPACE_EXEC);

		if (is_new && ((const struct ev_space_exec *)header)->pid == pid)
			program = "";
		if (header->subsys == TRACE_SUBSYS_USER && header->event == TRACE_EVENT_USER_PROGRAM && e->pid == pid)
			program = e->program;
	}
	return program;
}

TEST(each_process_is_the_program_that_it_was)
{
	for (uint32_t seed = 1; seed <= SEEDS; seed++) {
		struct stream rest = { .count = 0 };
		size_t at;

		make_stream(seed, 0);
		at = 1 + pick(w.whole.count - 1);
		cut_from(at, w.whole.events[at]->time_ns, &rest);
		for (uint32_t pid = 100; pid < 100 + PIDS; pid++)
			CHECK_SEED(!strcmp(program_of(&w.whole, pid), program_of(&rest, pid)));
		stream_clear(&rest);
		stream_clear(&w.whole);
	}
}

static void end_process(uint32_t pid)
{
	struct ev_space_exit e = { .header = header_of(EV_SPACE_EXIT, 0), .pid = pid };

	put(&e);
}

TEST(a_process_that_has_ended_is_a_program_while_its_last_events_may_come)
{
	struct stream rest = { .count = 0 };

	memset(&w, 0, sizeof(w));
	w.now_ns = 1000;
	put_program(1, "long gone");
	end_process(1);
	for (uint32_t pid = 100; pid < 163; pid++) {
		put_program(pid, "others");
		end_process(pid);
	}
	put_program(2, "just gone");
	put_program(3, "alive");
	end_process(2);
	w.now_ns = 2000;
	emit_stack(1);
	cut_from(w.whole.count - 1, 2000, &rest);
	CHECK_STRING(program_of(&rest, 1), "");
	CHECK_STRING(program_of(&rest, 2), "just gone");
	CHECK_STRING(program_of(&rest, 3), "alive");
	stream_clear(&rest);
	stream_clear(&w.whole);
}

/* --- Lost records ------------------------------------------------------------------------------- */

TEST(a_list_that_comes_later_restores_the_truth_in_both)
{
	for (uint32_t seed = 1; seed <= LOSSY_SEEDS; seed++) {
		struct stream rest = { .count = 0 };
		struct account all, after;
		uint32_t alive = 0;
		size_t at;

		make_stream(seed, 1 + seed % 40);
		resync();
		at = 1 + pick(w.whole.count - 1);
		cut_from(at, w.whole.events[at]->time_ns, &rest);
		account_init(&all, &w.whole, w.whole.count, w.now_ns);
		account_init(&after, &rest, rest.count, w.now_ns);
		for (uint32_t i = 1; i <= THREADS_MAX; i++)
			alive += is_alive(w.truth[i].phase);
		CHECK_SEED(criticality_totals(all.criticality).alive_count == alive);
		CHECK_SEED(criticality_totals(after.criticality).alive_count == alive);
		CHECK_SEED(criticality_counts(all.criticality).active == criticality_counts(after.criticality).active);
		CHECK_SEED(criticality_totals(after.criticality).closure_error_ns == 0);
		account_fini(&all);
		account_fini(&after);
		stream_clear(&rest);
		stream_clear(&w.whole);
	}
}

/* --- An open wait ----------------------------------------------------------------------------------- */

/* What a list reads of a futex is not who has the kernel lock that the call came to. */
TEST(a_wait_for_a_lock_of_the_kernel_that_began_before_is_known_as_such)
{
	const struct ev_thread_waits *recorded = NULL;
	const struct ev_thread_found *found = NULL;
	struct stream rest = { .count = 0 };
	struct ev_sched_switch e;
	struct ev_thread_waits listed;

	memset(&w, 0, sizeof(w));
	w.cpu_count = 1;
	w.now_ns = 1000;
	w.truth[1].phase = PHASE_RUNNING;
	put_found(1);
	emit_lock(1);
	emit_other(1003);
	w.now_ns = 2000;
	e = (struct ev_sched_switch){
		.header = header_of(EV_SCHED_SWITCH, 1),
		.state = SWITCH_BLOCKED,
		.syscall = SYS_futex,
		.object = first_lock + 1,
		.value = 1003,
		.flags = SWITCH_KERNEL_LOCK | SWITCH_STACK_SKIPPED,
	};
	put(&e);
	w.now_ns = 3000;
	listed = (struct ev_thread_waits){
		.header = header_of(EV_THREAD_WAITS, 1),
		.begin_ns = 2000,
		.state = SWITCH_BLOCKED,
		.value = 2,
	};
	put(&listed);
	w.now_ns = 9000;
	put_wake(1);
	cut_from(5, 5000, &rest);
	for (size_t i = 0; i < rest.count; i++) {
		if (rest.events[i]->subsys != TRACE_SUBSYS_THREAD)
			continue;
		if (rest.events[i]->event == TRACE_EVENT_THREAD_WAITS)
			recorded = (const void *)rest.events[i];
		if (rest.events[i]->event == TRACE_EVENT_THREAD_FOUND)
			found = (const void *)rest.events[i];
	}
	CHECK(recorded && recorded->is_older && recorded->flags & SWITCH_KERNEL_LOCK);
	CHECK_EQUAL(recorded->value, 1003);
	CHECK(found);
	CHECK_EQUAL(found->object, first_lock + 1);
	CHECK_EQUAL(found->value, 1003);
	stream_clear(&rest);
	stream_clear(&w.whole);
}

TEST(a_wait_that_began_before_is_known_with_its_beginning_and_its_stack)
{
	static const struct ev_thread_waits *recorded;
	struct stream rest = { .count = 0 };
	struct ev_sched_switch e;

	memset(&w, 0, sizeof(w));
	w.cpu_count = 1;
	w.now_ns = 1000;
	w.truth[1].phase = PHASE_RUNNING;
	put_found(1);
	emit_stack(7);
	w.now_ns = 2000;
	e = (struct ev_sched_switch){
		.header = header_of(EV_SCHED_SWITCH, 1),
		.state = SWITCH_BLOCKED,
		.syscall = SYS_futex,
		.object = 0x1000,
		.value = 2,
		.flags = SWITCH_HAS_STACK,
		.stack = 7,
		.keep = 1u << 31,
	};
	put(&e);
	w.now_ns = 9000;
	put_wake(1);
	cut_from(3, 5000, &rest);
	for (size_t i = 0; i < rest.count; i++)
		if (rest.events[i]->subsys == TRACE_SUBSYS_THREAD && rest.events[i]->event == TRACE_EVENT_THREAD_WAITS)
			recorded = (const void *)rest.events[i];
	CHECK(recorded && recorded->is_older);
	CHECK_EQUAL(recorded->begin_ns, 2000);
	CHECK_EQUAL(recorded->header.time_ns, 5000);
	CHECK_EQUAL(recorded->stack, 7);
	CHECK_EQUAL(recorded->keep, 1u << 31);
	CHECK_EQUAL(recorded->state, SWITCH_BLOCKED);
	CHECK_EQUAL(recorded->value, 2);
	stream_clear(&rest);
	stream_clear(&w.whole);
}
