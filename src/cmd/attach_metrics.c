/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/attach_metrics.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/pause.h"
#include "findings/findings.h"
#include "live/tracing.h"
#include "serve/metrics_server.h"
#include "view/metrics/metrics.h"

/* A report takes at most one of so many parts of a CPU: who asks more often gets the last one again. */
enum { COST_MAX_DIVISOR = 10 };

static const uint64_t pause_interval_ns = 10000000;

struct attach_metrics {
	struct tracing *tracing;
	const struct outcome *outcome;
	struct metrics *metrics;
	struct metrics_server *server;
	struct pause pause;
	uint64_t due_ns; /* when there may be a newer report */
};

/* In the middle of long work the kernel's buffers do not wait. */
static void take_pause(void *data)
{
	struct attach_metrics *telling = data;

	tracing_take_in(telling->tracing);
}

static void make_report(struct attach_metrics *telling)
{
	uint64_t begin_cpu_ns = clock_cpu_ns();
	struct tracing_counts counts = tracing_counts(telling->tracing);
	struct metrics_now now = { counts.threads, counts.active };
	struct findings *made = tracing_findings(telling->tracing, telling->outcome, 1, &telling->pause);

	metrics_take(telling->metrics, findings_report(made), &now);
	findings_free(made);
	telling->due_ns = clock_ns() + (clock_cpu_ns() - begin_cpu_ns) * COST_MAX_DIVISOR;
}

static void put(void *data, bool is_openmetrics, struct text *out)
{
	struct attach_metrics *telling = data;

	if (clock_ns() >= telling->due_ns)
		make_report(telling);
	metrics_put(telling->metrics, is_openmetrics, out);
}

void attach_metrics_trace(struct attach_metrics *telling)
{
	struct pollfd fd = { .fd = metrics_server_fd(telling->server), .events = POLLIN };
	struct tracing_watch watch = { &fd, 1, -1 };
	struct tracing *tracing = telling->tracing;
	int signal_number = 0;
	pid_t sender;

	tracing_set_watch(tracing, &watch);
	while (!tracing_is_time_over(tracing) && !tracing_is_target_gone(tracing) &&
	       (!signal_number || signal_number == SIGCHLD)) {
		signal_number = tracing_step(tracing, &sender);
		metrics_server_step(telling->server);
	}
	tracing_set_watch(tracing, NULL);
}

int attach_metrics_open(struct tracing *tracing, const struct outcome *outcome, const char *address,
			struct attach_metrics **out)
{
	struct attach_metrics *telling = xcalloc(1, sizeof(*telling));
	const struct metrics_source source = { put, telling };
	int err = metrics_server_open(address, &source, &telling->server);

	if (err) {
		free(telling);
		return err;
	}
	telling->tracing = tracing;
	telling->outcome = outcome;
	telling->metrics = metrics_new();
	telling->pause = (struct pause){ take_pause, telling, pause_interval_ns, 0 };
	fprintf(stderr, "pinch: metrics: http://127.0.0.1:%u/metrics\n", metrics_server_port(telling->server));
	*out = telling;
	return 0;
}

void attach_metrics_close(struct attach_metrics *telling)
{
	if (!telling)
		return;
	metrics_server_close(telling->server);
	metrics_free(telling->metrics);
	free(telling);
}
