// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * trace_gen FILE EVENTS [THREADS [CPUS [SEED [SAMPLE_US [STACKS [SHARDS [PER_S]]]]]]]
 * (64 threads, 8 CPUs, seed 1, a sample of each busy CPU every 3000 us, 400 call paths, 1 shard)
 * Writes a trace of so many events as a busy server makes them: threads in front sleep, read from a disk
 * and hand work to those behind them, by conditions and pipes; all of them share locks, are preempted,
 * sampled, and now and then replaced. Threads of a shard have locks, conditions and pipes of their own: else many
 * CPUs would wait for a few locks. PER_S: all times are stretched so that there are so many events a second, on
 * average. The same arguments give the same events. Needs memory for what lives at once, however many events there are.
 */
#include <errno.h>
#include <linux/futex.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "base/fail.h"
#include "base/memory.h"
#include "base/text.h"
#include "engine/trace_info.h"
#include "generated.h"
#include "trace/trace_writer.h"
#include "values.h"

enum {
	PENDING_MAX = 8, /* of a channel */
	THREADS_MAX = 100000,
	GENERATED_CPUS_MAX = 4096,
	STACKS_MAX = 1000000,
	SHARDS_MAX = 512,
	NOBODY = UINT32_MAX,
	SLICE_NS = 3000000,
	IDLE_EXIT_NS = 1500,
	LIFE = 20000, /* bursts, on average */
};

/* First come, first served; a thread is in one at most. */
struct queue {
	uint32_t first, last;
};

struct thread {
	uint32_t number, next;
	uint32_t lock;    /* that it holds, or NOBODY */
	uint64_t left_ns; /* of its burst */
	uint32_t shard;
	bool is_in_front;
};

struct cpu {
	uint32_t thread;   /* NOBODY: it is idle */
	bool is_waking;    /* it is about to run that thread */
	uint64_t begin_ns; /* of the burst, as far as it is not accounted for */
};

/* What happens at a time. */
struct alarm {
	uint64_t time_ns;
	enum { ALARM_CPU, ALARM_SAMPLE, ALARM_TIMER, ALARM_DISK } kind;
	uint32_t id;
};

struct lock {
	uint32_t owner; /* a thread, or NOBODY */
	struct queue waiters;
};

struct channel {
	unsigned int pending;
	struct queue waiters;
};

static struct {
	struct generated g;
	uint32_t numbers; /* of threads so far */
	struct thread *threads;
	uint32_t thread_count;
	struct cpu *cpus;
	uint32_t cpu_count;
	struct queue ready;
	struct lock *locks; /* shard by shard, like the channels */
	struct channel *channels;
	struct alarm *alarms; /* a heap, the earliest first */
	size_t alarm_count;
} w;

static uint64_t pick(uint64_t below)
{
	return generated_pick(&w.g, below);
}

/* --- Queues and alarms ---------------------------------------------------------------------- */

static void queue_push(struct queue *queue, uint32_t thread)
{
	w.threads[thread].next = NOBODY;
	if (queue->first == NOBODY)
		queue->first = thread;
	else
		w.threads[queue->last].next = thread;
	queue->last = thread;
}

static uint32_t queue_pop(struct queue *queue)
{
	uint32_t thread = queue->first;

	if (thread != NOBODY)
		queue->first = w.threads[thread].next;
	return thread;
}

static void set_alarm(uint64_t time_ns, int kind, uint32_t id)
{
	size_t i = w.alarm_count++;

	for (; i && w.alarms[(i - 1) / 2].time_ns > time_ns; i = (i - 1) / 2)
		w.alarms[i] = w.alarms[(i - 1) / 2];
	w.alarms[i] = (struct alarm){ time_ns, kind, id };
}

static struct alarm take_alarm(void)
{
	struct alarm first = w.alarms[0], last = w.alarms[--w.alarm_count];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < w.alarm_count) {
		if (child + 1 < w.alarm_count && w.alarms[child + 1].time_ns < w.alarms[child].time_ns)
			child++;
		if (w.alarms[child].time_ns >= last.time_ns)
			break;
		w.alarms[i] = w.alarms[child];
		i = child;
	}
	w.alarms[i] = last;
	return first;
}

