/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of data, and code out of files. */
#include "test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbol_fixture.h"
#include "symbol_inputs/objects.h"

static struct fixture fixture;
static struct symbol_object object;

__attribute__((constructor)) static void choose_script(void)
{
	inputs_script = "build_objects.sh";
}

/* False when what makes it is not installed. */
static bool is_built(const char *name)
{
	return !access(input(name), R_OK);
}

/* Where a file is loaded: at fixed addresses, or anywhere. */
static uint64_t base_of(const char *name)
{
	return strcmp(name, "fixed") ? MAP_START : 0;
}

static int find(uint64_t address)
{
	return symbols_resolve_object(fixture.symbols, NOBODY, UINT64_MAX, address, &object);
}

static bool is_object(const char *name, const char *type, bool is_whole)
{
	return object.name && !strcmp(object.name, name) && object.is_whole == is_whole &&
	       (type ? object.type && !strcmp(object.type, type) : !object.type);
}

static void begin(const char *name)
{
	fixture_begin(&fixture);
	push_code(&fixture, 10, NOBODY, base_of(name), name);
}

struct expectation {
	const char *symbol;
	uint64_t distance;
	const char *name, *type;
	bool is_part;
};

/* twin: the same file with symbols. */
static void check(const char *file, const char *twin, const struct expectation *expectations, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct expectation *e = &expectations[i];
		uint64_t linked = input_address(twin, e->symbol) + e->distance;

		CHECK(!find(base_of(file) + linked));
		CHECK_STRING(object.module, file);
		CHECK_EQUAL(object.offset, linked);
		if (!is_object(e->name, e->type, !e->is_part))
			print_error("%s: %s+%llu is %s, %s\n", file, e->symbol, (unsigned long long)e->distance,
				    object.name ? object.name : "?", object.type ? object.type : "?");
		CHECK(is_object(e->name, e->type, !e->is_part));
	}
}

#define SHARD(i, j, member) (((i)*2 + (j)) * sizeof(struct shard) + offsetof(struct shard, member))

static const struct expectation of_c[] = {
	{ "work_mutex", 0, "work_mutex", "pthread_mutex_t", false },
	{ "work_mutex", 12, "work_mutex", "pthread_mutex_t", false },
	{ "hidden_lock", 8, "hidden_lock", "pthread_rwlock_t", false },
	{ "semaphores", 2 * sizeof(sem_t) + 4, "semaphores[2]", "sem_t", false },
	{ "shards", SHARD(0, 0, lock), "shards[0][0].lock", "pthread_mutex_t", false },
	{ "shards", SHARD(3, 1, full) + 40, "shards[3][1].full", "pthread_cond_t", false },
	{ "shards", SHARD(1, 1, depth), "shards[1][1].depth", "int", false },
	{ "shards", SHARD(1, 0, narrow) + 1, "shards[1][0].narrow+0x1", "short", true },
	{ "shards", SHARD(1, 0, narrow) + 2, "shards[1][0].wide+0x2", "long", true },
	{ "shards", SHARD(2, 0, counters) + 8, "shards[2][0].counters[0][1].bytes[0]", "unsigned char", false },
	{ "shards", SHARD(2, 0, counters) + 28, "shards[2][0].counters[1][0].value", "int", false },
	{ "shards", SHARD(2, 0, counters) + 3, "shards[2][0].counters[0][0]+0x3", "counter_type", true },
	{ "shards", SHARD(2, 1, next), "shards[2][1].next", NULL, false },
	{ "shard_pointer", 0, "shard_pointer", NULL, false },
	{ "sized", 0, "sized.count", "int", false },
	{ "sized", sizeof(struct sized) + sizeof(pthread_mutex_t), "sized.locks[1]", "pthread_mutex_t", false },
	{ "constant_shard", 0, "constant_shard.hits", "long", false },
};

enum { OF_C = sizeof(of_c) / sizeof(*of_c) };

/* Compilers call it by either name. */
static bool is_long(const char *type)
{
	return !strcmp(type, "long");
}

