/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "helper/pair.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/memory.h"
#include "helper/message.h"
#include "helper/opener_message.h"
#include "helper/users.h"

enum {
	DEATHS_MAX = 150, /* that no user bears: then something is wrong on this machine, and names are given up */
	PROGRESS_BYTES = 128,
};

struct helper_pair {
	const struct helper_roles *roles;
	struct spawner *spawner;
	struct users *users;
	struct helpers helpers;
	uint32_t opener_number, worker_number, last_number;
	unsigned int death_count;
	bool is_given_up;
	uint64_t memory_bytes; /* peak of the workers that ended */
	struct pause *pause;
	char progress[2 * PROGRESS_BYTES]; /* of both, when they last did something */
	uint64_t progress_ns;
};

struct helper_pair *helper_pair_new(const struct helper_roles *roles)
{
	struct helper_pair *pair = xcalloc(1, sizeof(*pair));

	pair->roles = roles;
	pair->users = users_new();
	pair->helpers.opener_socket = pair->helpers.worker_socket = -1;
	return pair;
}

/* Whatever it is started with, the next one could not be confined either. */
static void give_up(struct helper_pair *pair, int err)
{
	if (!pair->is_given_up)
		warn("a helper process that reads untrusted data could not drop its privileges (%s) and does not run: "
		     "names and call paths are missing",
		     strerror(-err));
	pair->is_given_up = true;
	pair->death_count = DEATHS_MAX;
}

void helper_pair_hear(struct helper_pair *pair, const void *message, ssize_t size_bytes)
{
	int32_t err;

	if (size_bytes != HELPER_REFUSAL_BYTES)
		return;
	memcpy(&err, message, sizeof(err));
	give_up(pair, err);
}

/* What it said last may not have been heard. */
static void hear_out(struct helper_pair *pair, int socket)
{
	int32_t err;
	ssize_t n = recv(socket, &err, sizeof(err), MSG_DONTWAIT | MSG_TRUNC);

	helper_pair_hear(pair, &err, n);
}

static void close_worker(struct helper_pair *pair)
{
	if (!pair->worker_number)
		return;
	hear_out(pair, pair->helpers.worker_socket);
	pair->memory_bytes = helper_pair_memory_bytes(pair);
	close(pair->helpers.worker_socket);
	pair->helpers.worker_socket = -1;
	pair->helpers.worker = 0;
	pair->worker_number = 0;
}

static void close_both(struct helper_pair *pair)
{
	close_worker(pair);
	if (!pair->opener_number)
		return;
	hear_out(pair, pair->helpers.opener_socket);
	close(pair->helpers.opener_socket);
	pair->helpers.opener_socket = -1;
	pair->helpers.opener = 0;
	pair->opener_number = 0;
}

static int start_both(struct helper_pair *pair)
{
	if (!pair->spawner)
		pair->spawner = spawner_new(pair->roles);
	if (!pair->spawner || spawner_start(pair->spawner, &pair->helpers))
		return -ECANCELED;
	pair->opener_number = ++pair->last_number;
	pair->worker_number = pair->opener_number;
	return 0;
}

static int start_worker(struct helper_pair *pair)
{
	const struct opener_request request = { .kind = OPENER_WORKER };
	int other, err = spawner_start_worker(pair->spawner, &pair->helpers, &other);

	if (err)
		return -ECANCELED;
	pair->worker_number = ++pair->last_number;
	err = message_put(pair->helpers.opener_socket, &request, sizeof(request), other);
	close(other);
	return err ? -ECANCELED : 0;
}

int helper_pair_begin(struct helper_pair *pair)
{
	int err;

	if (pair->worker_number)
		return 0;
	if (pair->death_count >= DEATHS_MAX)
		return -ECANCELED;
	err = pair->opener_number ? start_worker(pair) : start_both(pair);
	pair->progress_ns = clock_ns();
	if (!err)
		return 0;
	close_both(pair);
	pair->death_count = DEATHS_MAX;
	return err;
}

int helper_pair_start_attacher(struct helper_pair *pair, int *socket)
{
	return pair->spawner ? spawner_start_attacher(pair->spawner, socket) : -ECHILD;
}