/* --- Numbers and records -------------------------------------------------------------------- */

static uint32_t number_of(uint32_t thread)
{
	return thread == NOBODY ? 0 : w.threads[thread].number;
}

static uint32_t tid_of(uint32_t thread)
{
	return thread == NOBODY ? 0 : GENERATED_PID + w.threads[thread].number - 1;
}

static void put_switch(uint32_t cpu, uint32_t from, uint32_t to, struct ev_sched_switch e)
{
	e.cpu = cpu;
	e.next = number_of(to);
	generated_put(&w.g, &e, EV_SCHED_SWITCH, from);
}

static void put_wake(uint32_t thread, uint32_t waker, struct ev_sched_wake e)
{
	e.waker = number_of(waker);
	e.tid = tid_of(waker);
	e.pid = waker == NOBODY ? 0 : GENERATED_PID;
	generated_put(&w.g, &e, EV_SCHED_WAKE, number_of(thread));
}

static void put_born(uint32_t thread, uint32_t parent)
{
	struct ev_thread_born e = {
		.parent = parent,
		.tid = tid_of(thread),
		.pid = GENERATED_PID,
		.ns_tid = tid_of(thread),
		.ns_pid = GENERATED_PID,
		.start_ns = generated_time(&w.g),
	};

	snprintf(e.name, sizeof(e.name), "%s-%u", w.threads[thread].is_in_front ? "front" : "worker",
		 w.threads[thread].number % 1000000);
	generated_put(&w.g, &e, EV_THREAD_BORN, w.threads[thread].number);
}

/* --- What threads do ------------------------------------------------------------------------ */

static void begin_burst(uint32_t thread)
{
	w.threads[thread].left_ns = pick(300) ? 1000 + pick(40000) : 4000000 + pick(8000000);
}

/* What is left of the burst, but no longer than a slice. */
static void run_on(uint32_t cpu)
{
	uint64_t left_ns = w.threads[w.cpus[cpu].thread].left_ns;

	w.cpus[cpu].begin_ns = w.g.now_ns;
	set_alarm(w.g.now_ns + (left_ns < SLICE_NS ? left_ns : SLICE_NS), ALARM_CPU, cpu);
}

/* Each shard has CPUs that it prefers. */
static void become_ready(uint32_t thread)
{
	uint32_t first = (uint64_t)w.threads[thread].shard * w.cpu_count / w.g.shards;

	begin_burst(thread);
	for (uint32_t i = 0; i < w.cpu_count; i++) {
		uint32_t cpu = (first + i) % w.cpu_count;

		if (w.cpus[cpu].thread != NOBODY)
			continue;
		w.cpus[cpu].thread = thread;
		w.cpus[cpu].is_waking = true;
		set_alarm(w.g.now_ns + IDLE_EXIT_NS, ALARM_CPU, cpu);
		return;
	}
	queue_push(&w.ready, thread);
}

/* The thread of the CPU, whose number was this, leaves it. */
static void leave(uint32_t cpu, uint32_t number, struct ev_sched_switch e)
{
	uint32_t next = queue_pop(&w.ready);

	w.cpus[cpu].thread = next;
	put_switch(cpu, number, next, e);
	if (next != NOBODY)
		run_on(cpu);
}

static void block(uint32_t cpu, struct ev_sched_switch e)
{
	e.flags |= SWITCH_HAS_STACK;
	if (!e.state)
		e.state = SWITCH_SLEEPING;
	leave(cpu, number_of(w.cpus[cpu].thread), e);
}

static void wake(uint32_t thread, uint32_t waker, struct ev_sched_wake e)
{
	put_wake(thread, waker, e);
	become_ready(thread);
}

