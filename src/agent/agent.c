/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/agent.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "agent/agent_budget.h"
#include "agent/agent_child.h"
#include "agent/agent_counts.h"
#include "agent/agent_store.h"
#include "agent/agent_triggers.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/text.h"
#include "options/settings.h"
#include "serve/metrics_server.h"

static const uint64_t window_min_ns = 1000000000, retry_ns = 30000000000, ns_a_second = 1000000000;

enum {
	MS_NS = 1000000,
	OWN_FDS = 2, /* signals and metrics */
	CPU_SECONDS_MAX = 120,
	TRIGGERED_AT_ONCE = 2, /* windows before the budget has paid for them */
};

enum phase { WAITING, RECORDING, ADDING_UP };

struct agent {
	const struct agent_settings *settings;
	struct agent_budget budget;
	struct agent_store *store;
	struct agent_triggers triggers;
	struct metrics_server *server; /* NULL: there is none */
	struct agent_counts counts;
	int signal_fd;
	enum phase phase;
	struct agent_child child;
	struct agent_paths paths;
	uint64_t window_ns, recorded_cpu_ns;
	uint64_t begun_ns, due_ns, own_cpu_ns;
	char reason[16]; /* of the window to come, or that goes on; "": it is its turn */
	bool is_over;
};

/* --- Windows ------------------------------------------------------------------------------------ */

static void plan_next(struct agent *agent)
{
	agent->phase = WAITING;
	agent->reason[0] = '\0';
	agent->due_ns = agent_budget_due_ns(&agent->budget, clock_ns());
}

/* What goes wrong once may go wrong again: not at once. */
static void give_up(struct agent *agent, const char *what)
{
	agent->counts.failed++;
	warn("%s failed: the next window begins later", what);
	if (agent->paths.rollup_part.bytes)
		unlink(agent->paths.rollup_part.bytes);
	plan_next(agent);
	if (agent->due_ns < clock_ns() + retry_ns)
		agent->due_ns = clock_ns() + retry_ns;
}

static int start_recording(struct agent *agent)
{
	char duration[32];
	const char *arguments[] = {
		"record",
		"-q",
		"-o",
		agent->paths.trace.bytes,
		"--duration",
		duration,
		agent->settings->target[0],
		agent->settings->target[1],
		NULL,
	};

	snprintf(duration, sizeof(duration), "%llums", (unsigned long long)(agent->window_ns / MS_NS));
	return agent_child_start(&agent->child, arguments, CPU_SECONDS_MAX);
}

static void begin_window(struct agent *agent)
{
	int err = agent_store_paths(agent->store, agent->reason, &agent->paths);

	agent->window_ns = agent_budget_window_ns(&agent->budget);
	if (!err)
		err = start_recording(agent);
	agent->phase = RECORDING;
	if (err)
		give_up(agent, "a window");
}

static void add_up(struct agent *agent)
{
	const char *arguments[] = {
		"export", "--format", "rollup", "-o", agent->paths.rollup_part.bytes, agent->paths.trace.bytes, NULL,
	};

	agent->recorded_cpu_ns = agent->child.cpu_ns;
	if (!agent_child_has_succeeded(&agent->child)) {
		agent_budget_spend(&agent->budget, agent->window_ns, agent->child.cpu_ns);
		give_up(agent, "recording");
		return;
	}
	agent->phase = ADDING_UP;
	if (agent_child_start(&agent->child, arguments, CPU_SECONDS_MAX))
		give_up(agent, "adding up");
}

static void end_window(struct agent *agent)
{
	uint64_t cpu_ns = agent->recorded_cpu_ns + agent->child.cpu_ns;
	struct agent_rollup rollup = { 0 };
	bool is_whole = agent_child_has_succeeded(&agent->child) &&
			!agent_rollup_read(agent->paths.rollup_part.bytes, &rollup) &&
			!rename(agent->paths.rollup_part.bytes, agent->paths.rollup.bytes);

	cpu_ns += rollup.bpf_ns;
	agent_budget_spend(&agent->budget, agent->window_ns, cpu_ns);
	agent->counts.cpu_ns += cpu_ns;
	agent_store_trim(agent->store);
	if (!is_whole) {
		give_up(agent, "adding up");
		return;
	}
	agent->counts.windows++;
	agent->counts.triggered += *agent->reason != '\0';
	agent->counts.watched_ns += rollup.watched_ns;
	agent->counts.rollup_bytes += rollup.size_bytes;
	plan_next(agent);
}

static void step_child(struct agent *agent)
{
	if (agent->phase == WAITING || !agent_child_wait(&agent->child, false))
		return;
	if (agent->phase == RECORDING)
		add_up(agent);
	else
		end_window(agent);
}

/* One that is not due yet is paid for afterwards, unless too many are owed for. */
static void trigger(struct agent *agent, const char *reason)
{
	double owed = -TRIGGERED_AT_ONCE * (double)ns_a_second * 60 * agent->budget.share;

	if (agent->phase != WAITING || *agent->reason)
		return;
	if (agent->budget.level_ns < owed) {
		agent->counts.ignored++;
		return;
	}
	snprintf(agent->reason, sizeof(agent->reason), "%s", reason);
	agent->due_ns = clock_ns();
}