static void check_c(const char *file, const char *twin)
{
	struct expectation expected[OF_C];

	memcpy(expected, of_c, sizeof(expected));
	for (size_t i = 0; i < OF_C; i++) {
		if (strncmp(file, "clang", 5) && strcmp(file, "lld")) {
			if (expected[i].type && is_long(expected[i].type))
				expected[i].type = "long int";
			if (expected[i].type && !strcmp(expected[i].type, "short"))
				expected[i].type = "short int";
		}
	}
	check(file, twin, expected, OF_C);
}

TEST(members_are_named_in_every_form_of_debug_information)
{
	static const char *const files[] = {
		"pie", "fixed", "types", "libobjects.so", "clang", "clang4", "lld", "dwz1", "dwz2", "linked",
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		if (!is_built(files[i]))
			continue;
		begin(files[i]);
		check_c(files[i], strcmp(files[i], "linked") ? files[i] : "pie");
		fixture_end(&fixture);
	}
}

static const struct expectation of_cpp[] = {
	{ "plain_lock", 0, "plain_lock", "std::mutex", false },
	{ "_ZN12_GLOBAL__N_114anonymous_lockE", 0, "(anonymous namespace)::anonymous_lock", "std::mutex", false },
	{ "_ZN5cacheL9file_lockE", 20, "cache::file_lock", "std::mutex", false },
	{ "_ZN5cache11shared_lockE", 0, "cache::shared_lock", "std::mutex", false },
	{ "_ZN5cache7lock_ofIiEE", 0, "cache::lock_of<int>", "std::mutex", false },
	{ "_ZZN5cache5Store4findEiE9find_lock", 0, "cache::Store::find(int)::find_lock", "std::mutex", false },
	{ "_ZN5cache5Store13instance_lockE", 4, "cache::Store::instance_lock", "std::mutex", false },
	{ "_ZN5cache5storeE", 0, "cache::store", "cache::Store", false },
	{ "_ZN5cache5storeE", 16, "cache::store.count_lock", "std::mutex", false },
	{ "_ZN5cache5storeE", 56, "cache::store.lock", "std::mutex", false },
	{ "_ZN5cache5storeE", 96 + 3 * 40, "cache::store.locks[1][1]", "std::mutex", false },
	{ "_ZN5cache5storeE", 256 + 48 + 8, "cache::store.counted[1].count_lock", "std::mutex", false },
	{ "_ZN5cache5storeE", 400, "cache::store.inner.value", "int", false },
	{ "_ZN5cache6storesE", 3 * 408 + 56, "cache::stores[1][1].lock", "std::mutex", false },
};

TEST(variables_of_cpp_are_named_as_they_are_written)
{
	static const char *const files[] = { "cpp", "cpp_types", "clang_cpp" };

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		if (!is_built(files[i]))
			continue;
		begin(files[i]);
		check(files[i], files[i], of_cpp, sizeof(of_cpp) / sizeof(*of_cpp));
		fixture_end(&fixture);
	}
}

TEST(a_class_that_one_unit_describes_is_known_in_the_others)
{
	static const char *const files[] = { "declared", "declared_types", "declared_clang" };
	static const struct expectation expected[] = {
		{ "built", 48 + 8, "built[1].lock", "pthread_mutex_t", false },
		{ "is_virtual", 0, "is_virtual", "app::Virtual", false },
		{ "is_virtual", 16, "is_virtual.lock", "pthread_mutex_t", false },
		{ "other", 8, "other.other_lock", "pthread_mutex_t", false },
		{ "v", 8, "v.lock", "pthread_mutex_t", false },
		{ "holder", 8 + 16 + 4, "holder.inner.lock", "pthread_mutex_t", false },
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		if (!is_built(files[i]))
			continue;
		begin(files[i]);
		check(files[i], files[i], expected, sizeof(expected) / sizeof(*expected));
		fixture_end(&fixture);
	}
}

struct name_search {
	uint64_t base;
	const char *name;
	bool is_found;
};

