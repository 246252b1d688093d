/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "symbol/answer_cache.h"

static char directory[PATH_MAX + 16];

static void remove_all(void)
{
	char command[sizeof(directory) + 16];

	snprintf(command, sizeof(command), "rm -rf '%s'", directory);
	CHECK(!system(command));
}

static void begin(void)
{
	char output[PATH_MAX];

	CHECK(realpath(TEST_OUTPUT, output));
	snprintf(directory, sizeof(directory), "%s/cache-XXXXXX", output);
	CHECK(mkdtemp(directory));
	setenv("XDG_CACHE_HOME", directory, 1);
}

static struct module module_of(uint32_t number)
{
	return (struct module){
		.number = number,
		.has_stamp = true,
		.stamp = { .device = 5,
			   .inode = number,
			   .size_bytes = 100,
			   .modified_ns = 7,
			   .changed_ns = 8,
			   .owner = geteuid() },
	};
}

/* Another file that the answers come from, if it has an inode. */
static struct source debug_file;
static uint64_t content_hash;

static int sources_of(void *data, const struct module *module, struct sources_answer *sources)
{
	(void)data;
	*sources = (struct sources_answer){ .count = 1 + (debug_file.stamp.inode != 0) };
	sources->sources[0] = (struct source){ module->stamp, { module->number, content_hash } };
	sources->sources[1] = debug_file;
	return 0;
}

static bool is_unchanged(void *data, const struct module *module)
{
	(void)data, (void)module;
	return true;
}

static struct answer_cache *cache_new(void)
{
	struct answer_cache *cache = answer_cache_new();

	answer_cache_use_sources(cache, sources_of, is_unchanged, NULL);
	return cache;
}

static struct answer answer_of(uint64_t place)
{
	struct answer answer = { .function_offset = place & ~15ull, .frame_count = 2 };

	answer.text_bytes =
		1 + snprintf(answer.text + 1, 200, "inner%d%cfile%d.c%couter", (int)place, 0, (int)place, 0) + 1;
	answer.frames[0].function = 1;
	answer.frames[0].file = 1 + strlen(answer.text + 1) + 1;
	answer.frames[0].line = place % 1000;
	return answer;
}

static bool is_kept(struct answer_cache *cache, const struct module *module, uint64_t place)
{
	struct answer expected = answer_of(place);
	const struct answer *found = answer_cache_find(cache, module, place);

	return found && !memcmp(found, &expected, offsetof(struct answer, text) + expected.text_bytes);
}

/* One run: asks for the places [from, to), and keeps those that were not there. */
static uint32_t run(const struct module *module, uint64_t from, uint64_t to)
{
	struct answer_cache *cache = cache_new();
	uint32_t found = 0;

	for (uint64_t place = to; place-- > from;) {
		if (is_kept(cache, module, place)) {
			found++;
		} else {
			struct answer answer = answer_of(place);

			CHECK(!answer_cache_find(cache, module, place));
			answer_cache_add(cache, module, place, &answer);
		}
	}
	answer_cache_save(cache);
	answer_cache_free(cache);
	return found;
}

static void file_of(char *path, size_t capacity, const struct module *module)
{
	struct sources_answer sources;
	XXH128_hash_t hash;

	sources_of(NULL, module, &sources);
	hash = XXH3_128bits(&sources, sizeof(sources));
	snprintf(path, capacity, "%s/pinch/%016llx%016llx", directory, (unsigned long long)hash.high64,
		 (unsigned long long)hash.low64);
}

TEST(what_a_run_learnt_the_next_one_knows)
{
	struct module one = module_of(1), two = module_of(2);

	begin();
	CHECK_EQUAL(run(&one, 0, 500), 0);
	CHECK_EQUAL(run(&one, 0, 500), 500);
	CHECK_EQUAL(run(&two, 0, 10), 0);
	/* More of the same: the old ones stay. */
	CHECK_EQUAL(run(&one, 400, 900), 100);
	CHECK_EQUAL(run(&one, 0, 900), 900);
	CHECK_EQUAL(run(&two, 0, 10), 10);
	remove_all();
}

/* It is written and examined in pieces. */
TEST(a_file_of_many_megabytes_is_as_good_as_a_small_one)
{
	struct module module = module_of(1);

	begin();
	CHECK_EQUAL(run(&module, 0, 30000), 0);
	CHECK_EQUAL(run(&module, 0, 30001), 30000);
	CHECK_EQUAL(run(&module, 0, 30001), 30001);
	remove_all();
}

TEST(an_answer_from_a_file_without_debug_information_is_kept)
{
	struct module module = module_of(1);
	struct answer_cache *cache;
	struct answer answer = answer_of(3);
	const struct answer *found;

	begin();
	cache = cache_new();
	answer.flags = ANSWER_NO_LINES;
	answer_cache_add(cache, &module, 3, &answer);
	answer.frame_count = 0;
	answer_cache_add(cache, &module, 4, &answer);
	answer_cache_save(cache);
	answer_cache_free(cache);
	cache = cache_new();
	found = answer_cache_find(cache, &module, 3);
	CHECK(found && found->flags == ANSWER_NO_LINES && found->frame_count == 2);
	found = answer_cache_find(cache, &module, 4);
	CHECK(found && !found->frame_count);
	answer_cache_free(cache);
	remove_all();
}

