/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/span_functions.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/memory.h"
#include "base/table.h"
#include "base/text.h"
#include "collect/kernel.h"
#include "collect/met_files.h"
#include "collect/span_spec.h"
#include "symbol/maps_file.h"
#include "symbol/open_file.h"
#include "symbol/symbol.h"

struct span_functions {
	struct symbols *symbols;
	struct kernel *kernel;
	const struct span_specs *specs;
	struct met_files *met;
	struct table *files;		/* by device, inode and span: attached to */
	struct followed {
		uint32_t file_count;	/* with the function */
		uint32_t most;		/* functions of a file that are called so */
		bool is_cut;		/* there are too many, or nobody knows where one ends */
		int err;		/* the first one */
	} spans[SPANS_MAX];
};

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool is_named(const struct span_spec *spec, const char *path)
{
	if (spec->kind != SPAN_OF_FUNCTION)
		return false;
	if (strchr(spec->file, '/'))
		return !strcmp(spec->file, path) || !strcmp(base_name(spec->file), base_name(path));
	return !strcmp(spec->file, base_name(path));
}

static bool is_named_by_any(void *data, const char *path)
{
	const struct span_functions *functions = data;

	for (size_t i = 0; i < functions->specs->count; i++)
		if (is_named(&functions->specs->list[i], path))
			return true;
	return false;
}

/* --- Attaching -------------------------------------------------------------------------------- */

/* A path leads to the very file that the span names, or the span has no path. */
static bool is_that_file(const struct span_spec *spec, const struct stat *status)
{
	struct stat named;

	if (!strchr(spec->file, '/'))
		return true;
	/* In another file tree the path may be another file's, and this one cannot be told from it. */
	return stat(spec->file, &named) ||
	       (named.st_dev == status->st_dev && named.st_ino == status->st_ino);
}

static void attach(struct span_functions *functions, size_t span, int fd,
		   const struct symbol_functions *found)
{
	struct followed *followed = &functions->spans[span];
	char path[64];

	/* Whatever its path leads to by now, or in other file trees. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	/* The ends of each come behind its beginning, and first here: what is begun can be ended. */
	for (size_t i = found->place_count; i-- > 0;) {
		int err = kernel_attach_function(functions->kernel, path, &found->places[i], span);

		if (err && !followed->err)
			followed->err = err;
	}
	followed->file_count++;
	followed->is_cut |= found->is_cut;
	if (found->function_count > followed->most)
		followed->most = found->function_count;
}

/* Whom to ask what a file has: where it is mapped, or by its path. */
struct place {
	uint32_t pid;
	uint64_t start;
	const char *path;		/* NULL: by where it is mapped */
};

/* 0, or -ENOENT when the file has no such function. */
static int look_for(struct span_functions *functions, size_t span, int fd, const struct place *place)
{
	const struct span_spec *spec = &functions->specs->list[span];
	struct symbol_functions found;
	struct stat status;
	uint64_t key;
	int err;

	if (fstat(fd, &status) || !is_that_file(spec, &status))
		return 0;
	key = met_file_key(status.st_dev, status.st_ino) ^ hash_u64(span + 1);
	if (table_find(functions->files, key))
		return 0;
	if (place->path)
		err = symbols_find_functions_of(functions->symbols, place->path, spec->function, &found);
	else
		err = symbols_find_functions(functions->symbols, place->pid, place->start,
					     spec->function, &found);
	if (err)
		return err;
	if (met_file_is_first(functions->files, key))
		attach(functions, span, fd, &found);
	return 0;
}

/* --- Files that processes map ----------------------------------------------------------------- */

static void look_at(void *data, const struct met_file *file)
{
	const struct place place = { file->pid, file->start, NULL };
	struct span_functions *functions = data;

	for (size_t i = 0; i < functions->specs->count; i++)
		if (is_named(&functions->specs->list[i], file->path))
			look_for(functions, i, file->fd, &place);
}

void span_functions_update(struct span_functions *functions)
{
	met_files_tell(functions->met, look_at);
}

void span_functions_add_process(struct span_functions *functions, uint32_t pid)
{
	met_files_add_process(functions->met, pid);
	span_functions_update(functions);
}

/* --- Files that are known before -------------------------------------------------------------- */

static int expect(struct span_functions *functions, size_t span, const char *path)
{
	const struct span_spec *spec = &functions->specs->list[span];
	char full[PATH_MAX];
	struct place place = { .path = full };
	int fd, err;

	if (!realpath(path, full))
		return 0;
	fd = file_open(full);
	if (fd < 0)
		return 0;
	err = look_for(functions, span, fd, &place);
	close(fd);
	return err ? fail_plain(err, "%s has no function %s", full, spec->function) : 0;
}

/* As a shell would look for it. */
static int expect_along_path(struct span_functions *functions, size_t span, const char *file)
{
	const char *path = getenv("PATH"), *end;
	char name[PATH_MAX];

	for (; path && *path; path = *end ? end + 1 : end) {
		end = path + strcspn(path, ":");
		snprintf(name, sizeof(name), "%.*s/%s", (int)(end - path), path, file);
		if (!access(name, X_OK))
			return expect(functions, span, name);
	}
	return 0;
}

int span_functions_expect(struct span_functions *functions, const char *program)
{
	int err = 0;

	for (size_t i = 0; i < functions->specs->count && !err; i++) {
		const struct span_spec *spec = &functions->specs->list[i];

		if (spec->kind != SPAN_OF_FUNCTION)
			continue;
		if (strchr(spec->file, '/'))
			err = expect(functions, i, spec->file);
		else if (program && strchr(program, '/') && !strcmp(base_name(program), spec->file))
			err = expect(functions, i, program);
		else if (program && !strcmp(program, spec->file))
			err = expect_along_path(functions, i, program);
	}
	return err;
}

/* --- Telling ---------------------------------------------------------------------------------- */

void span_functions_put_notes(const struct span_functions *functions, struct text *notes)
{
	for (size_t i = 0; i < functions->specs->count; i++) {
		const struct span_spec *spec = &functions->specs->list[i];
		const struct followed *followed = &functions->spans[i];

		if (spec->kind != SPAN_OF_FUNCTION)
			continue;
		if (!followed->file_count)
			text_printf(notes, "span %s: no process has mapped a file %s with a function %s",
				    spec->name, spec->file, spec->function);
		else if (followed->err)
			text_printf(notes, "span %s: not all of its functions could be followed (%s)",
				    spec->name, strerror(-followed->err));
		else if (followed->is_cut)
			text_printf(notes, "span %s: of the %u functions that are called so, some are too many, "
				    "or nothing tells where they end", spec->name, followed->most);
		else if (followed->most > 1)
			text_printf(notes, "span %s: %u functions are called so; each is followed",
				    spec->name, followed->most);
		else
			continue;
		text_put_bytes(notes, "", 1);
	}
}

struct span_functions *span_functions_new(struct session *session, struct symbols *symbols,
					  struct kernel *kernel, const struct span_specs *specs)
{
	struct span_functions *functions = xcalloc(1, sizeof(*functions));

	functions->symbols = symbols;
	functions->kernel = kernel;
	functions->specs = specs;
	functions->met = met_files_new(session, is_named_by_any, functions);
	functions->files = table_new();
	return functions;
}

void span_functions_free(struct span_functions *functions)
{
	if (!functions)
		return;
	met_files_free(functions->met);
	table_free(functions->files);
	free(functions);
}
