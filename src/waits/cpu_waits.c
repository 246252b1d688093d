/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "waits/cpu_waits.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "base/whole.h"
#include "session/external_threads.h"
#include "session/wake_order.h"
#include "values.h"
#include "waits/others.h"

enum {
	CPU_NONE = CPUS_MAX,
	/* Of each CPU that are kept, powers of two: more when a wait turns out to need more. */
	OWNERS = 512,
	OWNERS_MAX = 1 << 14,
	THREADS_MAX = 1 << 17,
	RIVALS_MAX = 4096,
	RECENT = 64, /* owners whose rival is at hand, a power of two */
};

/* Who has a CPU: the tid of a thread that is not traced, or one of these. */
#define OWNER_UNKNOWN (1ull << 32)
#define OWNER_PROGRAM (2ull << 32)
#define OWNER_IDLE 0

struct owner {
	uint64_t begin_ns, who;
};

struct cpu {
	struct owner *owners; /* the heap's; the last one has it */
	size_t count, kept;   /* of all that came, and space for the last of them */
	uint64_t switched_ns; /* when it last had an event */
	uint32_t gap;         /* the number of gaps before */
};

/* A traced thread that is alive. */
struct candidate {
	uint64_t begin_ns; /* of its wait for a CPU; 0: it does not wait for one */
	uint32_t cpu;      /* that it had to leave, or CPU_NONE */
	uint32_t gap;
	uint64_t throttled_ns; /* of its wait, or more */
};

/* Whose time an owner's is. */
struct recent {
	uint64_t who;
	struct rival *rival; /* NULL: it is not known */
};

struct cpu_waits {
	struct arena *arena;
	struct cpu *cpus[CPUS_MAX]; /* NULL until it is heard of */
	struct table *candidates;   /* by number; each is the heap's */
	const struct others *others;
	struct table *rivals;
	struct recent recent[RECENT]; /* by who, until a thread is named */
	struct cpu_throttling throttling;
	uint32_t gaps;
};

static struct candidate *get_candidate(struct cpu_waits *waits, uint32_t number)
{
	struct candidate *candidate = table_find(waits->candidates, number);

	if (candidate || table_count(waits->candidates) >= THREADS_MAX)
		return candidate;
	candidate = xcalloc(1, sizeof(*candidate));
	table_put(waits->candidates, number, candidate);
	return candidate;
}

/* What came before a gap says nothing of what came after it. */
static struct cpu *get_cpu(struct cpu_waits *waits, uint16_t number)
{
	struct cpu *cpu = waits->cpus[number];

	if (!cpu) {
		cpu = waits->cpus[number] = arena_alloc(waits->arena, sizeof(*cpu));
		cpu->kept = OWNERS;
		cpu->owners = xcalloc(cpu->kept, sizeof(*cpu->owners));
		cpu->gap = waits->gaps;
	}
	if (cpu->gap != waits->gaps) {
		cpu->gap = waits->gaps;
		cpu->count = 0;
	}
	return cpu;
}

static struct owner *owner_at(struct cpu *cpu, size_t i)
{
	return &cpu->owners[i & (cpu->kept - 1)];
}

/* Of one that has lost some already. */
static void keep_more(struct cpu *cpu)
{
	struct owner *more;

	if (cpu->kept == OWNERS_MAX)
		return;
	more = xcalloc(2 * cpu->kept, sizeof(*more));
	for (size_t i = 0; i < cpu->kept; i++)
		more[i] = *owner_at(cpu, cpu->count + i); /* the oldest one first */
	free(cpu->owners);
	cpu->owners = more;
	cpu->count = cpu->kept;
	cpu->kept *= 2;
}

static void begin(struct cpu_waits *waits, uint32_t number, uint64_t now_ns, uint32_t cpu)
{
	struct candidate *candidate = get_candidate(waits, number);

	if (candidate)
		*candidate = (struct candidate){ now_ns, cpu, waits->gaps, 0 };
}

static struct rival *get_rival(struct cpu_waits *waits, uint64_t key, enum rival_kind kind)
{
	struct rival *rival = table_find(waits->rivals, key);

	if (rival || table_count(waits->rivals) >= RIVALS_MAX)
		return rival;
	rival = arena_alloc(waits->arena, sizeof(*rival));
	rival->kind = kind;
	table_put(waits->rivals, key, rival);
	return rival;
}

static struct rival *other_rival(struct cpu_waits *waits, uint32_t tid)
{
	const struct other *other = others_find(waits->others, tid);
	uint32_t pid = other ? other->pid : tid;
	bool is_kernel = other && other->is_kernel;
	/* A process is called like its first thread, when that one is known. */
	const struct other *first = others_find(waits->others, pid), *named = first ? first : other;
	struct rival *rival = get_rival(waits, 1ull << 32 | pid, is_kernel ? RIVAL_KERNEL : RIVAL_PROCESS);