static void on_variable(void *data, uint64_t address)
{
	struct name_search *search = data;

	CHECK(!find(search->base + address));
	search->is_found |= object.name && !strcmp(object.name, search->name);
}

/* The file has a variable that is called that. */
static bool has_variable(const char *file, const char *name)
{
	struct name_search search = { .base = base_of(file), .name = name };

	each_input_variable(file, on_variable, &search);
	return search.is_found;
}

TEST(a_static_variable_is_named_after_its_function)
{
	static const char *const files[] = { "pie", "types", "clang", "clang4", "dwz1" };
	static const char *const names[] = {
		"first()::count",           "first()::lock", "second()::count", "second()::inner.hits",
		"inlined()::inlined_count",
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		if (!is_built(files[i]))
			continue;
		begin(files[i]);
		for (size_t j = 0; j < sizeof(names) / sizeof(*names); j++)
			CHECK(has_variable(files[i], names[j]));
		fixture_end(&fixture);
	}
	begin("no_debug");
	CHECK(has_variable("no_debug", "count") && has_variable("no_debug", "inlined_count"));
	fixture_end(&fixture);
}

TEST(without_types_there_is_the_variable_and_a_distance)
{
	static const struct expectation expected[] = {
		{ "work_mutex", 0, "work_mutex", NULL, false },
		{ "shards", 0, "shards", NULL, false },
		{ "shards", SHARD(1, 0, lock), "shards+0x168", NULL, true },
	};

	begin("no_debug");
	check("no_debug", "no_debug", expected, sizeof(expected) / sizeof(*expected));
	CHECK(has_note(&fixture, "no debug information for no_debug", "-dbgsym"));
	fixture_end(&fixture);
}

TEST(a_stripped_program_has_offsets_and_a_note)
{
	uint64_t linked = input_address("pie", "work_mutex");

	begin("stripped");
	CHECK(!find(MAP_START + linked));
	CHECK(!object.name && !object.type && !object.is_whole);
	CHECK_STRING(object.module, "stripped");
	CHECK_EQUAL(object.offset, linked);
	CHECK(has_note(&fixture, "for stripped", "-dbgsym"));
	fixture_end(&fixture);
}

TEST(what_a_library_exports_is_named_without_its_full_table)
{
	static const struct expectation expected[] = {
		{ "work_mutex", 0, "work_mutex", NULL, false },
		{ "shards", 8, "shards+0x8", NULL, true },
	};
	char command[1024];

	snprintf(command, sizeof(command), "strip -o %s %s", input("libexports.so"), input("libobjects.so"));
	CHECK(!system(command));
	begin("libexports.so");
	check("libexports.so", "libobjects.so", expected, 2);
	CHECK(!find(MAP_START + input_address("libobjects.so", "hidden_lock")) && !object.name);
	fixture_end(&fixture);
}

TEST(code_and_memory_without_a_file_are_no_data)
{
	uint64_t end;

	begin("pie");
	push_map(&fixture, 10, NOBODY, MAP_START + 0x100000, 4096, 0, "//anon");
	end = input_address("pie", "_end");
	CHECK(!find(MAP_START + end - 1));
	CHECK_EQUAL(find(MAP_START + end), -ENOENT);
	CHECK_EQUAL(find(MAP_START + input_address("pie", "work")), -ENOENT);
	CHECK_EQUAL(find(MAP_START - 1), -ENOENT);
	CHECK_EQUAL(find(MAP_START + 0x100010), -ENOENT);
	CHECK_EQUAL(find(0), -ENOENT);
	CHECK_EQUAL(find(UINT64_MAX), -ENOENT);
	CHECK_EQUAL(symbols_resolve_object(fixture.symbols, NOBODY + 1, UINT64_MAX, MAP_START, &object), -ENOENT);
	fixture_end(&fixture);
}

