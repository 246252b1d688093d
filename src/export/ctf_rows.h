/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The events of a trace in CTF, kept until all are known: a thread's states are known at their ends, and stand in the trace at their
 * beginnings. Rows lie in a spill, those of each thread's states and all others by themselves, and are read merged by time.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { CTF_KINDS_MAX = 8, CTF_FIELDS_MAX = 13 };

enum ctf_type { CTF_UNSIGNED, CTF_SIGNED, CTF_STRING };

/* An event, as the trace describes it. */
struct ctf_kind {
	const char *name;
	unsigned int field_count;
	struct {
		const char *name;
		enum ctf_type type;
	} fields[CTF_FIELDS_MAX];
};

union ctf_value {
	uint64_t number;
	int64_t signed_number;
	const char *string;
};

struct ctf_row {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	unsigned int kind;
	union ctf_value values[CTF_FIELDS_MAX];
};

struct ctf_rows;

/* kinds are borrowed. */
struct ctf_rows *ctf_rows_new(const struct ctf_kind *kinds);
void ctf_rows_free(struct ctf_rows *rows);

/* A new sequence; numbers count from 0. Its rows come in the order of time; one that does not gets the time of the one before. */
uint32_t ctf_rows_add(struct ctf_rows *rows);

/* Strings are copied. */
void ctf_rows_put(struct ctf_rows *rows, uint32_t sequence, const struct ctf_row *row);

/* Reads all of them in the order of time, once. Strings of a row are valid until the next call. False: there are no more. */
bool ctf_rows_next(struct ctf_rows *rows, struct ctf_row *row);

/* 0, or a negative errno: rows could not be kept. */
int ctf_rows_error(const struct ctf_rows *rows);
