/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The activities of a trace that are found in it one after the other, in the order in which they begin. Of too many, later ones are counted. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct activity;
struct activity_store;

/* For so many choices, whether they choose it is kept. */
enum { ACTIVITY_JUDGES = 3 };
enum activity_verdict { ACTIVITY_UNJUDGED, ACTIVITY_CHOSEN, ACTIVITY_NOT_CHOSEN };

struct kept_activity {
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC */
	uint32_t thread;           /* its number; 0: none */
	uint32_t end_thread;       /* where it ended; 0: in the same thread */
	uint32_t name;             /* the number of its name */
	uint32_t words;            /* of its parameters: activity_store_words() */
	bool is_message;
	uint8_t verdicts[ACTIVITY_JUDGES]; /* enum activity_verdict */
};

struct activity_store *activity_store_new(void);
void activity_store_free(struct activity_store *store);

/* Copies what it keeps. */
void activity_store_add(struct activity_store *store, const struct activity *activity);

/* Adds all of another one, which is empty then. */
void activity_store_move(struct activity_store *store, struct activity_store *from);

/* All of them, by their beginnings; valid until the next one is added. */
const struct kept_activity *activity_store_list(struct activity_store *store, size_t *count);

/* The verdict of a judge on the activity at that place of the list. */
void activity_store_judge(struct activity_store *store, size_t at, size_t judge, enum activity_verdict verdict);

/* All that this judge said is gone. */
void activity_store_forget(struct activity_store *store, size_t judge);

/* Those from *first on up to the returned place begin before to_ns, and none before *first has a part at or after from_ns. */
size_t activity_store_stretch(struct activity_store *store, uint64_t from_ns, uint64_t to_ns, size_t *first);

/* Those that are not kept, since there are too many, or too many names. */
uint64_t activity_store_left_out(const struct activity_store *store);

/* Names, as many as there are; bytes are anyone's. source: the script; NULL: built in. */
size_t activity_store_name_count(const struct activity_store *store);
const char *activity_store_name(const struct activity_store *store, uint32_t name, const char **source);

/* Parameters: "argument=4 size=12"; empty: there are none, or no space for them. Bytes are anyone's. */
const char *activity_store_words(const struct activity_store *store, const struct kept_activity *activity);
