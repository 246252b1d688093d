/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file is known by device and inode. Those of its mapping are looked for first, which costs nothing; on
 * some file systems (btrfs, overlays) they are not the file's own, and may be another file's as well: then
 * the file is examined each time that it is mapped. A module of a trace has nothing but what is in there.
 */
#include "symbol/space/module.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/table.h"
#include "events.h"
#include "helper/opener.h"

enum {
	MODULES_MAX = 65536,
	NAMES_MAX = 4 * MODULES_MAX,
	PATH_BYTES_MAX = 4096,
	FAILED_OPENS_MAX = 4, /* of a file that cannot be opened; then nobody tries again */
};

static const uint64_t check_ns = 1000000000;

/* One way to a module; keys of the table are hashes, so those with equal ones are chained. */
struct name {
	struct name *next;
	struct module *module;
	uint64_t device, inode; /* 0: a name by build-id or path */
};

struct modules {
	struct opener *opener;
	struct arena *arena;
	struct table *names;
	struct module **list;
	size_t count, capacity;
	size_t name_count;
	bool is_shut;
};

struct modules *modules_new(struct opener *opener)
{
	struct modules *modules = xcalloc(1, sizeof(*modules));

	modules->opener = opener;
	modules->arena = arena_new();
	modules->names = table_new();
	return modules;
}

void modules_free(struct modules *modules)
{
	if (!modules)
		return;
	free(modules->list);
	table_free(modules->names);
	arena_free(modules->arena);
	free(modules);
}

void modules_shut(struct modules *modules)
{
	modules->is_shut = true;
}

static uint64_t inode_hash(uint64_t device, uint64_t inode)
{
	return hash_u64(hash_u64(device) ^ inode);
}

/* Nobody can choose a build-id so that it is another file's: that changes no more than the last 16 bits. */
uint64_t module_owner(const struct module *module)
{
	const struct build_id *build_id = &module->build_id;
	const uint64_t numbers[2] = {
		(uint64_t)major(module->device) << 32 | minor(module->device),
		module->inode,
	};

	if (!module->inode)
		return XXH64(module->path, strlen(module->path), 0);
	return XXH64(numbers, sizeof(numbers), 0) << 16 |
	       ((XXH64(build_id->bytes, build_id->size_bytes, 0) + module->version) & 0xffff);
}

uint64_t module_old_owner(const struct module *module)
{
	if (module->build_id.size_bytes)
		return XXH64(module->build_id.bytes, module->build_id.size_bytes, 0);
	return XXH64(module->path, strlen(module->path), module->inode);
}

struct module *modules_at(const struct modules *modules, uint32_t number)
{
	return number && number <= modules->count ? modules->list[number - 1] : NULL;
}

static uint64_t hash_bytes(const void *bytes, size_t count)
{
	const uint8_t *byte = bytes;
	uint64_t hash = count;

	while (count--)
		hash = (hash ^ *byte++) * 0x100000001b3ull; /* FNV-1a */
	return hash_u64(hash);
}

static uint64_t build_id_key(const struct build_id *build_id)
{
	return hash_bytes(build_id->bytes, build_id->size_bytes) ^ 1;
}

/* Of mappings. */
static uint64_t inode_key(uint64_t device, uint64_t inode)
{
	return inode_hash(device, inode) ^ 2;
}

/* Of files, as fstat() tells it. */
static uint64_t file_key(uint64_t device, uint64_t inode)
{
	return inode_hash(device, inode) ^ 4;
}

static uint64_t path_key(const char *path)
{
	return hash_bytes(path, strlen(path)) ^ 3;
}

/* Follows a chain of names to the next one by these numbers. */
static const struct name *next_by_inode(const struct name *name, uint64_t device, uint64_t inode)
{
	while (name && (name->device != device || name->inode != inode))
		name = name->next;
	return name;
}

static struct module *find_path(const struct modules *modules, const char *path)
{
	struct name *name = table_find(modules->names, path_key(path));

	for (; name; name = name->next)
		if (!name->module->inode && !name->module->build_id.size_bytes && !strcmp(name->module->path, path))
			return name->module;
	return NULL;
}

