/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Serves the trace of a run of tracing: to readers of all sessions of the machine, and where pinch scope listens, to everybody
 * there. As long as nobody is connected, the state is followed alone.
 */
#pragma once

#include <stdbool.h>

#include "scope/scope.h"

struct engine;
struct serving;
struct stream_settings;
struct tracing;

/* Where a scope listens, and who may read. */
struct scope_options serving_options(const struct stream_settings *settings);

/* 0, or -EINVAL after having said what is wrong. */
int serving_check(const struct stream_settings *settings);

/* Listens and says where, if it is a scope. 0 or a negative errno, after a message. */
int serving_open(const struct stream_settings *settings, struct serving **out);
void serving_close(struct serving *serving);

/* What the engine's session hands out from here on is what clients get. 0 or a negative errno, after a message. */
int serving_begin(struct serving *serving, struct engine *engine);

/* Can be read from when there is something to do. */
int serving_poll_fd(const struct serving *serving);

/* Whether somebody has, or waits for, a trace. */
bool serving_has_clients(const struct serving *serving);

/* Looks after the clients. */
void serving_step(struct serving *serving, struct tracing *tracing);

/* The trace is at its end: so are those of all clients, who get the rest. */
void serving_finish(struct serving *serving, bool is_quiet);
