// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * symbolise FILE [COUNT]			(5000)
 * Asks for the names, lines and inlined calls of COUNT places all over a program's functions, as a
 * report does: first of the worker, then of the cache that this has filled. Prints as JSON what both
 * took. XDG_CACHE_HOME is where the cache is.
 */
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "helper/opener.h"
#include "helper/pair.h"
#include "symbol/answer_cache.h"
#include "symbol/elf/elf_file.h"
#include "symbol/elf/elf_symbols.h"
#include "symbol/space/module.h"
#include "symbol/worker/worker.h"

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

/* Places in the file, each in another function as far as there are enough. */
static size_t choose(const char *path, uint64_t *offsets, size_t count)
{
	struct elf_file file;
	struct elf_symbols *symbols;
	uint64_t low = UINT64_MAX, high = 0, step, address;
	struct elf_symbol function;
	GElf_Shdr header;
	size_t found = 0;

	if (elf_file_open(open(path, O_RDONLY | O_CLOEXEC), &file))
		return 0;
	symbols = elf_symbols_new((Elf *[]){ file.elf, NULL, NULL }, ELF_SYMBOL_FILES_MAX, ELF_FUNCTIONS);
	if (elf_find_section(file.elf, ".text", &header)) {
		low = header.sh_addr;
		high = header.sh_addr + header.sh_size;
	}
	step = high > low ? (high - low) / (count * 2) : 1;
	for (address = low; address < high && found < count; address += step) {
		uint64_t middle;

		if (!elf_symbols_find(symbols, address, &function))
			continue;
		middle = function.start + (function.end - function.start) / 2;
		if (elf_offset_at(file.elf, middle, &offsets[found]) &&
		    (!found || offsets[found] != offsets[found - 1]))
			found++;
	}
	elf_symbols_free(symbols);
	elf_file_close(&file);
	return found;
}

struct result {
	size_t frames, lines;
	double s;
};

static void count_answer(struct result *result, const struct answer *answer)
{
	result->frames += answer->frame_count;
	result->lines += answer->frame_count && answer->frames[0].line;
}

static int find_sources(void *data, const struct module *module, struct sources_answer *sources)
{
	const struct sources_answer *answer;
	int err = worker_ask_sources(data, module, &answer);

	if (!err)
		*sources = *answer;
	return err;
}

static bool is_unchanged(void *data, const struct module *module)
{
	(void)data, (void)module;
	return true;
}

static void on_stuck(void *data, uint32_t pid, const char *path)
{
	(void)data, (void)pid;
	fprintf(stderr, "symbolise: %s cannot be read\n", path);
	exit(1);
}

static struct result ask_worker(struct worker *worker, const struct module *module, const uint64_t *offsets,
				size_t count)
{
	struct answer_cache *cache = answer_cache_new();
	struct result result = { 0 };
	double begin_s = now_s();

	answer_cache_use_sources(cache, find_sources, is_unchanged, worker);
	for (size_t i = 0; i < count; i++) {
		const struct answer *answer;

		answer_cache_find(cache, module, offsets[i]);
		if (worker_ask(worker, module, offsets[i], true, &answer))
			continue;
		count_answer(&result, answer);
		answer_cache_add(cache, module, offsets[i], answer);
	}
	result.s = now_s() - begin_s;
	answer_cache_save(cache);
	answer_cache_free(cache);
	return result;
}

static struct result ask_cache(struct worker *worker, const struct module *module, const uint64_t *offsets,
			       size_t count)
{
	struct result result = { 0 };
	double begin_s = now_s();
	struct answer_cache *cache = answer_cache_new();

	answer_cache_use_sources(cache, find_sources, is_unchanged, worker);
	for (size_t i = 0; i < count; i++) {
		const struct answer *answer = answer_cache_find(cache, module, offsets[i]);

		if (answer)
			count_answer(&result, answer);
	}
	answer_cache_free(cache);
	result.s = now_s() - begin_s;
	return result;
}

static void print(const char *name, const struct result *result)
{
	printf("\"%s\": {\"frames\": %zu, \"lines\": %zu, \"s\": %.4f}, ", name, result->frames, result->lines,
	       result->s);
}

int main(int argc, char **argv)
{
	size_t count = argc > 2 ? strtoul(argv[2], NULL, 10) : 5000;
	uint64_t *offsets = calloc(count, sizeof(*offsets));
	struct module_identity identity = { .path = argc > 1 ? argv[1] : "", .pid = getpid() };
	struct modules *modules;
	struct helper_pair *helpers;
	struct opener *opener;
	struct result first, again;
	struct module *module;
	struct worker *worker;
	struct stat status;

	if (argc < 2 || stat(argv[1], &status)) {
		fprintf(stderr, "usage: symbolise FILE [COUNT]\n");
		return 2;
	}
	helpers = helper_pair_new(worker_roles());
	opener = opener_new(helpers, on_stuck, NULL);
	worker = worker_new(helpers, opener);
	modules = modules_new(opener);
	identity.device = status.st_dev;
	identity.inode = status.st_ino;
	count = choose(argv[1], offsets, count);
	module = modules_get(modules, &identity);
	first = ask_worker(worker, module, offsets, count);
	again = ask_cache(worker, module, offsets, count);
	printf("{\"places\": %zu, ", count);
	print("first", &first);
	print("again", &again);
	printf("\"rss_bytes\": %llu}\n", (unsigned long long)helper_pair_memory_bytes(helpers));
	worker_free(worker);
	modules_free(modules);
	opener_free(opener);
	helper_pair_free(helpers);
	free(offsets);
	return 0;
}
