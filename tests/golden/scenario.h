/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Scenarios: events written as text. A line is
 *
 *	NS THREAD SUBSYS.EVENT key=value ...
 *
 * where the keys are the event's fields, plus stream= (default: the event's cpu, else 0)
 * and size= (makes a damaged record of that many bytes). The number of a thread that is external
 *  is written o1, o2 and so on. What else a line may be, its reader says. Scenarios are ours: a
 * mistake in one stops the reader.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "events.h"

enum { SCENARIO_STREAMS = 4, SCENARIO_KEYS_MAX = 24, SCENARIO_FRAMES_MAX = 64 };

/* The key=value pairs of a line; each must be asked for, or it is a mistake. */
struct keys {
	struct {
		const char *key, *value;
		bool is_used;
	} list[SCENARIO_KEYS_MAX];
	size_t count;
};

/* Large enough for every event that a scenario can write. */
union any_event {
	struct ev_header header;
	struct ev_collect_gap gap;
	struct ev_sched_switch switched;
	struct ev_sched_sample sample;
	struct ev_space_map map;
	struct ev_space_exec space_exec;
	struct ev_space_fork fork;
	struct ev_stack_frames frames;
	struct ev_thread_born born;
	struct ev_thread_found found;
	struct ev_thread_name name;
	struct ev_thread_exec exec;
	struct ev_thread_other other;
	struct ev_thread_waits waits;
	struct ev_sched_throttled throttled;
	struct ev_sched_hidden hidden;
	struct ev_sched_ready ready;
	struct ev_sched_wake wake;
	struct ev_file_path path;
	struct ev_file_socket socket;
	struct ev_file_host host;
	struct ev_klock_wait klock_wait;
	struct ev_klock_lock klock_lock;
	struct ev_system_interrupt interrupt;
	struct ev_system_softirq softirq;
	struct ev_system_block_issue issue;
	struct ev_system_block_complete complete;
	uint64_t buffer[8 + SCENARIO_FRAMES_MAX];
};

struct scenario_event {
	size_t size_bytes;
	unsigned int stream;
	union any_event event;
};

/* What an event is called, and what fills it in and returns its size. */
struct scenario_kind {
	const char *name; /* NULL: the end of the list */
	unsigned int id;
	size_t (*fill)(union any_event *e, struct keys *keys);
};

/* scenario_events.c */
extern const struct scenario_kind scenario_kinds[];

/* Calls on_word for each line that says something, with its first word; strtok() has the others. */
void scenario_read(const char *path, void (*on_word)(void *data, const char *word), void *data);

/* Says what is wrong with the line, and ends the program. */
__attribute__((noreturn, format(printf, 1, 2))) void scenario_stop(const char *format, ...);

/* The next word of the line; there must be one. */
const char *scenario_word(const char *meaning);

uint64_t scenario_number(const char *text);
uint32_t scenario_thread(const char *text);

/* The rest of a line that begins with ns. */
void scenario_read_event(const char *ns, struct scenario_event *out);

/* The rest of a line. */
void keys_parse(struct keys *keys);
void keys_end(const struct keys *keys);

const char *key_text(struct keys *keys, const char *key, const char *otherwise);
uint64_t key_number(struct keys *keys, const char *key, uint64_t otherwise);

/* A thread's number; 0 when it is not given. */
uint32_t key_thread(struct keys *keys, const char *key);

/* The place of a word in a list, or a plain number. */
unsigned int key_word(struct keys *keys, const char *key, const char *const *words, unsigned int otherwise);
