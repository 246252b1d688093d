// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * commands [--traces N] [--first N] [--seconds S] [--cpu-seconds S] [--rss-mb MB] [--only COMMAND] [--host TRACE] DIR TRACE...
 * Runs every command that takes a trace on changed copies of these traces and of their histories of states, in
 * DIR, each in a process of its own, and says what crashed, what took longer and what took more memory. A copy
 * that did harm stays in DIR as bad-N.pinch, with what the command said in bad-N.log; --first N --traces 1 makes
 * it again. --host: a trace of another host, which has asked this one's clock. Exit status 1 if there was any.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "mutate.h"
#include "options/command.h"
#include "query/trace_states_make.h"
#include "serve/answer.h"
#include "serve/viewer.h"
#include "serve/viewer_load.h"

#define TRACE "t.pinch"
#define STATES TRACE ".states"

enum {
	SOURCES_MAX = 64,
	ARGUMENTS_MAX = 16,
	HISTORY_EVERY = 5,          /* so often it is the history that is changed */
	LOOK_NS = 50 * 1000 * 1000, /* how often to look at the memory of a command */
	BAD_MAX = 20,               /* then it stops */
};

static const char *const lines[][ARGUMENTS_MAX] = {
	{ "check", TRACE },
	{ "report", TRACE },
	{ "report", "--page", "all", "-v", TRACE },
	{ "report", "--top", "1000", "-o", "text", "--json", "json", "--folded", "folded", "--csv", "csv", TRACE },
	{ "report", "--symbols-from-files", "-q", "--json", "json", TRACE },
	{ "report", "-q", "--html", "html", TRACE },
	{ "dump", TRACE },
	{ "dump", "--json", "--from", "1ms", TRACE },
	{ "dump", "--activities", "--json", "--cpu", "0", "--process", "1", "--thread", "main", TRACE },
	{ "cut", "-o", "cut", "--from", "1ms", "--to", "100ms", TRACE },
	{ "cut", "-o", "cut", "--thread", "1", TRACE },
	{ "merge", "-o", "merged", TRACE, "source.pinch" },
	{ "merge", "-o", "merged", TRACE, "host.pinch" },
	{ "merge", "-o", "merged", "host.pinch", TRACE },
	{ "graph", "--json", "json", "--dot", "dot", "-o", "text", TRACE },
	{ "graph", "--html", "html", "--merge", TRACE },
	{ "graph", "--from", "1ms", "--to", "1h", TRACE },
	{ "critical-path", "--json", "json", "-o", "text", TRACE },
	{ "whatif", "--json", "json", "-o", "text", TRACE },
	{ "whatif", "--cause", "sleep", "--cpus", "1", TRACE },
	{ "whatif", "--path", "main;work", "--scale", "0", TRACE },
	{ "spans", "--json", "json", "-o", "text", TRACE },
	{ "spans", "--sort", "begin", TRACE },
	{ "compare", TRACE },
	{ "compare", "--json", "json", "--html", "html", "-o", "text", "source.pinch", TRACE },
	{ "klock", "--json", "json", "-o", "text", TRACE },
	{ "export", "--format", "perfetto", "-o", "out", TRACE },
	{ "export", "--format", "chrome", "-o", "out", "--from", "1ms", "--to", "1h", TRACE },
	{ "export", "--format", "csv", "-o", "out", TRACE },
	{ "export", "--format", "speedscope", "-o", "out", TRACE },
	{ "export", "--format", "folded", "-o", "out", TRACE },
	{ "export", "--format", "pprof", "-o", "out", TRACE },
	{ "view", TRACE },
};

enum { LINES = sizeof(lines) / sizeof(*lines) };

static struct {
	uint64_t first, traces;
	uint64_t seconds;             /* 0: until all are done */
	uint64_t cpu_seconds, rss_mb; /* that a command may take */
	const char *only, *directory, *host;
	struct image *images[SOURCES_MAX], *histories[SOURCES_MAX];
	char names[SOURCES_MAX][64]; /* copies of the sources */
	size_t count;
	uint64_t runs, bad, slowest_ms, largest_kb;
	const char *slowest, *largest;
} all = { .traces = 1000, .cpu_seconds = 10, .rss_mb = 1024 };

/* The sanitizers', in every process. */
const char *__asan_default_options(void);
const char *__ubsan_default_options(void);

const char *__asan_default_options(void)
{
	return "exitcode=99:detect_leaks=0:quarantine_size_mb=8:detect_stack_use_after_return=0";
}

const char *__ubsan_default_options(void)
{
	return "exitcode=99:print_stacktrace=1";
}

static void die(const char *what)
{
	perror(what);
	exit(2);
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000ull + now.tv_nsec / 1000000;
}

