/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "states/state_log.h"

#include <stdlib.h>
#include <string.h>

#include "account/measures/state_listener.h"
#include "base/memory.h"
#include "base/table.h"
#include "base/text.h"
#include "session/external_threads.h"
#include "session/session.h"
#include "session/threads.h"
#include "session/wake_context.h"
#include "states/cpu_log.h"
#include "states/late_causes.h"
#include "states/share_log.h"
#include "states/state_block.h"
#include "states/state_columns.h"
#include "states/state_gaps.h"
#include "states/state_places.h"
#include "states/state_total.h"
#include "states/state_values.h"
#include "states/thread_log.h"
#include "trace/trace_writer.h"
#include "values.h"
#include "waits/files.h"
#include "waits/others.h"
#include "waits/sums/wait_ender.h"

enum {
	/* A block has so many records, and more for more threads, for each block has all of them. */
	RECORDS = 1 << 16,
	RECORDS_A_THREAD = 16,
	NO_RECORD = UINT32_MAX,
	RECENT = 1024,
	PLACES_BYTES = 16 << 20, /* of a chunk */
};

/* A thread that lives. */
struct logged {
	uint32_t number;
	uint32_t place;  /* in the block */
	uint32_t record; /* its last one in the block, or NO_RECORD */
	uint8_t kind;    /* enum state_record_kind */
	bool is_touched; /* it has a record in this block */
	bool is_unsure;  /* records were lost since its last one */
	uint32_t value;  /* as a record has it */
	uint32_t waker;  /* RUNNABLE: the number of who woke it, or 0 */
	uint64_t since_ns;
	struct state_value meaning; /* of the value, when it is one */
	struct wait_facts facts;    /* of the last wait, and its cause as they alone tell it */
	enum wait_cause cause;
	uint64_t ready_file;        /* what came, of many that it waits for; 0: that is not known */
	struct state_places places; /* the blocks in which it changes */
	struct share_thread shares;
	uint8_t first_share; /* BLOCKED: as summaries have the wait, if its cause is another one; else 0 */
	uint64_t unknown_ns; /* from there on they do not know of it any more; 0: they do */
	struct state_total total;
};

struct cpu_owner {
	uint32_t owner;   /* a tid, or an OWNER_ */
	uint32_t record;  /* in this block, or NO_RECORD */
	bool is_known;    /* no traced thread has it */
	uint64_t left_ns; /* when one got it */
	uint64_t since_ns;
};

struct state_log {
	struct state_log_options options;
	struct state_listener listener;
	struct trace_writer *writer;
	struct table *by_number;
	struct logged *recent[RECENT]; /* by number: spares most look-ups */
	struct logged **threads;       /* by their places; those that died in this block, too */
	struct state_origin *origins;  /* the same, when the block began */
	size_t thread_count, thread_capacity;
	struct state_record *records;
	size_t record_count, record_capacity;
	struct state_values values;
	struct cpu_owner owners[CPUS_MAX];
	struct state_origin *first_owners; /* when the block began */
	size_t first_owner_count, cpu_count;
	uint64_t switched_ns[CPUS_MAX]; /* when a CPU last had an event */
	uint64_t now_ns;
	uint64_t last_ns; /* the end of the last block */
	uint32_t block_count;
	struct state_columns columns;
	struct text bytes;
	struct text lists;   /* where threads that are gone have changed: state_places.h */
	struct text totals;  /* the same: state_total.h */
	struct text ongoing; /* of waits that last, as a flush has them last */
	bool has_ongoing;    /* in the file */
	struct share_log *shares;
	struct cpu_log *cpus;
	struct thread_log *by_thread;
	struct late_log late;
	struct state_gaps gaps;
	uint64_t gaps_written_ns; /* the end of the last one that is in the file */
};

static uint8_t share_of(const struct logged *thread)
{
	return state_share(state_kind_of_record(thread->kind), thread->meaning.why);
}

/* --- A block -------------------------------------------------------------------------------- */