TEST(answers_of_several_kinds_about_one_place_are_kept_apart)
{
	static const uint64_t place = 0x1234567890abcdef >> 8, call = 0x1234567890abcdef;
	struct module module = module_of(1);
	struct answer lines = answer_of(1), function = answer_of(2), missing = answer_of(3);
	struct answer_cache *cache;

	begin();
	function.flags = ANSWER_BY_SYMBOLS;
	missing.frame_count = 0;
	cache = cache_new();
	answer_cache_add(cache, &module, place, &lines);
	answer_cache_add_function(cache, &module, place, &function);
	answer_cache_add_missing(cache, &module, call, &missing);
	answer_cache_save(cache);
	answer_cache_free(cache);
	cache = cache_new();
	CHECK(answer_cache_find(cache, &module, place)->frames[0].line == 1);
	CHECK(answer_cache_find_function(cache, &module, place)->frames[0].line == 2);
	CHECK(answer_cache_find_missing(cache, &module, call)->frames[0].line == 3);
	CHECK(!answer_cache_find_missing(cache, &module, call ^ 1ull << 63));
	answer_cache_free(cache);
	remove_all();
}

TEST(an_answer_that_lacks_something_is_not_kept)
{
	struct module module = module_of(1), nameless = module_of(2);
	struct answer_cache *cache;
	struct answer answer = answer_of(3);

	begin();
	cache = cache_new();
	answer.flags = ANSWER_BAD_LINES;
	answer_cache_add(cache, &module, 3, &answer);
	answer.flags = 0;
	answer.frame_count = 0;
	answer_cache_add(cache, &module, 4, &answer);
	answer = answer_of(5);
	nameless.has_stamp = false;
	answer_cache_add(cache, &nameless, 5, &answer);
	answer_cache_save(cache);
	answer_cache_free(cache);
	CHECK_EQUAL(run(&module, 3, 5), 0);
	remove_all();
}

TEST(an_answer_that_makes_no_sense_gives_way_to_the_right_one)
{
	struct module module = module_of(1);
	struct answer answer = answer_of(3);
	struct answer_cache *cache;

	begin();
	cache = cache_new();
	answer.frames[1].function = answer.text_bytes;
	answer_cache_add(cache, &module, 3, &answer);
	answer_cache_save(cache);
	answer_cache_free(cache);
	CHECK_EQUAL(run(&module, 3, 4), 0);
	CHECK_EQUAL(run(&module, 3, 4), 1);
	remove_all();
}

TEST(what_was_learnt_of_a_file_counts_only_as_long_as_it_is_that_file)
{
	struct module module = module_of(1), other;

	begin();
	CHECK_EQUAL(run(&module, 0, 20), 0);
	CHECK_EQUAL(run(&module, 0, 20), 20);
	for (int i = 0; i < 6; i++) {
		other = module;
		*(i == 0   ? &other.stamp.device
		  : i == 1 ? &other.stamp.inode
		  : i == 2 ? &other.stamp.size_bytes
		  : i == 3 ? (uint64_t *)&other.stamp.modified_ns
		  : i == 4 ? (uint64_t *)&other.stamp.changed_ns
			   : &content_hash) += 1;
		CHECK_EQUAL(run(&other, 0, 20), 0);
		content_hash = 0;
		CHECK_EQUAL(run(&module, 0, 20), 20);
	}
	/* A debug file that is installed, and one that takes its place. */
	debug_file = (struct source){ module.stamp, { 9, 9 } };
	debug_file.stamp.inode = 77;
	CHECK_EQUAL(run(&module, 0, 20), 0);
	CHECK_EQUAL(run(&module, 0, 20), 20);
	debug_file.stamp.inode = 78;
	CHECK_EQUAL(run(&module, 0, 20), 0);
	debug_file = (struct source){ 0 };
	CHECK_EQUAL(run(&module, 0, 20), 20);
	remove_all();
}

TEST(nothing_is_kept_of_files_that_others_made)
{
	struct module module = module_of(1), own = module_of(2);

	begin();
	for (int i = 0; i < 2; i++) {
		module.stamp.owner = 65534;
		CHECK_EQUAL(run(&module, 0, 20), 0);
		module.stamp.owner = 0;
		module.stamp.is_owner_doubtful = true;
		CHECK_EQUAL(run(&module, 0, 20), 0);
		module.stamp.is_owner_doubtful = false;
		debug_file = (struct source){ own.stamp, { 9, 9 } };
		debug_file.stamp.owner = 65534;
		CHECK_EQUAL(run(&own, 0, 20), 0);
		debug_file = (struct source){ 0 };
	}
	CHECK_EQUAL(run(&module, 0, 20), 0);
	CHECK_EQUAL(run(&module, 0, 20), 20);
	remove_all();
}

