/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/names/kernel_functions.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "symbol/elf/demangle.h"
#include "symbol/names/names.h"

enum { TEXT_BYTES = 640, NAME_BYTES = 512 };

struct kernel_functions {
	kernel_address_fn *ask;
	void *data;
	struct names *names;
	struct table *found; /* by address */
};

struct kernel_functions *kernel_functions_new(kernel_address_fn *ask, void *data, struct names *names)
{
	struct kernel_functions *functions = xcalloc(1, sizeof(*functions));

	functions->ask = ask;
	functions->data = data;
	functions->names = names;
	functions->found = table_new();
	return functions;
}

void kernel_functions_free(struct kernel_functions *functions)
{
	size_t cursor = 0;
	void *function;

	if (!functions)
		return;
	while ((function = table_next(functions->found, &cursor)))
		free(function);
	table_free(functions->found);
	free(functions);
}

/* "name+0x1a/0x90" or "name+0x1a/0x90 [module]"; an address without a function is just a number. */
static struct kernel_function parse(struct kernel_functions *functions, char *text, uint64_t address)
{
	char *plus = strchr(text, '+'), *end, *module, name[NAME_BYTES];
	uint64_t offset;

	if (!plus || plus == text)
		return (struct kernel_function){ 0 };
	offset = strtoull(plus + 1, &end, 16);
	if (*end != '/' || offset > address)
		return (struct kernel_function){ 0 };
	*plus = '\0';
	module = strchr(end, '[');
	demangle(text, name, sizeof(name));
	return (struct kernel_function){
		.name = names_get(functions->names, name),
		.module = names_get(functions->names, module ? module : "[kernel]"),
		.start = address - offset,
	};
}

const struct kernel_function *kernel_functions_find(struct kernel_functions *functions, uint64_t address)
{
	struct kernel_function *function = table_find(functions->found, address);
	char text[TEXT_BYTES] = "";

	if (function)
		return function;
	function = xcalloc(1, sizeof(*function));
	if (!functions->ask(functions->data, address, text, sizeof(text)))
		*function = parse(functions, text, address);
	table_put(functions->found, address, function);
	return function;
}
