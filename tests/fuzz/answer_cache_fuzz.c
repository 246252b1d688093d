/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The bytes are a file of the answer cache: entries and answers, of which the first byte says how
 * much is as it should be. Whatever the file holds, each answer found is valid; and when it is
 * written again with one more, that one is found.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/table.h"
#include "input.h"
#include "symbol/answer_cache.h"

enum { FILE_BYTES_MAX = 16384, ENTRIES_MAX = 16, PLACES = 64 };

/* Bits of the first byte. */
enum { IS_ALTERED = 1, IS_RAW = 2, IS_ADDED_TO = 4 };

struct header {
	char magic[8], version[24];
	uint64_t checksum;
	uint32_t count, reserved;
	struct sources_answer sources;
};

struct index_entry {
	uint64_t key;
	uint32_t at, size_bytes;
};

/* The highest byte of the key of data. */
static const uint64_t variable_key = 1ull << 56;

static char directory[64] = "/tmp/pinch-fuzz-XXXXXX", path[128];
static struct module module = {
	.number = 1,
	.has_stamp = true,
	.stamp = { .device = 1, .inode = 2, .size_bytes = 3 },
};

static int sources_of(void *data, const struct module *of, struct sources_answer *sources)
{
	(void)data;
	*sources = (struct sources_answer){ .count = 1, .sources[0].stamp = of->stamp };
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

static void remove_directory(void)
{
	unlink(path);
	snprintf(path, sizeof(path), "%s/pinch", directory);
	rmdir(path);
	rmdir(directory);
}

int LLVMFuzzerInitialize(int *count, char ***args)
{
	struct sources_answer sources;
	XXH128_hash_t hash;

	(void)count, (void)args;
	if (!mkdtemp(directory))
		abort();
	setenv("XDG_CACHE_HOME", directory, 1);
	answer_cache_free(answer_cache_new());
	module.stamp.owner = geteuid();
	sources_of(NULL, &module, &sources);
	hash = XXH3_128bits(&sources, sizeof(sources));
	snprintf(path, sizeof(path), "%s/pinch/%016llx%016llx", directory, (unsigned long long)hash.high64,
		 (unsigned long long)hash.low64);
	atexit(remove_directory);
	return 0;
}

static uint64_t checksum(const uint8_t *bytes, size_t size_bytes)
{
	uint64_t sum = size_bytes, word;

	for (size_t i = 0; i + sizeof(word) <= size_bytes; i += sizeof(word)) {
		memcpy(&word, bytes + i, sizeof(word));
		sum = hash_u64(sum ^ word);
	}
	return sum;
}

/* An answer whose text is as long as the bytes say; how many bytes of the file it takes. */
static size_t take_answer(struct input *input, uint8_t *to, uint32_t *size_bytes)
{
	struct answer answer = {
		.frame_count = take_number(input, 1) % (SYMBOL_INLINE_MAX + 2),
		.text_bytes = take_number(input, 1),
	};

	for (uint32_t i = 0; i < answer.frame_count && i < SYMBOL_INLINE_MAX; i++) {
		answer.frames[i].function = take_number(input, 1);
		answer.frames[i].file = take_number(input, 1);
	}
	take(input, answer.text, answer.text_bytes);
	if (answer.text_bytes && take_number(input, 1) & 3)
		answer.text[answer.text_bytes - 1] = '\0';
	*size_bytes = offsetof(struct answer, text) + answer.text_bytes;
	memcpy(to, &answer, *size_bytes);
	return (*size_bytes + 7) / 8 * 8;
}

/* The same of data. */
static size_t take_variable(struct input *input, uint8_t *to, uint32_t *size_bytes)
{
	struct variable_answer answer = {
		.name = take_number(input, 1),
		.type = take_number(input, 1),
		.text_bytes = take_number(input, 1),
	};

	take(input, answer.text, answer.text_bytes);
	if (answer.text_bytes && take_number(input, 1) & 3)
		answer.text[answer.text_bytes - 1] = '\0';
	*size_bytes = offsetof(struct variable_answer, text) + answer.text_bytes;
	memcpy(to, &answer, *size_bytes);
	return (*size_bytes + 7) / 8 * 8;
}

/* What follows the header. */
static size_t take_body(struct input *input, bool is_raw, uint32_t *count, uint8_t *body)
{
	struct index_entry *entries = (struct index_entry *)body;
	size_t at;

	if (is_raw) {
		at = (input->size + 7) / 8 * 8 % (FILE_BYTES_MAX / 2);
		take(input, body, at);
		return at;
	}
	*count %= ENTRIES_MAX;
	at = *count * sizeof(*entries);
	for (uint32_t i = 0; i < *count; i++) {
		uint64_t place = take_number(input, 1);
		bool is_variable = place >= 2 * PLACES;

		entries[i].key = is_variable ? variable_key | place % PLACES : place;
		entries[i].at = sizeof(struct header) + at;
		at += (is_variable ? take_variable : take_answer)(input, body + at, &entries[i].size_bytes);
	}
	return at;
}

static void write_file(struct input *input, uint8_t mode)
{
	static _Alignas(8) uint8_t file[FILE_BYTES_MAX];
	struct header header = { .magic = "pinchsy2", .version = PINCH_VERSION };
	size_t size_bytes, at;
	int fd;

	memset(file, 0, sizeof(file));
	header.count = take_number(input, 1);
	sources_of(NULL, &module, &header.sources);
	size_bytes = take_body(input, mode & IS_RAW, &header.count, file + sizeof(header));
	for (; mode & IS_ALTERED && input->size && size_bytes; file[at] = take_number(input, 1))
		at = sizeof(header) + take_number(input, 2) % size_bytes;
	/* All but one of a few: what has another sum is not examined. */
	if (mode >> 3 != 31)
		header.checksum = checksum(file + sizeof(header), size_bytes);
	memcpy(file, &header, sizeof(header));
	size_bytes += sizeof(header);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, file, size_bytes) != (ssize_t)size_bytes)
		abort();
	close(fd);
}

static void check_variable(const struct variable_answer *variable)
{
	if (variable &&
	    strlen(variable->text + variable->name) + strlen(variable->text + variable->type) > 2 * VARIABLE_TEXT_BYTES)
		abort();
}

static void check_answers(struct answer_cache *cache)
{
	for (uint64_t place = 0; place < PLACES; place++) {
		const struct answer *answer = answer_cache_find(cache, &module, place);
		size_t sum = 0;

		for (uint32_t i = 0; answer && i < answer->frame_count; i++)
			sum += strlen(answer->text + answer->frames[i].function) +
			       strlen(answer->text + answer->frames[i].file);
		check_variable(answer_cache_find_variable(cache, &module, place));
		if (answer && (answer->frame_count > SYMBOL_INLINE_MAX ||
			       sum > 2 * SYMBOL_INLINE_MAX * (size_t)ANSWER_TEXT_BYTES))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes)
{
	static const struct answer one_more = { .frame_count = 1, .text_bytes = 2 };
	struct input input = { bytes, size_bytes };
	uint8_t mode = take_number(&input, 1);
	struct answer_cache *cache;

	write_file(&input, mode);
	cache = cache_new();
	check_answers(cache);
	if (mode & IS_ADDED_TO) {
		if (!answer_cache_find(cache, &module, PLACES))
			answer_cache_add(cache, &module, PLACES, &one_more);
		answer_cache_save(cache);
		answer_cache_free(cache);
		cache = cache_new();
		check_answers(cache);
		if (!answer_cache_find(cache, &module, PLACES))
			abort();
	}
	answer_cache_free(cache);
	return 0;
}