static void add_name(struct modules *modules, uint64_t key, struct module *module, uint64_t device, uint64_t inode)
{
	struct name *name;

	/* A file can have many copies; one without a name is only recognised more slowly. */
	if (modules->name_count >= NAMES_MAX)
		return;
	modules->name_count++;
	name = arena_alloc(modules->arena, sizeof(*name));
	name->module = module;
	name->device = device;
	name->inode = inode;
	name->next = table_find(modules->names, key);
	table_put(modules->names, key, name);
}

/* Says what a mapping without a file system path is. */
static enum module_kind kind_of(const char *path)
{
	/* .NET maps what it compiles once to write and once to execute. */
	if (!strncmp(path, "/memfd:doublemapper", 19))
		return MODULE_JIT;
	/* "/" alone begins a path; "//anon" and the like are the kernel's words for no file. */
	if (path[0] == '/')
		return path[1] == '/' ? MODULE_JIT : MODULE_FILE;
	if (!strcmp(path, "[vdso]"))
		return MODULE_VDSO;
	if (!path[0] || !strncmp(path, "[heap", 5) || !strncmp(path, "[stack", 6) || !strncmp(path, "[anon", 5))
		return MODULE_JIT;
	return MODULE_OTHER;
}

static size_t undeleted_length(const char *path)
{
	static const char deleted[] = " (deleted)";
	size_t length = strlen(path);

	if (length > sizeof(deleted) - 1 && !strcmp(path + length - (sizeof(deleted) - 1), deleted))
		length -= sizeof(deleted) - 1;
	return length;
}

/* --- Opening ---------------------------------------------------------------------------------- */

static int hold(const struct modules *modules, uint32_t number, const struct module_identity *id,
		struct file_stamp *stamp)
{
	const struct opener_file file = {
		.number = number,
		.pid = id->pid,
		.start = id->start,
		.end = id->end,
		.device = id->device,
		.inode = id->inode,
		.path = id->path,
	};

	return opener_hold(modules->opener, &file, stamp);
}

/* --- Adding ----------------------------------------------------------------------------------- */

static struct module *add_module(struct modules *modules, const struct module_identity *id, enum module_kind kind)
{
	struct module *module = arena_alloc(modules->arena, sizeof(*module));
	char *path = arena_strdup(modules->arena, id->path);
	const char *slash = strncmp(path, "/memfd:", 7) ? strrchr(path, '/') : path;
	module->kind = kind;
	module->path = path;
	module->name = kind == MODULE_JIT ? "[jit]" : slash ? slash + 1 : path;
	module->pid = id->pid;
	module->start = id->start;
	module->end = id->end;
	module->device = id->inode ? id->device : 0;
	module->inode = id->inode;
	ARRAY_GROW(modules->list, modules->count, modules->capacity, 64);
	modules->list[modules->count++] = module;
	module->number = modules->count;
	return module;
}

/* How many known files have the module's numbers and its build-id: those of before it was written again. */
static uint8_t count_versions(const struct modules *modules, const struct module *module)
{
	uint64_t device = module->device, inode = module->inode;
	const struct name *name = table_find(modules->names, file_key(device, inode));
	uint8_t count = 0;

	while ((name = next_by_inode(name, device, inode))) {
		count += name->module->number < module->number &&
			 build_id_is_same(&name->module->build_id, &module->build_id);
		name = name->next;
	}
	return count;
}

void modules_set_build_id(struct modules *modules, struct module *module, const struct build_id *build_id)
{
	module->build_id = *build_id;
	module->has_build_id = true;
	module->version = count_versions(modules, module);
}

static void set_stamp(struct module *module, const struct file_stamp *stamp)
{
	module->stamp = *stamp;
	module->has_stamp = true;
	module->hold_count++;
	module->checked_ns = clock_ns();
}

/* stamp: NULL if the file could not be opened. */
static struct module *add_file(struct modules *modules, const struct module_identity *id,
			       const struct file_stamp *stamp)
{
	struct module *module = add_module(modules, id, MODULE_FILE);

	if (stamp) {
		set_stamp(module, stamp);
		module->has_own_numbers = id->inode == stamp->inode && id->device == stamp->device;
		module->device = stamp->device;
		module->inode = stamp->inode;
		add_name(modules, file_key(module->device, module->inode), module, module->device, module->inode);
	} else if (!id->inode) {
		add_name(modules, path_key(module->path), module, 0, 0);
	}
	return module;
}