	if (rival && named) {
		memcpy(rival->name, named->name, sizeof(rival->name));
		rival->pid = pid;
	}
	return rival;
}

/* NULL: unknown, or one too many. */
static struct rival *find_rival(struct cpu_waits *waits, uint64_t who)
{
	switch (who) {
	case OWNER_UNKNOWN:
		return NULL;
	case OWNER_PROGRAM:
		return get_rival(waits, OWNER_PROGRAM, RIVAL_PROGRAM);
	case OWNER_IDLE:
		return get_rival(waits, OWNER_IDLE, RIVAL_IDLE);
	default:
		return other_rival(waits, who);
	}
}

static struct rival *rival_of(struct cpu_waits *waits, uint64_t who)
{
	struct recent *recent = &waits->recent[(who ^ who >> 32) & (RECENT - 1)];

	if (recent->who != who || !recent->rival)
		*recent = (struct recent){ who, find_rival(waits, who) };
	return recent->rival;
}

/*
 * A part of a wait from begin_ns to now_ns goes to those who had the CPU. instead: the CPU that the
 * thread was moved to in the end, or NULL; it was there at least when this one had nobody.
 */
static void charge(struct cpu_waits *waits, struct cpu *cpu, struct cpu *instead, uint64_t begin_ns, uint64_t now_ns,
		   double part)
{
	size_t oldest = cpu->count > cpu->kept ? cpu->count - cpu->kept : 0;
	uint64_t end_ns = now_ns;

	for (size_t i = cpu->count; i > oldest && end_ns > begin_ns; i--) {
		const struct owner *owner = owner_at(cpu, i - 1);
		uint64_t from_ns = owner->begin_ns > begin_ns ? owner->begin_ns : begin_ns;
		bool has_nobody = owner->who == OWNER_IDLE || owner->who == OWNER_UNKNOWN;
		struct rival *rival;

		if (from_ns >= end_ns)
			continue;
		rival = rival_of(waits, owner->who);
		if (instead && has_nobody)
			charge(waits, instead, NULL, from_ns, end_ns, part);
		else if (rival)
			rival->wait_ns = whole(rival->wait_ns + (end_ns - from_ns) * part);
		end_ns = from_ns;
	}
	if (oldest && end_ns > begin_ns)
		keep_more(cpu);
}

/* When in a wait that was is unknown: it is taken off evenly. Returns what part of it is left. */
static double take_throttled(struct cpu_waits *waits, const struct candidate *candidate, uint64_t now_ns)
{
	uint64_t wait_ns = now_ns - candidate->begin_ns, throttled_ns = candidate->throttled_ns;
	struct cpu_throttling *sum = &waits->throttling;

	if (!throttled_ns || !wait_ns)
		return 1;
	if (throttled_ns > wait_ns)
		throttled_ns = wait_ns;
	sum->throttled_ns += throttled_ns;
	sum->count++;
	if (throttled_ns > sum->max_ns)
		sum->max_ns = throttled_ns;
	return 1 - (double)throttled_ns / wait_ns;
}

/* The wait of a thread that gets a CPU: of the one that it had to leave, or else of this one. */
static void end(struct cpu_waits *waits, uint32_t number, uint16_t cpu, uint64_t now_ns)
{
	struct candidate *candidate = get_candidate(waits, number);
	struct cpu *here = get_cpu(waits, cpu), *left;

	if (!candidate || !candidate->begin_ns)
		return;
	if (candidate->gap == waits->gaps) {
		left = candidate->cpu == CPU_NONE ? here : get_cpu(waits, candidate->cpu);
		charge(waits, left, left == here ? NULL : here, candidate->begin_ns, now_ns,
		       take_throttled(waits, candidate, now_ns));
	}
	*candidate = (struct candidate){ 0 };
}

static void leave(struct cpu_waits *waits, const struct ev_sched_switch *e)
{
	struct candidate *candidate;
	uint64_t now_ns = e->header.time_ns;

	if (e->state == SWITCH_DEAD) {
		free(table_take(waits->candidates, e->header.thread));
	} else if (e->state == SWITCH_RUNNABLE) {
		begin(waits, e->header.thread, now_ns, e->cpu);
	} else {
		/* Unless its wake-up has come already, it waits for something else. */
		candidate = get_candidate(waits, e->header.thread);
		if (candidate)
			candidate->begin_ns = now_ns - candidate->begin_ns > WAKE_TIE_NS_MAX ? 0 : now_ns;
	}
}

static uint64_t next_owner(const struct ev_sched_switch *e)
{
	if (e->next)
		return OWNER_PROGRAM;
	if (!e->header.thread)
		return (uint32_t)e->object;
	return e->header.thread && e->state == SWITCH_RUNNABLE ? e->value : OWNER_UNKNOWN;
}

