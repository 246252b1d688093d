/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/resolver.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/table.h"
#include "collect/kernel.h"
#include "symbol/maps_file.h"
#include "symbol/open_file.h"
#include "symbol/symbol.h"

enum { CANDIDATES_MAX = 64, FILES_MAX = 65536 };

static const char function[] = "getaddrinfo";

/* A mapping of what may be a C library. */
struct candidate {
	uint32_t pid;
	uint64_t start, end;
	char *path;
};

struct resolver {
	struct symbols *symbols;
	struct kernel *kernel;
	struct table *mapped;		/* by device and inode, as mappings tell it: looked at */
	struct table *files;		/* by device and inode, as the file tells it: attached to */
	struct candidate candidates[CANDIDATES_MAX];
	size_t candidate_count;
	size_t attached_count, failed_count;
	int err;			/* the first one */
	char note[256];
};

/* "libc.so.6", "libc-2.31.so", musl's "libc.musl-x86_64.so.1" and "ld-musl-x86_64.so.1". */
static bool is_c_library(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	return !strncmp(name, "libc.", 5) || !strncmp(name, "libc-", 5) ||
	       !strncmp(name, "ld-musl-", 8);
}

static uint64_t file_key(uint64_t device, uint64_t inode)
{
	return hash_u64(hash_u64(device) ^ inode);
}

/* Whether it is the first time, as far as there is room to remember. */
static bool is_first(struct table *table, uint64_t key)
{
	if (table_find(table, key) || table_count(table) >= FILES_MAX)
		return false;
	table_put(table, key, table);
	return true;
}

static void attach(struct resolver *resolver, int fd, uint64_t file_offset)
{
	struct stat status;
	char path[64];
	int err;

	if (fstat(fd, &status) ||
	    !is_first(resolver->files, file_key(status.st_dev, status.st_ino)))
		return;
	/* Whatever its path leads to by now, or in other file trees. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	err = kernel_attach_resolver(resolver->kernel, path, file_offset);
	if (!err) {
		resolver->attached_count++;
		return;
	}
	resolver->failed_count++;
	if (!resolver->err)
		resolver->err = err;
}

static void on_own_mapping(void *data, const struct module_identity *identity, uint64_t file_offset)
{
	uint64_t address = (uint64_t)dlsym(RTLD_DEFAULT, function);
	struct resolver *resolver = data;
	int fd;

	if (address < identity->start || address >= identity->end)
		return;
	fd = file_open(identity->path);
	if (fd < 0)
		return;
	attach(resolver, fd, address - identity->start + file_offset);
	close(fd);
}

static void add_candidate(struct resolver *resolver, const struct module_identity *identity)
{
	struct candidate *candidate = &resolver->candidates[resolver->candidate_count];

	if (!is_c_library(identity->path) || resolver->candidate_count == CANDIDATES_MAX)
		return;
	if (identity->inode &&
	    !is_first(resolver->mapped, file_key(identity->device, identity->inode)))
		return;
	*candidate = (struct candidate){
		.pid = identity->pid, .start = identity->start, .end = identity->end,
		.path = xstrdup(identity->path),
	};
	resolver->candidate_count++;
}

static void on_map(void *data, const struct ev_header *header)
{
	const struct ev_space_map *e = (const struct ev_space_map *)header;

	add_candidate(data, &(struct module_identity){
		.pid = e->pid, .start = e->start, .end = e->start + e->size,
		.device = makedev(e->major, e->minor), .inode = e->inode, .path = e->path,
	});
}

static const struct event_handler handlers[] = {
	{ EV_SPACE_MAP, on_map },
	{ 0, NULL },
};

struct resolver *resolver_new(struct session *session, struct symbols *symbols,
			      struct kernel *kernel)
{
	struct resolver *resolver = xcalloc(1, sizeof(*resolver));

	resolver->symbols = symbols;
	resolver->kernel = kernel;
	resolver->mapped = table_new();
	resolver->files = table_new();
	session_subscribe(session, handlers, resolver);
	maps_file_read(getpid(), on_own_mapping, resolver);
	return resolver;
}

void resolver_free(struct resolver *resolver)
{
	if (!resolver)
		return;
	while (resolver->candidate_count)
		free(resolver->candidates[--resolver->candidate_count].path);
	table_free(resolver->mapped);
	table_free(resolver->files);
	free(resolver);
}

static void on_mapping(void *data, const struct module_identity *identity,
		       uint64_t file_offset __attribute__((unused)))
{
	add_candidate(data, identity);
}

void resolver_add_process(struct resolver *resolver, uint32_t pid)
{
	maps_file_read(pid, on_mapping, resolver);
	resolver_update(resolver);
}

static int open_candidate(const struct candidate *candidate)
{
	char link[64];
	int fd;

	snprintf(link, sizeof(link), "/proc/%u/map_files/%llx-%llx", candidate->pid,
		 (unsigned long long)candidate->start, (unsigned long long)candidate->end);
	fd = file_open(link);
	return fd >= 0 ? fd : file_open_in_root(candidate->pid, candidate->path, true);
}

static void look_at(struct resolver *resolver, const struct candidate *candidate)
{
	uint64_t file_offset;
	int fd = open_candidate(candidate);

	if (fd < 0)		/* its process has ended */
		return;
	if (!symbols_find_function(resolver->symbols, candidate->pid, candidate->start, function,
				   &file_offset))
		attach(resolver, fd, file_offset);
	close(fd);
}

void resolver_update(struct resolver *resolver)
{
	while (resolver->candidate_count) {
		struct candidate *candidate = &resolver->candidates[--resolver->candidate_count];

		look_at(resolver, candidate);
		free(candidate->path);
	}
}

const char *resolver_note(struct resolver *resolver)
{
	if (resolver->failed_count)
		snprintf(resolver->note, sizeof(resolver->note), "getaddrinfo() of %zu of %zu C "
			 "libraries could not be followed (%s): hosts may lack their names",
			 resolver->failed_count, resolver->failed_count + resolver->attached_count,
			 strerror(-resolver->err));
	else if (!resolver->attached_count)
		snprintf(resolver->note, sizeof(resolver->note), "no C library with getaddrinfo() was "
			 "met: hosts have no names");
	else
		return NULL;
	return resolver->note;
}
