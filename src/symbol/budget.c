/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/budget.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/table.h"
#include "symbol/module.h"

/* ns of CPU. Debug information of a program of a gigabyte takes 5 s. */
struct shares {
	uint64_t file_ns, owner_ns, all_ns;
	size_t memory_bytes;
};

static const struct shares
	trusted = { 20000000000, 60000000000, 60000000000, (size_t)1 << 30 },
	others = { 4000000000, 8000000000, 10000000000, (size_t)192 << 20 };

static const uint64_t least_ns = 20000000;	/* less is not worth a question */
static const uint64_t death_ns = 500000000;

enum { ELAPSED_SHARE = 4 };	/* a disk that is slow costs the user's time, too */

struct budget {
	struct table *files, *owners;	/* by number + 1, by owner_of(): uint64_t, spent ns */
	uint64_t trusted_ns, others_ns;	/* spent on all of these */
};

struct budget *budget_new(void)
{
	struct budget *budget = xcalloc(1, sizeof(*budget));

	budget->files = table_new();
	budget->owners = table_new();
	return budget;
}

static void free_all(struct table *table)
{
	size_t cursor = 0;
	uint64_t *spent_ns;

	while ((spent_ns = table_next(table, &cursor)))
		free(spent_ns);
	table_free(table);
}

void budget_free(struct budget *budget)
{
	if (!budget)
		return;
	free_all(budget->files);
	free_all(budget->owners);
	free(budget);
}

/* What containers show as root's is their own. */
static bool is_trusted(const struct module *module)
{
	return module->kind != MODULE_FILE ||
	       (module->has_stamp && !module->stamp.is_overlay && file_stamp_is_owned(&module->stamp, getuid()));
}

static const struct shares *shares_of(const struct module *module)
{
	return is_trusted(module) ? &trusted : &others;
}

/* A container's root is another one. */
static uint64_t owner_of(const struct module *module)
{
	return (module->has_stamp ? (uint64_t)module->stamp.owner + 1 : 0) << 1 | is_trusted(module);
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
	struct shares shares = *shares_of(module);
	uint64_t left_ns;

	if (wants_debug) {
		shares.file_ns -= shares.file_ns / 4;
		shares.owner_ns -= shares.owner_ns / 4;
		shares.all_ns -= shares.all_ns / 4;
	}
	left_ns = left_of(shares.file_ns, spent_on(budget->files, (uint64_t)module->number + 1));
	left_ns = smaller(left_ns, left_of(shares.owner_ns, spent_on(budget->owners, owner_of(module))));
	left_ns = smaller(left_ns, left_of(shares.all_ns, is_trusted(module) ? budget->trusted_ns
									      : budget->others_ns));
	return left_ns < least_ns ? 0 : left_ns;
}

size_t budget_memory_bytes(const struct module *module)
{
	return shares_of(module)->memory_bytes;
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
	add(budget->owners, owner_of(module), ns);
	*(is_trusted(module) ? &budget->trusted_ns : &budget->others_ns) += ns;
}

void budget_spend(struct budget *budget, const struct module *module, uint64_t cpu_ns, uint64_t elapsed_ns)
{
	spend(budget, module, cpu_ns > elapsed_ns / ELAPSED_SHARE ? cpu_ns : elapsed_ns / ELAPSED_SHARE);
}

void budget_spend_death(struct budget *budget, const struct module *module, uint64_t elapsed_ns)
{
	spend(budget, module, elapsed_ns + death_ns);
}
