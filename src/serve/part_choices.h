/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which parts of what threads did a request is about: object: a part of what waits are for, cpu: a number, span: a part of the name of
 * executions; all may be repeated. span-least, span-most: ns that these last. execution: THREAD@NS, the one that begins then in this
 * thread, ns since the first event. The choices of the last few requests are kept.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct graph_labels;
struct part_choice;
struct part_choices;
struct part_filter;
struct reply;
struct request;
struct states_pause;
struct trace_states;

/* All are borrowed. pause: of long answers. */
struct part_choices *part_choices_new(const struct trace_states *all, struct graph_labels *labels,
				      const struct states_pause *pause);
void part_choices_free(struct part_choices *choices);

/* Takes it from the parameters; it begins zeroed. first_ns: of the first event. False: they make no sense. */
bool part_filter_read(const struct request *request, uint64_t first_ns, struct part_filter *out);

/* The same of the parameters of executions alone. */
bool span_filter_read(const struct request *request, uint64_t first_ns, struct part_filter *out);

/* The choice of a request, until it is released; NULL: all. False: the reply says what is wrong. */
bool part_choices_find(struct part_choices *choices, const struct request *request, struct reply *reply,
		       struct part_choice **out);
void part_choices_release(struct part_choices *choices, struct part_choice *choice);
