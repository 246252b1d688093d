/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/mapped_files.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/table.h"
#include "helper/opener.h"
#include "session/session.h"
#include "symbol/jit_names.h"
#include "symbol/names/notes.h"
#include "symbol/space/module.h"
#include "symbol/space/space.h"

enum { PROCESSES_MAX = 65536 }; /* whose maps file may be read again */

static const uint64_t reread_ns = 1000000000ull;

struct process {
	uint64_t read_ns; /* when its maps file was last read */
	bool is_cut;      /* it has mapped more than is examined */
};

struct mapped_files {
	struct session *session;
	struct opener *opener;
	struct spaces *spaces;
	struct modules *modules;
	struct jit_names *jit;
	struct notes *notes;
	struct table *processes; /* by pid + 1; owns them */
	bool is_offline;
};

/* The symbol file of a process's JIT compiler is opened while the process lives. */
static void keep_jit_names(struct mapped_files *files, uint32_t pid)
{
	struct space_hit hit;

	if (spaces_find(files->spaces, pid, UINT64_MAX, 0, &hit))
		jit_names_keep(files->jit, hit.space, pid);
}

void mapped_files_renew_jit(struct mapped_files *files, uint32_t pid)
{
	struct space_hit hit;

	if (spaces_find(files->spaces, pid, UINT64_MAX, 0, &hit))
		jit_names_renew(files->jit, hit.space, pid);
}

/* Which file it is, in *mapping what is mapped where. */
static struct module *module_of(struct mapped_files *files, const struct ev_space_map *e, struct mapping *mapping)
{
	struct module_identity identity = module_identity_of(e);
	struct module *module;

	if (e->build_id_size <= sizeof(identity.build_id.bytes)) {
		identity.build_id.size_bytes = e->build_id_size;
		memcpy(identity.build_id.bytes, e->build_id, e->build_id_size);
	}
	if (files->is_offline)
		identity.pid = 0;
	module = modules_get(files->modules, &identity);
	*mapping = (struct mapping){
		.start = e->start,
		.end = e->start + e->size,
		.file_offset = e->file_offset,
		.module = module ? module->number : 0,
	};
	return module;
}

static void on_map(void *data, const struct ev_header *header)
{
	const struct ev_space_map *e = (const struct ev_space_map *)header;
	struct mapped_files *files = data;
	struct mapping mapping;
	struct module *module = module_of(files, e, &mapping);

	spaces_map(files->spaces, e->pid, header->time_ns, &mapping);
	if (!files->is_offline && module && module->kind == MODULE_JIT)
		keep_jit_names(files, e->pid);
}

/* Looks like one that is mapped, except for its kind. */
static void on_found(void *data, const struct ev_header *header)
{
	const struct ev_space_map *e = (const struct ev_space_map *)header;
	struct mapped_files *files = data;
	struct mapping mapping;

	_Static_assert(offsetof(struct ev_space_found, path) == offsetof(struct ev_space_map, path), "the same fields");
	module_of(files, e, &mapping);
	spaces_found(files->spaces, e->pid, header->time_ns, &mapping);
}

static void on_exec(void *data, const struct ev_header *header)
{
	const struct ev_space_exec *e = (const struct ev_space_exec *)header;
	struct mapped_files *files = data;

	spaces_exec(files->spaces, e->pid, header->time_ns);
}

static void on_fork(void *data, const struct ev_header *header)
{
	const struct ev_space_fork *e = (const struct ev_space_fork *)header;
	struct mapped_files *files = data;

	spaces_fork(files->spaces, e->pid, e->parent_pid, header->time_ns);
}

static void on_exit_of(void *data, const struct ev_header *header)
{
	const struct ev_space_exit *e = (const struct ev_space_exit *)header;
	struct mapped_files *files = data;

	spaces_exit(files->spaces, e->pid);
	free(table_take(files->processes, (uint64_t)e->pid + 1));
}

static void on_forget(void *data, uint32_t space)
{
	struct mapped_files *files = data;

	jit_names_forget(files->jit, space);
}

static const struct event_handler handlers[] = {
	{ EV_SPACE_MAP, on_map },   { EV_SPACE_FOUND, on_found },  { EV_SPACE_EXEC, on_exec },
	{ EV_SPACE_FORK, on_fork }, { EV_SPACE_EXIT, on_exit_of }, { 0 },
};

