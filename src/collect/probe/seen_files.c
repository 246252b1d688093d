/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/probe/seen_files.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/table.h"
#include "session/session.h"
#include "symbol/space/module.h"
#include "symbol/symbol.h"

enum { CANDIDATES_MAX = 1024, FILES_MAX = 65536 };

/* A mapping of a file that was not recorded yet; its path is its own. */
struct candidate {
	struct module_identity identity;
	char *path;
};

struct seen_files {
	bool (*is_wanted)(void *data, const char *path);
	void *data;
	struct table *mapped; /* by device and inode, as mappings tell it */
	struct candidate candidates[CANDIDATES_MAX];
	size_t candidate_count;
};

/* A file is the same wherever it is mapped. */
static uint64_t key_of(uint64_t device, uint64_t inode)
{
	return hash_u64(hash_u64(device) ^ inode);
}

bool seen_file_is_first(struct table *keys, uint64_t key)
{
	if (table_find(keys, key) || table_count(keys) >= FILES_MAX)
		return false;
	table_put(keys, key, keys);
	return true;
}

static void add_candidate(struct seen_files *files, const struct module_identity *identity)
{
	struct candidate *candidate = &files->candidates[files->candidate_count];

	if (files->candidate_count == CANDIDATES_MAX || !files->is_wanted(files->data, identity->path))
		return;
	if (identity->inode && !seen_file_is_first(files->mapped, key_of(identity->device, identity->inode)))
		return;
	*candidate = (struct candidate){ *identity, xstrdup(identity->path) };
	candidate->identity.path = candidate->path;
	files->candidate_count++;
}

/* Of one that was found there, all but the kind is the same. */
static void on_map(void *data, const struct ev_header *header)
{
	struct module_identity identity = module_identity_of((const struct ev_space_map *)header);

	add_candidate(data, &identity);
}

struct seen_files *seen_files_new(struct session *session, bool (*is_wanted)(void *data, const char *path), void *data)
{
	static const struct event_handler handlers[] = {
		{ EV_SPACE_MAP, on_map },
		{ EV_SPACE_FOUND, on_map },
		{ 0 },
	};
	struct seen_files *files = xcalloc(1, sizeof(*files));

	files->is_wanted = is_wanted;
	files->data = data;
	files->mapped = table_new();
	session_subscribe(session, handlers, files);
	return files;
}

void seen_files_free(struct seen_files *files)
{
	if (!files)
		return;
	while (files->candidate_count)
		free(files->candidates[--files->candidate_count].path);
	table_free(files->mapped);
	free(files);
}

void seen_files_each(struct seen_files *files, struct symbols *symbols,
		     void (*on_file)(void *data, const struct seen_file *file))
{
	while (files->candidate_count) {
		struct candidate *candidate = &files->candidates[--files->candidate_count];
		struct seen_file seen = { .path = candidate->path };

		/* Else its process has ended, or the file lies where reading it could take for ever. */
		if (!symbols_open_file(symbols, &candidate->identity, &seen.file)) {
			on_file(files->data, &seen);
			close(seen.file.fd);
		}
		free(candidate->path);
	}
}