static struct state_origin origin_of(struct state_log *log, struct logged *thread)
{
	if (thread->kind == RECORD_RUNNABLE || thread->kind == RECORD_BLOCKED)
		thread->value = state_values_add(&log->values, &thread->meaning);
	return (struct state_origin){
		.since_ns = thread->since_ns,
		.number = thread->number,
		.value = thread->value,
		.waker = thread->waker,
		.kind = thread->kind,
	};
}

/* All there have been up to until_ns. */
static void put_gaps(const struct state_log *log, uint64_t until_ns)
{
	trace_writer_chunk(log->writer, TRACE_CHUNK_STATE_GAPS, log->gaps.gaps,
			   log->gaps.count * sizeof(*log->gaps.gaps),
			   &(struct trace_span){ until_ns, until_ns, log->gaps.count });
}

static void put_places(struct state_log *log)
{
	trace_writer_chunk(log->writer, TRACE_CHUNK_STATE_PLACES, log->lists.bytes, log->lists.length, NULL);
	log->lists.length = 0;
}

static void put_totals(struct state_log *log)
{
	trace_writer_chunk(log->writer, TRACE_CHUNK_STATE_TOTALS, log->totals.bytes, log->totals.length, NULL);
	log->totals.length = 0;
}

/* They take the place of those before. */
static void put_ongoing(struct state_log *log)
{
	if (log->ongoing.length || log->has_ongoing)
		trace_writer_chunk(log->writer, TRACE_CHUNK_STATE_TOTALS, log->ongoing.bytes, log->ongoing.length,
				   &(struct trace_span){ log->now_ns, log->now_ns, STATE_TOTALS_ONGOING });
	log->has_ongoing = log->ongoing.length;
	log->ongoing.length = 0;
}

/* It may come back: what was lost and what is late make ghosts. */
static void forget(struct state_log *log, struct logged *thread)
{
	state_places_put(&thread->places, thread->number, &log->lists);
	state_places_fini(&thread->places);
	if (log->lists.length >= PLACES_BYTES)
		put_places(log);
	if (thread->total.has_begun)
		state_total_put(&thread->total, thread->number, &log->totals);
	if (log->totals.length >= PLACES_BYTES)
		put_totals(log);
	table_take(log->by_number, thread->number);
	if (log->recent[thread->number % RECENT] == thread)
		log->recent[thread->number % RECENT] = NULL;
	free(thread);
}

static void begin_block(struct state_log *log)
{
	size_t count = 0;

	state_values_clear(&log->values);
	log->record_count = 0;
	for (size_t i = 0; i < log->thread_count; i++) {
		struct logged *thread = log->threads[i];

		if (thread->kind == RECORD_END) {
			forget(log, thread);
			continue;
		}
		thread->place = count;
		thread->record = NO_RECORD;
		thread->is_touched = false;
		log->origins[count] = origin_of(log, thread);
		log->threads[count++] = thread;
	}
	log->thread_count = count;
	log->first_owner_count = 0;
	for (size_t cpu = 0; cpu < log->cpu_count; cpu++) {
		struct cpu_owner *owner = &log->owners[cpu];

		owner->record = NO_RECORD;
		if (owner->is_known)
			log->first_owners[log->first_owner_count++] = (struct state_origin){
				.since_ns = owner->since_ns,
				.number = cpu,
				.value = owner->owner,
				.kind = RECORD_OWNER,
			};
	}
}

static void end_block(struct state_log *log)
{
	struct state_block block = {
		.values = log->values.values,
		.value_count = log->values.count,
		.threads = log->origins,
		.thread_count = log->thread_count,
		.owners = log->first_owners,
		.owner_count = log->first_owner_count,
		.records = log->records,
		.record_count = log->record_count,
	};
	struct trace_span span;

	if (!log->record_count)
		return;
	if (!block.value_count) {
		state_values_add(&log->values, &(struct state_value){ 0 });
		block.values = log->values.values;
		block.value_count = log->values.count;
	}
	block.first_ns = log->records[0].time_ns;
	block.last_ns = log->records[log->record_count - 1].time_ns;
	log->bytes.length = 0;
	state_block_encode(&block, &log->columns, &log->bytes);
	span = (struct trace_span){ block.first_ns, block.last_ns, log->record_count };
	trace_writer_chunk(log->writer, TRACE_CHUNK_STATES, log->bytes.bytes, log->bytes.length, &span);
	cpu_log_add(log->cpus, &block);
	thread_log_add(log->by_thread, &block, log->block_count);
	log->last_ns = block.last_ns;
	for (size_t i = 0; i < log->thread_count; i++)
		if (log->threads[i]->is_touched)
			state_places_add(&log->threads[i]->places, log->block_count);
	log->block_count++;
	begin_block(log);
}