TEST(data_belongs_to_the_file_that_was_mapped_last_at_that_time)
{
	uint64_t first = input_address("pie", "work_mutex"), second;
	const char *const other = is_built("clang") ? "clang" : "types";

	second = input_address(other, "work_mutex");
	begin("pie");
	/* The other file's code lies elsewhere, so that both seem to be there. */
	push_code(&fixture, 1000, NOBODY, MAP_START - 0x2000, other);
	CHECK(!symbols_resolve_object(fixture.symbols, NOBODY, 500, MAP_START + first, &object));
	CHECK_STRING(object.module, "pie");
	CHECK_STRING(object.name, "work_mutex");
	CHECK(!symbols_resolve_object(fixture.symbols, NOBODY, 1500, MAP_START - 0x2000 + second, &object));
	CHECK_STRING(object.module, other);
	CHECK_STRING(object.name, "work_mutex");
	push_exec(&fixture, 2000, NOBODY);
	CHECK_EQUAL(find(MAP_START + first), -ENOENT);
	fixture_end(&fixture);
}

TEST(a_forked_process_has_the_data_of_its_parent)
{
	uint64_t linked = input_address("pie", "work_mutex");

	begin("pie");
	push_fork(&fixture, 100, NOBODY + 1, NOBODY);
	for (uint32_t i = 0; i < 6; i++)
		push_code(&fixture, 200 + i, NOBODY + 1, MAP_START - 0x100000 * (i + 1), "types");
	CHECK(!symbols_resolve_object(fixture.symbols, NOBODY + 1, 300, MAP_START + linked, &object));
	CHECK_STRING(object.module, "pie");
	CHECK_STRING(object.name, "work_mutex");
	CHECK(!symbols_resolve_object(fixture.symbols, NOBODY + 1, 300,
				      MAP_START - 0x300000 + input_address("types", "work_mutex"), &object));
	CHECK_STRING(object.module, "types");
	fixture_end(&fixture);
}

static struct {
	int before;
	struct {
		pthread_mutex_t lock;
	} inner[3];
} own = { .before = 1 };

static __thread int own_of_thread;

TEST(a_living_process_reports_where_its_data_is)
{
	void *heap = malloc(100);
	int local;

	fixture_begin(&fixture);
	CHECK(!symbols_resolve_object(fixture.symbols, getpid(), 1000, (uint64_t)&own.inner[1].lock, &object));
	CHECK(is_object("own.inner[1].lock", "pthread_mutex_t", true));
	CHECK(!symbols_resolve_object(fixture.symbols, getpid(), 1000, (uint64_t)&stdout, &object));
	CHECK_EQUAL(symbols_resolve_object(fixture.symbols, getpid(), 1000, (uint64_t)heap, &object), -ENOENT);
	CHECK_EQUAL(symbols_resolve_object(fixture.symbols, getpid(), 1000, (uint64_t)&local, &object), -ENOENT);
	CHECK_EQUAL(symbols_resolve_object(fixture.symbols, getpid(), 1000, (uint64_t)&own_of_thread, &object),
		    -ENOENT);
	fixture_end(&fixture);
	free(heap);
}

/* The inode of the only file in there, which is another one when something was learnt; 0: there is none. */
static uint64_t kept_file(const char *path)
{
	DIR *folder = opendir(path);
	uint64_t inode = 0;
	struct dirent *entry;

	while (folder && (entry = readdir(folder))) {
		if (entry->d_name[0] == '.')
			continue;
		CHECK(!inode);
		inode = entry->d_ino;
	}
	if (folder)
		closedir(folder);
	return inode;
}

