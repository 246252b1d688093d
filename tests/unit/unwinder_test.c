/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Processes come and go, with more tables than there is memory for. Whatever was thrown out and
 * loaded again: what the kernel side finds for those that live is what their files say.
 */
#include "test.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <glob.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "collect/unwind/unwinder.h"
#include "symbol_fixture.h"

enum {
	CHUNKS = 2,
	FILES_MAX = 48,
	PROCESSES = 12,
	MAPPINGS_MAX = 4,
	STEPS = 400,
	LOOKS = 40,
	FILE_BYTES_MIN = 500 << 10,
	FILE_BYTES_MAX = 12 << 20,
	FIRST_PID = 4200000,
};

static const uint64_t file_reach = 1ull << 28; /* from one mapping to the next */

struct file {
	char *path;
	uint64_t size_bytes;
	struct unwind_file truth;
};

struct process {
	uint32_t pid; /* 0: none */
	uint32_t mapping_count;
	const struct file *files[MAPPINGS_MAX];
};

static struct fixture fixture;
static struct file files[FILES_MAX];
static uint32_t file_count;
static struct process processes[PROCESSES];
static int chunks_fd, spaces_fd;
static uint64_t *chunks[CHUNKS];
static struct unwinder *unwinder;
static uint64_t now_ns = 1000;
static const uint64_t limit_ns = 60000000000; /* then it hangs */
static uint32_t last_pid = FIRST_PID;

static int make_chunk(void)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);

	return bpf_map_create(BPF_MAP_TYPE_ARRAY, "pinch_test", sizeof(uint32_t), sizeof(uint64_t), UNWIND_CHUNK_UNITS,
			      &options);
}

/* False: this user may make no maps. */
static bool make_maps(void)
{
	LIBBPF_OPTS(bpf_map_create_opts, inner);
	LIBBPF_OPTS(bpf_map_create_opts, lazy, .map_flags = BPF_F_NO_PREALLOC);
	int chunk_fd = make_chunk();

	if (chunk_fd < 0 && errno == EPERM)
		return false;
	inner.inner_map_fd = chunk_fd;
	chunks_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "pinch_test", sizeof(uint32_t), sizeof(uint32_t),
				   UNWIND_CHUNKS_MAX, &inner);
	spaces_fd = bpf_map_create(BPF_MAP_TYPE_HASH, "pinch_test", sizeof(uint32_t), sizeof(struct unwind_space), 1024,
				   &lazy);
	CHECK_THAT(chunk_fd, >=, 0);
	CHECK_THAT(chunks_fd, >=, 0);
	CHECK_THAT(spaces_fd, >=, 0);
	close(chunk_fd);
	return true;
}

/* What the kernel side sees of a chunk. */
static const uint64_t *chunk_at(uint32_t number)
{
	uint32_t id;
	void *memory;
	int fd;

	CHECK_THAT(number, <, CHUNKS);
	if (chunks[number])
		return chunks[number];
	CHECK(!bpf_map_lookup_elem(chunks_fd, &number, &id));
	fd = bpf_map_get_fd_by_id(id);
	CHECK_THAT(fd, >=, 0);
	memory = mmap(NULL, UNWIND_CHUNK_UNITS * sizeof(uint64_t), PROT_READ, MAP_SHARED, fd, 0);
	CHECK_THAT(memory, !=, MAP_FAILED);
	close(fd);
	return chunks[number] = memory;
}

static const void *units_at(uint32_t place)
{
	return chunk_at(place / UNWIND_CHUNK_UNITS) + place % UNWIND_CHUNK_UNITS;
}

/* As bpf/unwind_step.h, without its haste. */
static uint32_t rule_at(const struct unwind_space *space, uint64_t address)
{
	const struct unwind_range *ranges = units_at(space->ranges);

	for (uint32_t i = 0; i < space->range_count; i++) {
		const struct unwind_range *range = &ranges[i];
		const struct unwind_block *block;
		const struct unwind_row *row;
		uint64_t pc = address - range->bias;
		uint32_t rule = UNWIND_NONE;

		CHECK(!i || ranges[i - 1].end <= range->begin);
		if (address < range->begin || address >= range->end || pc >> UNWIND_BLOCK_BITS >= range->block_count)
			continue;
		block = (const struct unwind_block *)units_at(range->table) + (pc >> UNWIND_BLOCK_BITS);
		row = (const struct unwind_row *)units_at(range->table) + range->block_count + block->first;
		for (uint32_t r = 0; r < block->count && (!r || row[r].pc <= pc); r++)
			rule = row[r].rule;
		return rule;
	}
	return UNWIND_NONE;
}

static uint64_t start_of(uint32_t mapping)
{
	return MAP_START + mapping * file_reach;
}

static void look_at(const struct process *process)
{
	struct unwind_space space;

	CHECK(!bpf_map_lookup_elem(spaces_fd, &process->pid, &space));
	for (uint32_t m = 0; m < process->mapping_count; m++) {
		const struct file *file = process->files[m];
		const struct unwind_segment *segment = &file->truth.segments[0];

		for (uint32_t i = 0; i < LOOKS; i++) {
			uint64_t offset = (uint64_t)rand() % segment->size_bytes;

			CHECK_EQUAL(rule_at(&space, start_of(m) + segment->file_offset + offset),
				    unwind_table_find(&file->truth.table, segment->address + offset));
		}
	}
}