static struct state_record *add_record(struct state_log *log, uint64_t time_ns, uint8_t kind, uint32_t who,
				       uint32_t value)
{
	struct state_record *record;

	ARRAY_GROW(log->records, log->record_count, log->record_capacity, RECORDS);
	/* What came late keeps the order. */
	if (time_ns > log->now_ns)
		log->now_ns = time_ns;
	record = &log->records[log->record_count++];
	*record = (struct state_record){
		.time_ns = log->now_ns,
		.who = who,
		.value = value,
		.kind = kind,
	};
	return record;
}

static bool is_full(const struct state_log *log)
{
	return log->record_count >= RECORDS && log->record_count >= log->thread_count * RECORDS_A_THREAD;
}

/* --- Threads -------------------------------------------------------------------------------- */

static struct logged *add_thread(struct state_log *log, uint32_t number)
{
	struct logged *thread = xcalloc(1, sizeof(*thread));

	thread->number = thread->shares.number = number;
	thread->record = NO_RECORD;
	if (log->thread_count == log->thread_capacity) {
		log->thread_capacity = log->thread_capacity ? 2 * log->thread_capacity : 64;
		log->threads = xrealloc(log->threads, log->thread_capacity, sizeof(*log->threads));
		log->origins = xrealloc(log->origins, log->thread_capacity, sizeof(*log->origins));
	}
	thread->place = log->thread_count;
	log->threads[log->thread_count] = thread;
	log->origins[log->thread_count++] = origin_of(log, thread);
	table_put(log->by_number, number, thread);
	return thread;
}

static struct logged *get_thread(struct state_log *log, uint32_t number)
{
	struct logged **recent = &log->recent[number % RECENT];
	struct logged *thread = *recent;

	if (thread && thread->number == number)
		return thread;
	thread = table_find(log->by_number, number);
	if (!thread)
		thread = add_thread(log, number);
	return *recent = thread;
}

static const struct file_info *file_of(const struct state_log *log, const struct wait_facts *facts)
{
	return wait_has_file(facts) ? files_find(log->options.files, facts->object) : NULL;
}

static enum wait_cause named_cause(const struct state_log *log, const struct thread *thread, uint64_t time_ns,
				   uint64_t stack, const struct logged *logged)
{
	if (!log->options.cause_of)
		return logged->cause;
	return log->options.cause_of(log->options.cause_data, thread, time_ns, stack, &logged->facts, logged->cause);
}

static struct state_value wait_value(const struct state_log *log, const struct thread *thread, uint64_t time_ns,
				     struct logged *logged, const struct ev_sched_switch *e)
{
	static const struct ev_sched_switch nothing = { .syscall = SYSCALL_NONE };
	uint64_t stack = e && e->flags & SWITCH_HAS_STACK ? e->stack : 0;

	/* A list that repeats the same wait has no stack. */
	if (!stack && logged->kind == RECORD_BLOCKED && e && e->object == logged->meaning.object &&
	    e->syscall == logged->meaning.syscall)
		stack = logged->meaning.stack;
	logged->facts = wait_facts_of(e ? e : &nothing);
	logged->cause = CAUSE_OTHER;
	logged->ready_file = 0;
	/* Threads of the kernel have no calls and no faults, and whether one is such is not recorded. */
	if (e && !(thread_is_external(thread->number) && e->syscall == SYSCALL_NONE))
		logged->cause = wait_cause_of(&logged->facts, file_of(log, &logged->facts));
	return (struct state_value){
		.object = logged->facts.object,
		.stack = stack,
		.syscall = logged->facts.syscall,
		.operation = logged->facts.operation,
		.why = named_cause(log, thread, time_ns, stack, logged),
		.how = logged->facts.state,
	};
}

