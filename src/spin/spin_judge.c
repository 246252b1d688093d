/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "spin/spin_judge.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "stacks/fold.h"
#include "report/report_frame.h"
#include "symbol/symbol.h"

enum { CODE_BYTES = 8192, ANSWERS_MAX = 1 << 16, TOGETHER_MAX = 64 };

struct answer {
	bool is_named;          /* waits by its name */
	struct spin_loop *loop; /* NULL: none; its addresses are less the one asked for */
};

struct spin_judge {
	struct symbols *symbols;
	const struct fold_rules *fold;
	struct spin_finder *finder; /* NULL: instructions cannot be decoded */
	struct arena *arena;
	struct table *answers; /* by place */
};

static void begin_answers(struct spin_judge *judge)
{
	arena_free(judge->arena);
	table_free(judge->answers);
	judge->arena = arena_new();
	judge->answers = table_new();
}

struct spin_judge *spin_judge_new(struct symbols *symbols, const struct fold_rules *fold)
{
	struct spin_judge *judge = xcalloc(1, sizeof(*judge));

	judge->symbols = symbols;
	judge->fold = fold;
	judge->finder = spin_finder_new(NULL, NULL);
	begin_answers(judge);
	return judge;
}

void spin_judge_free(struct spin_judge *judge)
{
	if (!judge)
		return;
	spin_finder_free(judge->finder);
	arena_free(judge->arena);
	table_free(judge->answers);
	free(judge);
}

static bool is_named_spin(const struct spin_judge *judge, const struct symbol_frame *named)
{
	struct report_frame frame = {
		.function = named->function,
		.module = named->module,
		.is_kernel = named->is_kernel,
	};

	return fold_is_spin(judge->fold, &frame);
}

/* The same code may lie elsewhere in another process. */
static void move(struct spin_loop *loop, uint64_t by)
{
	loop->begin += by;
	loop->end += by;
	if (loop->reader)
		loop->reader += by;
	if (loop->has_word)
		loop->word += by;
}

static struct spin_loop *find_loop(struct spin_judge *judge, uint32_t pid, uint64_t time_ns, uint64_t ip)
{
	uint8_t code[CODE_BYTES];
	struct spin_loop loop, *copy;
	uint64_t begin;
	size_t bytes = symbols_read_code(judge->symbols, pid, time_ns, ip, code, sizeof(code), &begin);

	if (!bytes || !judge->finder || !spin_loop_find(judge->finder, code, bytes, begin, ip, &loop))
		return NULL;
	copy = arena_alloc(judge->arena, sizeof(*copy));
	*copy = loop;
	move(copy, -ip);
	return copy;
}

/* Its loops read the time again when the kernel has changed it meanwhile, which it does in nanoseconds. */
static bool is_vdso(const struct symbol_frame *named)
{
	return named->module && !strcmp(named->module, "[vdso]");
}

static bool key_of(struct spin_judge *judge, uint32_t pid, uint64_t time_ns, uint64_t ip, uint64_t *key)
{
	uint64_t offset;
	uint32_t module;

	if (symbols_place(judge->symbols, pid, time_ns, ip, false, &module, &offset))
		return false;
	*key = hash_u64(offset ^ hash_u64(module));
	return true;
}

/* NULL: nothing is known about the address. */
static const struct answer *answer_of(struct spin_judge *judge, uint32_t pid, uint64_t time_ns, uint64_t ip)
{
	struct symbol_frame named = { 0 };
	struct answer *answer;
	uint64_t key;

	if (!key_of(judge, pid, time_ns, ip, &key))
		return NULL;
	answer = table_find(judge->answers, key);
	if (answer)
		return answer;
	if (table_count(judge->answers) == ANSWERS_MAX)
		begin_answers(judge);
	answer = arena_alloc(judge->arena, sizeof(*answer));
	table_put(judge->answers, key, answer);
	symbols_function(judge->symbols, pid, time_ns, ip, &named);
	answer->is_named = is_named_spin(judge, &named);
	if (!is_vdso(&named))
		answer->loop = find_loop(judge, pid, time_ns, ip);
	return answer;
}

static void answer_all(struct spin_judge *judge, const struct symbol_request *requests, size_t count)
{
	symbols_prepare_code(judge->symbols, requests, count, CODE_BYTES);
	for (size_t i = 0; i < count; i++)
		answer_of(judge, requests[i].pid, requests[i].time_ns, requests[i].address);
}

void spin_judge_prepare(struct spin_judge *judge, const struct symbol_request *requests, size_t count)
{
	struct symbol_request together[TOGETHER_MAX];
	size_t together_count = 0;
	uint64_t key;

	for (size_t i = 0; i < count; i++) {
		if (!key_of(judge, requests[i].pid, requests[i].time_ns, requests[i].address, &key) ||
		    table_find(judge->answers, key))
			continue;
		together[together_count++] = requests[i];
		if (together_count == TOGETHER_MAX) {
			answer_all(judge, together, together_count);
			together_count = 0;
		}
	}
	if (together_count)
		answer_all(judge, together, together_count);
}

bool spin_judge_is_spin(struct spin_judge *judge, uint32_t pid, uint64_t time_ns, uint64_t ip, uint64_t kernel_ip)
{
	const struct answer *answer = ip ? answer_of(judge, pid, time_ns, ip) : NULL;
	struct symbol_frame named;

	if (answer && (answer->is_named || (answer->loop && !kernel_ip)))
		return true;
	if (!kernel_ip)
		return false;
	symbols_resolve_kernel(judge->symbols, kernel_ip, &named);
	return is_named_spin(judge, &named);
}

bool spin_judge_is_by_loop(struct spin_judge *judge, uint32_t pid, uint64_t time_ns, uint64_t ip, uint64_t kernel_ip,
			   struct spin_loop *out)
{
	const struct answer *answer = ip && !kernel_ip ? answer_of(judge, pid, time_ns, ip) : NULL;

	if (!answer || answer->is_named || !answer->loop)
		return false;
	*out = *answer->loop;
	move(out, ip);
	return true;
}

bool spin_judge_find_loop(struct spin_judge *judge, uint32_t pid, uint64_t time_ns, uint64_t ip, struct spin_loop *out)
{
	const struct answer *answer = ip ? answer_of(judge, pid, time_ns, ip) : NULL;

	if (!answer || !answer->loop)
		return false;
	*out = *answer->loop;
	move(out, ip);
	return true;
}
