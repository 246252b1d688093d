/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/resolver.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/table.h"
#include "collect/kernel.h"
#include "collect/probe/seen_files.h"
#include "collect/probe/user_probes.h"
#include "helper/file_stamp.h"
#include "helper/maps_file.h"
#include "symbol/space/module.h"
#include "symbol/symbol.h"

static const char function[] = "getaddrinfo";

struct resolver {
	struct symbols *symbols;
	struct user_probes *probes;
	struct seen_files *seen;
	struct table *files; /* by file_stamp_probe_key(): attached to */
	size_t attached_count, failed_count;
	uint64_t changed_count; /* files that were written to meanwhile */
	int err;                /* the first one */
	char note[256];
};

/* "libc.so.6", "libc-2.31.so", musl's "libc.musl-x86_64.so.1" and "ld-musl-x86_64.so.1". */
static bool is_c_library(void *data __attribute__((unused)), const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	return !strncmp(name, "libc.", 5) || !strncmp(name, "libc-", 5) || !strncmp(name, "ld-musl-", 8);
}

static int attach(struct resolver *resolver, int fd, const struct file_stamp *stamp, uint64_t file_offset)
{
	struct probed_file *file;
	int err = user_probes_open(resolver->probes, fd, stamp, &resolver->changed_count, &file);

	if (!err)
		err = user_probes_add_resolver(file, file_offset);
	return err ? err : user_probes_confirm(file);
}

/* Whatever other files say of themselves, its offsets are those of this one. */
static void look_at(void *data, const struct seen_file *seen)
{
	struct resolver *resolver = data;
	struct file_stamp stamp;
	uint64_t file_offset;
	int err;

	if (file_stamp_read(seen->file.fd, &stamp) || table_find(resolver->files, file_stamp_probe_key(&stamp)) ||
	    symbols_find_function(resolver->symbols, &seen->file, function, &file_offset) ||
	    !seen_file_is_first(resolver->files, file_stamp_probe_key(&stamp)))
		return;
	err = attach(resolver, seen->file.fd, &stamp, file_offset);
	if (!err) {
		resolver->attached_count++;
	} else if (err != -ESTALE) {
		resolver->failed_count++;
		resolver->err = resolver->err ? resolver->err : err;
	}
}

/* The library that the commands to come will most likely use is there before they are. */
static void on_own_mapping(void *data, const struct file_mapping *mapping)
{
	uint64_t address = (uint64_t)dlsym(RTLD_DEFAULT, function);
	const struct module_identity identity = {
		.pid = getpid(),
		.start = mapping->start,
		.end = mapping->end,
		.device = mapping->device,
		.inode = mapping->inode,
		.path = mapping->path,
	};
	struct seen_file seen = { .path = mapping->path };
	struct resolver *resolver = data;

	if (address < mapping->start || address >= mapping->end ||
	    symbols_open_file(resolver->symbols, &identity, &seen.file))
		return;
	look_at(data, &seen);
	close(seen.file.fd);
}

struct resolver *resolver_new(struct session *session, struct symbols *symbols, struct kernel *kernel)
{
	struct resolver *resolver = xcalloc(1, sizeof(*resolver));

	resolver->symbols = symbols;
	resolver->probes = kernel_user_probes(kernel);
	resolver->seen = seen_files_new(session, is_c_library, resolver);
	resolver->files = table_new();
	maps_file_read(getpid(), on_own_mapping, resolver);
	return resolver;
}

void resolver_free(struct resolver *resolver)
{
	if (!resolver)
		return;
	seen_files_free(resolver->seen);
	table_free(resolver->files);
	free(resolver);
}

void resolver_update(struct resolver *resolver)
{
	user_probes_check(resolver->probes);
	seen_files_each(resolver->seen, resolver->symbols, look_at);
}

const char *resolver_note(struct resolver *resolver)
{
	if (resolver->failed_count)
		snprintf(resolver->note, sizeof(resolver->note),
			 "getaddrinfo() could not be probed in %zu of %zu C libraries (%s): host names may be missing",
			 resolver->failed_count, resolver->failed_count + resolver->attached_count,
			 strerror(-resolver->err));
	else if (resolver->changed_count)
		snprintf(resolver->note, sizeof(resolver->note),
			 "%llu C libraries were written to, which ended the probes on getaddrinfo() in them: host "
			 "names may be missing",
			 (unsigned long long)resolver->changed_count);
	else if (!resolver->attached_count)
		snprintf(resolver->note, sizeof(resolver->note),
			 "no C library with getaddrinfo() was found: hosts have no names");
	else
		return NULL;
	return resolver->note;
}
