/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/lock_classes.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "view/page.h"

/* Waiting for the end of a thread is reported with the other waits: nobody holds it. */
static bool is_lock(const struct report_lock *lock)
{
	return strcmp(lock->kind, "join") != 0;
}

/* Those without name or place, whose stacks were not kept, are of one class a kind. */
static uint64_t key_of(const struct report_lock *lock)
{
	uint64_t key = hash_string(1, lock->kind);

	if (lock->name)
		return hash_string(hash_u64(key ^ 2), lock->name);
	if (lock->where)
		return hash_string(hash_u64(key ^ 3), lock->where);
	return key;
}

static void raise(uint64_t *most, uint64_t figure)
{
	if (figure > *most)
		*most = figure;
}

/* Adds the figures of a lock to those of its class. */
static void add_figures(struct lock_class *class, const struct report_lock *lock)
{
	struct report_lock *all = &class->all;

	all->wait_ns += lock->wait_ns;
	all->idle_ns += lock->idle_ns;
	all->waits += lock->waits;
	all->holds += lock->holds;
	all->hold_ns += lock->hold_ns;
	raise(&all->p50_ns, lock->p50_ns);
	raise(&all->p99_ns, lock->p99_ns);
	raise(&all->max_ns, lock->max_ns);
	for (size_t i = 0; i < lock->unlocker_count; i++)
		raise(&class->unlock_max_ns, lock->unlockers[i].cmetric_max_ns);
}

static void add(struct lock_class *class, const struct report_lock *lock)
{
	const struct report_lock **locks = (const struct report_lock **)class->locks;

	locks[class->lock_count++] = lock;
	add_figures(class, lock);
}

struct lock_class lock_class_of(const struct report_lock *const *lock)
{
	struct lock_class class = { .locks = lock, .lock_count = 1 };

	add_figures(&class, *lock);
	return class;
}

static int by_loss(const void *a, const void *b)
{
	const struct lock_class *x = a, *y = b;
	uint64_t x_ns = x->all.wait_ns - x->all.idle_ns, y_ns = y->all.wait_ns - y->all.idle_ns;

	if (x_ns != y_ns)
		return x_ns < y_ns ? 1 : -1;
	return x->locks[0] < y->locks[0] ? -1 : x->locks[0] > y->locks[0];
}

/* How many locks each class has, as numbers in place of pointers. */
static struct table *count_locks(const struct report *report)
{
	struct table *counts = table_new();

	for (size_t i = 0; i < report->lock_count; i++) {
		uint64_t key = key_of(&report->locks[i]);

		if (is_lock(&report->locks[i]))
			table_put(counts, key, (void *)((uintptr_t)table_find(counts, key) + 1));
	}
	return counts;
}

const struct lock_class *lock_classes(struct arena *arena, const struct report *report, size_t *count)
{
	struct table *counts = count_locks(report), *by_key = table_new();
	size_t class_count = table_count(counts);
	struct lock_class *classes = arena_alloc(arena, class_count * sizeof(*classes)), *class;

	*count = 0;
	for (size_t i = 0; i < report->lock_count; i++) {
		uint64_t key = key_of(&report->locks[i]);

		if (!is_lock(&report->locks[i]))
			continue;
		class = table_find(by_key, key);
		if (!class) {
			class = &classes[(*count)++];
			class->key = key;
			class->locks = arena_alloc(arena, (uintptr_t)table_find(counts, key) * sizeof(*class->locks));
			table_put(by_key, key, class);
		}
		add(class, &report->locks[i]);
	}
	table_free(counts);
	table_free(by_key);
	qsort(classes, *count, sizeof(*classes), by_loss);
	return classes;
}

void lock_class_put_name(struct page *page, const struct lock_class *class, bool shows_address)
{
	const struct report_lock *lock = class->locks[0];
	const char *name = lock->name;

	if (!name && class->lock_count == 1 && (shows_address || !lock->where))
		name = lock->address;
	page_color(page, PAGE_BOLD);
	if (class->lock_count > 1)
		page_printf(page, "%zu ", class->lock_count);
	if (name) {
		page_put_name(page, name, page_columns_left(page) / 2);
		page_color(page, PAGE_PLAIN);
		page_put(page, "  ");
	}
	page_put_name(page, lock->kind, page_columns_left(page));
	page_color(page, PAGE_PLAIN);
	if (class->lock_count > 1 && !name)
		page_put(page, lock->where ? " locks" : " locks, place unknown");
	if (lock->where && page_columns_left(page) > 20) {
		page_put(page, " in ");
		page_put_function(page, lock->where, page_columns_left(page));
	}
}
