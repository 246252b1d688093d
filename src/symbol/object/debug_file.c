/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/object/debug_file.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbol/object/file_source.h"

enum { PATH_BYTES_MAX = 4096, BUILD_ID_MIN = 4, BUILD_ID_MAX = 64 };

struct id {
	const uint8_t *bytes;
	size_t size_bytes;
};

static struct id id_of(Elf *elf)
{
	const void *bytes;
	ssize_t size_bytes = dwelf_elf_gnu_build_id(elf, &bytes);

	if (size_bytes < BUILD_ID_MIN || size_bytes > BUILD_ID_MAX)
		return (struct id){ 0 };
	return (struct id){ bytes, size_bytes };
}

static bool is_same(struct id a, struct id b)
{
	return a.size_bytes == b.size_bytes && !memcmp(a.bytes, b.bytes, a.size_bytes);
}

/* Opens path in the process's file tree, or in ours. */
static int open_elf(const struct file_source *source, const char *path, bool is_ours, struct elf_file *out)
{
	char real_path[PATH_BYTES_MAX];
	int fd = source ? source->open_debug(source->data, path, is_ours, real_path, sizeof(real_path)) : -ENOENT;
	int err = fd < 0 ? fd : elf_file_open(fd, out);

	if (!err)
		out->path = strdup(real_path);
	return err;
}

static int open_by_id(const struct file_source *source, struct id id, struct elf_file *out)
{
	char path[64 + 2 * BUILD_ID_MAX];
	int at, err = -ENOENT;

	at = snprintf(path, sizeof(path), "/usr/lib/debug/.build-id/%02x/", id.bytes[0]);
	for (size_t i = 1; i < id.size_bytes; i++)
		at += snprintf(path + at, sizeof(path) - at, "%02x", id.bytes[i]);
	snprintf(path + at, sizeof(path) - at, ".debug");
	for (int is_ours = 0; is_ours <= 1; is_ours++) {
		if (open_elf(source, path, is_ours, out))
			continue;
		if (is_same(id_of(out->elf), id))
			return 0;
		elf_file_close(out);
		err = -ESTALE;
	}
	return err;
}

/* The checksum of .gnu_debuglink: CRC-32 as in zlib. */
static int checksum(int fd, uint32_t *crc)
{
	uint32_t table[256], value = ~0u;
	uint8_t bytes[8192];
	off_t at = 0;
	ssize_t n;

	for (uint32_t i = 0; i < 256; i++) {
		table[i] = i;
		for (int bit = 0; bit < 8; bit++)
			table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320 : 0);
	}
	while ((n = pread(fd, bytes, sizeof(bytes), at)) > 0) {
		for (ssize_t i = 0; i < n; i++)
			value = table[(uint8_t)(value ^ bytes[i])] ^ value >> 8;
		at += n;
	}
	*crc = ~value;
	return n < 0 ? -errno : 0;
}

