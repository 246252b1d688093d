/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/probe/klock_spec.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "base/user_file.h"
#include "session/klock_kinds.h"

static const char builtin[] =
#include "klock_json.inc"
	;

enum { SYMBOL_BYTES_MAX = 128, FILE_BYTES_MAX = 1 << 20 };

static const char symbol_letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";

/* A function as the file has it. */
struct entry {
	const char *symbol, *kind, *does, *succeeds;
	int argument;
};

/* --- One function ----------------------------------------------------------------------------- */

/* -1: there is no space for another one, or it is not a name. */
static int find_kind(struct klock_spec *spec, const char *name)
{
	size_t kind = 0, bytes = strlen(name) + 1;

	while (kind < spec->kind_count && strcmp(spec->kinds[kind].name, name))
		kind++;
	if (kind < spec->kind_count)
		return kind;
	if (spec->kind_count == KLOCK_KINDS_MAX || bytes == 1 || bytes > sizeof(spec->kinds->name))
		return -1;
	memcpy(spec->kinds[spec->kind_count++].name, name, bytes);
	return kind;
}

/* -1: they are not what can be said. */
static int find_step(const char *does, const char *succeeds)
{
	if (!strcmp(does, "acquire"))
		return !succeeds                      ? KLOCK_TAKES
		       : !strcmp(succeeds, "nonzero") ? KLOCK_TRIES
		       : !strcmp(succeeds, "zero")    ? KLOCK_TRIES_FOR_ZERO
						      : -1;
	if (succeeds)
		return -1;
	return !strcmp(does, "release") ? KLOCK_LETS_GO : !strcmp(does, "change") ? KLOCK_CHANGES : -1;
}

/* The same function, as it was given before, or a new one; NULL: there are too many. */
static struct klock_function *get_function(struct klock_spec *spec, const char *symbol)
{
	for (size_t i = 0; i < spec->count; i++)
		if (!strcmp(spec->functions[i].symbol, symbol))
			return &spec->functions[i];
	if (spec->count == KLOCK_FUNCTIONS_MAX)
		return NULL;
	spec->functions[spec->count].symbol = xstrdup(symbol);
	return &spec->functions[spec->count++];
}

static int add_entry(struct klock_spec *spec, const struct entry *entry, const char *path)
{
	size_t length = strlen(entry->symbol);
	struct klock_function *function;
	int step, kind;

	if (!length || length >= SYMBOL_BYTES_MAX || strspn(entry->symbol, symbol_letters) != length)
		return fail_plain(-EINVAL,
				  "%s: a \"symbol\" is the name of a function of the kernel, "
				  "of up to %d letters",
				  path, SYMBOL_BYTES_MAX - 1);
	if (entry->argument < 1 || entry->argument > KLOCK_ARGUMENTS_MAX)
		return fail_plain(-EINVAL, "%s: %s: \"argument\" is a number from 1 to %d", path, entry->symbol,
				  KLOCK_ARGUMENTS_MAX);
	step = find_step(entry->does, entry->succeeds);
	if (step < 0)
		return fail_plain(-EINVAL,
				  "%s: %s: \"does\" is \"acquire\", \"release\" or \"change\"; "
				  "\"succeeds\", which is the result \"zero\" or \"nonzero\", goes with \"acquire\"",
				  path, entry->symbol);
	kind = find_kind(spec, entry->kind);
	if (kind < 0)
		return fail_plain(-EINVAL, "%s: %s: a \"kind\" has up to %zu bytes, and there are %d at most", path,
				  entry->symbol, sizeof(spec->kinds->name) - 1, KLOCK_KINDS_MAX);
	function = get_function(spec, entry->symbol);
	if (!function)
		return fail_plain(-E2BIG, "%s: more than %d functions", path, KLOCK_FUNCTIONS_MAX);
	function->argument = entry->argument - 1;
	function->kind = kind;
	function->step = step;
	return 0;
}

/* --- Files ------------------------------------------------------------------------------------ */

static int add_function(struct klock_spec *spec, json_t *object, size_t number, const char *path)
{
	struct entry entry = { .argument = 1 };
	json_error_t error;

	if (json_unpack_ex(object, &error, JSON_STRICT, "{s:s, s:s, s:s, s?s, s?i}", "symbol", &entry.symbol, "kind",
			   &entry.kind, "does", &entry.does, "succeeds", &entry.succeeds, "argument", &entry.argument))
		return fail_plain(-EINVAL,
				  "%s: function %zu: %s; it needs \"symbol\", \"kind\" and \"does\", and may "
				  "have \"argument\" and \"succeeds\"",
				  path, number, error.text);
	return add_entry(spec, &entry, path);
}

static int add_functions(struct klock_spec *spec, json_t *root, const char *path)
{
	json_t *functions, *function;
	json_error_t error;
	size_t i;
	int err = 0;

	if (json_unpack_ex(root, &error, JSON_STRICT, "{s:o}", "functions", &functions) || !json_is_array(functions))
		return fail_plain(-EINVAL, "%s: not {\"functions\": [...]}", path);
	json_array_foreach(functions, i, function)
	{
		err = add_function(spec, function, i + 1, path);
		if (err)
			break;
	}
	return err;
}

static int add_text(struct klock_spec *spec, const char *text, size_t bytes, const char *path)
{
	json_error_t error;
	json_t *root = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &error);
	int err;

	if (!root)
		return fail_plain(-EINVAL, "%s:%d: %s", path, error.line, error.text);
	err = add_functions(spec, root, path);
	json_decref(root);
	return err;
}

int klock_spec_add_file(struct klock_spec *spec, const char *path)
{
	FILE *file;
	char *text;
	size_t bytes;
	int err = user_file_open(path, "the functions of locks", &file);

	if (err)
		return err;
	text = xcalloc(1, FILE_BYTES_MAX);
	bytes = fread(text, 1, FILE_BYTES_MAX, file);
	if (ferror(file))
		err = fail(-EIO, "cannot read %s", path);
	else if (bytes == FILE_BYTES_MAX)
		err = fail_plain(-E2BIG, "%s: larger than 1 MB", path);
	else
		err = add_text(spec, text, bytes, path);
	free(text);
	fclose(file);
	return err;
}

int klock_spec_add_user(struct klock_spec *spec)
{
	char buffer[4096];
	const char *path = user_file_find("PINCH_KLOCK_FUNCTIONS", "klock.json", buffer, sizeof(buffer));

	return path ? klock_spec_add_file(spec, path) : 0;
}

struct klock_spec *klock_spec_new(void)
{
	struct klock_spec *spec = xcalloc(1, sizeof(*spec));

	for (; spec->kind_count < KLOCK_KINDS; spec->kind_count++)
		snprintf(spec->kinds[spec->kind_count].name, sizeof(spec->kinds->name), "%s",
			 klock_kind_name(spec->kind_count));
	add_text(spec, builtin, sizeof(builtin) - 1, "share/klock.json");
	return spec;
}

void klock_spec_free(struct klock_spec *spec)
{
	if (!spec)
		return;
	for (size_t i = 0; i < spec->count; i++)
		free(spec->functions[i].symbol);
	free(spec);
}
