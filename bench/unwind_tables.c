// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * unwind_tables FILE…: makes the unwind table of each program or library, and prints as JSON what
 * all of them take: time, rows, and memory in the kernel.
 */
#include <fcntl.h>
#include <stdio.h>
#include <time.h>

#include "symbol/object/object.h"

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

static size_t kernel_bytes(const struct unwind_table *table)
{
	uint64_t address = table->base, end = address + table->size_bytes;
	size_t units = 0;

	while (address < end) {
		struct unwind_part part = unwind_part_at(table, address, UNWIND_CHUNK_UNITS);

		units += part.block_count + part.row_count;
		address += (uint64_t)part.block_count << UNWIND_BLOCK_BITS;
	}
	return units * sizeof(uint64_t);
}

int main(int argc, char **argv)
{
	size_t tables = 0, rows = 0, bytes = 0;
	double s = 0;

	for (int i = 1; i < argc; i++) {
		double begin_s = now_s();
		struct object *object = object_new(open(argv[i], O_RDONLY | O_CLOEXEC), NULL, argv[i]);
		struct unwind_file file;

		if (!object_unwind_file(object, &file)) {
			tables++;
			rows += file.table.row_count;
			bytes += kernel_bytes(&file.table);
		}
		unwind_file_fini(&file);
		object_free(object);
		s += now_s() - begin_s;
	}
	printf("{\"tables\": %zu, \"rows\": %zu, \"bytes\": %zu, \"s\": %.4f}\n", tables, rows, bytes, s);
	return 0;
}