static struct state_value waker_value(const struct state_log *log, const struct logged *logged,
				      const struct ev_sched_wake *e)
{
	const struct other *other = e->tid && !e->waker ? others_find(log->options.others, e->tid) : NULL;

	return (struct state_value){
		.object = e->object,
		.stack = e->flags & WAKE_HAS_STACK ? e->stack : 0,
		.tid = e->waker ? 0 : e->tid,
		.syscall = e->syscall,
		.operation = e->operation,
		.why = READY_WOKEN,
		.how = waker_kind_of(logged->cause, &logged->facts, e, file_of(log, &logged->facts), other),
	};
}

static struct state_value ready_value(const struct state_log *log, const struct logged *logged,
				      const struct state_change *change)
{
	struct state_value value = { .why = READY_UNKNOWN };

	if (change->wake)
		return waker_value(log, logged, change->wake);
	if (change->out && change->out->flags & SWITCH_THROTTLED)
		value.why = READY_THROTTLED;
	else if (change->out && change->out->state == SWITCH_RUNNABLE)
		value.why = READY_PREEMPTED;
	else if (logged->kind == RECORD_END && !change->thread->was_found)
		value.why = READY_BORN;
	return value;
}

/* The wait has another cause than it had: what was written of it already cannot be changed. */
static void change_cause(struct state_log *log, struct logged *logged, enum wait_cause cause)
{
	bool is_written = logged->record == NO_RECORD || logged->shares.until_ns > logged->since_ns;
	uint8_t before = share_of(logged);

	if (cause == logged->meaning.why || (is_written && !late_log_has_space(&log->late)))
		return;
	logged->meaning.why = cause;
	if (is_written && !logged->first_share)
		logged->first_share = before;
	if (!is_written)
		share_log_correct(&logged->shares, share_of(logged));
}

static void end_late(struct state_log *log, struct logged *logged)
{
	if (logged->first_share)
		late_log_add(&log->late, log->writer,
			     &(struct late_cause){
				     .thread = logged->number,
				     .begin_ns = logged->since_ns,
				     .end_ns = logged->unknown_ns ? logged->unknown_ns : log->now_ns,
				     .first = logged->first_share,
				     .share = share_of(logged),
			     });
	logged->first_share = 0;
	logged->unknown_ns = 0;
}

/* The wait that the thread is in means what it means now. */
static void emit_meaning(struct state_log *log, const struct thread *thread, struct logged *logged)
{
	uint32_t value;

	change_cause(log, logged, named_cause(log, thread, log->now_ns, logged->meaning.stack, logged));
	value = state_values_add(&log->values, &logged->meaning);
	if (logged->record == NO_RECORD)
		log->origins[logged->place].value = value;
	else
		log->records[logged->record].value = value;
	logged->value = value;
}

/* The stack of the wait that the thread is in, or was in last, turns out to be this. */
static void emit_stack(struct state_log *log, const struct thread *thread, struct logged *logged, uint64_t stack)
{
	if (logged->kind != RECORD_BLOCKED || logged->meaning.stack || !stack)
		return;
	logged->meaning.stack = stack;
	emit_meaning(log, thread, logged);
}

/*
 * What the thread waited for may be known at the end of the wait alone, as in waits/sums/waits.c: its file was recorded after the
 * switch; of many, one was ready; or a request of io_uring was done, by a thread of the kernel as if the thread itself had done it.
 */
static void settle_wait(struct state_log *log, const struct thread *thread, struct logged *logged,
			const struct ev_sched_wake *wake)
{
	uint64_t object = logged->facts.object;
	enum wait_cause cause = logged->cause;
	const struct file_info *ready = logged->ready_file ? files_find(log->options.files, logged->ready_file) : NULL;

	if (logged->kind != RECORD_BLOCKED || thread_is_external(logged->number))
		return;
	if (wait_has_file(&logged->facts))
		logged->cause = wait_cause_of(&logged->facts, file_of(log, &logged->facts));
	if (logged->cause == CAUSE_POLL && ready && ready->kind == FILE_SOCKET && !ready->is_server) {
		logged->cause = CAUSE_SOCKET;
		logged->facts.object = logged->ready_file;
	}
	if (wake && wake_is_for_work(wake) && wait_has_futex(&logged->facts)) {
		logged->facts = wait_facts_of_work();
		logged->cause = CAUSE_FILE;
	}
	if (logged->cause == cause && logged->facts.object == object)
		return;
	logged->meaning.object = logged->facts.object;
	logged->meaning.syscall = logged->facts.syscall;
	logged->meaning.operation = logged->facts.operation;
	logged->meaning.how = logged->facts.state;
	emit_meaning(log, thread, logged);
}