static struct ev_sched_wake futex_wake(uint64_t object, unsigned int what)
{
	return (struct ev_sched_wake){
		.flags = WAKE_HAS_STACK,
		.syscall = SYS_futex,
		.operation = FUTEX_WAKE_PRIVATE,
		.object = object,
		.stack = generated_stack(&w.g, what),
	};
}

static void unlock(uint32_t thread)
{
	uint32_t lock = w.threads[thread].lock, waiter = queue_pop(&w.locks[lock].waiters);

	w.threads[thread].lock = NOBODY;
	w.locks[lock].owner = waiter;
	if (waiter == NOBODY)
		return;
	w.threads[waiter].lock = lock;
	wake(waiter, thread, futex_wake(generated_lock(lock), lock % GENERATED_LOCKS));
}

/* Whether the thread goes on. */
static bool take_lock(uint32_t cpu)
{
	uint32_t thread = w.cpus[cpu].thread, kind = pick(4) ? pick(GENERATED_LOCKS) : 0;
	uint32_t lock = w.threads[thread].shard * GENERATED_LOCKS + kind;

	if (w.locks[lock].owner == NOBODY) {
		w.locks[lock].owner = thread;
		w.threads[thread].lock = lock;
		return true;
	}
	queue_push(&w.locks[lock].waiters, thread);
	block(cpu, (struct ev_sched_switch){
			   .syscall = SYS_futex,
			   .operation = FUTEX_WAIT_PRIVATE,
			   .object = generated_lock(lock),
			   .value = 2,
			   .stack = generated_stack(&w.g, kind),
		   });
	return false;
}

/* One of those of its shard; kind: which one of them. */
static uint32_t pick_channel(uint32_t thread, uint32_t *kind)
{
	*kind = pick(GENERATED_CHANNELS);
	return w.threads[thread].shard * GENERATED_CHANNELS + *kind;
}

static bool hand_out_work(uint32_t thread)
{
	uint32_t kind, channel = pick_channel(thread, &kind), waiter = queue_pop(&w.channels[channel].waiters);
	struct ev_sched_wake e = futex_wake(generated_channel(channel), GENERATED_LOCKS + kind);

	if (waiter == NOBODY) {
		if (w.channels[channel].pending < PENDING_MAX)
			w.channels[channel].pending++;
		return true;
	}
	if (channel % 2) {
		e.syscall = SYS_write;
		e.operation = 0;
	}
	wake(waiter, thread, e);
	return true;
}

static bool take_work(uint32_t cpu)
{
	uint32_t kind, channel = pick_channel(w.cpus[cpu].thread, &kind);
	struct ev_sched_switch e = {
		.syscall = SYS_futex,
		.operation = FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME,
		.object = generated_channel(channel),
		.stack = generated_stack(&w.g, GENERATED_LOCKS + kind),
	};

	if (w.channels[channel].pending) {
		w.channels[channel].pending--;
		return true;
	}
	if (channel % 2) {
		e.syscall = SYS_read;
		e.operation = 0;
		e.value = 5;
	}
	queue_push(&w.channels[channel].waiters, w.cpus[cpu].thread);
	block(cpu, e);
	return false;
}

static bool sleep_a_while(uint32_t cpu)
{
	set_alarm(w.g.now_ns + 50000 + pick(2000000), ALARM_TIMER, w.cpus[cpu].thread);
	block(cpu, (struct ev_sched_switch){ .syscall = SYS_clock_nanosleep, .stack = generated_stack(&w.g, 40) });
	return false;
}

static bool read_file(uint32_t cpu)
{
	set_alarm(w.g.now_ns + 60000 + pick(800000), ALARM_DISK, w.cpus[cpu].thread);
	block(cpu, (struct ev_sched_switch){
			   .state = SWITCH_BLOCKED,
			   .flags = SWITCH_IO_WAIT,
			   .syscall = SYS_pread64,
			   .value = 7,
			   .object = generated_file(pick(GENERATED_FILES)),
			   .stack = generated_stack(&w.g, 41),
		   });
	return false;
}

