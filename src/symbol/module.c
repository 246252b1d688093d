/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file is known by its build-id; by device and inode when it has none; by its path when
 * even these are missing. One that has several is found under each.
 */
#include "symbol/module.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/memory.h"
#include "base/table.h"
#include "symbol/open_file.h"

enum {
	MODULES_MAX = 65536,
	NAMES_MAX = 4 * MODULES_MAX,
	PATH_BYTES_MAX = 4096,
	OPEN_MAX = 8192,	/* descriptors held, if the system allows four times as many */
};

/* One way to a module; keys of the table are hashes, so those with equal ones are chained. */
struct name {
	struct name *next;
	struct module *module;
	uint64_t device, inode;	/* 0: not a name by inode */
};

struct modules {
	struct arena *arena;
	struct table *names;
	struct module **list;
	size_t count, room;
	size_t name_count;
	size_t open_count, open_count_max;
	uint64_t dropped;
	bool is_shut;
};

struct modules *modules_new(void)
{
	struct modules *modules = xcalloc(1, sizeof(*modules));
	struct rlimit limit;

	modules->arena = arena_new();
	modules->names = table_new();
	if (!getrlimit(RLIMIT_NOFILE, &limit)) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
		getrlimit(RLIMIT_NOFILE, &limit);
		/* The worker has up to three for each of these. */
		modules->open_count_max = limit.rlim_cur / 4 < OPEN_MAX ? limit.rlim_cur / 4
									 : OPEN_MAX;
	}
	return modules;
}

void modules_free(struct modules *modules)
{
	if (!modules)
		return;
	for (size_t i = 0; i < modules->count; i++)
		if (modules->list[i]->fd >= 0)
			close(modules->list[i]->fd);
	free(modules->list);
	table_free(modules->names);
	arena_free(modules->arena);
	free(modules);
}

void modules_shut(struct modules *modules)
{
	modules->is_shut = true;
}

uint64_t module_owner(const struct module *module)
{
	if (module->build_id.size_bytes)
		return XXH64(module->build_id.bytes, module->build_id.size_bytes, 0);
	return XXH64(module->path, strlen(module->path), module->inode);
}

struct module *modules_at(const struct modules *modules, uint32_t number)
{
	return number && number <= modules->count ? modules->list[number - 1] : NULL;
}

size_t modules_count(const struct modules *modules)
{
	return modules->count;
}

uint64_t modules_dropped(const struct modules *modules)
{
	return modules->dropped;
}

static uint64_t hash_bytes(const void *bytes, size_t count)
{
	const uint8_t *byte = bytes;
	uint64_t hash = count;

	while (count--)
		hash = (hash ^ *byte++) * 0x100000001b3ull;	/* FNV-1a */
	return hash_u64(hash);
}

static uint64_t build_id_key(const struct build_id *build_id)
{
	return hash_bytes(build_id->bytes, build_id->size_bytes) ^ 1;
}

static uint64_t inode_key(uint64_t device, uint64_t inode)
{
	return hash_u64(hash_u64(device) ^ inode) ^ 2;
}

static uint64_t path_key(const char *path)
{
	return hash_bytes(path, strlen(path)) ^ 3;
}

static struct module *find_build_id(const struct modules *modules, const struct build_id *build_id)
{
	struct name *name = table_find(modules->names, build_id_key(build_id));

	while (name && !build_id_is_same(&name->module->build_id, build_id))
		name = name->next;
	return name ? name->module : NULL;
}

static struct module *find_inode(const struct modules *modules, const struct module_identity *id)
{
	struct name *name = table_find(modules->names, inode_key(id->device, id->inode));

	/* A build-id tells of an inode that was given to another file, or written anew. */
	for (; name; name = name->next)
		if (name->device == id->device && name->inode == id->inode &&
		    (!id->build_id.size_bytes ||
		     build_id_is_same(&name->module->build_id, &id->build_id)))
			return name->module;
	return NULL;
}

static struct module *find_path(const struct modules *modules, const char *path)
{
	struct name *name = table_find(modules->names, path_key(path));

	for (; name; name = name->next)
		if (!name->module->inode && !name->module->build_id.size_bytes &&
		    !strcmp(name->module->path, path))
			return name->module;
	return NULL;
}

