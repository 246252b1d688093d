/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "waits/files.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "base/table.h"
#include "base/text.h"

enum {
	FILES_MAX_DEFAULT = 65536,
	BYTES_MAX = 16 << 20, /* of all their names */
	HOSTS_MAX = 65536,
	PORT_EPHEMERAL_FIRST = 32768, /* what Linux gives to who connects, unless configured otherwise */
};

/* The name that the program last resolved to an address. */
struct host {
	uint8_t address[16]; /* of IPv6, or as it maps IPv4 */
	const char *name;
};

struct files {
	struct arena *arena;
	struct table *by_file;
	struct table *hosts; /* by address */
	struct table *ports; /* the first socket of each local end of which its port does not say whose it is */
	size_t files_max, bytes_left;
};

static const char *keep(struct files *files, const char *string)
{
	size_t bytes = strlen(string) + 1;

	if (bytes > files->bytes_left)
		return "";
	files->bytes_left -= bytes;
	return arena_strdup(files->arena, string);
}

/* A new one, or NULL: it is known, or one too many. */
static struct file_info *add(struct files *files, uint64_t file)
{
	struct file_info *info;

	if (!file || table_find(files->by_file, file) || table_count(files->by_file) >= files->files_max)
		return NULL;
	info = arena_alloc(files->arena, sizeof(*info));
	info->file = file;
	info->path = info->local = info->peer = info->peer_process = "";
	table_put(files->by_file, file, info);
	return info;
}

/* What has no place among the files: a pipe, an [eventfd] and the like. */
static bool is_anonymous(const char *names, size_t bytes)
{
	return strlen(names) + 1 == bytes && strcmp(names, "/") != 0;
}

/* The names came innermost first. What is too deep has lost those of its outer directories. */
static void put_path(struct text *text, const char *names, size_t bytes)
{
	const char *name = names + bytes - 1; /* the NUL behind the last one */
	bool is_rooted = bytes >= 2 && !strcmp(names + bytes - 2, "/") && (bytes == 2 || !names[bytes - 3]);

	if (!is_rooted && !is_anonymous(names, bytes))
		text_put(text, "…");
	while (name > names) {
		const char *begin = name;

		while (begin > names && begin[-1])
			begin--;
		if (strcmp(begin, "/")) {
			if (text->length || is_rooted)
				text_put(text, "/");
			text_put(text, begin);
		}
		name = begin - 1;
	}
	if (!text->length && is_rooted)
		text_put(text, "/");
}

enum file_kind file_kind_of_name(uint64_t file)
{
	switch (file >> 1 & 0xf) {
	case S_IFSOCK >> 12:
		return FILE_SOCKET;
	case S_IFIFO >> 12:
		return FILE_PIPE;
	case S_IFDIR >> 12:
		return FILE_DIRECTORY;
	case S_IFCHR >> 12:
	case S_IFBLK >> 12:
		return FILE_DEVICE;
	default:
		return FILE_REGULAR;
	}
}

enum file_kind files_kind(const struct files *files, uint64_t file)
{
	const struct file_info *info = files_find(files, file);

	return info ? info->kind : file_kind_of_name(file);
}

static enum file_kind path_kind(const struct ev_file_path *e)
{
	/* A file that lies somewhere may be called anything. */
	if (is_anonymous(e->names, e->name_bytes)) {
		if (strstr(e->names, "[timerfd]"))
			return FILE_TIMER;
		if (strstr(e->names, "[eventfd]"))
			return FILE_EVENT;
		if (e->names[0] == '[' || !strcmp(e->names, "inotify"))
			return FILE_POLL;
	}
	return file_kind_of_name((e->mode & S_IFMT) >> 12 << 1);
}

static bool is_below(const char *path, const char *directory)
{
	return !strncmp(path, directory, strlen(directory));
}

/* What only its path says. */
static void look_at_path(struct file_info *info, bool is_linked)
{
	if (info->kind == FILE_DEVICE && (is_below(info->path, "/dev/pts/") || is_below(info->path, "/dev/tty") ||
					  is_below(info->path, "/dev/console")))
		info->kind = FILE_TERMINAL;
	/* What is in memory only was never linked. */
	info->is_deleted = !is_linked && info->kind == FILE_REGULAR && !is_below(info->path, "memfd:");
}

/* What has no path. The inode of a block device has its number, as the kernel has it. */
static void put_number(struct text *text, const struct ev_file_path *e)
{
	enum { MINOR_BITS = 20 };

	if ((e->mode & S_IFMT) == S_IFBLK)
		text_printf(text, "block device %llu:%llu", (unsigned long long)e->inode >> MINOR_BITS,
			    (unsigned long long)e->inode & ((1 << MINOR_BITS) - 1));
	else
		text_printf(text, "pipe:[%llu]", (unsigned long long)e->inode);
}