static void begin_process(struct process *process)
{
	*process = (struct process){ .pid = ++last_pid, .mapping_count = 1 + rand() % MAPPINGS_MAX };
	for (uint32_t m = 0; m < process->mapping_count; m++) {
		process->files[m] = &files[rand() % file_count];
		push_map(&fixture, now_ns++, process->pid, start_of(m),
			 (process->files[m]->size_bytes + 4095) & -4096ull, 0, process->files[m]->path);
	}
}

static void fork_process(const struct process *parent, struct process *child)
{
	*child = *parent;
	child->pid = ++last_pid;
	push_fork(&fixture, now_ns++, child->pid, parent->pid);
}

static void end_process(struct process *process)
{
	struct unwind_space space;

	push_exit(&fixture, now_ns++, process->pid);
	CHECK(bpf_map_lookup_elem(spaces_fd, &process->pid, &space));
	process->pid = 0;
}

static struct unwinder *new_unwinder(uint64_t chunk_count)
{
	struct unwinder_options options = {
		.chunks_fd = chunks_fd,
		.spaces_fd = spaces_fd,
		.depth = 127,
		.rest_ns = 1,
		.bytes_max = chunk_count * UNWIND_CHUNK_UNITS * sizeof(uint64_t),
	};

	return unwinder_new(fixture.session, fixture.symbols, &options);
}

static void find_files(void)
{
	struct stat status;
	glob_t found;

	CHECK(!glob("/usr/lib/*-linux-gnu/lib*.so.*", 0, NULL, &found));
	for (size_t i = 0; i < found.gl_pathc && file_count < FILES_MAX; i++)
		/* Not the links, for each file is a module of its own. */
		if (!lstat(found.gl_pathv[i], &status) && S_ISREG(status.st_mode) && status.st_size >= FILE_BYTES_MIN &&
		    status.st_size <= FILE_BYTES_MAX)
			files[file_count++] = (struct file){
				.path = strdup(found.gl_pathv[i]),
				.size_bytes = status.st_size,
			};
	globfree(&found);
}

struct asked_table {
	int err;
	struct unwind_file *file;
};

static void on_file(void *data, uint32_t module, int err, struct unwind_file *file)
{
	struct asked_table *asked = data;

	(void)module;
	asked->err = err;
	if (!err)
		*asked->file = *file;
}

/* Waits for it. */
static int ask_unwind_file(uint32_t module, struct unwind_file *file)
{
	struct asked_table asked = { -ETIMEDOUT, file };
	int err = symbols_ask_unwind_file(fixture.symbols, module, on_file, &asked);

	symbols_settle(fixture.symbols, limit_ns);
	return err ? err : asked.err;
}

/* Their tables, by one module each. Files without one, or with more code than one segment, go. */
static uint64_t read_truths(void)
{
	uint32_t kept = 0;
	uint64_t units = 0;

	for (uint32_t i = 0; i < file_count; i++) {
		struct file *file = &files[i];

		push_map(&fixture, now_ns++, NOBODY, MAP_START, file->size_bytes, 0, file->path);
		if (ask_unwind_file(i + 1, &file->truth) || file->truth.segment_count != 1) {
			free(file->path);
			continue;
		}
		units += file->truth.table.row_count;
		files[kept++] = *file;
	}
	file_count = kept;
	return units;
}

static void forget_files(void)
{
	while (file_count--) {
		unwind_file_fini(&files[file_count].truth);
		free(files[file_count].path);
	}
}

TEST(tables_of_those_that_live_are_right_however_many_come_and_go)
{
	uint64_t units, dropped = 0;
	uint32_t looked = 0;

	if (!make_maps())
		skip();
	fixture_begin(&fixture);
	find_files();
	units = read_truths();
	fixture_end(&fixture);
	/* Else it would not be said that any was thrown out. */
	CHECK_THAT(units, >, CHUNKS * UNWIND_CHUNK_UNITS);

	fixture_begin(&fixture);
	unwinder = new_unwinder(CHUNKS);
	srand(3);
	for (int step = 0; step < STEPS; step++) {
		struct process *process = &processes[rand() % PROCESSES];
		struct process *other = &processes[rand() % PROCESSES];
		uint64_t before = unwinder_counts(unwinder).dropped;

		if (process->pid)
			end_process(process);
		else if (other->pid && rand() % 3 == 0)
			fork_process(other, process);
		else
			begin_process(process);
		/* A child of one whose list is yet to be made. */
		if (process->pid && other != process && !other->pid)
			fork_process(process, other);
		for (symbols_settle(fixture.symbols, limit_ns); unwinder_update(unwinder);
		     symbols_settle(fixture.symbols, limit_ns))
			;
		/* No space, for too many live: a process without a table. */
		if (unwinder_counts(unwinder).dropped != before) {
			dropped++;
			end_process(process);
			if (other->pid)
				end_process(other);
			continue;
		}
		for (uint32_t i = 0; i < PROCESSES; i++) {
			if (!processes[i].pid)
				continue;
			look_at(&processes[i]);
			looked++;
		}
	}
	CHECK_THAT(looked, >, STEPS);
	CHECK_THAT(dropped, <, STEPS / 4);
	CHECK_EQUAL(unwinder_counts(unwinder).table_bytes, CHUNKS * UNWIND_CHUNK_UNITS * sizeof(uint64_t));
	CHECK_THAT(unwinder_counts(unwinder).tables, <, file_count);
	unwinder_free(unwinder);
	fixture_end(&fixture);
	forget_files();
	for (uint32_t i = 0; i < CHUNKS; i++)
		munmap(chunks[i], UNWIND_CHUNK_UNITS * sizeof(uint64_t));
	close(chunks_fd);
	close(spaces_fd);
}
