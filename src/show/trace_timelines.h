/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the threads of a trace did over its time, by its history of states. */
#pragma once

struct text;
struct trace_states;

void trace_timelines_put(struct text *out, const struct trace_states *all);