TEST(a_damaged_file_counts_as_empty_and_is_corrected)
{
	struct module module = module_of(1);
	char path[sizeof(directory) + 128], byte;
	struct stat status;
	int fd;

	begin();
	file_of(path, sizeof(path), &module);
	CHECK_EQUAL(run(&module, 0, 20), 0);
	CHECK(!stat(path, &status));
	for (off_t at = 0; at < status.st_size; at += 97) {
		CHECK_EQUAL(run(&module, 0, 20), 20);
		fd = open(path, O_RDWR);
		CHECK_EQUAL(pread(fd, &byte, 1, at), 1);
		byte ^= 0x20;
		CHECK_EQUAL(pwrite(fd, &byte, 1, at), 1);
		close(fd);
		CHECK_EQUAL(run(&module, 0, 20), 0);
		CHECK_EQUAL(run(&module, 0, 20), 20);
	}
	CHECK(!truncate(path, status.st_size / 2 & ~7));
	CHECK_EQUAL(run(&module, 0, 20), 0);
	CHECK_EQUAL(run(&module, 0, 20), 20);
	CHECK(!truncate(path, 3));
	CHECK_EQUAL(run(&module, 0, 20), 0);
	remove_all();
}

TEST(nothing_is_believed_that_others_may_write)
{
	struct module module = module_of(1);
	char path[sizeof(directory) + 128];

	begin();
	CHECK_EQUAL(run(&module, 0, 20), 0);
	snprintf(path, sizeof(path), "%s/pinch", directory);
	CHECK(!chmod(path, 0777));
	CHECK_EQUAL(run(&module, 0, 20), 0);
	CHECK_EQUAL(run(&module, 0, 20), 0);
	CHECK(!chmod(path, 0700));
	CHECK_EQUAL(run(&module, 0, 20), 20);
	file_of(path, sizeof(path), &module);
	CHECK(!unlink(path) && !symlink("/dev/zero", path));
	CHECK_EQUAL(run(&module, 0, 20), 0);
	remove_all();
}

TEST(without_a_place_for_it_nothing_is_kept)
{
	struct module module = module_of(1);

	begin();
	setenv("XDG_CACHE_HOME", "/proc/no such place", 1);
	CHECK_EQUAL(run(&module, 0, 20), 0);
	CHECK_EQUAL(run(&module, 0, 20), 0);
	remove_all();
}

TEST(what_was_written_long_ago_makes_space)
{
	struct module module = module_of(1);
	char path[sizeof(directory) + 128];

	begin();
	CHECK_EQUAL(run(&module, 0, 20), 0);
	for (int i = 0; i < 5; i++) {
		struct timespec times[2] = { { .tv_sec = 1000 + i }, { .tv_sec = 1000 + i } };
		int fd;

		snprintf(path, sizeof(path), "%s/pinch/old%d", directory, i);
		fd = open(path, O_RDWR | O_CREAT, 0600);
		CHECK(!ftruncate(fd, 40 << 20) && !futimens(fd, times));
		close(fd);
	}
	CHECK_EQUAL(run(&module, 0, 21), 20); /* writes */
	for (int i = 0; i < 5; i++) {
		snprintf(path, sizeof(path), "%s/pinch/old%d", directory, i);
		CHECK_EQUAL(!access(path, F_OK), i >= 2);
	}
	CHECK_EQUAL(run(&module, 0, 21), 21);
	remove_all();
}

TEST(of_one_place_code_and_data_are_distinguished)
{
	struct variable_answer variable = { .name = 1, .is_whole = true, .text_bytes = 10 };
	const struct variable_answer *found;
	struct module module = module_of(1);
	struct answer_cache *cache;

	begin();
	strcpy(variable.text + 1, "the_name");
	for (int i = 0; i < 2; i++) {
		CHECK_EQUAL(run(&module, 0, 20), (i ? 20 : 0));
		cache = cache_new();
		found = answer_cache_find_variable(cache, &module, 7);
		CHECK_EQUAL(!found, !i);
		CHECK((!i || !strcmp(found->text + found->name, "the_name")));
		CHECK(!answer_cache_find_variable(cache, &module, 8));
		CHECK(!answer_cache_find_variable(cache, &module, 7ull | 1ull << 56));
		answer_cache_add_variable(cache, &module, 7, &variable);
		/* What is not whole, and what no file has, is not kept. */
		answer_cache_add_variable(cache, &module, 9ull | 1ull << 56, &variable);
		variable.flags = ANSWER_NO_LINES;
		answer_cache_add_variable(cache, &module, 8, &variable);
		variable.flags = 0;
		answer_cache_save(cache);
		answer_cache_free(cache);
	}
	remove_all();
}
