/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/memory.h"

enum { WINDOW_BYTES = 64 << 10, CHUNK_ALIGNMENT = 8 };

/* NULL only when there is no such memory: how much is asked for is bounded. */
static void *buffer_reserve(struct trace_buffer *buffer, size_t size_bytes)
{
	if (size_bytes > buffer->capacity) {
		free(buffer->bytes);
		buffer->capacity = size_bytes;
		buffer->bytes = xcalloc(size_bytes, 1);
	}
	return buffer->bytes;
}

/* 0, -EBADMSG when the file has not so many bytes there, or a negative errno. */
static int read_at(const struct trace_file *file, uint64_t at, void *bytes, size_t size_bytes)
{
	ssize_t n;

	while (size_bytes) {
		n = pread(file->fd, bytes, size_bytes, at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EBADMSG;
		bytes = (char *)bytes + n;
		size_bytes -= n;
		at += n;
	}
	return 0;
}

static uint64_t padded(uint64_t size_bytes)
{
	return (size_bytes + CHUNK_ALIGNMENT - 1) & ~(uint64_t)(CHUNK_ALIGNMENT - 1);
}

uint64_t trace_chunk_bytes(const struct trace_chunk *chunk)
{
	return sizeof(*chunk) + padded(chunk->stored_bytes);
}

/* Whether these bytes of the file are the header of a chunk of this trace. */
static bool is_chunk(const struct trace_file *file, uint64_t at, const struct trace_chunk *chunk)
{
	return chunk->magic == TRACE_CHUNK_MAGIC && chunk->trace == file->trace &&
	       chunk->checksum == XXH64(chunk, offsetof(struct trace_chunk, checksum), 0) &&
	       chunk->stored_bytes <= TRACE_CHUNK_BYTES_MAX && chunk->plain_bytes <= TRACE_CHUNK_BYTES_MAX &&
	       trace_chunk_bytes(chunk) <= file->size_bytes - at;
}

int trace_file_chunk(const struct trace_file *file, uint64_t at, struct trace_chunk *chunk)
{
	int err;

	if (at > file->size_bytes || file->size_bytes - at < sizeof(*chunk))
		return -EBADMSG;
	err = read_at(file, at, chunk, sizeof(*chunk));
	if (err)
		return err;
	return is_chunk(file, at, chunk) ? 0 : -EBADMSG;
}

static int unpack(struct trace_file *file, const struct trace_chunk *chunk, const void **content)
{
	void *plain;

	*content = file->stored.bytes;
	if (chunk->packing == TRACE_PLAIN)
		return chunk->plain_bytes == chunk->stored_bytes ? 0 : -EBADMSG;
	if (chunk->packing != TRACE_ZSTD)
		return -EBADMSG;
	*content = plain = buffer_reserve(&file->plain, chunk->plain_bytes);
	return ZSTD_decompressDCtx(file->zstd, plain, chunk->plain_bytes, file->stored.bytes, chunk->stored_bytes) ==
			       chunk->plain_bytes
		       ? 0
		       : -EBADMSG;
}

static bool is_zero(const char *bytes, size_t size_bytes)
{
	while (size_bytes && !*bytes)
		bytes++, size_bytes--;
	return !size_bytes;
}

int trace_file_content(struct trace_file *file, uint64_t at, struct trace_chunk *chunk, const void **content)
{
	int err = trace_file_chunk(file, at, chunk);
	size_t size_bytes;
	void *stored;

	if (err)
		return err;
	size_bytes = padded(chunk->stored_bytes);
	stored = buffer_reserve(&file->stored, size_bytes + CHUNK_ALIGNMENT); /* not NULL */
	err = read_at(file, at + sizeof(*chunk), stored, size_bytes);
	if (err)
		return err;
	if (chunk->content_checksum != XXH64(stored, chunk->stored_bytes, 0) ||
	    !is_zero((char *)stored + chunk->stored_bytes, size_bytes - chunk->stored_bytes))
		return -EBADMSG;
	return unpack(file, chunk, content);
}

bool trace_file_end(const struct trace_file *file, struct trace_end *end)
{
	return file->size_bytes >= sizeof(file->header) + sizeof(*end) &&
	       !read_at(file, file->size_bytes - sizeof(*end), end, sizeof(*end)) &&
	       !memcmp(end->magic, TRACE_MAGIC, sizeof(end->magic));
}

/* In so many bytes that begin at an offset; returns how many are not the beginning of a chunk. */
static size_t search(const struct trace_file *file, uint64_t at, const char *bytes, size_t size_bytes)
{
	struct trace_chunk chunk;
	size_t i;

	for (i = 0; size_bytes - i >= sizeof(chunk); i += CHUNK_ALIGNMENT) {
		memcpy(&chunk, bytes + i, sizeof(chunk));
		if (is_chunk(file, at + i, &chunk))
			break;
	}
	return i;
}

uint64_t trace_file_find_chunk(const struct trace_file *file, uint64_t at)
{
	uint64_t end = file->size_bytes;
	struct trace_chunk chunk;
	size_t size_bytes, skipped;
	char *window;

	if (!trace_file_chunk(file, at, &chunk))
		return at;
	window = xcalloc(WINDOW_BYTES, 1);
	at = padded(at);
	while (at < end && end - at >= sizeof(chunk)) {
		size_bytes = end - at < WINDOW_BYTES ? end - at : WINDOW_BYTES;
		if (read_at(file, at, window, size_bytes))
			break;
		skipped = search(file, at, window, size_bytes);
		at += skipped;
		if (size_bytes - skipped >= sizeof(chunk))
			goto out_free;
	}
	at = end;

out_free:
	free(window);
	return at;
}

/* A header that is damaged is no loss where chunks can do without. */
static int do_without_header(struct trace_file *file)
{
	struct trace_chunk chunk;
	int err = read_at(file, sizeof(file->header), &chunk, sizeof(chunk));

	if (err)
		return err;
	file->trace = chunk.trace;
	if (!is_chunk(file, sizeof(file->header), &chunk))
		return -EBADMSG;
	file->header = (struct trace_header){ 0 };
	file->is_header_damaged = true;
	return 0;
}

static int read_header(struct trace_file *file)
{
	struct trace_header *header = &file->header;
	int err = read_at(file, 0, header, sizeof(*header));

	if (err)
		return err;
	if (memcmp(header->magic, TRACE_MAGIC, sizeof(header->magic)) ||
	    header->checksum != XXH64(header, offsetof(struct trace_header, checksum), 0))
		return do_without_header(file);
	if (header->version != TRACE_VERSION)
		return -ENOTSUP;
	file->trace = header->random[0];
	return 0;
}

int trace_file_open(struct trace_file *file, const char *path)
{
	struct stat status;

	*file = (struct trace_file){
		.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY),
	};
	if (file->fd < 0 || fstat(file->fd, &status))
		return -errno;
	if (!S_ISREG(status.st_mode))
		return -EINVAL;
	file->size_bytes = status.st_size;
	file->zstd = ZSTD_createDCtx();
	return file->zstd ? read_header(file) : -ENOMEM;
}

int trace_file_measure(struct trace_file *file)
{
	struct stat status;

	if (fstat(file->fd, &status))
		return -errno;
	file->size_bytes = status.st_size;
	file->written_ns = status.st_mtim.tv_sec * 1000000000ull + status.st_mtim.tv_nsec;
	return 0;
}

void trace_file_close(struct trace_file *file)
{
	ZSTD_freeDCtx(file->zstd);
	free(file->stored.bytes);
	free(file->plain.bytes);
	if (file->fd >= 0)
		close(file->fd);
}