static void copy_file(const char *from, const char *to)
{
	char bytes[1 << 16];
	int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	ssize_t n;

	if (in < 0 || out < 0)
		die(in < 0 ? from : to);
	while ((n = read(in, bytes, sizeof(bytes))) > 0)
		if (write(out, bytes, n) != n)
			die(to);
	close(in);
	close(out);
}

/* --- One command ----------------------------------------------------------------------------- */

static void ask(struct viewer *viewer, const char *path, const char *query)
{
	struct reply reply = { .status = 200, .fd = -1 };

	viewer_answer(viewer, &(struct request){ .path = path, .query = query }, &reply);
	if (reply.status != 200 &&
	    (!reply.body.length || strchr(reply.body.bytes, '\n') != reply.body.bytes + reply.body.length - 1))
		abort();
	text_fini(&reply.body);
}

static void take_no_pause(void *data)
{
	(void)data;
}

/* A viewer ends when its user wants that: its server does not run here, but it is asked what the page asks. */
static int view(const char *path)
{
	struct viewer *viewer = viewer_new(&(struct viewer_options){ .path = path, .name = path });
	struct states_waiter waiter = { .pause = { .take = take_no_pause, .period_ns = UINT64_MAX / 2 } };
	char query[64];

	if (viewer_load(viewer, &waiter, true)) {
		viewer_free(viewer);
		return EXIT_FAILED;
	}
	ask(viewer, "/", "");
	ask(viewer, "/trace", "");
	for (unsigned int shift = 8; shift <= 43; shift += 5) {
		snprintf(query, sizeof(query), "shift=%u&index=0&lanes=0-4", shift);
		ask(viewer, "/tiles", query);
	}
	for (unsigned int i = 0; i < 100; i++) {
		snprintf(query, sizeof(query), "lane=%u&time=%u000000", i % 10, i * i);
		ask(viewer, "/slice", query);
	}
	viewer_free(viewer);
	return 0;
}

static _Noreturn void be_command(const char *const *line)
{
	const struct rlimit cpu = { all.cpu_seconds, all.cpu_seconds };
	const struct rlimit core = { 0, 0 };
	char *arguments[ARGUMENTS_MAX + 1] = { NULL };
	int count = 0, null = open("/dev/null", O_RDWR), log = open("log", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	sigset_t none;

	for (; count < ARGUMENTS_MAX && line[count]; count++)
		arguments[count] = strdup(line[count]);
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	dup2(log, STDERR_FILENO);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setrlimit(RLIMIT_CPU, &cpu);
	setrlimit(RLIMIT_CORE, &core);
	exit(strcmp(arguments[0], "view") ? command_find(arguments[0])->run(count, arguments) : view(arguments[1]));
}

static uint64_t resident_mb(pid_t pid)
{
	unsigned long pages = 0;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
	file = fopen(path, "re");
	if (file && fscanf(file, "%*u %lu", &pages) != 1)
		pages = 0;
	if (file)
		fclose(file);
	return (uint64_t)pages * getpagesize() >> 20;
}

/* Until it has ended, which the signal says, or has done harm enough. Returns what is wrong, or NULL. */
static const char *watch(pid_t pid, int *status, struct rusage *usage)
{
	const struct timespec look = { .tv_nsec = LOOK_NS };
	uint64_t limit_ms = now_ms() + 30 * 1000 * all.cpu_seconds;
	const char *wrong = NULL;
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	while (!wait4(pid, status, WNOHANG, usage)) {
		if (resident_mb(pid) > all.rss_mb)
			wrong = "took too much memory";
		else if (now_ms() > limit_ms)
			wrong = "did not come to its end";
		if (wrong) {
			kill(pid, SIGKILL);
			wait4(pid, status, 0, usage);
			return wrong;
		}
		sigtimedwait(&child, NULL, &look);
	}
	if ((uint64_t)usage->ru_maxrss >> 10 > all.rss_mb)
		return "took too much memory";
	if (WIFSIGNALED(*status))
		return WTERMSIG(*status) == SIGKILL || WTERMSIG(*status) == SIGXCPU ? "took too long" : "crashed";
	return WEXITSTATUS(*status) > EXIT_CONDITION ? "did what is not defined" : NULL;
}

static void note_worst(const char *const *line, const struct rusage *usage)
{
	uint64_t ms = usage->ru_utime.tv_sec * 1000 + usage->ru_utime.tv_usec / 1000;

	if (ms > all.slowest_ms) {
		all.slowest_ms = ms;
		all.slowest = line[0];
	}
	if ((uint64_t)usage->ru_maxrss > all.largest_kb) {
		all.largest_kb = usage->ru_maxrss;
		all.largest = line[0];
	}
}

static void keep(uint64_t number, const char *const *line, const char *wrong, int status)
{
	char path[64];

	printf("%s: pinch", wrong);
	for (int i = 0; i < ARGUMENTS_MAX && line[i]; i++)
		printf(" %s", line[i]);
	printf(" (wait status %d), of trace %llu\n", status, (unsigned long long)number);
	snprintf(path, sizeof(path), "bad-%llu.log", (unsigned long long)number);
	copy_file("log", path);
	snprintf(path, sizeof(path), "bad-%llu.pinch", (unsigned long long)number);
	copy_file(TRACE, path);
	snprintf(path, sizeof(path), "bad-%llu.pinch.states", (unsigned long long)number);
	if (!access(STATES, R_OK))
		copy_file(STATES, path);
	fflush(stdout);
}

static bool run_one(uint64_t number, const char *const *line)
{
	struct rusage usage;
	const char *wrong;
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid)
		be_command(line);
	wrong = watch(pid, &status, &usage);
	all.runs++;
	note_worst(line, &usage);
	if (wrong)
		keep(number, line, wrong, status);
	return !wrong;
}

