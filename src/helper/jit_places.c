/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "helper/jit_places.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/table.h"
#include "helper/jit_place.h"

struct entry {
	struct jit_place place;
	uint64_t order;
	bool is_lost;
};

/* How many places a user has. */
struct user {
	uid_t uid;
	size_t count;
};

struct jit_places {
	size_t user_count_max, count_max;
	struct table *entries; /* by space + 1; owns them */
	struct table *users;   /* by uid + 1, of those who have some; owns them */
	size_t count;          /* of all users but root */
	uint64_t last_order;
};

struct jit_places *jit_places_new(size_t user_count_max, size_t count_max)
{
	struct jit_places *places = xcalloc(1, sizeof(*places));

	places->user_count_max = user_count_max;
	places->count_max = count_max;
	places->entries = table_new();
	places->users = table_new();
	return places;
}

static void count(struct jit_places *places, uid_t uid, int change)
{
	struct user *user = table_find(places->users, (uint64_t)uid + 1);

	if (!user) {
		user = xcalloc(1, sizeof(*user));
		user->uid = uid;
		table_put(places->users, (uint64_t)uid + 1, user);
	}
	user->count += change;
	if (uid)
		places->count += change;
	if (!user->count)
		free(table_take(places->users, (uint64_t)uid + 1));
}

static void let_go(struct jit_places *places, struct entry *entry)
{
	if (!entry->place.pid)
		return;
	count(places, entry->place.uid, -1);
	jit_place_close(&entry->place);
}

void jit_places_free(struct jit_places *places)
{
	struct entry *entry;
	size_t cursor = 0;

	while ((entry = table_next(places->entries, &cursor))) {
		let_go(places, entry);
		free(entry);
	}
	table_free(places->entries);
	table_free(places->users);
	free(places);
}

static void lose_oldest(struct jit_places *places, uid_t uid)
{
	struct entry *entry, *oldest = NULL;
	size_t cursor = 0;

	while ((entry = table_next(places->entries, &cursor)))
		if (entry->place.pid && entry->place.uid == uid && (!oldest || entry->order < oldest->order))
			oldest = entry;
	if (!oldest)
		return;
	let_go(places, oldest);
	oldest->is_lost = true;
}

static uid_t find_largest(const struct jit_places *places)
{
	const struct user *user, *largest = NULL;
	size_t cursor = 0;

	while ((user = table_next(places->users, &cursor)))
		if (user->uid && (!largest || user->count > largest->count))
			largest = user;
	return largest ? largest->uid : 0;
}

static void make_space(struct jit_places *places, uid_t uid)
{
	const struct user *user = table_find(places->users, (uint64_t)uid + 1);

	if (user && user->count > places->user_count_max)
		lose_oldest(places, uid);
	else if (places->count > places->count_max)
		lose_oldest(places, find_largest(places));
}

int jit_places_find(struct jit_places *places, uint32_t space, uint32_t pid)
{
	struct entry *entry = table_find(places->entries, (uint64_t)space + 1);
	struct jit_place found = { 0 };
	int err = jit_place_find(pid, &found);

	if (err)
		return err;
	if (!entry) {
		entry = xcalloc(1, sizeof(*entry));
		table_put(places->entries, (uint64_t)space + 1, entry);
	}
	let_go(places, entry);
	*entry = (struct entry){ .place = found, .order = ++places->last_order };
	count(places, found.uid, 1);
	make_space(places, found.uid);
	return 0;
}

int jit_places_open(const struct jit_places *places, uint32_t space)
{
	const struct entry *entry = table_find(places->entries, (uint64_t)space + 1);

	if (!entry)
		return -ENOENT;
	return entry->is_lost ? -ENOSPC : jit_place_open(&entry->place);
}

void jit_places_forget(struct jit_places *places, uint32_t space)
{
	struct entry *entry = table_take(places->entries, (uint64_t)space + 1);

	if (!entry)
		return;
	let_go(places, entry);
	free(entry);
}
