/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What goroutines of Go programs waited for, estimated from samples of all of them: go.SAMPLE, go.WAITING. A sample
 * is taken at a random moment of each period, so the mean of a number over the samples, each weighted by its period, has
 * the expected value of its mean over time. Where not all goroutines were examined, a number is scaled up to all:
 * each is as likely to be examined as any other.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct go_waits;
struct session;

/* A number of goroutines over time. */
struct go_mean {
	double sum, sum_of_squares; /* of weight times number, and of the squares of that */
	double cross;               /* of weight squared times number */
	double count_max;
};

struct go_wait {
	uint32_t pid;
	uint64_t stack, creator; /* 0: unknown */
	char reason[32];
	uint64_t first_ns; /* when it was seen first */
	struct go_mean waiting;
};

struct go_process {
	uint32_t pid;
	uint64_t sample_count, examined, listed; /* sums of the latter two over the samples */
	double weight, weight_of_squares;        /* sums of the periods, and of their squares, ns */
	struct go_mean runnable, running, in_syscall, waiting;
	struct go_wait **waits; /* in the order in which they were seen */
	size_t wait_count, wait_capacity;
};

/* Subscribes to session. */
struct go_waits *go_waits_new(struct session *session);
void go_waits_free(struct go_waits *waits);

/* Walks the processes: start with *cursor = 0; NULL ends the walk. */
const struct go_process *go_waits_next(const struct go_waits *waits, size_t *cursor);

/*
 * The mean, and *error: twice its standard error, or, where that is more, three times the largest number divided by how
 * many samples there are: what so many samples may all have missed. The standard error is that of independent moments:
 * those of equal periods, one in each, differ from the mean no more than that.
 */
double go_waits_mean(const struct go_process *process, const struct go_mean *number, double *error);