TEST(what_a_run_learnt_of_data_the_next_one_knows_while_its_debug_file_is_there)
{
	uint64_t linked = input_address("pie", "shards") + SHARD(1, 0, lock), kept = 0;
	char path[512], moved[512], folder[512];

	setenv("XDG_CACHE_HOME", input("answers"), 1);
	CHECK(!mkdir(input("answers"), 0700));
	snprintf(path, sizeof(path), "%s", input("linked.debug"));
	snprintf(moved, sizeof(moved), "%s", input("linked.moved"));
	snprintf(folder, sizeof(folder), "%s/pinch", input("answers"));
	for (int run = 0; run < 3; run++) {
		begin("linked");
		symbols_use_cache(fixture.symbols);
		CHECK(!find(MAP_START + linked));
		CHECK(run < 2 ? is_object("shards[1][0].lock", "pthread_mutex_t", true) : !object.name);
		symbols_save_cache(fixture.symbols);
		fixture_end(&fixture);
		CHECK(kept_file(folder) && (!run || kept_file(folder) == kept));
		kept = kept_file(folder);
		if (run)
			CHECK(!rename(run == 1 ? path : moved, run == 1 ? moved : path));
	}
	unsetenv("XDG_CACHE_HOME");
}

TEST(damaged_files_have_no_names)
{
	uint64_t linked = input_address("pie", "work_mutex");

	fixture_begin(&fixture);
	push_map(&fixture, 10, NOBODY, MAP_START + 0x1000, 0x1000, 0x1000, input("truncated"));
	CHECK(find(MAP_START + linked) == -ENOENT || !object.name || object.name);
	push_map(&fixture, 20, NOBODY, MAP_START + 0x1000, 0x1000, 0x1000, input("no_such_file"));
	CHECK_EQUAL(find(MAP_START + linked), -ENOENT);
	fixture_end(&fixture);
}

TEST(types_that_lead_in_circles_come_to_an_end)
{
	static const char *const names[] = {
		"of_typedefs", "of_structure", "of_array", "of_base", "of_specification", "of_type_behind_sibling",
	};

	fixture_begin(&fixture);
	push_code(&fixture, 10, NOBODY, 0, "cyclic");
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		for (uint64_t distance = 0; distance < 16; distance += 8) {
			CHECK(!find(input_address("cyclic", names[i]) + distance));
			CHECK(object.name && !strncmp(object.name, names[i], strlen(names[i])));
			CHECK_EQUAL(object.is_whole, !distance);
		}
	}
	CHECK(!symbols_notes(fixture.symbols, &(const char *const *){ NULL }));
	fixture_end(&fixture);
}

/* Each time other bytes of the file are changed; returns how many still have the name. */
static unsigned int resolve_changed(const uint8_t *bytes, size_t size_bytes, unsigned int count)
{
	uint64_t linked = input_address("cpp", "_ZN5cache5storeE") + 256 + 48 + 8;
	unsigned int seed = 11, named = 0;
	uint8_t *copy = malloc(size_bytes);

	for (unsigned int i = 0; i < count; i++) {
		char name[32], path[256];
		int fd;

		memcpy(copy, bytes, size_bytes);
		/* Headers stay: they are what the others of this kind are for. */
		for (int flips = 1 << rand_r(&seed) % 8; flips; flips--)
			copy[0x1000 + rand_r(&seed) % (size_bytes - 0x1000)] = rand_r(&seed);
		snprintf(name, sizeof(name), "changed%u", i);
		snprintf(path, sizeof(path), "%s", input(name));
		fd = open(path, O_CREAT | O_WRONLY, 0600);
		CHECK_THAT(fd, >=, 0);
		CHECK_EQUAL(write(fd, copy, size_bytes), (ssize_t)size_bytes);
		close(fd);
		push_map(&fixture, 100 + i, NOBODY, MAP_START + 0x1000, 0x1000, 0x1000, path);
		named += !find(MAP_START + linked) && object.name &&
			 !strcmp(object.name, "cache::store.counted[1].count_lock");
		unlink(path);
	}
	free(copy);
	return named;
}

TEST(changed_bytes_do_no_harm)
{
	static uint8_t bytes[1 << 17];
	int fd = open(input("cpp"), O_RDONLY);
	ssize_t size_bytes = read(fd, bytes, sizeof(bytes));

	CHECK_THAT(size_bytes, >, 0x2000);
	CHECK_THAT(size_bytes, <, (ssize_t)sizeof(bytes));
	close(fd);
	fixture_begin(&fixture);
	CHECK_THAT(resolve_changed(bytes, size_bytes, 200), >, 20);
	push_code(&fixture, 1000, NOBODY, MAP_START, "types");
	check_c("types", "types");
	fixture_end(&fixture);
}

