/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "whatif/step_replay.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/table.h"
#include "whatif/turns.h"

/*
 * How long a thread keeps its CPU when others want it. Turns are longer when there would be too many, from 17
 * minutes of work on: a ranking replays it a hundred times.
 */
enum { TURN_NS = 4000000, TURNS_MAX = 1 << 18 };

/* Locks that are given away so, one at a time; then all that wait are released. */
enum { LOCKS_LET_GO_MAX = 4096 };

enum doing {
	DOES_GO_ON, /* to its next step */
	DOES_WORK,
	DOES_QUEUE, /* for a CPU */
	DOES_DELAY,
	DOES_WAIT,
	DOES_MEET,    /* came to a barrier last in the recording, and others are not there yet */
	DOES_NOTHING, /* its life is over */
};

struct runner {
	size_t at;         /* its step */
	uint64_t left_ns;  /* of its work */
	uint64_t piece_ns; /* of that, what it does until its next turn */
	uint64_t turn_ns;  /* when its turn is over */
	uint64_t spare_ns; /* of the work that comes, what is not done, as nobody sleeps */
	enum doing doing;
	bool has_cpu;
	bool is_awake; /* it did not have to sleep, and has done nothing since */
	uint32_t next; /* of those that wait for the same lock; STEP_NONE: the last one */
};

/* A lock that goes to who comes first. */
struct queue {
	uint64_t free_count; /* times that it was released and nobody waited */
	uint32_t first, last;
};

struct player {
	const struct lives *lives;
	const struct replay_plan *plan;
	struct replay *out;
	struct runner *runners;
	struct turns turns;
	struct table *queues; /* by lock; NULL: in the recorded order */
	struct arena *arena;
	bool *is_over;      /* by step: the waker has come there; WAKE: it need not meet who waits */
	uint32_t *meets;    /* by step of one that waits at a barrier: the life that waits for it, plus 1 */
	struct turns ready; /* lives that wait for a CPU, by when they had it in the recording */
	uint32_t idle_cpus, locks_let_go;
	uint64_t now_ns, turn_ns;
};

static void go_on_at(struct player *p, uint32_t life, uint64_t time_ns)
{
	turns_add(&p->turns, time_ns, life);
}

/* --- CPUs ------------------------------------------------------------------------------------- */

static void work(struct player *p, uint32_t life)
{
	struct runner *runner = &p->runners[life];
	uint64_t turn_ns = runner->turn_ns - p->now_ns;

	runner->doing = DOES_WORK;
	runner->piece_ns = runner->left_ns < turn_ns ? runner->left_ns : turn_ns;
	go_on_at(p, life, p->now_ns + runner->piece_ns);
}

/* When in the recording the thread did what it comes to now. */
static uint64_t position_ns(const struct player *p, uint32_t life)
{
	const struct runner *runner = &p->runners[life];

	return p->lives->steps[runner->at].end_ns - runner->left_ns;
}

static void queue_for_cpu(struct player *p, uint32_t life)
{
	p->runners[life].doing = DOES_QUEUE;
	turns_add(&p->ready, position_ns(p, life), life);
}

/* Another one that had a CPU before the thread did this waits for one. */
static bool has_to_yield(const struct player *p, uint32_t life)
{
	return p->ready.count && p->ready.heap[0].time_ns < position_ns(p, life);
}

static void fill_cpus(struct player *p)
{
	uint64_t position_ns;
	uint32_t life;

	while (p->idle_cpus && turns_take(&p->ready, &position_ns, &life)) {
		if (p->lives->steps[p->runners[life].at].kind == STEP_QUEUE) {
			go_on_at(p, life, p->now_ns);
			continue;
		}
		p->idle_cpus--;
		p->runners[life].has_cpu = true;
		p->runners[life].turn_ns = p->now_ns + p->turn_ns;
		work(p, life);
	}
}

static void leave_cpu(struct player *p, uint32_t life)
{
	if (p->runners[life].has_cpu) {
		p->runners[life].has_cpu = false;
		p->idle_cpus++;
	}
}

/* A piece of its work is done. False: that was not all of it. */
static bool has_worked(struct player *p, uint32_t life)
{
	struct runner *runner = &p->runners[life];

	runner->left_ns -= runner->piece_ns;
	if (!runner->left_ns)
		return true;
	if (has_to_yield(p, life)) {
		leave_cpu(p, life);
		queue_for_cpu(p, life);
	} else {
		runner->turn_ns = p->now_ns + p->turn_ns;
		work(p, life);
	}
	return false;
}

