/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What executions of a trace are like: of its states, and of what only its events tell. */
#pragma once

struct executions;
struct features;
struct trace_states;

/* features: zeroed, one for each. A negative errno, after a message. */
int execution_features(const char *path, const struct trace_states *all, const struct executions *executions,
		       struct features *features);
