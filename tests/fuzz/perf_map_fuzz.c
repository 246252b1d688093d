/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The bytes are a JIT compiler's symbol file, or, when they begin with an odd one, the records of a
 * jitdump; read in two pieces. Every name found is one that
 * the file has, and begins no later than the address asked for.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbol/jit/perf_map.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes)
{
	int fd = memfd_create("perf.map", MFD_CLOEXEC);
	size_t half = size_bytes / 2;
	static const uint32_t header[10] = { 0x4a695444, 1, sizeof(header), 62 };
	struct perf_map_budget budget;
	struct perf_map *map;

	if (fd >= 0 && size_bytes && bytes[0] & 1 && write(fd, header, sizeof(header)) != sizeof(header))
		abort();
	if (fd < 0 || write(fd, bytes, half) != (ssize_t)half)
		abort();
	perf_map_budget_init(&budget);
	map = perf_map_new(dup(fd), &budget);
	if (write(fd, bytes + half, size_bytes - half) != (ssize_t)(size_bytes - half))
		abort();
	perf_map_refresh(map);
	for (unsigned int i = 0; i < 64; i++) {
		uint64_t address = i < 16 ? i : i < 32 ? UINT64_MAX - i : (uint64_t)1 << i, start;
		char name[128];

		if (!perf_map_find(map, address, name, sizeof(name), &start))
			continue;
		if (start > address || !name[0] || strchr(name, '\n') || !memmem(bytes, size_bytes, name, strlen(name)))
			abort();
	}
	perf_map_close(map);
	close(fd);
	return 0;
}
