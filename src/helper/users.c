/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "helper/users.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/table.h"

enum {
	PROCESSES_MAX = 65536, /* remembered; then all are forgotten */
	USERS_MAX = 65536,     /* charged; a user can have that many in a namespace */
};

struct process {
	uint32_t user;
	time_t looked;
};

struct user {
	unsigned int failure_count;
	bool is_barred;
};

struct users {
	struct table *processes;                      /* by pid + 1; owns them */
	struct table *users;                          /* by user + 1; owns them */
	void (*on_barred)(void *data, uint32_t user); /* NULL: nobody wants to know */
	void *data;
	uint32_t own_user;
};

struct users *users_new(void)
{
	struct users *users = xcalloc(1, sizeof(*users));

	users->processes = table_new();
	users->users = table_new();
	users->own_user = getuid();
	return users;
}

static void free_all(struct table *table)
{
	size_t cursor = 0;
	void *entry;

	while ((entry = table_next(table, &cursor)))
		free(entry);
	table_free(table);
}

void users_free(struct users *users)
{
	if (!users)
		return;
	free_all(users->processes);
	free_all(users->users);
	free(users);
}

void users_on_barred(struct users *users, void (*on_barred)(void *data, uint32_t user), void *data)
{
	users->on_barred = on_barred;
	users->data = data;
}

/* The owner of /proc/PID does not say: it is root for who does not let itself be dumped. */
static uint32_t read_user(uint32_t pid)
{
	unsigned int real = USER_UNKNOWN, effective = USER_UNKNOWN;
	char path[32], line[512];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/status", pid);
	file = fopen(path, "re");
	if (!file)
		return USER_UNKNOWN;
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "Uid: %u %u", &real, &effective) == 2)
			break;
	fclose(file);
	return real ? real : effective;
}

static struct process *process_get(struct users *users, uint32_t pid)
{
	struct process *process = table_find(users->processes, (uint64_t)pid + 1);

	if (process)
		return process;
	if (table_count(users->processes) >= PROCESSES_MAX) {
		free_all(users->processes);
		users->processes = table_new();
	}
	process = xcalloc(1, sizeof(*process));
	*process = (struct process){ .user = USER_UNKNOWN, .looked = -1 };
	table_put(users->processes, (uint64_t)pid + 1, process);
	return process;
}

uint32_t users_of(struct users *users, uint32_t pid)
{
	struct process *process = pid ? process_get(users, pid) : NULL;
	uint32_t user;

	if (!process)
		return USER_UNKNOWN;
	if (process->looked == clock_seconds())
		return process->user;
	process->looked = clock_seconds();
	user = read_user(pid);
	if (user != USER_UNKNOWN)
		process->user = user;
	return process->user;
}

static struct user *user_get(struct users *users, uint32_t number)
{
	struct user *user = table_find(users->users, (uint64_t)number + 1);

	if (!number || number == users->own_user || number == USER_UNKNOWN)
		return NULL;
	if (!user && table_count(users->users) < USERS_MAX) {
		user = xcalloc(1, sizeof(*user));
		table_put(users->users, (uint64_t)number + 1, user);
	}
	return user;
}

void users_bar(struct users *users, uint32_t number)
{
	struct user *user = user_get(users, number);

	if (!user || user->is_barred)
		return;
	user->is_barred = true;
	if (users->on_barred)
		users->on_barred(users->data, number);
}

bool users_charge(struct users *users, uint32_t number)
{
	struct user *user = user_get(users, number);

	if (!user)
		return false;
	if (++user->failure_count >= USERS_FAILURES_MAX)
		users_bar(users, number);
	return true;
}

bool users_are_barred(const struct users *users, uint32_t number)
{
	const struct user *user = table_find(users->users, (uint64_t)number + 1);

	return user && user->is_barred;
}
