/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/view_live.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/capabilities.h"
#include "base/fail.h"
#include "base/text.h"
#include "cmd/record_command.h"
#include "cmd/view_page.h"
#include "collect/target/launch.h"
#include "options/settings.h"
#include "serve/viewer_follow.h"
#include "serve/viewer_load.h"
#include "trace/trace_ring.h"

enum { DIRECTORY_BYTES = 32, RING_BYTES = 256 << 20, PRIORITY = 10, WATCH_NS = 50000000 };

struct live_view {
	struct view_page page;
	struct text path, what;
	char directory[DIRECTORY_BYTES]; /* "": the user wants the trace somewhere */
	pid_t recorder;
	bool is_recording;  /* the recorder lives */
	bool has_command;   /* its exit status is the command's */
	bool is_of_here;    /* so that files have the names that its trace gives them */
	bool wants_no_more; /* the user has said once that it shall end */
	int exit_status;    /* the recorder's */
};

/* The trace that is gone with the page. */
static void remove_trace(const struct live_view *live)
{
	struct text states = { 0 };

	if (!live->directory[0])
		return;
	text_printf(&states, "%s.states", live->path.bytes);
	unlink(states.bytes);
	unlink(live->path.bytes);
	rmdir(live->directory);
	text_fini(&states);
}

/* --- The recorder ------------------------------------------------------------------------------------ */

/*
 * However the viewer ends, which has the other end of a pipe: a process of its own ends the recorder then, by one signal, and removes the
 * trace that nobody has any more.
 */
static void watch_viewer(const struct live_view *live, int viewer)
{
	pid_t recorder = getpid();
	sigset_t all;
	char byte;

	if (fork())
		return;
	sigfillset(&all); /* Ctrl-C is for the others */
	sigprocmask(SIG_BLOCK, &all, NULL);
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		close(fd);
	while (read(viewer, &byte, 1) < 0 && errno == EINTR)
		;
	if (getppid() == recorder)
		kill(recorder, SIGTERM);
	while (getppid() == recorder)
		nanosleep(&(struct timespec){ .tv_nsec = WATCH_NS }, NULL);
	remove_trace(live);
	_exit(0);
}

static int record(const struct live_view *live, int go, struct settings *settings, struct inheritance *inheritance,
		  int argc, char **argv, int rest)
{
	char byte;

	pthread_sigmask(SIG_SETMASK, &inheritance->signal_mask, NULL);
	if (read(go, &byte, 1) != 1)
		return EXIT_FAILED;
	if (live->directory[0])
		watch_viewer(live, go);
	close(go);
	settings->trace_path = live->path.bytes;
	settings->is_recording = true;
	settings->is_quiet = true;
	return record_traced(settings, inheritance, argc, argv, rest);
}

/* It waits for a byte. Returns where that is to be written to, or a negative errno. */
static int start_recorder(struct live_view *live, struct settings *settings, struct inheritance *inheritance, int argc,
			  char **argv, int rest)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return fail(-errno, "cannot make a pipe");
	live->recorder = fork();
	if (!live->recorder) {
		close(ends[1]);
		exit(record(live, ends[0], settings, inheritance, argc, argv, rest));
	}
	close(ends[0]);
	if (live->recorder < 0) {
		close(ends[1]);
		return fail(-errno, "cannot start a process");
	}
	live->is_recording = true;
	return ends[1];
}

static void note_end(struct live_view *live, int wait_status)
{
	live->is_recording = false;
	live->exit_status = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
	if (live->has_command && live->page.viewer)
		viewer_note_exit(live->page.viewer, live->exit_status);
}

static void look_after_recorder(struct live_view *live)
{
	int wait_status;

	if (live->is_recording && waitpid(live->recorder, &wait_status, WNOHANG) == live->recorder)
		note_end(live, wait_status);
}

static bool is_recording(void *data)
{
	struct live_view *live = data;

	look_after_recorder(live);
	return live->is_recording;
}

/* The first Ctrl-C ends what is recorded, the next one the page. */
static bool on_signal(void *data, int signal_number, int sender)
{
	struct live_view *live = data;
	bool was_recording = live->is_recording;

	if (signal_number == SIGCHLD) {
		look_after_recorder(live);
		return false;
	}
	if (was_recording && sender)
		kill(live->recorder, signal_number);
	if (!was_recording || live->wants_no_more || signal_number != SIGINT)
		return true;
	live->wants_no_more = true;
	return false;
}