struct mapped_files *mapped_files_new(struct session *session, struct opener *opener, struct worker *worker,
				      struct notes *notes)
{
	struct mapped_files *files = xcalloc(1, sizeof(*files));

	files->session = session;
	files->opener = opener;
	files->notes = notes;
	files->spaces = spaces_new(MAPPINGS_MAX);
	files->modules = modules_new(opener);
	files->jit = jit_names_new(opener, worker, notes);
	files->processes = table_new();
	spaces_on_forget(files->spaces, on_forget, files);
	session_subscribe(session, handlers, files);
	return files;
}

void mapped_files_free(struct mapped_files *files)
{
	struct process *process;
	size_t cursor = 0;

	if (!files)
		return;
	while ((process = table_next(files->processes, &cursor)))
		free(process);
	spaces_free(files->spaces);
	modules_free(files->modules);
	jit_names_free(files->jit);
	table_free(files->processes);
	free(files);
}

void mapped_files_set_offline(struct mapped_files *files)
{
	files->is_offline = true;
}

struct spaces *mapped_files_spaces(struct mapped_files *files)
{
	return files->spaces;
}

struct modules *mapped_files_modules(struct mapped_files *files)
{
	return files->modules;
}

struct jit_names *mapped_files_jit(struct mapped_files *files)
{
	return files->jit;
}

/* NULL when there are too many. */
static struct process *process_get(struct mapped_files *files, uint32_t pid)
{
	struct process *process = table_find(files->processes, (uint64_t)pid + 1);

	if (!process && table_count(files->processes) < PROCESSES_MAX) {
		process = xcalloc(1, sizeof(*process));
		table_put(files->processes, (uint64_t)pid + 1, process);
	}
	return process;
}

struct reading {
	struct mapped_files *files;
	uint32_t pid;
};

/* What is read is an event like others: whoever has no process gets it nevertheless. */
static void emit(void *data, const struct file_mapping *mapping)
{
	const struct reading *reading = data;
	struct session *session = reading->files->session;
	struct ev_space_found *e = xcalloc(1, sizeof(*e) + strlen(mapping->path) + 1);

	*e = (struct ev_space_found){
		.header = { .time_ns = session_time_ns(session),
			    .subsys = TRACE_SUBSYS_SPACE,
			    .event = TRACE_EVENT_SPACE_FOUND },
		.pid = reading->pid,
		.start = mapping->start,
		.size = mapping->end - mapping->start,
		.file_offset = mapping->file_offset,
		.inode = mapping->inode,
		.major = major(mapping->device),
		.minor = minor(mapping->device),
	};
	strcpy(e->path, mapping->path);
	session_hand_out(session, &e->header);
	free(e);
}

int mapped_files_add(struct mapped_files *files, uint32_t pid)
{
	struct process *process = process_get(files, pid);
	struct reading reading = { files, pid };
	int err;

	if (process)
		process->read_ns = clock_ns();
	err = opener_read_maps(files->opener, pid, emit, &reading);
	if (err != -E2BIG)
		return err;
	process = process_get(files, pid);
	if (process && !process->is_cut) {
		process->is_cut = true;
		notes_add(files->notes,
			  "process %u mapped too many files: some of its functions are shown as addresses", pid);
	}
	return 0;
}

/* An event may have been lost, or the mapping made in a way that has none. */
bool mapped_files_read_again(struct mapped_files *files, uint32_t pid)
{
	struct process *process = files->is_offline ? NULL : process_get(files, pid);

	if (!process || (process->read_ns && clock_ns() - process->read_ns < reread_ns))
		return false;
	return !mapped_files_add(files, pid);
}

bool mapped_files_find(struct mapped_files *files, uint32_t pid, uint64_t time_ns, uint64_t address,
		       struct space_hit *hit)
{
	if (spaces_find(files->spaces, pid, time_ns, address, hit) && hit->is_mapped)
		return true;
	return mapped_files_read_again(files, pid) && spaces_find(files->spaces, pid, time_ns, address, hit) &&
	       hit->is_mapped;
}
