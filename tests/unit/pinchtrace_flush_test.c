/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When events are flushed by themselves, where they go, and what signals do. */
#include "pinchtrace_fixture.h"

enum { NET = 3, CAPACITY = 256 };

/* --- The programs ------------------------------------------------------------------------ */

/* Lines of the file that the environment names; -1: there is none. */
static int line_count(void)
{
	FILE *file = fopen(getenv("PINCHTRACE_FILE"), "re");
	int count = 0, c;

	if (!file)
		return -1;
	while ((c = getc(file)) != EOF)
		count += c == '\n';
	fclose(file);
	return count;
}

static void record(uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		trace_event(NET, 1, i);
}

/* 80 % of 256 slots are 204. */
static void fill(void)
{
	record(203);
	MUST(line_count() == -1);
	record(1);
	MUST(line_count() == 204);
	record(10 * CAPACITY);
	MUST(line_count() == 204 * 13);
	MUST(trace_flush() == 204 + 10 * CAPACITY - 204 * 13);
}

static void fill_without_space(void)
{
	record(3 * CAPACITY);
	MUST(trace_flush() < 0);
	record(3 * CAPACITY);
}

static void record_three(void)
{
	record(3);
}

static void follow_null(void)
{
	record(3);
	*(volatile int *)NULL = 0;
}

static void give_up(void)
{
	record(3);
	abort();
}

static void be_hit(void)
{
	record(3);
	kill(getpid(), SIGSEGV);
	_exit(1);
}

static void exit_seven(int number)
{
	(void)number;
	_exit(7);
}

/* The program's own handler takes the place of the library's. */
static void handle(void)
{
	signal(SIGSEGV, exit_seven);
	signal(SIGUSR1, exit_seven);
	record(3);
	raise(SIGUSR1);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * UINT64_C(1000000000) + now.tv_nsec;
}

static void leave_to_scope(void)
{
	uint64_t *until_ns = &((struct pinchtrace_header *)own_area()->base)->scope_until_ns;

	*until_ns = now_ns() + UINT64_C(3600) * 1000000000;
	record(3);
	MUST(trace_flush() == 0 && line_count() == -1);
	/* It has gone away, and nobody has said so. */
	*until_ns = now_ns();
	MUST(trace_flush() == 3 && line_count() == 3);
}

static void obey(void)
{
	record(3);
	raise(SIGUSR2);
	record(5);
	raise(SIGUSR1);
	MUST(line_count() == 3);
	raise(SIGHUP);
	record(2);
	raise(SIGUSR1);
	MUST(line_count() == 5);
}

const struct program programs[] = {
	{ "fill", fill },
	{ "fill_without_space", fill_without_space },
	{ "record_three", record_three },
	{ "follow_null", follow_null },
	{ "give_up", give_up },
	{ "be_hit", be_hit },
	{ "handle", handle },
	{ "leave_to_scope", leave_to_scope },
	{ "obey", obey },
	{ 0 },
};

/* --- The tests --------------------------------------------------------------------------- */

/* Runs a program that flushes into a file; its status, and how many lines it has left there, -1: there is none. */
static int run(const char *name, const char *setting, int *lines)
{
	const char *directory = directory_make();
	char path[128], file[160];
	const char *settings[] = { file, setting, "PINCHTRACE_EVENTS=256", NULL };
	int status;

	snprintf(path, sizeof(path), "%s.flushed", directory);
	snprintf(file, sizeof(file), "PINCHTRACE_FILE=%s", path);
	status = program_wait(program_start_with(name, directory, settings));
	setenv("PINCHTRACE_FILE", path, 1);
	*lines = line_count();
	unlink(path);
	directory_remove(directory);
	return status;
}

TEST(a_ring_that_is_so_full_is_flushed)
{
	int lines;

	CHECK_EQUAL(run("fill", "PINCHTRACE_FLUSH_AT=80", &lines), 0);
	CHECK_EQUAL(lines, 204 + 10 * CAPACITY);
}

TEST(a_flush_that_fails_is_not_tried_again)
{
	const char *directory = directory_make();
	const char *settings[] = { "PINCHTRACE_FLUSH_AT=80", "PINCHTRACE_FILE=/dev/full", "PINCHTRACE_EVENTS=256",
				   NULL };

	CHECK_EQUAL(program_wait(program_start_with("fill_without_space", directory, settings)), 0);
	directory_remove(directory);
}

TEST(without_a_setting_nothing_is_flushed)
{
	int lines;

	CHECK_EQUAL(run("record_three", NULL, &lines), 0);
	CHECK_EQUAL(lines, -1);
}

TEST(at_the_end_the_rest_is_flushed)
{
	int lines;

	CHECK_EQUAL(run("record_three", "PINCHTRACE_FLUSH_AT=exit", &lines), 0);
	CHECK_EQUAL(lines, 3);
}

static void check_crash(const char *name, int signal)
{
	int lines, status = run(name, "PINCHTRACE_FLUSH_AT=80,crash", &lines);

	CHECK(WIFSIGNALED(status));
	CHECK_EQUAL(WTERMSIG(status), signal);
	CHECK_EQUAL(lines, 3);
}

TEST(a_program_that_crashes_flushes_and_dies_of_the_signal)
{
	check_crash("give_up", SIGABRT);
	/* With sanitizers, that signal has a handler. */
#ifndef __SANITIZE_ADDRESS__
	check_crash("follow_null", SIGSEGV);
	check_crash("be_hit", SIGSEGV);
#endif
}

TEST(handlers_of_the_program_stay)
{
	int lines, status = run("handle", "PINCHTRACE_SIGNAL=USR1:snapshot", &lines);

	CHECK_EQUAL(WEXITSTATUS(status), 7);
	CHECK_EQUAL(lines, -1);
}

TEST(a_scope_with_a_client_has_the_events_as_long_as_it_says_so)
{
	int lines;

	CHECK_EQUAL(run("leave_to_scope", NULL, &lines), 0);
	CHECK_EQUAL(lines, 3);
}

TEST(signals_start_and_stop_and_flush)
{
	int lines;

	CHECK_EQUAL(run("obey", "PINCHTRACE_SIGNAL=USR2:stop,SIGHUP:start,USR1:snapshot,KILL:start,:,", &lines), 0);
	CHECK_EQUAL(lines, 5);
}
