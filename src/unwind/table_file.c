/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/table_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

enum { ROWS_MAX = 64 << 20 };

struct header {
	uint64_t base, size_bytes;
	uint32_t row_count, segment_count;
	uint32_t python_version, reserved;
	struct python_process python;
	struct unwind_segment segments[UNWIND_SEGMENTS_MAX];
};

void unwind_file_fini(struct unwind_file *file)
{
	unwind_table_fini(&file->table);
	file->segment_count = 0;
}

static int write_all(int fd, const void *bytes, size_t size_bytes)
{
	const char *at = bytes;

	while (size_bytes) {
		ssize_t n = write(fd, at, size_bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		at += n;
		size_bytes -= n;
	}
	return 0;
}

static int read_all(int fd, void *bytes, size_t size_bytes, off_t offset)
{
	char *at = bytes;

	while (size_bytes) {
		ssize_t n = pread(fd, at, size_bytes, offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -EINVAL;
		at += n;
		offset += n;
		size_bytes -= n;
	}
	return 0;
}

int unwind_file_write(const struct unwind_file *file, int fd)
{
	struct header header = {
		.base = file->table.base, .size_bytes = file->table.size_bytes,
		.row_count = file->table.row_count, .segment_count = file->segment_count,
		.python_version = file->python_version, .python = file->python,
	};
	int err;

	memcpy(header.segments, file->segments, sizeof(header.segments));
	err = write_all(fd, &header, sizeof(header));
	if (!err)
		err = write_all(fd, file->table.rows,
				file->table.row_count * sizeof(*file->table.rows));
	return err;
}

/* So that no memory is taken for rows that are not there. */
static bool holds_rows(int fd, const struct header *header)
{
	struct stat status;

	return !fstat(fd, &status) && header->row_count <= ROWS_MAX &&
	       (uint64_t)status.st_size >= sizeof(*header) +
					   header->row_count * sizeof(struct unwind_row);
}

int unwind_file_read(int fd, struct unwind_file *file)
{
	struct unwind_table *table = &file->table;
	struct header header;
	int err = read_all(fd, &header, sizeof(header), 0);

	*file = (struct unwind_file){ 0 };
	if (err)
		return err;
	if (!holds_rows(fd, &header) || header.segment_count > UNWIND_SEGMENTS_MAX)
		return -EINVAL;
	table->base = header.base;
	table->size_bytes = header.size_bytes;
	table->row_count = header.row_count;
	table->rows = xcalloc(header.row_count + 1, sizeof(*table->rows));
	memcpy(file->segments, header.segments, sizeof(file->segments));
	file->segment_count = header.segment_count;
	file->python_version = header.python_version;
	file->python = header.python;
	err = read_all(fd, table->rows, table->row_count * sizeof(*table->rows), sizeof(header));
	if (!err && !unwind_table_is_valid(table))
		err = -EINVAL;
	if (err)
		unwind_file_fini(file);
	return err;
}

bool unwind_segment_bias(const struct unwind_segment *segment, uint64_t start, uint64_t end,
			 uint64_t file_offset, uint64_t *bias)
{
	if (file_offset >= segment->file_offset + segment->size_bytes ||
	    file_offset + (end - start) <= segment->file_offset)
		return false;
	*bias = start - (file_offset - segment->file_offset + segment->address);
	return true;
}