/* Another one takes its place. */
static bool die(uint32_t cpu)
{
	uint32_t place = w.cpus[cpu].thread, number = number_of(place);

	w.threads[place].number = ++w.numbers;
	put_born(place, number);
	/* Not on this CPU, which is taken until the switch. */
	become_ready(place);
	leave(cpu, number, (struct ev_sched_switch){ .state = SWITCH_DEAD });
	return false;
}

static bool act(uint32_t cpu)
{
	uint32_t thread = w.cpus[cpu].thread, what = pick(100);

	if (w.threads[thread].lock != NOBODY) {
		unlock(thread);
		return true;
	}
	if (!pick(LIFE))
		return die(cpu);
	if (what < 30)
		return take_lock(cpu);
	if (!w.threads[thread].is_in_front)
		return what < 36 ? read_file(cpu) : take_work(cpu);
	if (what < 45)
		return sleep_a_while(cpu);
	return what < 55 ? read_file(cpu) : hand_out_work(thread);
}

/* The burst of the CPU's thread, or a slice of it, is over. */
static void on_cpu(uint32_t cpu)
{
	uint32_t place = w.cpus[cpu].thread;
	struct thread *thread = &w.threads[place];
	uint64_t ran_ns = w.g.now_ns - w.cpus[cpu].begin_ns;

	if (w.cpus[cpu].is_waking) {
		w.cpus[cpu].is_waking = false;
		put_switch(cpu, 0, place, (struct ev_sched_switch){ 0 });
		run_on(cpu);
		return;
	}
	thread->left_ns -= ran_ns < thread->left_ns ? ran_ns : thread->left_ns;
	if (!thread->left_ns) {
		if (!act(cpu))
			return;
		begin_burst(place);
	} else if (w.ready.first != NOBODY) {
		queue_push(&w.ready, place);
		leave(cpu, thread->number, (struct ev_sched_switch){ .state = SWITCH_RUNNABLE, .value = 0 });
		return;
	}
	run_on(cpu);
}

static void on_sample(uint32_t cpu)
{
	struct ev_sched_sample e = { .ip = generated_address(pick(3000)) };

	set_alarm(w.g.now_ns + w.g.sample_ns, ALARM_SAMPLE, cpu);
	if (w.cpus[cpu].thread != NOBODY && !w.cpus[cpu].is_waking)
		generated_put(&w.g, &e, EV_SCHED_SAMPLE, number_of(w.cpus[cpu].thread));
}

static void on_alarm(const struct alarm *alarm)
{
	switch (alarm->kind) {
	case ALARM_CPU:
		on_cpu(alarm->id);
		break;
	case ALARM_SAMPLE:
		on_sample(alarm->id);
		break;
	case ALARM_TIMER:
		wake(alarm->id, NOBODY, (struct ev_sched_wake){ .context = WAKE_HARDIRQ, .syscall = SYSCALL_NONE });
		break;
	case ALARM_DISK:
		wake(alarm->id, NOBODY, (struct ev_sched_wake){ .context = WAKE_SOFTIRQ, .syscall = SYSCALL_NONE });
		break;
	}
}

/* --- The whole ------------------------------------------------------------------------------ */

static void begin(uint64_t seed)
{
	static const struct queue empty = { NOBODY, NOBODY };

	w.g.random = seed * 0x9e3779b97f4a7c15ull + 1;
	w.g.begin_ns = w.g.now_ns = 1000000000000ull;
	w.g.events = w.g.last_ns = 0;
	w.numbers = 0;
	w.alarm_count = 0;
	w.threads = xcalloc(w.thread_count, sizeof(*w.threads));
	w.cpus = xcalloc(w.cpu_count, sizeof(*w.cpus));
	w.alarms = xcalloc(w.thread_count + 2 * w.cpu_count, sizeof(*w.alarms));
	w.locks = xcalloc(w.g.shards * GENERATED_LOCKS, sizeof(*w.locks));
	w.channels = xcalloc(w.g.shards * GENERATED_CHANNELS, sizeof(*w.channels));
	w.ready = empty;
	for (uint32_t i = 0; i < w.g.shards * GENERATED_LOCKS; i++) {
		w.locks[i].owner = NOBODY;
		w.locks[i].waiters = empty;
	}
	for (uint32_t i = 0; i < w.g.shards * GENERATED_CHANNELS; i++)
		w.channels[i].waiters = empty;
	for (uint32_t i = 0; i < w.cpu_count; i++) {
		w.cpus[i].thread = NOBODY;
		set_alarm(w.g.now_ns + pick(w.g.sample_ns), ALARM_SAMPLE, i);
	}
}