/* --- The loop ----------------------------------------------------------------------------------- */

static void take_signals(struct agent *agent)
{
	struct signalfd_siginfo info;

	while (read(agent->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGTERM || info.ssi_signo == SIGINT)
			agent->is_over = true;
		else if (info.ssi_signo == SIGUSR1)
			trigger(agent, "signal");
	}
}

/* What the agent itself took is of the budget, too. */
static void pay_own(struct agent *agent)
{
	uint64_t cpu_ns = clock_cpu_ns();

	agent->budget.level_ns -= (double)(cpu_ns - agent->own_cpu_ns);
	agent->counts.cpu_ns += cpu_ns - agent->own_cpu_ns;
	agent->own_cpu_ns = cpu_ns;
}

static int wait_ms(const struct agent *agent)
{
	uint64_t now_ns = clock_ns(), until_ns = agent->phase == WAITING ? agent->due_ns : UINT64_MAX;
	uint64_t end_ns = agent->settings->duration_ns ? agent->begun_ns + agent->settings->duration_ns : UINT64_MAX;

	if (end_ns < until_ns)
		until_ns = end_ns;
	if (until_ns == UINT64_MAX)
		return -1;
	return until_ns <= now_ns ? 0 : (int)((until_ns - now_ns) / MS_NS) + 1;
}

static void step(struct agent *agent)
{
	struct pollfd fds[OWN_FDS + TRIGGERS_MAX] = {
		{ .fd = agent->signal_fd, .events = POLLIN },
		{ .fd = agent->server ? metrics_server_fd(agent->server) : -1, .events = POLLIN },
	};
	const char *reason;

	agent_triggers_fill(&agent->triggers, fds + OWN_FDS);
	poll(fds, OWN_FDS + agent->triggers.count, wait_ms(agent));
	take_signals(agent);
	reason = agent_triggers_reason(&agent->triggers, fds + OWN_FDS);
	if (reason)
		trigger(agent, reason);
	step_child(agent);
	pay_own(agent);
	if (agent->server)
		metrics_server_step(agent->server);
	if (agent->settings->duration_ns && clock_ns() >= agent->begun_ns + agent->settings->duration_ns)
		agent->is_over = true;
	if (!agent->is_over && agent->phase == WAITING && clock_ns() >= agent->due_ns)
		begin_window(agent);
}

/* A window that goes on ends now, and is added up as any other. */
static void finish(struct agent *agent)
{
	if (agent->phase == RECORDING && agent->child.pid)
		kill(agent->child.pid, SIGINT);
	while (agent->phase != WAITING) {
		agent_child_wait(&agent->child, true);
		step_child(agent);
	}
}

static void put_metrics(void *data, bool is_openmetrics, struct text *out)
{
	struct agent *agent = data;

	agent->counts.store_bytes = agent_store_bytes(agent->store);
	agent->counts.since_begin_ns = clock_ns() - agent->begun_ns;
	agent_counts_put(&agent->counts, agent->settings->budget, is_openmetrics, out);
}

static int open_signals(struct agent *agent)
{
	static const int numbers[] = { SIGTERM, SIGINT, SIGUSR1, SIGCHLD };
	sigset_t signals;

	sigemptyset(&signals);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		sigaddset(&signals, numbers[i]);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	signal(SIGCHLD, SIG_DFL);
	agent->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	return agent->signal_fd < 0 ? fail(-errno, "cannot wait for signals") : 0;
}

static int open_all(struct agent *agent)
{
	const struct agent_settings *settings = agent->settings;
	const struct metrics_source source = { put_metrics, agent };
	int err = open_signals(agent);

	if (!err)
		err = agent_store_open(settings->directory, settings->size_bytes, &agent->store);
	for (size_t i = 0; !err && i < settings->trigger_count; i++)
		err = agent_triggers_add(&agent->triggers, settings->triggers[i]);
	if (!err && settings->metrics_address)
		err = metrics_server_open(settings->metrics_address, &source, &agent->server);
	if (!err && agent->server)
		fprintf(stderr, "pinch: metrics: http://127.0.0.1:%u/metrics\n", metrics_server_port(agent->server));
	return err;
}

int agent_run(const struct agent_settings *settings)
{
	struct agent agent = { .settings = settings, .signal_fd = -1, .begun_ns = clock_ns() };
	long cpu_count = sysconf(_SC_NPROCESSORS_ONLN);
	int err;

	agent_child_init(&agent.child);
	err = open_all(&agent);

	if (!err) {
		agent_budget_init(&agent.budget, settings->budget, cpu_count > 0 ? cpu_count : 1,
				  settings->window_ns < window_min_ns ? settings->window_ns : window_min_ns,
				  settings->window_ns, agent.begun_ns);
		agent_store_trim(agent.store);
		plan_next(&agent);
		while (!agent.is_over)
			step(&agent);
		finish(&agent);
	}
	agent_paths_fini(&agent.paths);
	agent_child_fini(&agent.child);
	metrics_server_close(agent.server);
	agent_triggers_close(&agent.triggers);
	agent_store_close(agent.store);
	if (agent.signal_fd >= 0)
		close(agent.signal_fd);
	return err;
}
