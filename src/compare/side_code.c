/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare/side_code.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/table.h"
#include "report/report_frame.h"

void side_code_init(struct side_code *code)
{
	*code = (struct side_code){ .arena = arena_new(), .by_name = table_new(), .freedom = INFINITY };
}

void side_code_fini(struct side_code *code)
{
	if (!code->by_name)
		return;
	table_free(code->by_name);
	arena_free(code->arena);
	free(code->functions);
	*code = (struct side_code){ 0 };
}

struct side_function *side_code_get(struct side_code *code, const char *name)
{
	uint64_t key = hash_string(1, name);
	uintptr_t at = (uintptr_t)table_find(code->by_name, key);

	if (at)
		return &code->functions[at - 1];
	ARRAY_GROW(code->functions, code->count, code->capacity, 64);
	code->functions[code->count] = (struct side_function){ .name = arena_strdup(code->arena, name) };
	table_put(code->by_name, key, (void *)(uintptr_t)(code->count + 1));
	return &code->functions[code->count++];
}

const struct side_function *side_code_find(const struct side_code *code, const char *name)
{
	uintptr_t at = (uintptr_t)table_find(code->by_name, hash_string(1, name));

	return at ? &code->functions[at - 1] : NULL;
}

const char *side_code_name(struct side_code *code, const struct report_frame *frame)
{
	if (frame->function)
		return frame->function;
	return arena_printf(code->arena, "%s+0x%llx", frame->module ? frame->module : "?",
			    (unsigned long long)frame->offset);
}

double side_code_error_ns(double ns, uint64_t samples, uint64_t all_samples)
{
	double all = all_samples + 4.0, share = (samples + 2) / all;

	return ns * sqrt(share * (1 - share) / all);
}