/* --- Waits ------------------------------------------------------------------------------------ */

/* NULL: the wait goes by the recorded order. */
static struct queue *queue_of(struct player *p, const struct step *wait)
{
	const struct graph_wait *what;
	struct queue *queue;
	uint64_t key;

	if (!p->queues || wait->wait == STEP_NONE)
		return NULL;
	what = &p->lives->waits[wait->wait].wait;
	if (what->cause != CAUSE_LOCK && what->cause != CAUSE_KERNEL_LOCK)
		return NULL;
	key = hash_u64(what->object);
	queue = table_find(p->queues, key);
	if (!queue) {
		queue = arena_alloc(p->arena, sizeof(*queue));
		queue->first = queue->last = STEP_NONE;
		table_put(p->queues, key, queue);
	}
	return queue;
}

static void wake(struct player *p, uint32_t life, uint64_t late_ns)
{
	p->runners[life].doing = DOES_DELAY;
	go_on_at(p, life, p->now_ns + late_ns);
}

/* False: nobody waits. */
static bool wake_first(struct player *p, struct queue *queue, uint64_t late_ns)
{
	uint32_t life = queue->first;

	if (life == STEP_NONE) {
		queue->free_count++;
		return false;
	}
	queue->first = p->runners[life].next;
	if (queue->first == STEP_NONE)
		queue->last = STEP_NONE;
	wake(p, life, late_ns);
	return true;
}

/* False: nobody has to be woken. */
static bool wake_waiter(struct player *p, const struct step *step)
{
	const struct step *wait = &p->lives->steps[step->other];
	struct runner *waiter = &p->runners[wait->life];
	struct queue *queue = queue_of(p, wait);

	if (queue)
		return wake_first(p, queue, step_ns(step));
	p->is_over[step->other] = true;
	if (waiter->doing != DOES_WAIT || waiter->at != step->other)
		return false;
	wake(p, wait->life, step_ns(step));
	return true;
}

static void do_wake(struct player *p, uint32_t life)
{
	struct runner *runner = &p->runners[life];

	if (!wake_waiter(p, &p->lives->steps[runner->at]))
		runner->spare_ns += p->plan->costs_ns[runner->at];
}

/* NULL: the step wakes nobody at a barrier. */
static const struct graph_wait *barrier_of(const struct player *p, size_t at)
{
	const struct step *step = &p->lives->steps[at], *wait;

	if (step->kind != STEP_WAKE)
		return NULL;
	wait = &p->lives->steps[step->other];
	if (wait->wait == STEP_NONE || p->lives->waits[wait->wait].wait.cause != CAUSE_BARRIER)
		return NULL;
	return &p->lives->waits[wait->wait].wait;
}

static bool is_there(const struct player *p, uint32_t wait)
{
	const struct runner *waiter = &p->runners[p->lives->steps[wait].life];

	return waiter->at > wait || (waiter->at == wait && waiter->doing == DOES_WAIT);
}

/*
 * Who came to a barrier last in the recording woke the others, one after the other, and has no wait for them. Of
 * those that it wakes from here on, the first step that one of them has not come to; STEP_NONE: all are there.
 */
static uint32_t first_missing(const struct player *p, size_t at, size_t *group_end)
{
	const struct step *steps = p->lives->steps;
	const struct graph_wait *barrier = barrier_of(p, at);
	size_t end = p->lives->lives[steps[at].life].end, i;

	for (i = at; i < end && steps[i].kind != STEP_WAIT && steps[i].kind != STEP_DELAY; i++) {
		const struct graph_wait *other = barrier_of(p, i);

		if (steps[i].kind != STEP_WAKE)
			continue;
		/* Who came there after the others had been released, waits for the next turn. */
		if (!other || other->object != barrier->object || steps[steps[i].other].begin_ns > steps[at].begin_ns)
			break;
		if (!is_there(p, steps[i].other))
			return steps[i].other;
	}
	*group_end = i;
	return STEP_NONE;
}

/* False: it has to wait until others have come to the barrier, too. */
static bool has_met(struct player *p, uint32_t life)
{
	size_t at = p->runners[life].at, end = at;
	uint32_t missing;

	if (p->is_over[at] || !barrier_of(p, at))
		return true;
	missing = first_missing(p, at, &end);
	if (missing == STEP_NONE) {
		for (size_t i = at; i < end; i++)
			p->is_over[i] = p->is_over[i] || p->lives->steps[i].kind == STEP_WAKE;
		return true;
	}
	p->meets[missing] = life + 1;
	leave_cpu(p, life);
	p->runners[life].doing = DOES_MEET;
	return false;
}

