/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "findings/names/object_names.h"

#include <stddef.h>
#include <sys/syscall.h>

#include "base/memory.h"
#include "findings/names/runtime_locks.h"
#include "klocks/klocks.h"
#include "symbol/symbol.h"
#include "waits/files.h"

const char *object_name_of_lock(const struct object_names *names, uint32_t pid, uint64_t time_ns, uint64_t address)
{
	const struct runtime_lock *lock = runtime_lock_at(names->symbols, pid, time_ns, address);
	struct symbol_object object;

	if (lock)
		return lock->name;
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
	if (!*file->local && !*file->peer) /* a pair of sockets, of which there may be many */
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
const char *object_name_of_ipc(const struct object_names *names, const struct wait_facts *facts, uint64_t object)
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

/* What the kernel's objects are called by itself, and how users call that of which they are. */
static const struct {
	const char *type, *whose; /* whose: "" for the process's or file's own name */
	const char *unnamed;      /* what it is that has no name; NULL: the member says it */
} klock_objects[KLOCK_OBJECTS] = {
	[KLOCK_OF_MEMORY] = { "mm_struct", "", NULL },
	[KLOCK_OF_DESCRIPTORS] = { "files_struct", "the descriptors of ", NULL },
	[KLOCK_OF_SIGNALS] = { "sighand_struct", "", NULL },
	[KLOCK_OF_PROCESS] = { "signal_struct", "", NULL },
	[KLOCK_OF_THREAD] = { "task_struct", "a thread of ", NULL },
	[KLOCK_OF_INODE] = { "inode", "", NULL },
	[KLOCK_OF_FILE] = { "file", "", NULL },
	[KLOCK_OF_PIPE] = { "pipe_inode_info", "", NULL },
	[KLOCK_OF_SOCKET] = { "sock", "", "a socket" },
	[KLOCK_OF_UNIX_SOCKET] = { "unix_sock", "", "a unix socket" },
	[KLOCK_OF_UNIX_PEER] = { "unix_sock", "the other end of ", "a unix socket" },
};

const char *object_name_of_klock(const struct object_names *names, uint64_t lock)
{
	const struct klock_facts *facts = names->klocks ? klocks_find(names->klocks, lock) : NULL;
	const char *member, *owner;

	if (!facts || facts->object == KLOCK_OF_NOTHING)
		return NULL;
	if (facts->object == KLOCK_OF_RUN_QUEUE)
		return arena_printf(names->arena, "run queue of CPU %u", facts->cpu);
	member = symbols_kernel_member(names->symbols, klock_objects[facts->object].type, facts->offset);
	owner = facts->pid ? facts->process : name_with_host(names, files_find(names->files, facts->file));
	owner = owner && *owner ? owner : klock_objects[facts->object].unnamed;
	if (!member)
		member = arena_printf(names->arena, "%s+0x%x", klock_objects[facts->object].type, facts->offset);
	return owner ? arena_printf(names->arena, "%s of %s%s", member, klock_objects[facts->object].whose, owner)
		     : member;
}

const char *object_name(const struct object_names *names, uint32_t pid, uint64_t time_ns,
			const struct wait_facts *facts, enum wait_cause cause, enum wait_cause named_cause)
{
	const struct file_info *file = wait_has_file(facts) ? files_find(names->files, facts->object) : NULL;

	if (wait_has_klock(facts))
		return object_name_of_klock(names, facts->object);
	if (file && file->kind == FILE_POLL && (cause == CAUSE_POLL || named_cause == CAUSE_POLL))
		return NULL;
	if (wait_has_file(facts))
		return name_with_host(names, file);
	if (wait_is_in_file(facts))
		return object_name_of_file(files_find(names->files, facts->object));
	if (wait_has_futex(facts))
		return object_name_of_lock(names, pid, time_ns, facts->object);
	if (wait_is_on_memory(facts))
		return "anonymous memory";
	return object_name_of_ipc(names, facts, facts->object);
}
