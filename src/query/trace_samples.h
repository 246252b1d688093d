/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the threads of a trace ran. */
#pragma once

struct run_code;
struct trace_states;

/* Reads the samples of all threads. The caller ends it with run_code_fini(). */
void trace_samples_read(const struct trace_states *all, struct run_code *code);
