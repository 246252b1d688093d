/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Gives metrics to whoever asks for them on this machine: GET /metrics, and /health. Threads of its own wait for requests; what they
 * tell is made by who has the figures, one thread, when it is asked.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

struct metrics_server;

struct metrics_source {
	/* Called by metrics_server_step() alone: puts the metrics as they are now. */
	void (*put)(void *data, bool is_openmetrics, struct text *out);
	void *data;
};

/* 0, or -EINVAL after a message: it is none of ":PORT", "127.0.0.1:PORT" and "localhost:PORT". Port 0 is one that is free. */
int metrics_server_check(const char *address);

/* address: one that was checked. 0 or a negative errno, after a message. */
int metrics_server_open(const char *address, const struct metrics_source *source, struct metrics_server **out);

/* Who waits gets the answer that tracing ends. */
void metrics_server_close(struct metrics_server *server);

uint16_t metrics_server_port(const struct metrics_server *server);

/* Can be read from when somebody has asked. */
int metrics_server_fd(const struct metrics_server *server);

/* Answers all who have asked. */
void metrics_server_step(struct metrics_server *server);