static void go_on_from_meeting(struct player *p, uint32_t life)
{
	p->runners[life].doing = DOES_GO_ON;
	go_on_at(p, life, p->now_ns);
}

static void add_to_queue(struct player *p, struct queue *queue, uint32_t life)
{
	p->runners[life].next = STEP_NONE;
	if (queue->last == STEP_NONE)
		queue->first = life;
	else
		p->runners[queue->last].next = life;
	queue->last = life;
}

static bool is_wait_over(const struct player *p, size_t at, struct queue *queue)
{
	if (!queue)
		return p->is_over[at];
	if (!queue->free_count)
		return false;
	queue->free_count--;
	return true;
}

/* False: it has to wait. */
static bool has_waited(struct player *p, uint32_t life)
{
	struct runner *runner = &p->runners[life];
	const struct step *step = &p->lives->steps[runner->at];
	struct queue *queue = queue_of(p, step);

	runner->spare_ns = 0;
	/* A wait without a length was not one: a thread's birth, which comes before all that it does. */
	if (is_wait_over(p, runner->at, queue)) {
		runner->is_awake = step_ns(step);
		runner->spare_ns = p->plan->costs_ns[runner->at];
		return true;
	}
	if (queue)
		add_to_queue(p, queue, life);
	leave_cpu(p, life);
	runner->doing = DOES_WAIT;
	if (p->meets[runner->at])
		go_on_from_meeting(p, p->meets[runner->at] - 1);
	return false;
}

/* --- Steps ------------------------------------------------------------------------------------ */

static uint64_t spare(struct runner *runner, uint64_t length_ns)
{
	uint64_t ns = runner->spare_ns < length_ns ? runner->spare_ns : length_ns;

	runner->spare_ns -= ns;
	return length_ns - ns;
}

/* False: it takes time. */
static bool begin_work(struct player *p, uint32_t life)
{
	struct runner *runner = &p->runners[life];

	runner->is_awake = false;
	runner->left_ns = spare(runner, p->plan->lengths_ns[runner->at]);
	p->out->work_ns[runner->at] = runner->left_ns;
	if (!runner->left_ns)
		return true;
	if (runner->has_cpu && !has_to_yield(p, life)) {
		if (runner->turn_ns <= p->now_ns)
			runner->turn_ns = p->now_ns + p->turn_ns;
		work(p, life);
		return false;
	}
	leave_cpu(p, life);
	queue_for_cpu(p, life);
	return false;
}

/* False: it takes time. */
static bool begin_pause(struct player *p, uint32_t life)
{
	struct runner *runner = &p->runners[life];
	uint64_t length_ns = p->plan->lengths_ns[runner->at];

	if (!length_ns)
		return true;
	runner->spare_ns = 0;
	leave_cpu(p, life);
	wake(p, life, length_ns);
	return false;
}

/* False: it takes time. */
static bool begin_step(struct player *p, uint32_t life)
{
	struct runner *runner = &p->runners[life];

	switch ((enum step_kind)p->lives->steps[runner->at].kind) {
	case STEP_WORK:
		return begin_work(p, life);
	case STEP_QUEUE:
		if (runner->is_awake)
			return true;
		runner->left_ns = 0;
		leave_cpu(p, life);
		queue_for_cpu(p, life);
		return false;
	case STEP_LATE:
		return runner->is_awake || begin_pause(p, life);
	case STEP_DELAY:
	case STEP_SLOWED:
		runner->is_awake = false;
		return begin_pause(p, life);
	case STEP_WAIT:
		return has_waited(p, life);
	case STEP_WAKE:
		if (!has_met(p, life))
			return false;
		do_wake(p, life);
		return true;
	}
	return true;
}

static void end_step(struct player *p, uint32_t life)
{
	p->out->ends_ns[p->runners[life].at++] = p->now_ns;
	if (p->lives->lives[life].is_awaited)
		p->out->ns = p->now_ns;
}

static void go_on(struct player *p, uint32_t life)
{
	struct runner *runner = &p->runners[life];

	if (runner->doing == DOES_WORK && !has_worked(p, life))
		return;
	if (runner->doing != DOES_GO_ON)
		end_step(p, life);
	runner->doing = DOES_GO_ON;
	while (runner->at < p->lives->lives[life].end) {
		if (!begin_step(p, life))
			return;
		end_step(p, life);
	}
	runner->doing = DOES_NOTHING;
	leave_cpu(p, life);
}