/* --- All of them ----------------------------------------------------------------------------- */

/* What was made of the last one must not be taken for this one's. */
static void make_trace(uint64_t number)
{
	size_t source = number % all.count;

	if (unlink(STATES) && errno != ENOENT)
		die(STATES);
	copy_file(all.names[source], "source.pinch");
	if (all.histories[source] && number / all.count % HISTORY_EVERY == HISTORY_EVERY - 1) {
		copy_file(all.names[source], TRACE);
		if (image_write_mutated(all.histories[source], number, STATES))
			die(STATES);
	} else if (image_write_mutated(all.images[source], number, TRACE)) {
		die(TRACE);
	}
}

static void run_all(uint64_t number)
{
	for (size_t i = 0; i < LINES; i++)
		if (!all.only || !strcmp(all.only, lines[i][0]))
			all.bad += !run_one(number, lines[i]);
}

/*
 * A copy in the directory, which every command must bear as it is, and its history, which the first one makes that
 * needs it.
 */
static void take_source(const char *path)
{
	size_t number = all.count++;

	all.images[number] = image_read(path);
	if (!all.images[number])
		exit(2);
	copy_file(path, TRACE);
	snprintf(all.names[number], sizeof(all.names[number]), "source-%zu.pinch", number);
	copy_file(TRACE, all.names[number]);
	copy_file(TRACE, "source.pinch");
	run_all(number);
	if (!access(STATES, R_OK))
		all.histories[number] = image_read(STATES);
	if (unlink(STATES) && errno != ENOENT)
		die(STATES);
}

static int take_options(int argc, char **argv)
{
	const struct {
		const char *name;
		uint64_t *value;
	} numbers[] = {
		{ "--traces", &all.traces },           { "--first", &all.first },   { "--seconds", &all.seconds },
		{ "--cpu-seconds", &all.cpu_seconds }, { "--rss-mb", &all.rss_mb },
	};
	int at = 1;

	for (; at + 1 < argc && argv[at][0] == '-'; at += 2) {
		if (!strcmp(argv[at], "--only"))
			all.only = argv[at + 1];
		if (!strcmp(argv[at], "--host"))
			all.host = argv[at + 1];
		for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
			if (!strcmp(argv[at], numbers[i].name))
				*numbers[i].value = strtoull(argv[at + 1], NULL, 10);
	}
	return at;
}

int main(int argc, char **argv)
{
	int at = take_options(argc, argv);
	uint64_t end_ms, made = 0;
	sigset_t child;

	if (at + 1 >= argc || argc - at - 1 > SOURCES_MAX) {
		fprintf(stderr, "commands [options] DIR TRACE...\n");
		return 2;
	}
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	if (chdir(argv[at]))
		die(argv[at]);
	if (all.host)
		copy_file(all.host, "host.pinch");
	while (++at < argc)
		take_source(argv[at]);
	end_ms = now_ms() + 1000 * all.seconds;
	for (; made < all.traces && all.bad < BAD_MAX && (!all.seconds || now_ms() < end_ms); made++) {
		make_trace(all.first + made);
		run_all(all.first + made);
	}
	for (size_t i = 0; i < all.count; i++) {
		image_free(all.images[i]);
		image_free(all.histories[i]);
	}
	printf("%llu traces, %llu commands, %llu of them bad; at most %llu ms (%s), %llu MB (%s)\n",
	       (unsigned long long)made, (unsigned long long)all.runs, (unsigned long long)all.bad,
	       (unsigned long long)all.slowest_ms, all.slowest ? all.slowest : "none",
	       (unsigned long long)(all.largest_kb >> 10), all.largest ? all.largest : "none");
	return all.bad ? 1 : 0;
}
