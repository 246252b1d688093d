/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Serves the trace of a run of tracing: what pinch scope adds to pinch record. */
#pragma once

#include <stdbool.h>

struct recorder;
struct recorder_stream;
struct serving;
struct stream_settings;
struct tracing;

/* 0, or -EINVAL after having said what is wrong. */
int serving_check(const struct stream_settings *settings);

/* Listens and says where. 0 or a negative errno, after a message. */
int serving_open(const struct stream_settings *settings, struct serving **out);
void serving_close(struct serving *serving);

const struct recorder_stream *serving_stream(struct serving *serving);

/* Can be read from when there is something to do; -1: nothing is served (NULL). */
int serving_poll_fd(const struct serving *serving);

/* Looks after the clients. */
void serving_step(struct serving *serving, struct tracing *tracing);

/* Gives those a beginning who have none yet. NULL is fine. */
void serving_begin_all(struct serving *serving, struct recorder *recorder);

/* The trace is at its end: so are those of all clients, who get the rest. NULL is fine. */
void serving_finish(struct serving *serving, struct recorder *recorder, bool is_quiet);
