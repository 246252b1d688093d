/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whom or what a wait was for, by what ended it. */
#pragma once

#include "graph/graph.h"

/* GRAPH_THREAD when ended->thread says whom, GRAPH_OTHER when ended->tid does. */
enum graph_kind wait_end_kind(const struct state_value *ended);

/* What a state in which a thread is blocked is called by. */
struct graph_wait graph_wait_of(uint32_t thread, const struct state *state);