/* --- What processes map ----------------------------------------------------------------------- */

/* The file behind a mapping as it is now: opened once, under the number that a new module would have. */
struct look {
	const struct module_identity *id;
	struct file_stamp stamp;
	int err; /* 1: nobody has looked yet */
};

static bool look_at_mapping(const struct modules *modules, struct look *look)
{
	if (look->err > 0)
		look->err = hold(modules, modules->count + 1, look->id, &look->stamp);
	return !look->err;
}

/* A copy of an overlay's file in another overlay has all but the device. */
static bool is_same_but_device(const struct file_stamp *a, const struct file_stamp *b)
{
	struct file_stamp moved = *a;

	moved.device = b->device;
	return file_stamp_is_same(&moved, b);
}

/* No other file can have its numbers as long as it is open; that it was written again is seen a little later. */
static bool is_as_it_was(const struct modules *modules, struct module *module)
{
	struct file_stamp now;

	if (clock_ns() - module->checked_ns < check_ns)
		return true;
	if (opener_stamp(modules->opener, module->number, module->device, module->pid, &now) ||
	    !file_stamp_has_same_contents(&now, &module->stamp))
		return false;
	module->checked_ns = clock_ns();
	return true;
}

/* Whether a mapping with the numbers of one of the module's is of its file. */
static bool is_mapping_of(const struct modules *modules, struct module *module, struct look *look)
{
	if (module->has_own_numbers && opener_holds(modules->opener, module->number))
		return is_as_it_was(modules, module);
	if (look_at_mapping(modules, look))
		return is_same_but_device(&look->stamp, &module->stamp);
	/* Its process has ended. A wrong guess gives it root's names, never anybody else's. */
	return file_stamp_is_owned(&module->stamp, 0) && !strcmp(module->path, look->id->path);
}

/* *unopened: one with these numbers of which nobody could tell more. */
static struct module *find_mapped(const struct modules *modules, struct look *look, struct module **unopened)
{
	const struct module_identity *id = look->id;
	const struct name *name = table_find(modules->names, inode_key(id->device, id->inode));

	for (; (name = next_by_inode(name, id->device, id->inode)); name = name->next) {
		if (!name->module->has_stamp)
			*unopened = name->module;
		else if (is_mapping_of(modules, name->module, look))
			return name->module;
	}
	return NULL;
}

/* One that was seen before with other numbers, or none. */
static struct module *find_file(const struct modules *modules, const struct file_stamp *stamp)
{
	const struct name *name = table_find(modules->names, file_key(stamp->device, stamp->inode));

	for (; (name = next_by_inode(name, stamp->device, stamp->inode)); name = name->next)
		if (file_stamp_is_same(&name->module->stamp, stamp) ||
		    (opener_holds(modules->opener, name->module->number) &&
		     file_stamp_has_same_contents(&name->module->stamp, stamp)))
			return name->module;
	return NULL;
}

static struct module *choose_mapped(struct modules *modules, struct look *look)
{
	const struct module_identity *id = look->id;
	struct module *module = NULL, *unopened = NULL;

	if (id->inode)
		module = find_mapped(modules, look, &unopened);
	else
		unopened = find_path(modules, id->path);
	if (module || (unopened && unopened->failed_opens >= FAILED_OPENS_MAX))
		return module ? module : unopened;
	if (look_at_mapping(modules, look))
		module = find_file(modules, &look->stamp);
	else if (unopened && look->err != -ETIMEDOUT) /* else it is its process that is not examined */
		unopened->failed_opens++;
	if (module || (look->err && unopened))
		return module ? module : unopened;
	return modules->count < MODULES_MAX ? add_file(modules, id, look->err ? NULL : &look->stamp) : NULL;
}

static struct module *get_mapped(struct modules *modules, const struct module_identity *id)
{
	uint32_t looked_number = modules->count + 1;
	struct look look = { .id = id, .err = 1 };
	struct module *module = choose_mapped(modules, &look);
	struct file_stamp stamp;

