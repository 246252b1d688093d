/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which call of the user's it is in which a thread spins: code of a library that waits is in many places. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct findings;
struct report_frame;

struct spin_call {
	uint64_t key;       /* equal for one call */
	const char *where;  /* "in MPI_Recv", "at a barrier of OpenMP (GOMP_parallel)", "in f (a.c:3)" */
	bool is_named;      /* where has the name of the call */
	bool is_of_library; /* the library lets threads or processes meet so: it is no lock */
};

/* Whether a thread with that call path is in such a library's call, in which it may wait, wherever in it. */
bool spin_call_is_of_library(const struct findings *findings, const struct report_frame *frames, size_t count);

/* Of the call path of a sample in such code, at least one frame. where lives in the arena of the findings. */
struct spin_call spin_call_of(struct findings *findings, const struct report_frame *frames, size_t count);