static uint8_t kind_of(const struct state_change *change)
{
	switch (change->phase) {
	case PHASE_RUNNING:
		return change->is_spinning ? RECORD_SPINNING : RECORD_RUNNING;
	case PHASE_RUNNABLE:
		return RECORD_RUNNABLE;
	case PHASE_BLOCKED:
		return RECORD_BLOCKED;
	}
	return RECORD_END;
}

/* A traced thread has the CPU. */
static void disown(struct state_log *log, uint32_t cpu, uint64_t time_ns)
{
	if (cpu >= CPUS_MAX)
		return;
	log->owners[cpu].is_known = false;
	log->owners[cpu].left_ns = time_ns;
}

/* What the thread has been doing up to now. One that comes back did nothing meanwhile. */
static void add_to_total(struct state_log *log, struct logged *logged)
{
	if (logged->kind == RECORD_END && logged->total.has_begun)
		logged->total.until_ns = log->now_ns;
	state_total_add(&logged->total, log->now_ns, share_of(logged));
}

static void on_change(void *data, const struct state_change *change)
{
	struct state_log *log = data;
	struct logged *logged = get_thread(log, change->thread->number);
	uint8_t kind = kind_of(change);

	if (kind == RECORD_RUNNABLE && logged->kind == kind && !logged->is_unsure && !change->out && !change->wake)
		return; /* it spins no longer, which shows when it runs */
	if (change->wake && change->wake->flags & WAKE_HAS_WAIT_STACK)
		emit_stack(log, change->thread, logged, change->wake->wait_stack);
	settle_wait(log, change->thread, logged, change->wake);
	if (change->time_ns > log->now_ns)
		log->now_ns = change->time_ns;
	if (logged->kind != RECORD_END || kind != RECORD_END)
		add_to_total(log, logged);
	end_late(log, logged);
	if (kind == RECORD_BLOCKED) {
		logged->meaning = wait_value(log, change->thread, change->time_ns, logged, change->out);
		logged->value = state_values_add(&log->values, &logged->meaning);
	} else if (kind == RECORD_RUNNABLE) {
		logged->meaning = ready_value(log, logged, change);
		logged->value = state_values_add(&log->values, &logged->meaning);
	} else {
		logged->value = kind == RECORD_END ? 0 : change->cpu;
		if (kind != RECORD_END)
			disown(log, change->cpu, change->time_ns);
	}
	logged->waker = change->wake ? change->wake->waker : 0;
	logged->kind = kind;
	logged->since_ns = log->now_ns;
	logged->is_touched = true;
	logged->is_unsure = false;
	if (kind == RECORD_END)
		share_log_end(log->shares, &logged->shares, log->now_ns);
	else
		share_log_change(log->shares, &logged->shares, log->now_ns, share_of(logged));
	logged->record = log->record_count;
	add_record(log, log->now_ns, kind, logged->place, logged->value)->waker =
		logged->waker ? get_thread(log, logged->waker)->place + 1 : 0;
	if (is_full(log))
		end_block(log);
}

static void on_late_wake(void *data, const struct thread *thread, const struct ev_sched_wake *e)
{
	struct state_log *log = data;
	struct logged *logged = get_thread(log, thread->number);
	struct state_value value = waker_value(log, logged, e);

	add_record(log, log->now_ns, RECORD_WOKEN, logged->place, state_values_add(&log->values, &value))->waker =
		e->waker ? get_thread(log, e->waker)->place + 1 : 0;
	logged->is_touched = true;
}

/* --- What events tell besides --------------------------------------------------------------- */

