/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/ring_names.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/table.h"
#include "engine/carried_names.h"

/* More than a file has that readers may begin with. */
enum { EPOCHS_MAX = 64 };

struct epoch {
	uint64_t time_ns;
	struct space_numbers *written;
	struct carried_names *names;
};

struct ring_names {
	struct space_numbers *read; /* from the beginning on */
	struct epoch epochs[EPOCHS_MAX];
	size_t count;               /* of all that have begun */
	struct carried_names *none; /* of an epoch that is unknown */
};

struct ring_names *ring_names_new(void)
{
	struct ring_names *names = xcalloc(1, sizeof(*names));

	names->read = space_numbers_new();
	names->none = carried_names_new_of(names->read, NULL);
	return names;
}

static void epoch_fini(struct epoch *epoch)
{
	carried_names_free(epoch->names);
	space_numbers_free(epoch->written);
}

void ring_names_free(struct ring_names *names)
{
	if (!names)
		return;
	for (size_t i = 0; i < EPOCHS_MAX; i++)
		epoch_fini(&names->epochs[i]);
	carried_names_free(names->none);
	space_numbers_free(names->read);
	free(names);
}

void ring_names_begin(struct ring_names *names, uint64_t time_ns)
{
	struct epoch *epoch = &names->epochs[names->count++ % EPOCHS_MAX];

	epoch_fini(epoch);
	epoch->time_ns = time_ns;
	epoch->written = space_numbers_new();
	epoch->names = carried_names_new_of(names->read, epoch->written);
}

/* The process is the first field of all of space's events. */
static void follow(struct epoch *epoch, const struct ev_header *header)
{
	space_numbers_follow(epoch->written, header);
	carried_names_pair(epoch->names, ((const struct ev_space_exit *)header)->pid);
}

void ring_names_repeat(struct ring_names *names, const struct ev_header *header)
{
	if (header->subsys == TRACE_SUBSYS_SPACE && names->count)
		follow(&names->epochs[(names->count - 1) % EPOCHS_MAX], header);
}

void ring_names_follow(struct ring_names *names, const struct ev_header *header)
{
	if (header->subsys != TRACE_SUBSYS_SPACE)
		return;
	space_numbers_follow(names->read, header);
	for (size_t i = 0; i < EPOCHS_MAX && i < names->count; i++)
		follow(&names->epochs[i], header);
}

static const struct carried_names *names_from(const struct ring_names *names, uint64_t begin_ns)
{
	for (size_t i = 0; i < EPOCHS_MAX && i < names->count; i++)
		if (names->epochs[i].time_ns == begin_ns)
			return names->epochs[i].names;
	return names->none;
}

bool ring_names_change(const struct ring_names *names, uint64_t begin_ns, const void *content, size_t size_bytes,
		       struct table *notes, struct text *out)
{
	return carried_names_change(names_from(names, begin_ns), content, size_bytes, notes, out);
}
