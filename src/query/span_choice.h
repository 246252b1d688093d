/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which part of a trace is examined: that of an execution, or what --from, --to and --thread say. */
#pragma once

struct chosen_threads;
struct settings;
struct trace_states;

/*
 * *part is settings with the range of the part, and chosen has its threads, for chosen_threads_fini(). 0, or
 * a negative errno after having said why there is no such part.
 */
int part_find(const struct settings *settings, const char *path, const struct trace_states *all, struct settings *part,
	      struct chosen_threads *chosen);

/* The number of the span that is called so; -ENOENT after having said which there are. */
int span_find(const struct trace_states *all, const char *path, const char *name);