static void on_path(void *data, const struct ev_header *header)
{
	const struct ev_file_path *e = (const struct ev_file_path *)header;
	struct files *files = data;
	struct file_info *info = add(files, e->file);
	struct text text = { 0 };

	if (!info)
		return;
	info->kind = path_kind(e);
	info->inode = e->inode;
	info->major = e->major;
	info->minor = e->minor;
	put_path(&text, e->names, e->name_bytes);
	if (!text.length)
		put_number(&text, e);
	info->path = keep(files, text.bytes);
	look_at_path(info, e->links);
	text_fini(&text);
}

/* "[::1]:80"; empty when there is no such end. */
static const char *endpoint(struct files *files, uint16_t family, const uint8_t *address, uint16_t port)
{
	static const uint8_t nowhere[16];
	char text[INET6_ADDRSTRLEN], whole[INET6_ADDRSTRLEN + 16];

	if (!port && !memcmp(address, nowhere, sizeof(nowhere)))
		return "";
	inet_ntop(family, address, text, sizeof(text));
	snprintf(whole, sizeof(whole), family == AF_INET6 ? "[%s]:%u" : "%s:%u", text, port);
	return keep(files, whole);
}

static void whole_address(uint16_t family, const uint8_t *address, uint8_t whole[16])
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	if (family == AF_INET6) {
		memcpy(whole, address, 16);
	} else {
		memcpy(whole, mapped, sizeof(mapped));
		memcpy(whole + sizeof(mapped), address, 4);
	}
}

static uint64_t address_key(const uint8_t whole[16])
{
	uint64_t words[2];

	memcpy(words, whole, sizeof(words));
	return hash_u64(words[0] ^ hash_u64(words[1]));
}

static const char *find_host(const struct files *files, const uint8_t whole[16])
{
	const struct host *host = table_find(files->hosts, address_key(whole));

	return host && !memcmp(host->address, whole, sizeof(host->address)) ? host->name : NULL;
}

/* A name that is nothing but the address tells nothing. */
static bool is_address(const char *name)
{
	uint8_t address[16];

	return inet_pton(AF_INET, name, address) == 1 || strchr(name, ':');
}

static void on_host(void *data, const struct ev_header *header)
{
	const struct ev_file_host *e = (const struct ev_file_host *)header;
	struct files *files = data;
	char name[sizeof(e->name)];
	uint8_t whole[16];
	struct host *host;

	if (e->family != AF_INET && e->family != AF_INET6)
		return;
	memcpy(name, e->name, sizeof(name));
	name[sizeof(name) - 1] = '\0';
	if (!*name || is_address(name))
		return;
	whole_address(e->family, e->address, whole);
	host = table_find(files->hosts, address_key(whole));
	if (!host) {
		if (table_count(files->hosts) >= HOSTS_MAX)
			return;
		host = arena_alloc(files->arena, sizeof(*host));
		host->name = "";
		table_put(files->hosts, address_key(whole), host);
	}
	memcpy(host->address, whole, sizeof(whole));
	if (strcmp(host->name, name))
		host->name = keep(files, name);
}

static bool is_loopback(const struct ev_file_socket *e)
{
	static const uint8_t loopback[16] = { [15] = 1 }, mapped[12] = { [10] = 0xff, [11] = 0xff };

	if (e->family == AF_UNIX)
		return true;
	if (!memcmp(e->local, e->peer, sizeof(e->local)))
		return true;
	if (e->family == AF_INET)
		return e->peer[0] == 127 || e->local[0] == 127;
	if (!memcmp(e->peer, mapped, sizeof(mapped)))
		return e->peer[12] == 127;
	return !memcmp(e->peer, loopback, sizeof(loopback)) || !memcmp(e->local, loopback, sizeof(loopback));
}

/*
 * Which end others connect to is known by the ports, unless both could be of one that connects: then a local end that
 * has connections to several peers is the server's. Linux gives such a port to two connections of a client only if it
 * has hardly any left.
 */