static void add_name(struct modules *modules, uint64_t key, struct module *module,
		     const struct module_identity *inode)
{
	struct name *name;

	/* A file can have many copies; one without a name is only recognised more slowly. */
	if (modules->name_count >= NAMES_MAX)
		return;
	modules->name_count++;
	name = arena_alloc(modules->arena, sizeof(*name));
	name->module = module;
	name->device = inode ? inode->device : 0;
	name->inode = inode ? inode->inode : 0;
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
	if (!path[0] || !strncmp(path, "[heap", 5) || !strncmp(path, "[stack", 6) ||
	    !strncmp(path, "[anon", 5))
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

/* True when the descriptor leads to the file that was mapped. */
static bool is_that_file(int fd, const struct module_identity *id, struct build_id *build_id)
{
	struct stat status;

	build_id_read(fd, build_id);
	if (id->build_id.size_bytes)
		return build_id_is_same(build_id, &id->build_id);
	if (!id->inode)
		return true;
	return !fstat(fd, &status) && status.st_dev == id->device && status.st_ino == id->inode;
}

/* Overlay file systems and btrfs give other numbers than the mapping: the name has to do. */
static bool is_that_link(const char *link, const char *path)
{
	char target[PATH_BYTES_MAX];
	ssize_t n = readlink(link, target, sizeof(target));

	if (n < 0 || n == sizeof(target))
		return false;
	target[n] = '\0';
	target[undeleted_length(target)] = '\0';
	return !strcmp(target, path);
}

static int open_mapped(const struct module_identity *id, struct build_id *build_id)
{
	char link[64];
	int fd;

	snprintf(link, sizeof(link), "/proc/%u/map_files/%llx-%llx", id->pid,
		 (unsigned long long)id->start, (unsigned long long)id->end);
	fd = file_open(link);
	if (fd < 0)
		return fd;
	if (is_that_file(fd, id, build_id) ||
	    (!id->build_id.size_bytes && is_that_link(link, id->path)))
		return fd;
	close(fd);
	return -ESTALE;
}

static int open_path(uint32_t pid, const struct module_identity *id, struct build_id *build_id)
{
	int fd = file_open_in_root(pid, id->path, true);

	if (fd < 0)
		return fd;
	if (is_that_file(fd, id, build_id))
		return fd;
	close(fd);
	return -ESTALE;
}

/* Leaves the file's build-id in *build_id, empty when it was not opened. */
static int open_identity(const struct module_identity *id, struct build_id *build_id)
{
	int fd = id->end ? open_mapped(id, build_id) : -ENOENT;

	if (fd < 0)
		fd = open_path(id->pid, id, build_id);
	if (fd < 0)
		fd = open_path(0, id, build_id);
	if (fd < 0)
		*build_id = (struct build_id){ 0 };
	return fd;
}

int module_open(const struct module *module)
{
	struct module_identity id = {
		.pid = module->pid, .device = module->device, .inode = module->inode,
		.build_id = module->build_id, .path = module->path,
	};
	struct build_id build_id;

	return open_identity(&id, &build_id);
}

static struct module *add_module(struct modules *modules, const struct module_identity *id,
				 enum module_kind kind)
{
	struct module *module = arena_alloc(modules->arena, sizeof(*module));
	char *path = arena_strdup(modules->arena, id->path);
	const char *slash = strncmp(path, "/memfd:", 7) ? strrchr(path, '/') : path;
	module->kind = kind;
	module->path = path;
	module->name = kind == MODULE_JIT ? "[jit]" : slash ? slash + 1 : path;
	module->fd = -1;
	module->pid = id->pid;
	if (modules->count == modules->room) {
		modules->room = modules->room ? modules->room * 2 : 64;
		modules->list = xrealloc(modules->list, modules->room, sizeof(*modules->list));
	}
	modules->list[modules->count++] = module;
	module->number = modules->count;
	return module;
}

static struct module *find(const struct modules *modules, const struct module_identity *id)
{
	struct module *module = NULL;

	if (id->build_id.size_bytes)
		module = find_build_id(modules, &id->build_id);
	if (!module && id->inode)
		module = find_inode(modules, id);
	if (!module && !id->inode && !id->build_id.size_bytes)
		module = find_path(modules, id->path);
	return module;
}

/* Takes the descriptor if there are some to spare. */
static void keep_fd(struct modules *modules, struct module *module, int fd)
{
	if (fd < 0) {
		module->open_error = fd;
	} else if (modules->open_count >= modules->open_count_max) {
		close(fd);
		module->open_error = -EMFILE;
	} else {
		module->fd = fd;
		modules->open_count++;
	}
}

struct module *modules_get(struct modules *modules, const struct module_identity *identity)
{
	struct module_identity id = *identity;
	enum module_kind kind = kind_of(id.path);
	struct build_id build_id = { 0 };
	struct module *module;
	char path[PATH_BYTES_MAX];
	int fd = -1;

	snprintf(path, sizeof(path), "%s", id.path);
	path[undeleted_length(path)] = '\0';
	id.path = path;
	if (kind != MODULE_FILE) {
		id.inode = 0;
		id.build_id.size_bytes = 0;
	}
	if (kind == MODULE_JIT)
		id.path = "//anon";
	module = find(modules, &id);
	if (module)
		return module;
	if (modules->count >= MODULES_MAX) {
		modules->dropped++;
		return NULL;
	}
	if (kind == MODULE_FILE && !modules->is_shut) {
		fd = open_identity(&id, &build_id);
		if (build_id.size_bytes)
			module = find_build_id(modules, &build_id);
	}
	if (module) {
		/* The same file under another inode, or met before without its inode. */
		if (module->fd < 0)
			keep_fd(modules, module, fd);
		else
			close(fd);
	} else {
		module = add_module(modules, &id, kind);
		module->build_id = build_id.size_bytes ? build_id : id.build_id;
		if (module->build_id.size_bytes)
			add_name(modules, build_id_key(&module->build_id), module, NULL);
		else if (!id.inode)
			add_name(modules, path_key(module->path), module, NULL);
		if (kind == MODULE_FILE)
			keep_fd(modules, module, fd);
	}
	if (id.inode) {
		if (!module->inode) {
			module->device = id.device;
			module->inode = id.inode;
		}
		add_name(modules, inode_key(id.device, id.inode), module, &id);
	}
	return module;
}
