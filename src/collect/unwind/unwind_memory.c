/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/unwind/unwind_memory.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "collect/unwind/chunk_allocator.h"

enum { CHUNKS_AT_ONCE = 2, CHUNK_BYTES = UNWIND_CHUNK_UNITS * sizeof(uint64_t) };

/* To map a chunk takes a tenth of a millisecond, and tables come one after the other. */
static const uint64_t IDLE_NS = 500 * 1000 * 1000;

static int make_chunk(void)
{
	struct bpf_map_create_opts options = { .sz = sizeof(options), .map_flags = BPF_F_MMAPABLE };

	return bpf_map_create(BPF_MAP_TYPE_ARRAY, "pinch_unwind", sizeof(uint32_t), sizeof(uint64_t),
			      UNWIND_CHUNK_UNITS, &options);
}

/* False: there is no memory for it. */
static bool map_chunk(struct unwind_memory *memory, uint32_t number)
{
	void *units;

	memory->used_ns = clock_ns();
	if (memory->chunks[number])
		return true;
	units = mmap(NULL, CHUNK_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, memory->fds[number], 0);
	if (units == MAP_FAILED)
		return false;
	memory->chunks[number] = units;
	return true;
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
		fds[made] = make_chunk();
		if (fds[made] < 0)
			break;
		made++;
	}
	placed = made;
	if (!made || bpf_map_update_batch(memory->chunks_fd, keys, fds, &placed, &options))
		placed = 0;
	for (uint32_t i = 0; i < made; i++) {
		if (i < placed)
			chunk_allocator_add_chunk(memory->allocator);
		else
			close(fds[i]);
		memory->fds[keys[i]] = fds[i];
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
	unwind_memory_release(memory);
	for (uint32_t i = 0; i < memory->chunk_count; i++)
		close(memory->fds[i]);
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
	uint64_t now_ns = clock_ns();

	if (!chunk_allocator_take(memory->allocator, count, now_ns, place))
		return false;
	if (map_chunk(memory, *place / UNWIND_CHUNK_UNITS))
		return true;
	chunk_allocator_give(memory->allocator, *place, count, now_ns);
	return false;
}

void unwind_memory_map(struct unwind_memory *memory)
{
	for (uint32_t i = 0; i < memory->chunk_count; i++)
		map_chunk(memory, i);
}

void unwind_memory_release(struct unwind_memory *memory)
{
	for (uint32_t i = 0; i < memory->chunk_count; i++) {
		if (memory->chunks[i])
			munmap(memory->chunks[i], CHUNK_BYTES);
		memory->chunks[i] = NULL;
	}
}

void unwind_memory_release_if_idle(struct unwind_memory *memory)
{
	if (clock_ns() - memory->used_ns > IDLE_NS)
		unwind_memory_release(memory);
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
