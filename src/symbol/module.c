/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file is known by device and inode. Those of its mapping are looked for first, which costs nothing; on
 * some file systems (btrfs, overlays) they are not the file's own, and may be another file's as well: then
 * the file is looked at each time that it is mapped. What a trace tells of has nothing but what is in there.
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
	FAILED_OPENS_MAX = 4,	/* of a file that cannot be opened; then nobody tries again */
};

/* One way to a module; keys of the table are hashes, so those with equal ones are chained. */
struct name {
	struct name *next;
	struct module *module;
	uint64_t device, inode;	/* 0: a name by build-id or path */
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

static uint64_t inode_hash(uint64_t device, uint64_t inode)
{
	return hash_u64(hash_u64(device) ^ inode);
}

/* Nobody can choose a build-id so that it is another file's: that changes no more than the last 16 bits. */
uint64_t module_owner(const struct module *module)
{
	const struct build_id *build_id = &module->build_id;

	if (!module->inode)
		return XXH64(module->path, strlen(module->path), 0);
	return inode_hash(module->device, module->inode) << 16 |
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
		if (!name->module->inode && !name->module->build_id.size_bytes &&
		    !strcmp(name->module->path, path))
			return name->module;
	return NULL;
}

static void add_name(struct modules *modules, uint64_t key, struct module *module,
		     uint64_t device, uint64_t inode)
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

/* --- Opening ---------------------------------------------------------------------------------- */

/* True when the descriptor leads to the file with these numbers. */
static bool is_that_inode(int fd, const struct module_identity *id)
{
	struct stat status;

	return id->inode && !fstat(fd, &status) && status.st_dev == id->device &&
	       status.st_ino == id->inode;
}

static void map_link(char *link, size_t room, const struct module_identity *id)
{
	snprintf(link, room, "/proc/%u/map_files/%llx-%llx", id->pid,
		 (unsigned long long)id->start, (unsigned long long)id->end);
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

static int open_mapped(const struct module_identity *id)
{
	char link[64];
	int fd;

	map_link(link, sizeof(link), id);
	fd = file_open(link);
	if (fd < 0 || is_that_inode(fd, id) || is_that_link(link, id->path))
		return fd;
	close(fd);
	return -ESTALE;
}

/* Root or we have made the file: nobody has put it there in place of another one. */
static bool is_trusted(int fd)
{
	struct file_stamp stamp;

	return !file_stamp_read(fd, &stamp) && file_stamp_is_owned(&stamp, geteuid());
}

/* Where the kernel has not told which inode it is, the path in the process's own file tree has to do. */
static int open_path(uint32_t pid, const struct module_identity *id)
{
	int fd = file_open_in_root(pid, id->path, true);

	if (fd < 0 || is_that_inode(fd, id) || (!id->inode && (pid || is_trusted(fd))))
		return fd;
	close(fd);
	return -ESTALE;
}

int module_identity_open(const struct module_identity *id)
{
	int fd = id->end ? open_mapped(id) : -ENOENT;

	if (fd < 0 && id->pid)
		fd = open_path(id->pid, id);
	if (fd < 0)
		fd = open_path(0, id);
	return fd;
}

/*
 * A file that a trace tells of, which may be another machine's: there, its build-id has to do, and a
 * file that somebody else put there is not believed.
 */
static int open_recorded(const struct module_identity *id)
{
	int fd = file_open_in_root(0, id->path, true);
	struct build_id build_id;

	if (fd < 0)
		return fd;
	build_id_read(fd, &build_id);
	if ((!id->build_id.size_bytes || build_id_is_same(&build_id, &id->build_id)) &&
	    (is_that_inode(fd, id) ||
	     ((id->build_id.size_bytes || !id->inode) && is_trusted(fd))))
		return fd;
	close(fd);
	return -ESTALE;
}

int module_open(const struct module *module)
{
	struct module_identity id = {
		.pid = module->pid, .device = module->device, .inode = module->inode,
		.build_id = module->build_id, .path = module->path,
	};
	int fd = module->pid ? module_identity_open(&id) : open_recorded(&id);
	struct file_stamp stamp;

	if (fd < 0 || !module->has_stamp ||
	    (!file_stamp_read(fd, &stamp) && file_stamp_has_same_contents(&stamp, &module->stamp)))
		return fd;
	close(fd);
	return -ESTALE;
}

/* --- Adding ----------------------------------------------------------------------------------- */

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
	module->device = id->inode ? id->device : 0;
	module->inode = id->inode;
	if (modules->count == modules->room) {
		modules->room = modules->room ? modules->room * 2 : 64;
		modules->list = xrealloc(modules->list, modules->room, sizeof(*modules->list));
	}
	modules->list[modules->count++] = module;
	module->number = modules->count;
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

/* How many known files have the module's numbers and its build-id: those of before it was written anew. */
static uint8_t count_versions(const struct modules *modules, const struct module *module)
{
	uint64_t device = module->device, inode = module->inode;
	const struct name *name = table_find(modules->names, file_key(device, inode));
	uint8_t count = 0;

	while ((name = next_by_inode(name, device, inode))) {
		count += build_id_is_same(&name->module->build_id, &module->build_id);
		name = name->next;
	}
	return count;
}

/* Takes the descriptor. */
static struct module *add_file(struct modules *modules, const struct module_identity *id, int fd,
			       const struct file_stamp *stamp)
{
	struct module *module = add_module(modules, id, MODULE_FILE);

	if (fd >= 0) {
		build_id_read(fd, &module->build_id);
		module->stamp = *stamp;
		module->has_stamp = true;
		module->has_own_numbers = id->inode == stamp->inode && id->device == stamp->device;
		module->device = stamp->device;
		module->inode = stamp->inode;
		module->version = count_versions(modules, module);
		add_name(modules, file_key(module->device, module->inode), module, module->device,
			 module->inode);
	} else if (!id->inode) {
		add_name(modules, path_key(module->path), module, 0, 0);
	}
	keep_fd(modules, module, fd);
	return module;
}

/* --- What processes map ----------------------------------------------------------------------- */

/* The file behind a mapping as it is now, looked at once. */
struct look {
	const struct module_identity *id;
	struct file_stamp stamp;
	int err;			/* 1: nobody has looked yet */
};

static bool look_at_mapping(struct look *look)
{
	struct stat status;
	char link[64];

	if (look->err > 0) {
		map_link(link, sizeof(link), look->id);
		look->err = !look->id->end ? -ENOENT : stat(link, &status) ? -errno : 0;
		if (!look->err)
			file_stamp_set(&look->stamp, &status);
	}
	return !look->err;
}

/* A copy of an overlay's file in another overlay has all but the device. */
static bool is_same_but_device(const struct file_stamp *a, const struct file_stamp *b)
{
	struct file_stamp moved = *a;

	moved.device = b->device;
	return file_stamp_is_same(&moved, b);
}

/* Whether a mapping with the numbers of one of the module's is of its file. */
static bool is_mapping_of(const struct module *module, struct look *look)
{
	struct file_stamp now;
	struct stat status;

	/* No other file can have its numbers as long as it is open. */
	if (module->has_own_numbers && module->fd >= 0) {
		if (fstat(module->fd, &status))
			return false;
		file_stamp_set(&now, &status);
		return file_stamp_has_same_contents(&now, &module->stamp);
	}
	if (look_at_mapping(look))
		return is_same_but_device(&look->stamp, &module->stamp);
	/* Its process has ended. A wrong guess gives it root's names, never anybody else's. */
	return file_stamp_is_owned(&module->stamp, 0) && !strcmp(module->path, look->id->path);
}

/* *unopened: one with these numbers of which nobody could tell more. */
static struct module *find_mapped(const struct modules *modules, const struct module_identity *id,
				  struct module **unopened)
{
	const struct name *name = table_find(modules->names, inode_key(id->device, id->inode));
	struct look look = { .id = id, .err = 1 };

	for (; (name = next_by_inode(name, id->device, id->inode)); name = name->next) {
		if (!name->module->has_stamp)
			*unopened = name->module;
		else if (is_mapping_of(name->module, &look))
			return name->module;
	}
	return NULL;
}

/* One that was met before with other numbers, or none. */
static struct module *find_file(const struct modules *modules, const struct file_stamp *stamp)
{
	const struct name *name = table_find(modules->names, file_key(stamp->device, stamp->inode));

	for (; (name = next_by_inode(name, stamp->device, stamp->inode)); name = name->next)
		if (file_stamp_is_same(&name->module->stamp, stamp) ||
		    (name->module->fd >= 0 &&
		     file_stamp_has_same_contents(&name->module->stamp, stamp)))
			return name->module;
	return NULL;
}

static int open_stamped(const struct module_identity *id, struct file_stamp *stamp)
{
	int fd = module_identity_open(id), err;

	if (fd < 0)
		return fd;
	err = file_stamp_read(fd, stamp);
	if (!err)
		return fd;
	close(fd);
	return err;
}

static struct module *get_mapped(struct modules *modules, const struct module_identity *id)
{
	struct module *module = NULL, *unopened = NULL;
	struct file_stamp stamp;
	int fd;

	if (id->inode)
		module = find_mapped(modules, id, &unopened);
	else
		unopened = find_path(modules, id->path);
	if (module || (unopened && unopened->failed_opens >= FAILED_OPENS_MAX))
		return module ? module : unopened;
	fd = open_stamped(id, &stamp);
	if (fd < 0 && unopened) {
		unopened->failed_opens++;
		return unopened;
	}
	module = fd < 0 ? NULL : find_file(modules, &stamp);
	if (module && module->fd >= 0) {
		close(fd);
	} else if (module) {
		keep_fd(modules, module, fd);
	} else if (modules->count < MODULES_MAX) {
		module = add_file(modules, id, fd, &stamp);
	} else {
		modules->dropped++;
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	if (id->inode)
		add_name(modules, inode_key(id->device, id->inode), module, id->device, id->inode);
	return module;
}

/* --- What traces tell of ---------------------------------------------------------------------- */

/* A build-id tells of an inode that was given to another file, or written anew. */
static struct module *find_recorded(const struct modules *modules, const struct module_identity *id)
{
	const struct name *name;

	if (!id->inode && !id->build_id.size_bytes)
		return find_path(modules, id->path);
	name = table_find(modules->names, id->inode ? inode_key(id->device, id->inode)
						    : build_id_key(&id->build_id));
	for (; name; name = name->next)
		if (id->inode ? name->device == id->device && name->inode == id->inode &&
				(!id->build_id.size_bytes ||
				 build_id_is_same(&name->module->build_id, &id->build_id))
			      : build_id_is_same(&name->module->build_id, &id->build_id))
			return name->module;
	return NULL;
}

static struct module *get_recorded(struct modules *modules, const struct module_identity *id)
{
	struct module *module = find_recorded(modules, id);
	int fd;

	if (module)
		return module;
	if (modules->count >= MODULES_MAX) {
		modules->dropped++;
		return NULL;
	}
	module = add_module(modules, id, MODULE_FILE);
	module->build_id = id->build_id;
	fd = modules->is_shut ? -ENOENT : open_recorded(id);
	module->has_stamp = fd >= 0 && !file_stamp_read(fd, &module->stamp);
	keep_fd(modules, module, fd);
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
static struct module *get_other(struct modules *modules, const struct module_identity *id,
				enum module_kind kind)
{
	struct module *module = find_path(modules, id->path);

	if (module)
		return module;
	if (modules->count >= MODULES_MAX) {
		modules->dropped++;
		return NULL;
	}
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