static void end_recorder(struct live_view *live)
{
	int wait_status;

	if (!live->is_recording)
		return;
	kill(live->recorder, SIGTERM);
	while (waitpid(live->recorder, &wait_status, 0) < 0)
		if (errno != EINTR)
			return;
	note_end(live, wait_status);
}

/* --- Where the trace is ---------------------------------------------------------------------------- */

static int find_place(struct live_view *live, struct settings *settings)
{
	if (settings->trace_path[0]) {
		text_put(&live->path, settings->trace_path);
		return 0;
	}
	if (!trace_ring_is_asked(&settings->ring))
		settings->ring.size_bytes = RING_BYTES;
	snprintf(live->directory, sizeof(live->directory), "/var/tmp/pinch-view-XXXXXX");
	if (!mkdtemp(live->directory)) {
		live->directory[0] = '\0';
		return fail(-errno, "cannot make a directory in /var/tmp for the trace");
	}
	text_printf(&live->path, "%s/trace.pinch", live->directory);
	return 0;
}

static void forget_place(struct live_view *live)
{
	remove_trace(live);
	text_fini(&live->path);
	text_fini(&live->what);
}

/* --- Looking ------------------------------------------------------------------------------------------ */

static void put_what(struct live_view *live, int argc, char **argv, int rest)
{
	for (int i = live->has_command || rest < argc ? rest : 1; i < argc; i++)
		text_printf(&live->what, i > 1 && live->what.length ? " %s" : "%s", argv[i]);
}

/* What failed without a trace has said why. */
static int look(struct live_view *live, uint64_t budget_bytes)
{
	struct viewer_writer writer = { is_recording, live, budget_bytes };
	int err = viewer_follow(live->page.viewer, &writer, &live->page.waiter);

	if (err == -ECANCELED)
		return 0;
	if (!viewer_has_any(live->page.viewer)) {
		end_recorder(live);
		return live->exit_status ? live->exit_status : EXIT_FAILED;
	}
	if (!err)
		err = viewer_load(live->page.viewer, &live->page.waiter, false);
	if (err && err != -ECANCELED)
		viewer_stop(live->page.viewer, "the trace cannot be read to its end");
	view_page_wait(&live->page);
	return 0;
}

static int look_while_recording(struct live_view *live, struct settings *settings, struct inheritance *inheritance,
				int argc, char **argv, int rest)
{
	struct viewer_options options = { .path = live->path.bytes,
					  .name = live->what.bytes,
					  .what = live->what.bytes,
					  .opens_files = settings->opens_files || live->is_of_here };
	int go, status = EXIT_FAILED;

	view_page_hold_signals();
	go = start_recorder(live, settings, inheritance, argc, argv, rest);
	if (go < 0)
		return EXIT_FAILED;
	setpriority(PRIO_PROCESS, 0, PRIORITY); /* what is recorded goes first */
	if (geteuid() && capabilities_drop())
		fail_plain(-EPERM, "cannot drop the capabilities of this binary");
	else if (!view_page_open(&live->page, &options, settings) && write(go, "", 1) == 1)
		status = look(live, settings->ring.size_bytes);
	close(go);
	end_recorder(live);
	view_page_close(&live->page);
	return status;
}

int view_live(struct settings *settings, struct inheritance *inheritance, int argc, char **argv, int rest)
{
	bool has_command = !settings->has_target && !strcmp(argv[rest - 1], "--");
	struct live_view live = { .has_command = has_command, .is_of_here = has_command || settings->has_target };
	int status = EXIT_FAILED;

	live.page.on_signal = on_signal;
	live.page.data = &live;
	put_what(&live, argc, argv, rest);
	if (!find_place(&live, settings))
		status = look_while_recording(&live, settings, inheritance, argc, argv, rest);
	if (!status && !live.directory[0])
		fprintf(stderr, "pinch: wrote %s; see pinch view %s\n", live.path.bytes, live.path.bytes);
	forget_place(&live);
	return status;
}
