/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "findings/names/runtime_locks.h"

#include <stddef.h>
#include <string.h>

#include "symbol/symbol.h"
#include "waits/wait_cause.h"

/*
 * CPython's global interpreter lock is made of two condition variables and two mutexes, each of several words
 * (Python/ceval_gil.c). They lie in the state of the runtime, since 3.12 in that of its first interpreter, which is part
 * of the former. All other locks in it are pointers to what is on the heap.
 */
static const struct {
	const char *variable;
	struct runtime_lock lock;
} runtime_locks[] = {
	{ "_PyRuntime", { "the GIL", "gil" } },
};

/* "_PyRuntime+0x1b0", or a member, where types are known. */
static bool is_within(const char *name, const char *variable)
{
	size_t length = strlen(variable);

	return !strncmp(name, variable, length) && (!name[length] || strchr("+.[", name[length]));
}

const struct runtime_lock *runtime_lock_at(struct symbols *symbols, uint32_t pid, uint64_t time_ns, uint64_t address)
{
	struct symbol_object object;

	if (!pid || symbols_resolve_object(symbols, pid, time_ns, address, &object) || !object.name)
		return NULL;
	for (size_t i = 0; i < sizeof(runtime_locks) / sizeof(*runtime_locks); i++)
		if (is_within(object.name, runtime_locks[i].variable))
			return &runtime_locks[i].lock;
	return NULL;
}

const struct runtime_lock *runtime_lock_of(struct symbols *symbols, uint32_t pid, uint64_t time_ns,
					   const struct wait_facts *facts)
{
	return wait_has_futex(facts) && !wait_is_in_file(facts) ? runtime_lock_at(symbols, pid, time_ns, facts->object)
								: NULL;
}

const char *runtime_lock_name(const char *kind)
{
	return !strcmp(kind, "gvl") ? "the GVL" : NULL;
}