/* Who leaves a CPU at time_ns says who has had it. */
static void correct_owner(struct state_log *log, uint16_t cpu, uint32_t tid, uint64_t time_ns)
{
	struct cpu_owner *owner = &log->owners[cpu];

	if (owner->owner != OWNER_UNKNOWN || (!owner->is_known && owner->left_ns != time_ns))
		return;
	owner->owner = tid;
	if (owner->record != NO_RECORD)
		log->records[owner->record].value = tid;
	for (size_t i = 0; owner->record == NO_RECORD && i < log->first_owner_count; i++)
		if (log->first_owners[i].number == cpu)
			log->first_owners[i].value = tid;
}

static void make_space_for_cpu(struct state_log *log, uint16_t cpu)
{
	if (cpu < log->cpu_count)
		return;
	log->cpu_count = cpu + 1;
	log->first_owners = xrealloc(log->first_owners, log->cpu_count, sizeof(*log->first_owners));
}

static uint32_t next_owner(const struct ev_sched_switch *e)
{
	if (!e->header.thread)
		return e->object;
	return e->state == SWITCH_RUNNABLE ? e->value : OWNER_UNKNOWN;
}

static void on_switch(void *data, const struct ev_header *header)
{
	const struct ev_sched_switch *e = (const struct ev_sched_switch *)header;
	struct state_log *log = data;
	struct cpu_owner *owner = &log->owners[e->cpu];
	uint32_t next = next_owner(e);

	log->switched_ns[e->cpu] = header->time_ns;
	if (!header->thread)
		correct_owner(log, e->cpu, e->value, header->time_ns);
	if (e->next || (owner->is_known && owner->owner == next))
		return;
	make_space_for_cpu(log, e->cpu);
	*owner = (struct cpu_owner){ .owner = next, .record = log->record_count, .is_known = true };
	add_record(log, header->time_ns, RECORD_OWNER, e->cpu, next);
	owner->since_ns = log->now_ns;
}

static void on_hidden(void *data, const struct ev_header *header)
{
	const struct ev_sched_hidden *e = (const struct ev_sched_hidden *)header;
	struct state_log *log = data;

	correct_owner(log, e->cpu, e->tid, header->time_ns);
}

/* What was found blocked may have been so for long; where, is recorded late. */
static void on_waits(void *data, const struct ev_header *header)
{
	const struct ev_thread_waits *e = (const struct ev_thread_waits *)header;
	struct state_log *log = data;
	struct logged *logged = header->thread ? table_find(log->by_number, header->thread) : NULL;

	if (logged)
		emit_stack(log, threads_get(log->options.threads, header->thread), logged, e->stack);
}

static void on_ready(void *data, const struct ev_header *header)
{
	struct state_log *log = data;
	struct logged *logged = table_find(log->by_number, header->thread);

	if (logged && logged->kind == RECORD_BLOCKED)
		logged->ready_file = ((const struct ev_sched_ready *)header)->file;
}

static void on_gap(void *data, const struct ev_header *header)
{
	const struct ev_collect_gap *e = (const struct ev_collect_gap *)header;
	struct state_log *log = data;

	if (header->time_ns > log->now_ns)
		log->now_ns = header->time_ns;
	state_gaps_add(&log->gaps, e->cpu < CPUS_MAX ? log->switched_ns[e->cpu] : 0, log->now_ns);
	for (size_t i = 0; i < log->thread_count; i++) {
		struct logged *thread = log->threads[i];

		thread->is_unsure = true;
		/* A state that begins with the gap's end is known. */
		if (thread->kind == RECORD_END || thread->since_ns == log->now_ns)
			continue;
		share_log_change(log->shares, &thread->shares, log->now_ns, SHARE_UNKNOWN);
		if (!thread->unknown_ns)
			thread->unknown_ns = log->now_ns;
	}
}

static const struct event_handler handlers[] = {
	{ EV_SCHED_SWITCH, on_switch }, { EV_SCHED_HIDDEN, on_hidden }, { EV_SCHED_READY, on_ready },
	{ EV_THREAD_WAITS, on_waits },  { EV_COLLECT_GAP, on_gap },     { 0, NULL },
};

struct state_log *state_log_new(struct trace_writer *writer, const struct state_log_options *options)
{
	struct state_log *log = xcalloc(1, sizeof(*log));

