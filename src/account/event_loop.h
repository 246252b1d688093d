/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thread that alternates between a poll of many descriptors and work, as event loops do. An iteration lasts from the end of
 * a poll that blocked, which is when the thread was woken, to the beginning of the next one. A poll that finds something
 * ready at once leaves no event: then several turns of the loop are one iteration here, and its length is a bound of theirs. How long
 * a turn had lasted some samples say.
 * Iterations add up by classes of lengths, of which each keeps some samples, at random, and what was waited for longest.
 * The caller owns the loop; code and wait paths are borrowed, and have to stay.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "klocks/lengths.h"
#include "report/report_enums.h"

struct code_sample;
struct wait_facts;
struct wait_path;

enum { LOOP_CLASSES = 16, LOOP_SAMPLES = 48, LOOP_WAITS = 6 };

/* What a thread had done by then, ns: sums since its beginning. */
struct loop_moment {
	uint64_t time_ns, running_ns, runnable_ns, blocked_ns;
};

/* ns is the sum of the others, unless records were lost. */
struct loop_times {
	uint64_t ns, running_ns, cpu_wait_ns, waiting_ns;
};

/* Of all that were seen, as many as there is space for; the weights of those that are kept stand for all. */
struct loop_samples {
	struct loop_sample {
		const struct code_sample *code;
		double weight;
	} list[LOOP_SAMPLES];
	uint64_t seen, count; /* seen: that are in count samples, or stand for them */
};

/* Together with others_ns all the time that was waited; approximate when there are many. */
struct loop_waits {
	struct loop_wait {
		const struct wait_path *path; /* NULL: not known */
		enum wait_cause cause;
		uint64_t ns; /* 0: none */
	} list[LOOP_WAITS];
	uint64_t others_ns;
};

/*
 * Samples by the class of twice the age that the turn had when they met it: what is met at any moment is half over on
 * average. at_least: the turn was of that class or of one above, for it is not known when it began.
 */
struct loop_turns {
	uint32_t known[LOOP_CLASSES], at_least[LOOP_CLASSES];
};

/* Some iterations. */
struct loop_part {
	uint64_t count, asked_count; /* asked_count: that began with a request (waits/open_request.h) */
	uint64_t begin_ns, max_ns;   /* of the longest of them */
	struct loop_times times;
	struct loop_samples samples;
	struct loop_turns turns;
	struct loop_waits waits;
};

struct event_loop {
	uint16_t syscall; /* by which it polls */
	uint8_t rank;     /* see event_loop_rank() */
	uint64_t queue;   /* the descriptor of epoll or io_uring; 0 of others */
	/* Polls of another one, in a row: within an iteration, unless they are more than all those of the loop. */
	uint64_t other_queue, other_polls;
	bool has_yielded; /* another one was taken for the loop's before, which never brought a request */
	bool is_waiting, is_polling, is_working;
	struct loop_moment since;                /* of that poll or iteration */
	uint64_t wait_begin_ns;                  /* blocked time of the thread when it began to wait in the iteration */
	uint64_t polls, polled_ns;               /* that blocked */
	uint64_t count, asked_count;             /* of iterations that have ended */
	struct loop_times times;                 /* theirs */
	uint32_t lengths[LENGTHS];               /* theirs */
	struct loop_part now, longest;           /* now: the iteration that lasts */
	struct loop_part *classes[LOOP_CLASSES]; /* NULL: none of such a length */
	uint64_t random;
};

/*
 * 0: the wait is no poll of many descriptors. Where a thread polls by calls of several ranks, the loop is that of the highest:
 * handlers of epoll's events may poll().
 */
uint8_t event_loop_rank(const struct wait_facts *facts);

struct event_loop *event_loop_new(void);
void event_loop_free(struct event_loop *loop);

/*
 * The thread begins to wait, be it to poll or for something else. Whether it does so within an iteration of a
 * loop that polls by a queue: others may wait for requests by calls of several kinds.
 */
bool event_loop_begin_wait(struct event_loop *loop, const struct wait_facts *facts, const struct loop_moment *now);

/* That wait has ended; nothing, if it was known to have. path: where it waited; NULL: not known. is_asked: the thread has a request open. */
void event_loop_end_wait(struct event_loop *loop, const struct loop_moment *now, enum wait_cause cause,
			 const struct wait_path *path, bool is_asked);

/* The thread was seen running there. weight: as of code_samples_unit(). */
void event_loop_add_sample(struct event_loop *loop, const struct code_sample *code, double weight);

/* A sample met it age_ns after its last poll, without waits for a CPU; is_least: or longer. */
void event_loop_add_turn(struct event_loop *loop, uint64_t age_ns, bool is_least);

/* The thread ends. */
void event_loop_end(struct event_loop *loop, const struct loop_moment *now);

/* The loop as if its poll or iteration ended now, for the caller to free. */
struct event_loop *event_loop_copy_ended(const struct event_loop *loop, const struct loop_moment *now);

/* The class of iterations of a length, and the least length of a class. */
unsigned int event_loop_class(uint64_t length_ns);
uint64_t event_loop_class_ns(unsigned int number);

/* Adds the iterations of one part to another. random: any number; the state of a generator. */
void loop_part_add(struct loop_part *into, const struct loop_part *from, uint64_t *random);