static bool is_same_file(int a, int b)
{
	struct stat x, y;

	return a >= 0 && b >= 0 && !fstat(a, &x) && !fstat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* A build-id is as good as a checksum, and need not read it all. */
static bool is_made_for(const struct elf_file *program, const struct elf_file *debug, uint32_t crc)
{
	struct id program_id = id_of(program->elf), debug_id = id_of(debug->elf);
	uint32_t found;

	if (is_same_file(program->fd, debug->fd))
		return false;
	if (program_id.size_bytes && debug_id.size_bytes)
		return is_same(program_id, debug_id);
	return !checksum(debug->fd, &found) && found == crc;
}

static int open_by_link(const struct elf_file *program, const struct file_source *source, const char *path,
			struct elf_file *out)
{
	static const char *const places[] = {
		"%.*s/%s",
		"%.*s/.debug/%s",
		"/usr/lib/debug%.*s/%s",
	};
	const char *slash = strrchr(path, '/');
	int folder_length = slash ? slash - path : 0;
	char debug_path[2 * PATH_BYTES_MAX];
	const char *name;
	GElf_Word crc;
	int err = -ENOENT;

	name = dwelf_elf_gnu_debuglink(program->elf, &crc);
	if (!name || !name[0] || strchr(name, '/') || strlen(name) >= 256 || folder_length >= PATH_BYTES_MAX)
		return -ENOENT;
	for (size_t i = 0; i < 2 * sizeof(places) / sizeof(*places); i++) {
		snprintf(debug_path, sizeof(debug_path), places[i / 2], folder_length, path, name);
		if (open_elf(source, debug_path, i & 1, out))
			continue;
		if (is_made_for(program, out, crc))
			return 0;
		/* A program is often its own neighbour by that name. */
		if (!is_same_file(program->fd, out->fd))
			err = -ESTALE;
		elf_file_close(out);
	}
	return err;
}

/* Closed if it has not that build-id. */
static int keep_if_same(struct elf_file *file, struct id id)
{
	if (is_same(id_of(file->elf), id))
		return 0;
	elf_file_close(file);
	return -ESTALE;
}

static int open_from_server(const struct file_source *source, struct id id, struct elf_file *out)
{
	int fd = source ? source->fetch_debug(source->data, id.bytes, id.size_bytes) : -ENOENT, err;

	if (fd < 0)
		return fd;
	err = elf_file_open(fd, out);
	return err ? err : keep_if_same(out, id);
}

int debug_file_open(const struct elf_file *program, const struct file_source *source, const char *path,
		    struct elf_file *out)
{
	struct id id = id_of(program->elf);
	int by_id = -ENOENT, by_link;

	if (id.size_bytes) {
		by_id = open_by_id(source, id, out);
		if (!by_id)
			return 0;
	}
	by_link = open_by_link(program, source, path, out);
	if (!by_link || (id.size_bytes && !open_from_server(source, id, out)))
		return 0;
	return by_id == -ESTALE || by_link == -ESTALE ? -ESTALE : -ENOENT;
}

bool debug_file_has_shared(const struct elf_file *debug)
{
	return elf_find_section(debug->elf, ".gnu_debugaltlink", NULL);
}

/* Opens path if it has that build-id. */
static int open_with_id(const struct file_source *source, const char *path, bool is_ours, struct id id,
			struct elf_file *out)
{
	int err = open_elf(source, path, is_ours, out);

	return err ? err : keep_if_same(out, id);
}

/* Distributions write "../../.dwz/name": relative to where the debug file lies. */
static int open_beside(const struct file_source *source, const struct elf_file *debug, const char *path, struct id id,
		       struct elf_file *out)
{
	const char *slash = debug->path ? strrchr(debug->path, '/') : NULL;
	char joined[2 * PATH_BYTES_MAX];

	if (!slash || strlen(debug->path) >= PATH_BYTES_MAX || strlen(path) >= PATH_BYTES_MAX)
		return -ENOENT;
	snprintf(joined, sizeof(joined), "%.*s/%s", (int)(slash - debug->path), debug->path, path);
	return open_with_id(source, joined, false, id, out) ? open_with_id(source, joined, true, id, out) : 0;
}

int debug_file_open_shared(const struct elf_file *debug, const struct file_source *source, struct elf_file *out)
{
	Elf_Scn *scn = elf_find_section(debug->elf, ".gnu_debugaltlink", NULL);
	Elf_Data *data = scn ? elf_rawdata(scn, NULL) : NULL;
	const char *path;
	struct id id;
	size_t length;

	if (!data || !data->d_buf)
		return -ENOENT;
	/* A path that ends with a NUL, then the build-id. */
	path = data->d_buf;
	length = strnlen(path, data->d_size);
	if (length >= data->d_size || data->d_size - length - 1 < BUILD_ID_MIN ||
	    data->d_size - length - 1 > BUILD_ID_MAX)
		return -EINVAL;
	id = (struct id){ (const uint8_t *)path + length + 1, data->d_size - length - 1 };
	if (!open_by_id(source, id, out))
		return 0;
	if (path[0] == '/' ? !open_with_id(source, path, false, id, out) || !open_with_id(source, path, true, id, out)
			   : !open_beside(source, debug, path, id, out))
		return 0;
	return open_from_server(source, id, out);
}
