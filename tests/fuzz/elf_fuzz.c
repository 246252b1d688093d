/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The bytes are a program file, as a whole: what the worker makes of it without libdw, which is
 * symbol_fuzz's. Its unwind table is valid and comes to the other process as it was; and functions
 * are named all over its code.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "load.h"
#include "symbol/object/object.h"

enum { PART_UNITS = 300, PLACES = 32 };

static struct answer answer;
static struct symbol_usdt usdt;

static int file_of(const void *bytes, size_t size_bytes)
{
	int fd = memfd_create("program", MFD_CLOEXEC);

	if (fd < 0 || write(fd, bytes, size_bytes) != (ssize_t)size_bytes)
		abort();
	return fd;
}

struct bytes {
	uint8_t *at;
	size_t count;
};

static int put(void *data, const void *bytes, size_t size_bytes)
{
	struct bytes *to = data;

	to->at = realloc(to->at, to->count + size_bytes);
	memcpy(to->at + to->count, bytes, size_bytes);
	to->count += size_bytes;
	return 0;
}

static void check_way(const struct unwind_file *file)
{
	struct bytes bytes = { 0 };
	struct unwind_file read;

	if (unwind_file_write(file, put, &bytes) || unwind_file_read(bytes.at, bytes.count, &read))
		abort();
	if (read.table.row_count != file->table.row_count ||
	    memcmp(read.table.rows, file->table.rows, file->table.row_count * sizeof(*read.table.rows)) ||
	    memcmp(read.segments, file->segments, sizeof(read.segments)))
		abort();
	unwind_file_fini(&read);
	free(bytes.at);
}

static void check_table_of(struct object *object)
{
	struct unwind_file file;
	struct load load = { 0 };

	if (object_unwind_file(object, &file)) {
		unwind_file_fini(&file);
		return;
	}
	if (!file.table.row_count)
		abort();
	check_table(&file.table);
	check_way(&file);
	load_table(&load, &file.table, 0x7f0000000000, PART_UNITS);
	load_fini(&load);
	unwind_file_fini(&file);
}

static void check_names_of(struct object *object, size_t size_bytes)
{
	for (unsigned int i = 0; i < PLACES; i++) {
		object_find(object, (uint64_t)i * size_bytes / PLACES, false, &answer);
		if (!answer_is_valid(&answer, offsetof(struct answer, text) + answer.text_bytes))
			abort();
	}
}

static void check_usdt_of(struct object *object)
{
	object_find_usdt(object, "*:*", 0, &usdt);
	if (!symbol_usdt_is_valid(&usdt, sizeof(usdt)))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes)
{
	struct object *object = object_new(file_of(bytes, size_bytes), NULL, "/nowhere/program");

	check_table_of(object);
	check_names_of(object, size_bytes);
	check_usdt_of(object);
	object_free(object);
	return 0;
}