static void end(void)
{
	free(w.threads);
	free(w.cpus);
	free(w.alarms);
	free(w.locks);
	free(w.channels);
}

static void generate(uint64_t seed)
{
	begin(seed);
	generated_begin(&w.g, w.cpu_count);
	for (uint32_t i = 0; i < w.thread_count; i++) {
		w.threads[i] = (struct thread){
			.number = ++w.numbers,
			.lock = NOBODY,
			.shard = (uint64_t)i * w.g.shards / w.thread_count,
			.is_in_front = i % 2 == 0,
		};
		put_born(i, i ? 1 : 0);
		become_ready(i);
	}
	while (w.g.events + 1 < w.g.events_max) {
		struct alarm alarm = take_alarm();

		if (alarm.time_ns > w.g.now_ns)
			w.g.now_ns = alarm.time_ns;
		on_alarm(&alarm);
	}
	generated_end(&w.g);
	end();
}

/* How long all of it takes is known only once it was generated. */
static void stretch(uint64_t seed, uint64_t events_per_s)
{
	struct trace_writer *writer = w.g.writer;
	uint64_t events_max = w.g.events_max;

	w.g.writer = NULL;
	generate(seed);
	w.g.natural_ns = w.g.now_ns - w.g.begin_ns;
	w.g.written_ns = (unsigned __int128)w.g.events * 1000000000 / events_per_s;
	w.g.events_max = events_max;
	w.g.writer = writer;
}

static uint64_t number_argument(int argc, char **argv, int i, uint64_t otherwise)
{
	return argc > i ? strtoull(argv[i], NULL, 10) : otherwise;
}

int main(int argc, char **argv)
{
	uint64_t seed = number_argument(argc, argv, 5, 1), events_per_s = number_argument(argc, argv, 9, 0);
	struct text info = { 0 };
	int err;

	w.g.events_max = number_argument(argc, argv, 2, 0);
	w.thread_count = number_argument(argc, argv, 3, 64);
	w.cpu_count = number_argument(argc, argv, 4, 8);
	w.g.sample_ns = 1000 * number_argument(argc, argv, 6, 3000);
	w.g.stacks = number_argument(argc, argv, 7, 400);
	w.g.shards = number_argument(argc, argv, 8, 1);
	if (argc < 3 || !w.g.events_max || !w.thread_count || w.thread_count > THREADS_MAX || !w.cpu_count ||
	    w.cpu_count > GENERATED_CPUS_MAX || !w.g.sample_ns || w.g.stacks < GENERATED_REASONS ||
	    w.g.stacks > STACKS_MAX || !w.g.shards || w.g.shards > SHARDS_MAX) {
		fprintf(stderr, "usage: trace_gen FILE EVENTS [THREADS [CPUS [SEED [SAMPLE_US [STACKS [SHARDS "
				"[PER_S]]]]]]]\n");
		return 2;
	}
	err = trace_writer_open(argv[1], &w.g.writer);
	if (err)
		return fail(err, "cannot write %s", argv[1]) != 0;
	trace_info_put(&info);
	trace_writer_chunk(w.g.writer, TRACE_CHUNK_INFO, info.bytes, info.length, NULL);
	if (events_per_s)
		stretch(seed, events_per_s);
	generate(seed);
	err = trace_writer_close(w.g.writer);
	if (err)
		fail(err, "cannot write %s", argv[1]);
	text_fini(&info);
	return err != 0;
}
