/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/unwind/unwind_memory.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "collect/unwind/chunk_allocator.h"

enum { CHUNKS_AT_ONCE = 2 };

static int make_chunk(struct unwind_memory *memory, uint32_t number)
{
	struct bpf_map_create_opts options = { .sz = sizeof(options), .map_flags = BPF_F_MMAPABLE };
	void *units;
	int fd;

	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "pinch_unwind", sizeof(uint32_t), sizeof(uint64_t), UNWIND_CHUNK_UNITS,
			    &options);
	if (fd < 0)
		return -errno;
	units = mmap(NULL, UNWIND_CHUNK_UNITS * sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (units == MAP_FAILED) {
		int err = -errno;

		close(fd);
		return err;
	}
	memory->chunks[number] = units;
	return fd;
}

/*
 * Adds chunks, some at a time: the kernel waits after each change of an array of maps until no
 * program can be using the old one, 10 ms and more.
 */
static void add_chunks(struct unwind_memory *memory)
{
	LIBBPF_OPTS(bpf_map_batch_opts, options);
	uint32_t keys[CHUNKS_AT_ONCE], made = 0, placed;
	int fds[CHUNKS_AT_ONCE];

	while (made < CHUNKS_AT_ONCE && memory->chunk_count + made < memory->chunk_max) {
		keys[made] = memory->chunk_count + made;
		fds[made] = make_chunk(memory, keys[made]);
		if (fds[made] < 0)
			break;
		made++;
	}
	placed = made;
	if (!made || bpf_map_update_batch(memory->chunks_fd, keys, fds, &placed, &options))
		placed = 0;
	for (uint32_t i = 0; i < made; i++) {
		close(fds[i]); /* the array and the mapping hold it */
		if (i < placed)
			chunk_allocator_add_chunk(memory->allocator);
		else
			munmap(memory->chunks[keys[i]], UNWIND_CHUNK_UNITS * sizeof(uint64_t));
	}
	memory->chunk_count += placed;
}

void unwind_memory_init(struct unwind_memory *memory, int chunks_fd, uint64_t bytes_max, uint64_t rest_ns)
{
	uint64_t chunks = bytes_max / (UNWIND_CHUNK_UNITS * sizeof(uint64_t));

	*memory = (struct unwind_memory){
		.chunks_fd = chunks_fd,
		.chunk_max = chunks && chunks < UNWIND_CHUNKS_MAX ? chunks : UNWIND_CHUNKS_MAX,
		.allocator = chunk_allocator_new(rest_ns),
	};
	add_chunks(memory); /* now, for later we would be waited for */
}

void unwind_memory_fini(struct unwind_memory *memory)
{
	for (uint32_t i = 0; i < memory->chunk_count; i++)
		munmap(memory->chunks[i], UNWIND_CHUNK_UNITS * sizeof(uint64_t));
	chunk_allocator_free(memory->allocator);
}

bool unwind_memory_grow(struct unwind_memory *memory)
{
	if (memory->chunk_count == memory->chunk_max)
		return false;
	add_chunks(memory);
	return true;
}

bool unwind_memory_take(struct unwind_memory *memory, uint32_t count, uint32_t *place)
{
	return chunk_allocator_take(memory->allocator, count, clock_ns(), place);
}

void unwind_memory_give(struct unwind_memory *memory, uint32_t place, uint32_t count)
{
	chunk_allocator_give(memory->allocator, place, count, clock_ns());
}

uint32_t unwind_memory_largest(const struct unwind_memory *memory)
{
	return chunk_allocator_largest(memory->allocator, clock_ns());
}

uint64_t unwind_memory_used(const struct unwind_memory *memory)
{
	return chunk_allocator_used(memory->allocator);
}

uint64_t *unwind_memory_units(const struct unwind_memory *memory, uint32_t place)
{
	return memory->chunks[place / UNWIND_CHUNK_UNITS] + place % UNWIND_CHUNK_UNITS;
}
