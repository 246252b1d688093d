/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads that spin are held up by who does something else meanwhile (doc/metrics.md, "Blame"): moments at which samples met
 * spinning threads are charged to what the other traced threads did then.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct blame_part;
struct findings;
struct report_thread;

/* Moments at which threads spun in one call. */
struct blame_spin {
	const char *where;  /* "in MPI_Recv", "at a barrier of OpenMP" */
	bool is_of_library; /* the call is one of a library that is known to wait so for other threads or processes */
	uint64_t moments;   /* that are kept */
	uint64_t threads;   /* that spun */
	double ns;          /* of spinning that they stand for */
	double met_share;   /* of it, what met traced threads that did something else, */
	double alone_share; /* and what met none that ran or could run */
	/* What that was spent on, most first; NULL: nobody stands out. */
	const struct blame_part *parts;
	const struct report_thread *late; /* who has most of parts; NULL: several threads, or not known */
	const struct blame_spin *next;
};

/* By time, most first, for the report. Charges what has parts. Returns the time that it charged. */
double blame_add_spins(struct findings *findings);
const struct blame_spin *blame_spins(const struct findings *findings);