/*
 * Who came to a lock before others took the release that another one had waited for; who gave it away last, gave it to
 * nobody, and has no step for that. Where all wait, a lock is free.
 */
static bool let_lock_go(struct player *p)
{
	struct queue *queue, *best = NULL;
	uint64_t best_ns = 0;
	size_t cursor = 0;

	while (p->queues && (queue = table_next(p->queues, &cursor))) {
		uint64_t ns = queue->first == STEP_NONE ? 0 : p->lives->steps[p->runners[queue->first].at].end_ns;

		if (ns && (!best || ns < best_ns)) {
			best = queue;
			best_ns = ns;
		}
	}
	if (!best || p->locks_let_go++ >= LOCKS_LET_GO_MAX)
		return false;
	wake_first(p, best, 0);
	return true;
}

/* What was changed, or a damaged trace, can make all wait for each other. */
static void let_all_go(struct player *p)
{
	size_t cursor = 0;
	struct queue *queue;

	for (size_t i = 0; i < p->lives->count; i++)
		if (p->runners[i].doing == DOES_WAIT) {
			p->out->is_let_go[p->runners[i].at] = true;
			wake(p, i, 0);
		} else if (p->runners[i].doing == DOES_MEET) {
			p->is_over[p->runners[i].at] = true;
			go_on_from_meeting(p, i);
		}
	while (p->queues && (queue = table_next(p->queues, &cursor)))
		queue->first = queue->last = STEP_NONE;
}

static bool is_over(const struct player *p)
{
	for (size_t i = 0; i < p->lives->count; i++)
		if (p->runners[i].doing != DOES_NOTHING)
			return false;
	return true;
}

static void play(struct player *p)
{
	uint32_t life;

	for (size_t i = 0; i < p->lives->count; i++) {
		p->runners[i].at = p->lives->lives[i].first;
		go_on_at(p, i, 0);
	}
	do {
		while (turns_take(&p->turns, &p->now_ns, &life)) {
			go_on(p, life);
			/* Who comes to the queue at the same moment may go first. */
			if (!p->turns.count || p->turns.heap[0].time_ns > p->now_ns)
				fill_cpus(p);
		}
		if (is_over(p))
			break;
		if (!let_lock_go(p))
			let_all_go(p);
	} while (p->turns.count);
}

static uint64_t turn_ns_for(const struct lives *lives, const uint64_t *lengths_ns)
{
	uint64_t work_ns = 0;

	for (size_t i = 0; i < lives->step_count; i++)
		if (lives->steps[i].kind == STEP_WORK)
			work_ns += lengths_ns[i];
	return work_ns / TURNS_MAX > TURN_NS ? work_ns / TURNS_MAX : TURN_NS;
}

void replay_lives(const struct lives *lives, const struct replay_plan *plan, struct replay *out)
{
	struct player p = {
		.lives = lives,
		.plan = plan,
		.out = out,
		.arena = arena_new(),
		.idle_cpus = plan->cpu_count,
		.turn_ns = turn_ns_for(lives, plan->lengths_ns),
		.runners = xcalloc(lives->count + 1, sizeof(*p.runners)),
		.is_over = xcalloc(lives->step_count + 1, sizeof(*p.is_over)),
		.meets = xcalloc(lives->step_count + 1, sizeof(*p.meets)),
		.queues = plan->is_order_free ? table_new() : NULL,
	};

	*out = (struct replay){
		.ends_ns = xcalloc(lives->step_count + 1, sizeof(*out->ends_ns)),
		.work_ns = xcalloc(lives->step_count + 1, sizeof(*out->work_ns)),
		.is_let_go = xcalloc(lives->step_count + 1, sizeof(*out->is_let_go)),
	};
	turns_init(&p.turns, lives->count);
	turns_init(&p.ready, lives->count);
	play(&p);
	turns_fini(&p.turns);
	turns_fini(&p.ready);
	if (p.queues)
		table_free(p.queues);
	arena_free(p.arena);
	free(p.is_over);
	free(p.meets);
	free(p.runners);
}

void replay_fini(struct replay *replay)
{
	free(replay->ends_ns);
	free(replay->work_ns);
	free(replay->is_let_go);
	*replay = (struct replay){ 0 };
}
