/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/table_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

struct header {
	uint64_t base, size_bytes;
	uint32_t row_count, segment_count;
	uint32_t python_version, is_go;
	uint32_t ruby_version, v8_version;
	struct python_process python;
	struct ruby_process ruby;
	struct v8_process v8;
	struct v8_heap v8_heap;
	uint16_t reserved;
	struct unwind_segment segments[UNWIND_SEGMENTS_MAX];
};

void unwind_file_fini(struct unwind_file *file)
{
	unwind_table_fini(&file->table);
	file->segment_count = 0;
}

static size_t size_of(uint32_t row_count)
{
	return sizeof(struct header) + (size_t)row_count * sizeof(struct unwind_row);
}

int unwind_file_write(const struct unwind_file *file, unwind_file_put *put, void *data)
{
	struct header header = {
		.base = file->table.base,
		.size_bytes = file->table.size_bytes,
		.row_count = file->table.row_count,
		.segment_count = file->segment_count,
		.python_version = file->python_version,
		.is_go = file->is_go,
		.ruby_version = file->ruby_version,
		.python = file->python,
		.ruby = file->ruby,
		.v8_version = file->v8_version,
		.v8 = file->v8,
		.v8_heap = file->v8_heap,
	};
	int err;

	if (size_of(file->table.row_count) > UNWIND_FILE_BYTES_MAX)
		return -EFBIG;
	memcpy(header.segments, file->segments, sizeof(header.segments));
	err = put(data, &header, sizeof(header));
	return err ? err : put(data, file->table.rows, file->table.row_count * sizeof(*file->table.rows));
}

int unwind_file_read(const void *bytes, size_t size_bytes, struct unwind_file *file)
{
	struct unwind_table *table = &file->table;
	struct header header;

	*file = (struct unwind_file){ 0 };
	if (size_bytes > UNWIND_FILE_BYTES_MAX)
		return -EFBIG;
	if (size_bytes < sizeof(header))
		return -EINVAL;
	memcpy(&header, bytes, sizeof(header));
	/* So that no memory is taken for rows that are not there. */
	if (size_of(header.row_count) > size_bytes || header.segment_count > UNWIND_SEGMENTS_MAX)
		return -EINVAL;
	table->base = header.base;
	table->size_bytes = header.size_bytes;
	table->row_count = header.row_count;
	table->rows = xcalloc(header.row_count + 1, sizeof(*table->rows));
	memcpy(file->segments, header.segments, sizeof(file->segments));
	file->segment_count = header.segment_count;
	file->python_version = header.python_version;
	file->is_go = header.is_go;
	file->python = header.python;
	file->ruby_version = header.ruby_version;
	file->ruby = header.ruby;
	file->v8_version = header.v8_version;
	file->v8 = header.v8;
	file->v8_heap = header.v8_heap;
	memcpy(table->rows, (const char *)bytes + sizeof(header), table->row_count * sizeof(*table->rows));
	if (unwind_table_is_valid(table))
		return 0;
	unwind_file_fini(file);
	return -EINVAL;
}

bool unwind_segment_bias(const struct unwind_segment *segment, uint64_t start, uint64_t end, uint64_t file_offset,
			 uint64_t *bias)
{
	if (file_offset >= segment->file_offset + segment->size_bytes ||
	    file_offset + (end - start) <= segment->file_offset)
		return false;
	*bias = start - (file_offset - segment->file_offset + segment->address);
	return true;
}