static bool is_server(struct files *files, struct file_info *info, const struct ev_file_socket *e)
{
	struct file_info *first;
	uint8_t local[16];
	uint64_t key;

	if (!e->peer_port)
		return true;
	if (e->peer_port < PORT_EPHEMERAL_FIRST || e->local_port < PORT_EPHEMERAL_FIRST)
		return e->peer_port >= PORT_EPHEMERAL_FIRST;
	if (e->type != SOCK_STREAM)
		return false;
	whole_address(e->family, e->local, local);
	key = hash_u64(address_key(local) ^ e->local_port);
	first = table_find(files->ports, key);
	if (!first) {
		table_put(files->ports, key, info);
		return false;
	}
	first->is_server |= strcmp(first->peer, info->peer) != 0;
	return first->is_server;
}

static void on_socket(void *data, const struct ev_header *header)
{
	const struct ev_file_socket *e = (const struct ev_file_socket *)header;
	struct files *files = data;
	struct file_info *info = add(files, e->file);
	char text[64];

	if (!info)
		return;
	info->kind = FILE_SOCKET;
	info->inode = e->inode;
	info->family = e->family;
	info->type = e->type;
	info->peer_pid = e->peer_pid;
	info->peer_inode = e->peer_file;
	info->is_loopback = is_loopback(e);
	snprintf(text, sizeof(text), "socket:[%llu]", (unsigned long long)e->inode);
	info->path = keep(files, text);
	if (e->family == AF_INET || e->family == AF_INET6) {
		info->local = endpoint(files, e->family, e->local, e->local_port);
		info->peer = endpoint(files, e->family, e->peer, e->peer_port);
		whole_address(e->family, e->peer, info->peer_address);
		info->host = find_host(files, info->peer_address);
		info->is_server = is_server(files, info, e);
	} else if (e->family == AF_UNIX) {
		info->is_server = !e->is_peers_path;
		*(e->is_peers_path ? &info->peer : &info->local) = keep(files, e->path);
		if (e->has_process)
			info->peer_process = keep(files, e->path + strlen(e->path) + 1);
	}
}

/* Its file came before. */
static void on_place(void *data, const struct ev_header *header)
{
	const struct ev_file_place *e = (const struct ev_file_place *)header;
	struct files *files = data;
	const struct file_info *whole = files_find(files, e->whole);
	struct file_info *info = add(files, e->file);
	struct text text = { 0 };

	if (!info)
		return;
	info->kind = FILE_MEMORY;
	if (whole) {
		info->inode = whole->inode;
		info->major = whole->major;
		info->minor = whole->minor;
		info->is_deleted = whole->is_deleted;
	}
	text_printf(&text, "%s at 0x%llx", whole && *whole->path ? whole->path : "shared memory",
		    (unsigned long long)e->offset);
	info->path = keep(files, text.bytes);
	text_fini(&text);
}

/* Its directory came before. */
static void on_called(void *data, const struct ev_header *header)
{
	const struct ev_file_called *e = (const struct ev_file_called *)header;
	struct files *files = data;
	const struct file_info *directory = files_find(files, e->directory);
	struct file_info *info = add(files, e->file);
	const char *path = e->path;
	struct text text = { 0 };

	if (!info)
		return;
	info->kind = FILE_REGULAR;
	while (path[0] == '.' && path[1] == '/')
		path += 2;
	if (*path != '/' && directory && *directory->path)
		text_printf(&text, "%s%s", directory->path, strcmp(directory->path, "/") ? "/" : "");
	text_put(&text, path);
	info->path = keep(files, text.bytes);
	text_fini(&text);
}

static const struct event_handler handlers[] = {
	{ EV_FILE_CALLED, on_called }, { EV_FILE_PLACE, on_place }, { EV_FILE_PATH, on_path },
	{ EV_FILE_SOCKET, on_socket }, { EV_FILE_HOST, on_host },   { 0, NULL },
};

struct files *files_new(struct session *session, size_t files_max)
{
	struct files *files = xcalloc(1, sizeof(*files));

	files->arena = arena_new();
	files->by_file = table_new();
	files->hosts = table_new();
	files->ports = table_new();
	files->files_max = files_max ? files_max : FILES_MAX_DEFAULT;
	files->bytes_left = BYTES_MAX;
	session_subscribe(session, handlers, files);
	return files;
}

void files_free(struct files *files)
{
	if (!files)
		return;
	table_free(files->by_file);
	table_free(files->hosts);
	table_free(files->ports);
	arena_free(files->arena);
	free(files);
}

const struct file_info *files_find(const struct files *files, uint64_t file)
{
	return table_find(files->by_file, file);
}

const char *files_host(const struct files *files, const struct file_info *info)
{
	const char *host = info->host;

	if (!host && *info->peer && info->family != AF_UNIX)
		host = find_host(files, info->peer_address);
	return host && *host ? host : NULL;
}