	log->options = *options;
	log->writer = writer;
	log->listener = (struct state_listener){ on_change, on_late_wake, log };
	log->by_number = table_new();
	log->shares = share_log_new(writer, TRACE_CHUNK_STATE_SHARES);
	log->cpus = cpu_log_new(writer, &log->gaps);
	log->by_thread = thread_log_new(writer);
	return log;
}

void state_log_subscribe(struct state_log *log, struct session *session)
{
	session_subscribe(session, handlers, log);
}

const struct state_listener *state_log_listener(struct state_log *log)
{
	return &log->listener;
}

/* Of a wait that may turn out to have another cause nothing counts until it has ended. */
static void flush_wait(struct state_log *log, struct logged *thread)
{
	struct state_total wait = { 0 };

	state_total_add(&wait, thread->total.until_ns, share_of(thread));
	state_total_add(&wait, log->now_ns, share_of(thread));
	state_total_put(&wait, thread->number, &log->ongoing);
}

/* What is known of the thread by now; what comes later is put by itself. */
static void flush_thread(struct state_log *log, struct logged *thread)
{
	uint64_t until_ns;

	state_places_put(&thread->places, thread->number, &log->lists);
	state_places_fini(&thread->places);
	if (thread->kind == RECORD_END || !thread->total.has_begun)
		return;
	if (thread->kind == RECORD_BLOCKED)
		flush_wait(log, thread);
	else
		add_to_total(log, thread);
	until_ns = thread->total.until_ns;
	state_total_put(&thread->total, thread->number, &log->totals);
	thread->total = (struct state_total){ 0 };
	state_total_add(&thread->total, until_ns, share_of(thread));
}

void state_log_flush(struct state_log *log)
{
	uint64_t gap_ns = log->gaps.count ? log->gaps.gaps[log->gaps.count - 1].end_ns : 0;

	end_block(log);
	for (size_t i = 0; i < log->thread_count; i++)
		flush_thread(log, log->threads[i]);
	late_log_flush(&log->late, log->writer);
	put_places(log);
	put_totals(log);
	put_ongoing(log);
	if (gap_ns != log->gaps_written_ns)
		put_gaps(log, log->now_ns);
	log->gaps_written_ns = gap_ns;
}

bool state_log_is_between_blocks(const struct state_log *log)
{
	return !log->record_count;
}

void state_log_finish(struct state_log *log, uint64_t end_ns)
{
	if (end_ns > log->now_ns)
		log->now_ns = end_ns;
	for (size_t i = 0; i < log->thread_count; i++) {
		struct logged *thread = log->threads[i];

		if (thread->kind == RECORD_END)
			continue;
		settle_wait(log, threads_get(log->options.threads, thread->number), thread, NULL);
		add_record(log, log->now_ns, RECORD_END, thread->place, 0);
		add_to_total(log, thread);
		end_late(log, thread);
		thread->kind = RECORD_END;
		thread->is_touched = true;
		share_log_end(log->shares, &thread->shares, log->now_ns);
	}
	end_block(log); /* which forgets them all */
	share_log_finish(log->shares);
	cpu_log_finish(log->cpus, log->last_ns);
	thread_log_finish(log->by_thread);
	late_log_flush(&log->late, log->writer);
	put_places(log);
	put_totals(log);
	put_ongoing(log);
	put_gaps(log, end_ns);
}

void state_log_free(struct state_log *log)
{
	if (!log)
		return;
	for (size_t i = 0; i < log->thread_count; i++) {
		state_places_fini(&log->threads[i]->places);
		free(log->threads[i]);
	}
	table_free(log->by_number);
	share_log_free(log->shares);
	cpu_log_free(log->cpus);
	thread_log_free(log->by_thread);
	late_log_fini(&log->late);
	state_gaps_fini(&log->gaps);
	state_values_fini(&log->values);
	state_columns_fini(&log->columns);
	text_fini(&log->bytes);
	text_fini(&log->lists);
	text_fini(&log->totals);
	text_fini(&log->ongoing);
	free(log->threads);
	free(log->origins);
	free(log->records);
	free(log->first_owners);
	free(log);
}