struct users *helper_pair_users(const struct helper_pair *pair)
{
	return pair->users;
}

static void count_death(struct helper_pair *pair, uint32_t user)
{
	if (!users_charge(pair->users, user))
		pair->death_count++;
}

int helper_pair_fail_worker(struct helper_pair *pair, uint32_t user)
{
	close_worker(pair);
	count_death(pair, user);
	return pair->is_given_up ? -ECANCELED : -ECHILD;
}

/* One that is stuck does not see that its socket is closed: the start of new ones kills it. */
void helper_pair_fail(struct helper_pair *pair, uint32_t user)
{
	close_both(pair);
	count_death(pair, user);
}

void helper_pair_end(struct helper_pair *pair)
{
	close_both(pair);
	spawner_free(pair->spawner);
	pair->spawner = NULL;
}

void helper_pair_free(struct helper_pair *pair)
{
	if (!pair)
		return;
	helper_pair_end(pair);
	users_free(pair->users);
	free(pair);
}

uint32_t helper_pair_opener_number(const struct helper_pair *pair)
{
	return pair->opener_number;
}

uint32_t helper_pair_worker_number(const struct helper_pair *pair)
{
	return pair->worker_number;
}

int helper_pair_opener(const struct helper_pair *pair)
{
	return pair->helpers.opener_socket;
}

int helper_pair_worker(const struct helper_pair *pair)
{
	return pair->helpers.worker_socket;
}

/* A line of a file of /proc/PID; empty when there is none. */
static void read_line(pid_t pid, const char *name, const char *prefix, char *line, size_t capacity_bytes)
{
	char path[64];
	FILE *file;

	line[0] = '\0';
	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	file = fopen(path, "re");
	if (!file)
		return;
	while (fgets(line, capacity_bytes, file) && strncmp(line, prefix, strlen(prefix)))
		line[0] = '\0';
	fclose(file);
}

/* How often each has run so far; true when one could run now, or there is none. */
static bool read_progress(const struct helper_pair *pair, char *progress)
{
	const pid_t pids[2] = { pair->helpers.opener, pair->helpers.worker };
	bool could_run = false;

	for (int i = 0; i < 2; i++) {
		char state[64];

		read_line(pids[i], "schedstat", "", progress + i * PROGRESS_BYTES, PROGRESS_BYTES);
		read_line(pids[i], "status", "State:", state, sizeof(state));
		could_run |= !strncmp(state, "State:\tR", 8) || !state[0];
	}
	return could_run;
}

bool helper_pair_is_stuck(struct helper_pair *pair, uint64_t since_ns, uint64_t limit_ns)
{
	char progress[2 * PROGRESS_BYTES] = { 0 };
	bool could_run = read_progress(pair, progress);
	uint64_t now = clock_ns();

	if (could_run || memcmp(progress, pair->progress, sizeof(progress))) {
		memcpy(pair->progress, progress, sizeof(progress));
		pair->progress_ns = now;
	}
	return now > since_ns + limit_ns && now > pair->progress_ns + limit_ns;
}

bool helper_pair_opener_serves_worker(const struct helper_pair *pair)
{
	char line[64] = "";

	if (pair->opener_number)
		read_line(pair->helpers.opener, "status", "Name:", line, sizeof(line));
	return !strcmp(line, "Name:\t" OPENER_NAME_FOR_WORKER "\n");
}

uint64_t helper_pair_memory_bytes(struct helper_pair *pair)
{
	unsigned long long kilobytes = 0;
	char line[128] = "";

	if (pair->worker_number)
		read_line(pair->helpers.worker, "status", "VmHWM:", line, sizeof(line));
	if (sscanf(line, "VmHWM: %llu", &kilobytes) == 1 && kilobytes * 1024 > pair->memory_bytes)
		pair->memory_bytes = kilobytes * 1024;
	return pair->memory_bytes;
}

void helper_pair_set_pause(struct helper_pair *pair, struct pause *pause)
{
	pair->pause = pause;
}

struct pause *helper_pair_pause(const struct helper_pair *pair)
{
	return pair->pause;
}
