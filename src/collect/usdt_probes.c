/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/usdt_probes.h"

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
#include "collect/own/own_schemas.h"
#include "collect/probe/chosen_file.h"
#include "collect/probe/seen_files.h"
#include "collect/probe/usdt_programs.h"
#include "collect/probe/usdt_spec.h"
#include "collect/probe/user_probes.h"
#include "collect/usdt_schema.h"
#include "helper/file_stamp.h"
#include "symbol/space/module.h"
#include "symbol/symbol.h"

struct usdt_probes {
	struct symbols *symbols;
	struct user_probes *probes;
	const struct usdt_specs *specs;
	struct seen_files *seen;
	struct own_schemas *schemas;
	struct table *files; /* by file_stamp_probe_key() and number of the specification: looked into */
	struct table *sites; /* by file_stamp_probe_key() and place: attached to */
	uint32_t site_count;
	struct symbol_usdt found; /* at hand */
	struct followed_usdt {
		uint32_t file_count;     /* with such a probe */
		uint32_t unread_count;   /* arguments that cannot be read, of sites */
		uint64_t doubtful_count; /* sites where no probe can be */
		uint64_t changed_count;  /* files that were written to meanwhile */
		int err;                 /* the first one */
	} followed[USDT_SPECS_MAX];
};

static bool may_have(const struct usdt_spec *spec, const char *path)
{
	return !spec->file || chosen_file_may_be(spec->file, path);
}

static bool may_any_have(void *data, const char *path)
{
	const struct usdt_probes *probes = data;

	for (size_t i = 0; i < probes->specs->count; i++)
		if (may_have(&probes->specs->list[i], path))
			return true;
	return false;
}

/* --- Attaching -------------------------------------------------------------------------------- */

/* An open file that a specification is about. */
struct usdt_file {
	const struct symbol_open_file *open;
	struct file_stamp stamp;
	struct followed_usdt *followed;
	struct probed_file *probed; /* NULL: nothing is attached to it yet */
};

static uint32_t count_unread(const struct usdt_place *place)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < place->argument_count; i++)
		count += place->arguments[i].kind == USDT_UNREADABLE;
	return count;
}

/* 0 or a negative errno. */
static int attach_site(struct usdt_probes *probes, struct usdt_file *file, const struct usdt_place *place)
{
	const struct own_schema *schema;
	struct text text = { 0 };

	if (probes->site_count == USDT_SITES_MAX)
		return -E2BIG;
	usdt_schema_put(&text, place);
	schema = own_schemas_take(probes->schemas, text.bytes, text.length);
	text_fini(&text);
	if (!schema)
		return -E2BIG;
	return user_probes_add_usdt(file->probed, place, own_schema_name(schema), probes->site_count++);
}

static int open_probed(struct usdt_probes *probes, struct usdt_file *file)
{
	if (file->probed)
		return 0;
	file->followed->file_count++;
	return user_probes_open(probes->probes, file->open->fd, &file->stamp, &file->followed->changed_count,
				&file->probed);
}

/* Those in probes->found. A site that several specifications are about is attached to once. */
static int attach(struct usdt_probes *probes, struct usdt_file *file)
{
	const struct symbol_usdt *found = &probes->found;
	int err = open_probed(probes, file);

	for (uint32_t i = 0; i < found->count && !err; i++) {
		const struct usdt_place *place = &found->places[i];
		uint64_t key = hash_u64(file_stamp_probe_key(&file->stamp) ^ hash_u64(place->file_offset));

		if (table_find(probes->sites, key))
			continue;
		err = attach_site(probes, file, place);
		if (err)
			break;
		table_put(probes->sites, key, probes);
		file->followed->unread_count += count_unread(place);
	}
	file->followed->doubtful_count += found->doubtful_count;
	return err;
}

