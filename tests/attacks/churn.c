/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Processes that live for a moment, as many a second as are asked for, beside others that keep the
 * CPUs busy: whoever traces all of them must not keep what is gone, and must not fall behind.
 *
 *     churn SECONDS FORKS_A_SECOND BUSY STORMS [NAMES]
 *
 * Every other one execs this program again, which only ends. BUSY processes run all the time, STORMS pairs
 * pass a byte to and fro through pipes: both give way to the forks. NAMES: so many names the processes give to themselves in turn, 0 none.
 * Says at the end how many processes there were. All end when the parent of the first one does.
 */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	FORKERS = 4,               /* the work of one is more than a busy machine gives to one */
	BEHIND_NS_MAX = 200000000, /* what is missed by more is not made up for */
	ALIVE_MAX = 2,             /* children of a forker that have not been waited for */
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

static void die(const char *what)
{
	fprintf(stderr, "churn: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* The child of a process that must not outlive it. */
static pid_t fork_bound(void)
{
	pid_t parent = getpid(), pid = fork();

	if (pid < 0)
		die("fork");
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	return 0;
}

static void be_busy(uint64_t end_ns)
{
	volatile unsigned int turns = 0;

	nice(19);
	while (now_ns() < end_ns)
		for (int i = 0; i < 100000; i++)
			turns++;
}

static void pass_byte(int from, int to, uint64_t end_ns)
{
	char byte = 0;

	while (now_ns() < end_ns && read(from, &byte, 1) == 1 && write(to, &byte, 1) == 1)
		;
}

static void be_storm(uint64_t end_ns)
{
	int there[2], back[2];

	if (pipe(there) || pipe(back))
		die("pipe");
	nice(19);
	signal(SIGPIPE, SIG_IGN);
	if (!fork_bound()) {
		close(there[1]);
		close(back[0]);
		pass_byte(there[0], back[1], end_ns);
		_exit(0);
	}
	close(there[0]);
	close(back[1]);
	if (write(there[1], "x", 1) == 1)
		pass_byte(back[0], there[1], end_ns);
}

static void exec_leaf(unsigned int number, unsigned int names)
{
	char name[16];

	if (names)
		snprintf(name, sizeof(name), "name-%u", number % names);
	execl("/proc/self/exe", "churn", "leaf", names ? name : NULL, NULL);
	_exit(1);
}

/* Makes a child at each of the equally distant moments; returns how many. */
static uint64_t make_children(uint64_t end_ns, uint64_t period_ns, unsigned int names)
{
	uint64_t next_ns = now_ns(), count = 0;
	unsigned int alive = 0;

	while (next_ns < end_ns && now_ns() < end_ns) {
		struct timespec next = { next_ns / 1000000000, next_ns % 1000000000 };
		pid_t pid;

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
		pid = fork();
		if (pid < 0)
			die("fork");
		if (!pid && count % 2)
			_exit(0);
		if (!pid)
			exec_leaf(count / 2, names);
		count++;
		alive++;
		while (alive && waitpid(-1, NULL, alive < ALIVE_MAX ? WNOHANG : 0) > 0)
			alive--;
		next_ns += period_ns;
		if (now_ns() > next_ns + BEHIND_NS_MAX)
			next_ns = now_ns();
	}
	while (alive && waitpid(-1, NULL, 0) > 0)
		alive--;
	return count;
}

static void be_forker(uint64_t end_ns, uint64_t period_ns, unsigned int names, int counts)
{
	uint64_t count = make_children(end_ns, period_ns, names);

	if (write(counts, &count, sizeof(count)) != sizeof(count))
		die("write");
}

static unsigned long number(const char *text)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (*end || !*text) {
		fprintf(stderr, "churn: %s is no number\n", text);
		exit(2);
	}
	return value;
}

int main(int argc, char **argv)
{
	unsigned long forks, names;
	uint64_t end_ns, total = 0, count;
	int counts[2];

	if (argc > 1 && !strcmp(argv[1], "leaf")) {
		if (argc > 2)
			prctl(PR_SET_NAME, argv[2]);
		return 0;
	}
	if (argc < 5) {
		fprintf(stderr, "usage: churn SECONDS FORKS_A_SECOND BUSY STORMS [NAMES]\n");
		return 2;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	end_ns = now_ns() + number(argv[1]) * 1000000000ull;
	forks = number(argv[2]);
	names = argc > 5 ? number(argv[5]) : 0;
	if (pipe(counts))
		die("pipe");
	for (unsigned long i = number(argv[3]); i--;) {
		if (!fork_bound()) {
			be_busy(end_ns);
			_exit(0);
		}
	}
	for (unsigned long i = number(argv[4]); i--;) {
		if (!fork_bound()) {
			be_storm(end_ns);
			_exit(0);
		}
	}
	for (int i = 0; forks && i < FORKERS; i++) {
		if (!fork_bound()) {
			be_forker(end_ns, 1000000000ull * FORKERS / forks, names, counts[1]);
			_exit(0);
		}
	}
	close(counts[1]);
	while (read(counts[0], &count, sizeof(count)) == sizeof(count))
		total += count;
	while (wait(NULL) > 0)
		;
	printf("%llu processes\n", (unsigned long long)total);
	return 0;
}
