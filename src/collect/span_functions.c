/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/span_functions.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/memory.h"
#include "base/table.h"
#include "base/text.h"
#include "collect/kernel.h"
#include "collect/probe/chosen_file.h"
#include "collect/probe/seen_files.h"
#include "collect/probe/span_spec.h"
#include "collect/probe/user_probes.h"
#include "helper/file_stamp.h"
#include "symbol/space/module.h"
#include "symbol/symbol.h"

struct span_functions {
	struct symbols *symbols;
	struct user_probes *probes;
	const struct span_specs *specs;
	struct seen_files *seen;
	struct table *files; /* by file_stamp_probe_key() and span: attached to */
	struct followed {
		uint32_t file_count;     /* with the function */
		uint32_t most;           /* functions of a file that are called so */
		bool is_cut;             /* there are too many, or nobody knows where one ends */
		uint64_t doubtful_count; /* symbols where no function can be */
		uint64_t changed_count;  /* files that were written to meanwhile */
		int err;                 /* the first one */
	} spans[SPANS_MAX];
};

static bool is_named(const struct span_spec *spec, const char *path)
{
	return spec->kind == SPAN_OF_FUNCTION && chosen_file_may_be(spec->file, path);
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

static void attach(struct span_functions *functions, size_t span, int fd, const struct file_stamp *stamp,
		   const struct symbol_functions *found)
{
	struct followed *followed = &functions->spans[span];
	struct probed_file *file;
	int err;

	err = user_probes_open(functions->probes, fd, stamp, &followed->changed_count, &file);
	/* The ends of each come behind its beginning, and first here: what is begun can be ended. */
	for (size_t i = err ? 0 : found->place_count; i-- > 0;) {
		int e = user_probes_add_function(file, &found->places[i], span);

		if (e && !followed->err)
			followed->err = e;
	}
	if (!err)
		err = user_probes_confirm(file);
	if (err && err != -ESTALE && !followed->err)
		followed->err = err;
	followed->file_count++;
	followed->is_cut |= found->is_cut;
	if (found->function_count > followed->most)
		followed->most = found->function_count;
}

/* 0, or -ENOENT when the file has no such function. */
static int look_for(struct span_functions *functions, size_t span, const struct symbol_open_file *file)
{
	const struct span_spec *spec = &functions->specs->list[span];
	struct symbol_functions found;
	struct file_stamp stamp;
	uint64_t key;
	int err;

	if (file_stamp_read(file->fd, &stamp) || !chosen_file_is(spec->file, &stamp))
		return 0;
	key = file_stamp_probe_key(&stamp) ^ hash_u64(span + 1);
	if (table_find(functions->files, key))
		return 0;
	/* Whatever other files say of themselves, its offsets are those of this one. */
	err = symbols_find_functions(functions->symbols, file, spec->function, &found);
	if (err || !seen_file_is_first(functions->files, key))
		return err;
	functions->spans[span].doubtful_count += found.doubtful_count;
	if (found.function_count)
		attach(functions, span, file->fd, &stamp, &found);
	return 0;
}

/* --- Files that processes map ----------------------------------------------------------------- */

static void look_at(void *data, const struct seen_file *seen)
{
	struct span_functions *functions = data;

	for (size_t i = 0; i < functions->specs->count; i++)
		if (is_named(&functions->specs->list[i], seen->path))
			look_for(functions, i, &seen->file);
}

void span_functions_update(struct span_functions *functions)
{
	user_probes_check(functions->probes);
	seen_files_each(functions->seen, functions->symbols, look_at);
}

/* --- Files that are known before -------------------------------------------------------------- */

static int expect(struct span_functions *functions, size_t span, const char *path)
{
	const struct span_spec *spec = &functions->specs->list[span];
	const struct module_identity identity = { .pid = getpid(), .path = path };
	struct symbol_open_file file;
	int err;

	if (symbols_open_file(functions->symbols, &identity, &file))
		return 0;
	err = look_for(functions, span, &file);
	close(file.fd);
	return err ? fail_plain(err, "%s has no function %s", path, spec->function) : 0;
}

int span_functions_expect(struct span_functions *functions, const char *program)
{
	char path[PATH_MAX];
	int err = 0;

	for (size_t i = 0; i < functions->specs->count && !err; i++) {
		const struct span_spec *spec = &functions->specs->list[i];

		if (spec->kind == SPAN_OF_FUNCTION && chosen_file_find(spec->file, program, path))
			err = expect(functions, i, path);
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
		if (followed->changed_count)
			text_printf(notes,
				    "span %s: %llu files were written to, which ended the probes on functions in them",
				    spec->name, (unsigned long long)followed->changed_count);
		else if (followed->doubtful_count)
			text_printf(notes,
				    "span %s: %llu symbols of this name do not point to the beginning of a function "
				    "and are ignored",
				    spec->name, (unsigned long long)followed->doubtful_count);
		else if (!followed->file_count)
			text_printf(notes, "span %s: no process mapped a file %s with a function %s", spec->name,
				    spec->file, spec->function);
		else if (followed->err)
			text_printf(notes, "span %s: not all of its functions could be probed (%s)", spec->name,
				    strerror(-followed->err));
		else if (followed->is_cut)
			text_printf(notes,
				    "span %s: some of the %u functions of this name are not probed: there are too "
				    "many, or their size is unknown",
				    spec->name, followed->most);
		else if (followed->most > 1)
			text_printf(notes, "span %s: %u functions have this name; each is probed", spec->name,
				    followed->most);
		else
			continue;
		text_put_bytes(notes, "", 1);
	}
}

struct span_functions *span_functions_new(struct session *session, struct symbols *symbols, struct kernel *kernel,
					  const struct span_specs *specs)
{
	struct span_functions *functions = xcalloc(1, sizeof(*functions));

	functions->symbols = symbols;
	functions->probes = kernel_user_probes(kernel);
	functions->specs = specs;
	functions->seen = seen_files_new(session, is_named_by_any, functions);
	functions->files = table_new();
	return functions;
}

void span_functions_free(struct span_functions *functions)
{
	if (!functions)
		return;
	seen_files_free(functions->seen);
	table_free(functions->files);
	free(functions);
}
