/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/resolver.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/table.h"
#include "collect/kernel.h"
#include "collect/met_files.h"
#include "symbol/maps_file.h"
#include "symbol/open_file.h"
#include "symbol/symbol.h"

static const char function[] = "getaddrinfo";

struct resolver {
	struct symbols *symbols;
	struct kernel *kernel;
	struct met_files *met;
	struct table *files;		/* by device and inode, as the file tells it: attached to */
	size_t attached_count, failed_count;
	int err;			/* the first one */
	char note[256];
};

/* "libc.so.6", "libc-2.31.so", musl's "libc.musl-x86_64.so.1" and "ld-musl-x86_64.so.1". */
static bool is_c_library(void *data __attribute__((unused)), const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	return !strncmp(name, "libc.", 5) || !strncmp(name, "libc-", 5) ||
	       !strncmp(name, "ld-musl-", 8);
}

static void attach(struct resolver *resolver, int fd, uint64_t file_offset)
{
	struct stat status;
	char path[64];
	int err;

	if (fstat(fd, &status) ||
	    !met_file_is_first(resolver->files, met_file_key(status.st_dev, status.st_ino)))
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

struct resolver *resolver_new(struct session *session, struct symbols *symbols,
			      struct kernel *kernel)
{
	struct resolver *resolver = xcalloc(1, sizeof(*resolver));

	resolver->symbols = symbols;
	resolver->kernel = kernel;
	resolver->met = met_files_new(session, is_c_library, resolver);
	resolver->files = table_new();
	maps_file_read(getpid(), on_own_mapping, resolver);
	return resolver;
}

void resolver_free(struct resolver *resolver)
{
	if (!resolver)
		return;
	met_files_free(resolver->met);
	table_free(resolver->files);
	free(resolver);
}

static void look_at(void *data, const struct met_file *file)
{
	struct resolver *resolver = data;
	uint64_t file_offset;

	if (!symbols_find_function(resolver->symbols, file->pid, file->start, function, &file_offset))
		attach(resolver, file->fd, file_offset);
}

void resolver_update(struct resolver *resolver)
{
	met_files_tell(resolver->met, look_at);
}

void resolver_add_process(struct resolver *resolver, uint32_t pid)
{
	met_files_add_process(resolver->met, pid);
	resolver_update(resolver);
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