/* 0, or -ENOENT when the file has no such probe. */
static int look_for(struct usdt_probes *probes, size_t number, const struct symbol_open_file *open)
{
	const struct usdt_spec *spec = &probes->specs->list[number];
	struct usdt_file file = { .open = open, .followed = &probes->followed[number] };
	uint64_t first = 0;
	int err = 0;

	if (file_stamp_read(open->fd, &file.stamp) || (spec->file && !chosen_file_is(spec->file, &file.stamp)))
		return 0;
	if (!seen_file_is_first(probes->files, file_stamp_probe_key(&file.stamp) ^ hash_u64(number + 1)))
		return 0;
	while (!err && !symbols_find_usdt(probes->symbols, open, spec->pattern, first, &probes->found)) {
		first += probes->found.count + probes->found.doubtful_count;
		err = attach(probes, &file);
		if (!probes->found.has_more)
			break;
	}
	/* The worker gave no further ones. */
	if (!err && first && probes->found.has_more)
		err = -EIO;
	if (!err && file.probed)
		err = user_probes_confirm(file.probed);
	if (err && err != -ESTALE && !file.followed->err)
		file.followed->err = err;
	return first ? 0 : -ENOENT;
}

/* --- Files that processes map ----------------------------------------------------------------- */

static void look_at(void *data, const struct seen_file *seen)
{
	struct usdt_probes *probes = data;

	for (size_t i = 0; i < probes->specs->count; i++)
		if (may_have(&probes->specs->list[i], seen->path))
			look_for(probes, i, &seen->file);
}

void usdt_probes_update(struct usdt_probes *probes)
{
	user_probes_check(probes->probes);
	seen_files_each(probes->seen, probes->symbols, look_at);
}

/* --- Files that are known before -------------------------------------------------------------- */

int usdt_probes_expect(struct usdt_probes *probes, const char *program)
{
	char path[PATH_MAX];
	const struct module_identity identity = { .pid = getpid(), .path = path };
	int err = 0;

	for (size_t i = 0; i < probes->specs->count && !err; i++) {
		const struct usdt_spec *spec = &probes->specs->list[i];
		struct symbol_open_file file;
		bool is_known = spec->file ? chosen_file_find(spec->file, program, path)
					   : chosen_file_find_program(program, path);

		if (!is_known || symbols_open_file(probes->symbols, &identity, &file))
			continue;
		if (look_for(probes, i, &file) && spec->file)
			err = fail_plain(-ENOENT, "%s has no USDT probe %s", path, spec->pattern);
		close(file.fd);
	}
	return err;
}

/* --- Telling ---------------------------------------------------------------------------------- */

/* Whether there is anything to say. */
static bool put_note(const struct usdt_spec *spec, const struct followed_usdt *followed, struct text *notes)
{
	if (followed->changed_count)
		text_printf(notes, "USDT probes %s: %llu files were written to, which ended the probes in them",
			    spec->text, (unsigned long long)followed->changed_count);
	else if (followed->err)
		text_printf(notes, "USDT probes %s: not all of their sites could be probed (%s)", spec->text,
			    strerror(-followed->err));
	else if (followed->doubtful_count)
		text_printf(
			notes,
			"USDT probes %s: %llu sites are not recorded: no instruction that a probe may replace is at "
			"the place that the file says",
			spec->text, (unsigned long long)followed->doubtful_count);
	else if (!followed->file_count)
		text_printf(notes, "USDT probes %s: no process mapped a file with such a probe", spec->text);
	else if (followed->unread_count)
		text_printf(
			notes,
			"USDT probes %s: %u arguments are not recorded: they are floating-point numbers, or in memory "
			"that is given by a symbol",
			spec->text, followed->unread_count);
	else
		return false;
	return true;
}

void usdt_probes_put_notes(const struct usdt_probes *probes, struct text *notes)
{
	for (size_t i = 0; i < probes->specs->count; i++)
		if (put_note(&probes->specs->list[i], &probes->followed[i], notes))
			text_put_bytes(notes, "", 1);
}

struct usdt_probes *usdt_probes_new(struct session *session, struct symbols *symbols, struct kernel *kernel,
				    const struct usdt_specs *specs)
{
	struct usdt_probes *probes = xcalloc(1, sizeof(*probes));

	probes->symbols = symbols;
	probes->probes = kernel_user_probes(kernel);
	probes->specs = specs;
	probes->seen = seen_files_new(session, may_any_have, probes);
	probes->schemas = own_schemas_new(session);
	probes->files = table_new();
	probes->sites = table_new();
	return probes;
}

void usdt_probes_free(struct usdt_probes *probes)
{
	if (!probes)
		return;
	seen_files_free(probes->seen);
	own_schemas_free(probes->schemas);
	table_free(probes->files);
	table_free(probes->sites);
	free(probes);
}
