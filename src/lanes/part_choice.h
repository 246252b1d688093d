/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of what threads did that a filter chooses: by what waits are for, by the CPU, by executions of spans. Names of what is
 * waited for are looked up once for all waits that are alike.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "states/states.h"

struct graph_labels;
struct part_choice;
struct part_filter;
struct trace_states;

/* The filter is copied, the rest is borrowed. */
struct part_choice *part_choice_new(const struct trace_states *all, struct graph_labels *labels,
				    const struct part_filter *filter);
void part_choice_free(struct part_choice *choice);

/* What goes through many states calls this now and then; it is borrowed. */
void part_choice_set_pause(struct part_choice *choice, const struct states_pause *pause);

const struct part_filter *part_choice_filter(const struct part_choice *choice);

/* A part of a state; CLOCK_MONOTONIC. False: no more are wanted. */
typedef bool part_choice_fn(void *data, uint64_t begin_ns, uint64_t end_ns);

/* Tells of the chosen parts of a state in time order; the CPU is looked up. False: on_part said so. */
bool part_choice_each(struct part_choice *choice, uint32_t thread, const struct state *state, part_choice_fn *on_part,
		      void *data);

/* The same of who had a CPU. */
bool part_choice_each_of_cpu(struct part_choice *choice, uint32_t cpu, const struct cpu_state *state,
			     part_choice_fn *on_part, void *data);

/* Whether anything of who had this CPU may be chosen: CPUs do not wait. */
bool part_choice_has_cpu(const struct part_choice *choice, uint32_t cpu);

/* As states_each_part() and states_each_cpu_part(), of what is chosen: parts may reach over the stretch. */
void part_choice_each_part(struct part_choice *choice, const uint32_t *threads, size_t count, uint64_t from_ns,
			   uint64_t to_ns, states_part_fn *on_part, void *data);
void part_choice_each_cpu_part(struct part_choice *choice, uint32_t cpu, uint64_t from_ns, uint64_t to_ns,
			       states_part_fn *on_part, void *data);

/*
 * Tells of each state of these threads, by their numbers, in time order for each thread, how many ns of it are chosen, as
 * states_each_state() has them.
 */
typedef void part_choice_state_fn(void *data, size_t which, const struct state *state, uint64_t chosen_ns);
void part_choice_each_state(struct part_choice *choice, const uint32_t *threads, size_t count, uint64_t from_ns,
			    uint64_t to_ns, part_choice_state_fn *on_state, void *data);

/* Whether any part of a state is chosen. */
bool part_choice_has(struct part_choice *choice, uint32_t thread, const struct state *state);

/* Whether any part of what a thread did in a stretch of time is chosen. */
bool part_choice_has_any(struct part_choice *choice, uint32_t thread, uint64_t from_ns, uint64_t to_ns);

/* Whether a thread is looked at at a time, by executions alone. */
bool part_choice_has_time(const struct part_choice *choice, uint32_t thread, uint64_t time_ns);
