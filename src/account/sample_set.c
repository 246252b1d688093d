/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "account/sample_set.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"

enum { PLACES_FIRST = 16 };

void sample_set_fini(struct sample_set *set)
{
	free(set->kinds);
	free(set->places);
	*set = (struct sample_set){ 0 };
}

/* Where the kind is or would be. */
static uint32_t *find_place(const struct sample_set *set, uint64_t ip, uint64_t kernel_ip)
{
	size_t mask = set->place_count - 1;
	size_t i = hash_u64(ip ^ hash_u64(kernel_ip)) & mask;

	while (set->places[i]) {
		const struct sample_count *kind = &set->kinds[set->places[i] - 1];

		if (kind->ip == ip && kind->kernel_ip == kernel_ip)
			break;
		i = (i + 1) & mask;
	}
	return &set->places[i];
}

static void grow(struct sample_set *set)
{
	set->place_count = set->place_count ? set->place_count * 2 : PLACES_FIRST;
	free(set->places);
	set->places = xcalloc(set->place_count, sizeof(*set->places));
	set->kinds = xrealloc(set->kinds, set->place_count / 2 + 1, sizeof(*set->kinds));
	for (size_t i = 0; i < set->kind_count; i++)
		*find_place(set, set->kinds[i].ip, set->kinds[i].kernel_ip) = i + 1;
}

bool sample_set_add(struct sample_set *set, uint64_t ip, uint64_t kernel_ip, uint64_t count, size_t kinds_max)
{
	uint32_t *place;

	if (!set->place_count)
		grow(set);
	place = find_place(set, ip, kernel_ip);
	if (*place) {
		set->kinds[*place - 1].count += count;
		return true;
	}
	if (set->kind_count >= kinds_max)
		return false;
	if (set->kind_count >= set->place_count / 2) {
		grow(set);
		place = find_place(set, ip, kernel_ip);
	}
	set->kinds[set->kind_count++] = (struct sample_count){
		.ip = ip,
		.kernel_ip = kernel_ip,
		.count = count,
	};
	*place = set->kind_count;
	return true;
}

void sample_set_clear(struct sample_set *set)
{
	set->kind_count = 0;
	if (set->places)
		memset(set->places, 0, set->place_count * sizeof(*set->places));
}
