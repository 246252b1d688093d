/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/worker/budget.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/table.h"
#include "symbol/space/module.h"

/* ns of CPU. Debug information of a program of a gigabyte takes 5 s. */
struct shares {
	uint64_t file_ns, owner_ns, all_ns;
	size_t memory_bytes;
};

static const struct shares trusted = { 20000000000, 60000000000, 60000000000, (size_t)1 << 30 },
			   others = { 4000000000, 8000000000, 10000000000, (size_t)192 << 20 };

static const uint64_t least_ns = 20000000; /* less is not worth a question */
static const uint64_t death_ns = 500000000;

/* ns of waiting for processes. A program of Python with a thousand busy functions takes 10 ms a second. */
static const uint64_t process_ns = 5000000000, user_ns = 10000000000, all_users_ns = 30000000000;

enum {
	ELAPSED_SHARE = 4,     /* a disk that is slow costs the user's time, too */
	FADING = 50,           /* of what was spent on processes, a second of so many is forgotten a second */
	PROCESSES_MAX = 65536, /* then all are forgotten, but not their users */
};

struct waited {
	uint64_t ns, at_ns; /* so much at that time */
};

struct budget {
	struct table *files, *owners;    /* by number + 1, by owner_of(): uint64_t, spent ns */
	uint64_t trusted_ns, others_ns;  /* spent on all of these */
	struct table *processes, *users; /* by number + 1: struct waited */
	struct waited all_users;
	uint32_t own_user;
};

struct budget *budget_new(void)
{
	struct budget *budget = xcalloc(1, sizeof(*budget));

	budget->files = table_new();
	budget->owners = table_new();
	budget->processes = table_new();
	budget->users = table_new();
	budget->own_user = getuid();
	return budget;
}

static void free_all(struct table *table)
{
	size_t cursor = 0;
	void *spent;

	while ((spent = table_next(table, &cursor)))
		free(spent);
	table_free(table);
}

void budget_free(struct budget *budget)
{
	if (!budget)
		return;
	free_all(budget->files);
	free_all(budget->owners);
	free_all(budget->processes);
	free_all(budget->users);
	free(budget);
}

/* What containers show as root's is their own. */
static bool is_trusted(const struct budget *budget, const struct module *module)
{
	return module->kind != MODULE_FILE || (module->has_stamp && !module->stamp.is_overlay &&
					       file_stamp_is_owned(&module->stamp, budget->own_user));
}

static const struct shares *shares_of(const struct budget *budget, const struct module *module)
{
	return is_trusted(budget, module) ? &trusted : &others;
}

/* A container's root is another one. */
static uint64_t owner_of(const struct budget *budget, const struct module *module)
{
	return (module->has_stamp ? (uint64_t)module->stamp.owner + 1 : 0) << 1 | is_trusted(budget, module);
}

static uint64_t spent_on(struct table *table, uint64_t key)
{
	const uint64_t *spent_ns = table_find(table, key);

	return spent_ns ? *spent_ns : 0;
}

static uint64_t left_of(uint64_t share_ns, uint64_t spent_ns)
{
	return spent_ns < share_ns ? share_ns - spent_ns : 0;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

uint64_t budget_left_ns(const struct budget *budget, const struct module *module, bool wants_debug)
{
	struct shares shares = *shares_of(budget, module);
	uint64_t left_ns;

	if (wants_debug) {
		shares.file_ns -= shares.file_ns / 4;
		shares.owner_ns -= shares.owner_ns / 4;
		shares.all_ns -= shares.all_ns / 4;
	}
	left_ns = left_of(shares.file_ns, spent_on(budget->files, (uint64_t)module->number + 1));
	left_ns = smaller(left_ns, left_of(shares.owner_ns, spent_on(budget->owners, owner_of(budget, module))));
	left_ns = smaller(left_ns,
			  left_of(shares.all_ns, is_trusted(budget, module) ? budget->trusted_ns : budget->others_ns));
	return left_ns < least_ns ? 0 : left_ns;
}

size_t budget_memory_bytes(const struct budget *budget, const struct module *module)
{
	return shares_of(budget, module)->memory_bytes;
}

static void add(struct table *table, uint64_t key, uint64_t ns)
{
	uint64_t *spent_ns = table_find(table, key);

	if (!spent_ns) {
		spent_ns = xcalloc(1, sizeof(*spent_ns));
		table_put(table, key, spent_ns);
	}
	*spent_ns += ns;
}

static void spend(struct budget *budget, const struct module *module, uint64_t ns)
{
	add(budget->files, (uint64_t)module->number + 1, ns);
	add(budget->owners, owner_of(budget, module), ns);
	*(is_trusted(budget, module) ? &budget->trusted_ns : &budget->others_ns) += ns;
}

void budget_spend(struct budget *budget, const struct module *module, uint64_t cpu_ns, uint64_t elapsed_ns)
{
	spend(budget, module, cpu_ns > elapsed_ns / ELAPSED_SHARE ? cpu_ns : elapsed_ns / ELAPSED_SHARE);
}

void budget_spend_death(struct budget *budget, const struct module *module, uint64_t elapsed_ns)
{
	spend(budget, module, elapsed_ns + death_ns);
}

/* --- What is read of processes --------------------------------------------------------------- */

/* What counts of it. */
static uint64_t fade(struct waited *waited)
{
	uint64_t now = clock_ns(), faded_ns = (now - waited->at_ns) / FADING;

	waited->ns -= waited->ns < faded_ns ? waited->ns : faded_ns;
	waited->at_ns = now;
	return waited->ns;
}

static uint64_t waited_for(struct table *table, uint64_t key)
{
	struct waited *waited = table_find(table, key + 1);

	return waited ? fade(waited) : 0;
}

static struct waited *waited_get(struct table *table, uint64_t key)
{
	struct waited *waited = table_find(table, key + 1);

	if (!waited) {
		waited = xcalloc(1, sizeof(*waited));
		waited->at_ns = clock_ns();
		table_put(table, key + 1, waited);
	}
	return waited;
}

static bool is_own(const struct budget *budget, uint32_t user)
{
	return !user || user == budget->own_user;
}

uint64_t budget_process_left_ns(struct budget *budget, uint64_t process, uint32_t user)
{
	uint64_t left_ns = left_of(process_ns, waited_for(budget->processes, process));

	if (!is_own(budget, user)) {
		left_ns = smaller(left_ns, left_of(user_ns, waited_for(budget->users, user)));
		left_ns = smaller(left_ns, left_of(all_users_ns, fade(&budget->all_users)));
	}
	return left_ns < least_ns ? 0 : left_ns;
}

static void spend_waiting(struct waited *waited, uint64_t ns)
{
	fade(waited);
	waited->ns += ns;
}

bool budget_spend_process(struct budget *budget, uint64_t process, uint32_t user, uint64_t waited_ns)
{
	if (table_count(budget->processes) >= PROCESSES_MAX) {
		free_all(budget->processes);
		budget->processes = table_new();
	}
	spend_waiting(waited_get(budget->processes, process), waited_ns);
	if (is_own(budget, user))
		return true;
	spend_waiting(waited_get(budget->users, user), waited_ns);
	spend_waiting(&budget->all_users, waited_ns);
	return left_of(user_ns, waited_for(budget->users, user)) >= least_ns;
}