/* --- Code ----------------------------------------------------------------------------------- */

static size_t read_code(uint64_t address, uint8_t *code, size_t size_bytes, uint64_t *start)
{
	return symbols_read_code(fixture.symbols, NOBODY, UINT64_MAX, address, code, size_bytes, start);
}

static bool is_in_file(const char *name, uint64_t offset, const uint8_t *code, size_t count)
{
	uint8_t expected[4096];
	int fd = open(input(name), O_RDONLY);
	bool is_same = pread(fd, expected, count, offset) == (ssize_t)count && !memcmp(code, expected, count);

	close(fd);
	return is_same;
}

TEST(code_begins_with_its_function)
{
	uint64_t offset = input_offset("pie", "work"), start;
	uint8_t code[4096];
	size_t whole, count;

	begin("pie");
	whole = read_code(MAP_START + offset + 20, code, sizeof(code), &start);
	CHECK_THAT(whole, >, 60);
	CHECK_THAT(whole, <, 1000);
	CHECK_EQUAL(start, MAP_START + offset);
	CHECK(is_in_file("pie", offset, code, whole));
	/* As much as there is space for, when the address is among it. */
	count = read_code(MAP_START + offset + 20, code, 50, &start);
	CHECK_EQUAL(count, 50);
	CHECK_EQUAL(start, MAP_START + offset);
	count = read_code(MAP_START + offset + 40, code, 32, &start);
	CHECK_EQUAL(count, 32);
	CHECK_EQUAL(start, MAP_START + offset + 24);
	CHECK(is_in_file("pie", offset + 24, code, count));
	CHECK_EQUAL(read_code(MAP_START + offset, code, 0, &start), 0);
	fixture_end(&fixture);
}

TEST(code_of_a_function_that_has_lost_its_name_is_that_of_the_function)
{
	uint64_t offset = input_offset("pie", "second"), start;
	uint8_t code[4096];
	size_t count;

	begin("stripped");
	count = read_code(MAP_START + offset + 1, code, sizeof(code), &start);
	CHECK_THAT(count, >, 1);
	CHECK_THAT(count, <, 64);
	CHECK_EQUAL(start, MAP_START + offset);
	CHECK(is_in_file("pie", offset, code, count));
	fixture_end(&fixture);
}

TEST(code_of_which_nothing_reports_is_what_lies_around_it)
{
	uint64_t offset = input_offset("pie", "second"), start;
	uint8_t code[4096];
	size_t count;

	begin("bare");
	count = read_code(MAP_START + offset, code, 64, &start);
	CHECK_EQUAL(count, 64);
	CHECK_EQUAL(start, MAP_START + offset - 32);
	CHECK(is_in_file("pie", offset - 32, code, count));
	/* Its segment ends before the space does. */
	count = read_code(MAP_START + offset, code, sizeof(code), &start);
	CHECK_THAT(count, >, 64);
	CHECK_THAT(count, <, sizeof(code));
	CHECK_THAT(start, <, MAP_START + offset);
	CHECK(is_in_file("pie", start - MAP_START, code, count));
	fixture_end(&fixture);
}

TEST(there_is_no_code_where_no_file_is)
{
	uint64_t start;
	uint8_t code[64];

	begin("pie");
	push_map(&fixture, 10, NOBODY, MAP_START + 0x100000, 4096, 0, "//anon");
	push_map(&fixture, 10, NOBODY, MAP_START + 0x200000, 4096, 0, input("no_such_file"));
	CHECK(!read_code(MAP_START + 0x100010, code, sizeof(code), &start));
	CHECK(!read_code(MAP_START + 0x200010, code, sizeof(code), &start));
	CHECK(!read_code(MAP_START + 0x900000, code, sizeof(code), &start));
	CHECK(!read_code(UINT64_MAX, code, sizeof(code), &start));
	fixture_end(&fixture);
}