	if (look.err <= 0 && (!module || module->number != looked_number))
		opener_drop(modules->opener, looked_number);
	if (!module)
		return NULL;
	/* It was out of sight when it was seen, or the opener of then is gone. */
	if (!look.err && module->number != looked_number && !opener_holds(modules->opener, module->number) &&
	    !hold(modules, module->number, id, &stamp))
		set_stamp(module, &stamp);
	if (id->inode && look.err <= 0)
		add_name(modules, inode_key(id->device, id->inode), module, id->device, id->inode);
	return module;
}

/* --- Modules of traces ------------------------------------------------------------------------ */

/* A build-id reveals an inode that was given to another file, or written again. */
static struct module *find_recorded(const struct modules *modules, const struct module_identity *id)
{
	const struct name *name;

	if (!id->inode && !id->build_id.size_bytes)
		return find_path(modules, id->path);
	name = table_find(modules->names, id->inode ? inode_key(id->device, id->inode) : build_id_key(&id->build_id));
	for (; name; name = name->next)
		if (id->inode ? name->device == id->device && name->inode == id->inode &&
					(!id->build_id.size_bytes ||
					 build_id_is_same(&name->module->build_id, &id->build_id))
			      : build_id_is_same(&name->module->build_id, &id->build_id))
			return name->module;
	return NULL;
}

/*
 * A file of a trace, which may be another machine's: there, its build-id has to do, which the
 * worker compares, and a file that somebody else put there is not believed.
 */
static void hold_recorded(struct modules *modules, struct module *module, const struct module_identity *id)
{
	const struct module_identity by_path = { .path = id->path };
	struct file_stamp stamp;

	if (hold(modules, module->number, &by_path, &stamp))
		return;
	if ((id->inode && stamp.device == id->device && stamp.inode == id->inode) ||
	    ((id->build_id.size_bytes || !id->inode) && file_stamp_is_owned(&stamp, geteuid()))) {
		set_stamp(module, &stamp);
		return;
	}
	opener_drop(modules->opener, module->number);
	module->failure_count = MODULE_FAILURES_MAX;
}

static struct module *get_recorded(struct modules *modules, const struct module_identity *id)
{
	struct module *module = find_recorded(modules, id);

	if (module)
		return module;
	if (modules->count >= MODULES_MAX)
		return NULL;
	module = add_module(modules, id, MODULE_FILE);
	module->build_id = id->build_id;
	module->has_build_id = true;
	if (!modules->is_shut)
		hold_recorded(modules, module, id);
	if (id->inode)
		add_name(modules, inode_key(id->device, id->inode), module, id->device, id->inode);
	else if (id->build_id.size_bytes)
		add_name(modules, build_id_key(&id->build_id), module, 0, 0);
	else
		add_name(modules, path_key(module->path), module, 0, 0);
	return module;
}

/* --- Both ------------------------------------------------------------------------------------- */

/* Has nothing but a name. */
static struct module *get_other(struct modules *modules, const struct module_identity *id, enum module_kind kind)
{
	struct module *module = find_path(modules, id->path);

	if (module)
		return module;
	if (modules->count >= MODULES_MAX)
		return NULL;
	module = add_module(modules, id, kind);
	add_name(modules, path_key(module->path), module, 0, 0);
	return module;
}

struct module *modules_get(struct modules *modules, const struct module_identity *identity)
{
	struct module_identity id = *identity;
	enum module_kind kind = kind_of(id.path);
	char path[PATH_BYTES_MAX];

	snprintf(path, sizeof(path), "%s", id.path);
	path[undeleted_length(path)] = '\0';
	id.path = path;
	if (kind != MODULE_FILE) {
		id.inode = 0;
		id.build_id.size_bytes = 0;
	}
	if (kind == MODULE_JIT)
		id.path = "//anon";
	if (kind != MODULE_FILE)
		return get_other(modules, &id, kind);
	return id.pid ? get_mapped(modules, &id) : get_recorded(modules, &id);
}

struct module_identity module_identity_of(const struct ev_space_map *e)
{
	return (struct module_identity){
		.pid = e->pid,
		.start = e->start,
		.end = e->start + e->size,
		.device = makedev(e->major, e->minor),
		.inode = e->inode,
		.path = e->path,
	};
}