/* The threads of the program have it one after the other, as if they were one. */
static void give(struct cpu *cpu, uint64_t begin_ns, uint64_t who)
{
	if (!cpu->count || who != OWNER_PROGRAM || owner_at(cpu, cpu->count - 1)->who != who)
		*owner_at(cpu, cpu->count++) = (struct owner){ begin_ns, who };
}

/*
 * Somebody else leaves it. Between records there may have been several: who had it last stands for them,
 * and for those before the first record.
 */
static void correct_last(struct cpu *cpu, uint64_t who)
{
	struct owner *last = owner_at(cpu, cpu->count - 1);

	if (last->begin_ns < cpu->switched_ns)
		give(cpu, cpu->switched_ns, who);
	else
		last->who = who;
}

static void on_switch(void *data, const struct ev_header *header)
{
	struct ev_sched_switch capacity;
	const struct ev_sched_switch *e = switch_of_target((const struct ev_sched_switch *)header, &capacity);
	struct cpu_waits *waits = data;
	struct cpu *cpu = get_cpu(waits, e->cpu);

	header = &e->header;
	if (!cpu->count) {
		cpu->switched_ns = 0;
		give(cpu, 0, OWNER_PROGRAM);
	}
	if (header->thread)
		leave(waits, e);
	else
		correct_last(cpu, e->value);
	if (e->next)
		end(waits, e->next, e->cpu, header->time_ns);
	give(cpu, header->time_ns, next_owner(e));
	cpu->switched_ns = header->time_ns;
}

/* Whom a thread that blocked left the CPU to shows at the next switch, unless that one is hidden. */
static void on_hidden(void *data, const struct ev_header *header)
{
	const struct ev_sched_hidden *e = (const struct ev_sched_hidden *)header;
	struct cpu *cpu = get_cpu(data, e->cpu);
	struct owner *last = cpu->count ? owner_at(cpu, cpu->count - 1) : NULL;

	if (last && last->who == OWNER_UNKNOWN)
		last->who = e->tid;
}

static void on_wake(void *data, const struct ev_header *header)
{
	if (thread_is_traced(header->thread))
		begin(data, header->thread, header->time_ns, CPU_NONE);
}

static void on_found(void *data, const struct ev_header *header)
{
	const struct ev_thread_found *e = (const struct ev_thread_found *)header;

	if (thread_is_traced(header->thread) && e->phase == PHASE_RUNNABLE)
		begin(data, header->thread, header->time_ns, CPU_NONE);
}

static void on_throttled(void *data, const struct ev_header *header)
{
	struct candidate *candidate = thread_is_traced(header->thread) ? get_candidate(data, header->thread) : NULL;

	if (candidate)
		candidate->throttled_ns = ((const struct ev_sched_throttled *)header)->throttled_ns;
}

static void on_other(void *data, const struct ev_header *header __attribute__((unused)))
{
	struct cpu_waits *waits = data;

	memset(waits->recent, 0, sizeof(waits->recent));
}

static void on_gap(void *data, const struct ev_header *header __attribute__((unused)))
{
	struct cpu_waits *waits = data;

	waits->gaps++;
}

static const struct event_handler handlers[] = {
	{ EV_SCHED_SWITCH, on_switch },       { EV_SCHED_HIDDEN, on_hidden }, { EV_SCHED_WAKE, on_wake },
	{ EV_SCHED_THROTTLED, on_throttled }, { EV_THREAD_BORN, on_wake },    { EV_THREAD_FOUND, on_found },
	{ EV_COLLECT_GAP, on_gap },           { EV_THREAD_OTHER, on_other },  { 0, NULL },
};

struct cpu_waits *cpu_waits_new(struct session *session, const struct others *others)
{
	struct cpu_waits *waits = xcalloc(1, sizeof(*waits));

	waits->arena = arena_new();
	waits->candidates = table_new();
	waits->others = others;
	waits->rivals = table_new();
	session_subscribe(session, handlers, waits);
	return waits;
}

void cpu_waits_free(struct cpu_waits *waits)
{
	struct candidate *candidate;
	size_t cursor = 0;

	if (!waits)
		return;
	while ((candidate = table_next(waits->candidates, &cursor)))
		free(candidate);
	for (size_t i = 0; i < CPUS_MAX; i++)
		if (waits->cpus[i])
			free(waits->cpus[i]->owners);
	table_free(waits->candidates);
	table_free(waits->rivals);
	arena_free(waits->arena);
	free(waits);
}

const struct rival *cpu_waits_next(const struct cpu_waits *waits, size_t *cursor)
{
	const struct rival *rival;

	while ((rival = table_next(waits->rivals, cursor)) && !rival->wait_ns)
		;
	return rival;
}

size_t cpu_waits_rival_count(const struct cpu_waits *waits)
{
	return table_count(waits->rivals);
}

struct cpu_throttling cpu_waits_throttling(const struct cpu_waits *waits)
{
	return waits->throttling;
}
