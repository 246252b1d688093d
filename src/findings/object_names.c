/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "findings/object_names.h"

#include <stddef.h>
#include <sys/syscall.h>

#include "analysis/files.h"
#include "base/memory.h"
#include "symbol/symbol.h"

const char *object_name_of_lock(const struct object_names *names, uint32_t pid, uint64_t time_ns,
				uint64_t address)
{
	struct symbol_object object;

	if (!pid || symbols_resolve_object(names->symbols, pid, time_ns, address, &object))
		return NULL;
	return object.name ? arena_strdup(names->arena, object.name) : NULL;
}

const char *object_name_of_file(const struct file_info *file)
{
	if (!file)
		return NULL;
	if (file->kind != FILE_SOCKET)
		return *file->path ? file->path : NULL;
	if (!*file->local && !*file->peer)	/* a pair of sockets, of which there may be many */
		return NULL;
	return *file->peer && !file->is_server ? file->peer : *file->local ? file->local : file->peer;
}

/* The same with the host's name, if the program resolved that. */
static const char *name_with_host(const struct object_names *names, const struct file_info *file)
{
	const char *name = object_name_of_file(file);
	const char *host = name && name == file->peer ? files_host(names->files, file) : NULL;

	return host ? arena_printf(names->arena, "%s (%s)", name, host) : name;
}

/* System V's have a number only. */
const char *object_name_of_ipc(const struct object_names *names, const struct wait_facts *facts,
			       uint64_t object)
{
	switch (facts->syscall) {
	case SYS_semop:
	case SYS_semtimedop:
		return arena_printf(names->arena, "semaphore set %llu", (unsigned long long)object);
	case SYS_msgsnd:
	case SYS_msgrcv:
		return arena_printf(names->arena, "message queue %llu", (unsigned long long)object);
	}
	return NULL;
}

const char *object_name(const struct object_names *names, uint32_t pid, uint64_t time_ns,
			const struct wait_facts *facts, enum wait_cause cause,
			enum wait_cause named_cause)
{
	const struct file_info *file = wait_has_file(facts) ? files_find(names->files, facts->object)
							    : NULL;

	if (file && file->kind == FILE_POLL && (cause == CAUSE_POLL || named_cause == CAUSE_POLL))
		return NULL;
	if (wait_has_file(facts))
		return name_with_host(names, file);
	if (wait_has_futex(facts))
		return object_name_of_lock(names, pid, time_ns, facts->object);
	if (wait_is_on_memory(facts))
		return "anonymous memory";
	return object_name_of_ipc(names, facts, facts->object);
}
