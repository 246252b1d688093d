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
static const uint64_t pressure_ns =
	2000000000; /* that the kernel looks back: the window itself may have been the reason */
static const uint64_t child_ns_max = 300000000000; /* of a command, besides its window */

enum {
	MS_NS = 1000000,
	WAIT_MS_MAX = 1 << 30,
	OWN_FDS = 2,           /* signals and metrics */
	CPU_SECONDS_MAX = 120, /* of a command; of pinch record twice its window more */
	END_MS = 100,          /* from one look at a command that is to end to the next */
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
	uint64_t ended_ns;     /* of the last window */
	uint64_t child_due_ns; /* when the command has hung */
	char reason[16];       /* of the window to come, or that goes on; "": it is its turn */
	bool is_marked;        /* the name of its trace has the reason */
	bool is_over;
};

/* --- Windows ------------------------------------------------------------------------------------ */

static void plan_next(struct agent *agent)
{
	agent->phase = WAITING;
	agent->ended_ns = clock_ns();
	agent->reason[0] = '\0';
	agent->is_marked = false;
	agent->due_ns = agent_budget_due_ns(&agent->budget, clock_ns());
}

/* What goes wrong once may go wrong again: not at once. */
static void give_up(struct agent *agent, const char *what)
{
	agent->counts.failed++;
	agent_store_trim(agent->store);
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
	agent->child_due_ns = clock_ns() + agent->window_ns + child_ns_max;
	return agent_child_start(&agent->child, arguments, CPU_SECONDS_MAX + 2 * (agent->window_ns / ns_a_second));
}

static void begin_window(struct agent *agent)
{
	int err = agent_store_paths(agent->store, agent->reason, &agent->paths);

	agent->is_marked = *agent->reason;
	agent->window_ns = agent_budget_window_ns(&agent->budget);
	if (!err)
		err = start_recording(agent);
	agent->phase = RECORDING;
	if (err)
		give_up(agent, "a window");
}

static void spend(struct agent *agent, uint64_t cpu_ns)
{
	agent_budget_spend(&agent->budget, agent->window_ns, cpu_ns);
	agent->counts.cpu_ns += cpu_ns;
}

static void add_up(struct agent *agent)
{
	const char *arguments[] = {
		"export", "--format", "rollup", "-o", agent->paths.rollup_part.bytes, "--", agent->paths.trace.bytes,
		NULL,
	};

	agent->recorded_cpu_ns = agent->child.cpu_ns;
	if (!agent_child_has_succeeded(&agent->child)) {
		spend(agent, agent->recorded_cpu_ns);
		give_up(agent, "recording");
		return;
	}
	agent->phase = ADDING_UP;
	agent->child_due_ns = clock_ns() + child_ns_max;
	if (agent_child_start(&agent->child, arguments, CPU_SECONDS_MAX)) {
		spend(agent, agent->recorded_cpu_ns);
		give_up(agent, "adding up");
	}
}

static void end_window(struct agent *agent)
{
	uint64_t cpu_ns = agent->recorded_cpu_ns + agent->child.cpu_ns;
	struct agent_rollup rollup = { 0 };
	bool is_whole = agent_child_has_succeeded(&agent->child) &&
			!agent_rollup_read(agent->paths.rollup_part.bytes, &rollup) &&
			!rename(agent->paths.rollup_part.bytes, agent->paths.rollup.bytes);

	cpu_ns += rollup.bpf_ns;
	spend(agent, cpu_ns);
	if (*agent->reason && !agent->is_marked)
		agent_store_mark(&agent->paths, agent->reason);
	if (!is_whole) {
		give_up(agent, "adding up");
		return;
	}
	agent_store_trim(agent->store);
	agent->counts.windows++;
	agent->counts.triggered += *agent->reason != '\0';
	agent->counts.watched_ns += rollup.watched_ns;
	agent->counts.rollup_bytes += rollup.size_bytes;
	plan_next(agent);
}

static void step_child(struct agent *agent)
{
	if (agent->phase != WAITING && agent->child.pid && clock_ns() >= agent->child_due_ns)
		kill(agent->child.pid, SIGKILL);
	if (agent->phase == WAITING || !agent_child_wait(&agent->child))
		return;
	if (agent->phase == RECORDING)
		add_up(agent);
	else
		end_window(agent);
}

/* A window that goes on has the reason then. One that is not due yet is paid for afterwards, unless too many are owed for. */
static void trigger(struct agent *agent, const char *reason)
{
	double owed = -TRIGGERED_AT_ONCE * (double)ns_a_second * 60 * agent->budget.share;

	if (*agent->reason)
		return;
	agent_budget_due_ns(&agent->budget, clock_ns()); /* fills it */
	if (agent->phase == WAITING && agent->budget.level_ns < owed) {
		agent->counts.ignored++;
		return;
	}
	snprintf(agent->reason, sizeof(agent->reason), "%s", reason);
	if (agent->phase == WAITING)
		agent->due_ns = clock_ns();
}

/* --- The loop ----------------------------------------------------------------------------------- */

static void take_signals(struct agent *agent)
{
	struct signalfd_siginfo info;

	while (read(agent->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGTERM || info.ssi_signo == SIGINT || info.ssi_signo == SIGHUP)
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

	if (agent->phase != WAITING)
		until_ns = agent->child_due_ns;
	if (end_ns < until_ns)
		until_ns = end_ns;
	if (until_ns == UINT64_MAX)
		return -1;
	if (until_ns <= now_ns)
		return 0;
	return (until_ns - now_ns) / MS_NS < WAIT_MS_MAX ? (int)((until_ns - now_ns) / MS_NS) + 1 : WAIT_MS_MAX;
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
	if (reason && (agent->phase != WAITING || clock_ns() >= agent->ended_ns + pressure_ns))
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

/* A window that goes on ends now, and is added up as any other. A command that has just begun does not hear the first signals. */
static void finish(struct agent *agent)
{
	while (agent->phase != WAITING) {
		if (agent->phase == RECORDING && agent->child.pid)
			kill(agent->child.pid, SIGINT);
		poll(NULL, 0, END_MS);
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

/*
 * They are read when the agent has time. Commands that it starts ignore them but where they read them, too: so a signal for all of a
 * terminal or a service ends a window early, and a second one does not end its command.
 */
static int open_signals(struct agent *agent)
{
	static const int numbers[] = { SIGTERM, SIGINT, SIGHUP, SIGUSR1 };
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		sigaddset(&signals, numbers[i]);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		signal(numbers[i], SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
	signal(SIGPIPE, SIG_IGN);
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
