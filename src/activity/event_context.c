/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "activity/event_context.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "session/hosts.h"
#include "session/session.h"
#include "session/thread_cpus.h"
#include "session/threads.h"

enum { PROCESSES_MAX = 1 << 16 };

struct process {
	char name[16];        /* of its first thread; NUL-terminated, as is the next one */
	char application[33]; /* as it calls itself; empty: it has no events of its own */
};

struct event_context {
	const struct threads *threads;
	struct hosts *hosts;
	struct table *processes;  /* by id */
	struct thread_cpus *cpus; /* NULL: nobody asks */
};

/* NULL: there are too many. */
static struct process *process_get(struct event_context *context, uint32_t pid)
{
	struct process *process = table_find(context->processes, pid);

	if (process || table_count(context->processes) >= PROCESSES_MAX)
		return process;
	process = xcalloc(1, sizeof(*process));
	table_put(context->processes, pid, process);
	return process;
}

static void set_name(struct event_context *context, uint32_t pid, uint32_t tid, const char name[16])
{
	struct process *process = pid == tid ? process_get(context, pid) : NULL;

	if (process)
		memcpy(process->name, name, sizeof(process->name) - 1);
}

static void on_born(void *data, const struct ev_header *header)
{
	const struct ev_thread_born *e = (const struct ev_thread_born *)header;
	struct process *process = e->pid == e->tid ? process_get(data, e->pid) : NULL;

	/* Another one may have had this id. */
	if (process)
		*process = (struct process){ 0 };
	set_name(data, e->pid, e->tid, e->name);
}

static void on_found(void *data, const struct ev_header *header)
{
	const struct ev_thread_found *e = (const struct ev_thread_found *)header;

	set_name(data, e->pid, e->tid, e->name);
}

static void on_name(void *data, const struct ev_header *header)
{
	const struct ev_thread_name *e = (const struct ev_thread_name *)header;
	struct event_context *context = data;
	const struct thread *thread = event_context_thread(context, header->thread);

	if (thread)
		set_name(context, thread->pid, thread->tid, e->name);
}

static void on_exec(void *data, const struct ev_header *header)
{
	const struct ev_thread_exec *e = (const struct ev_thread_exec *)header;
	struct process *process = process_get(data, e->tid);

	if (!process)
		return;
	memcpy(process->name, e->name, sizeof(process->name) - 1);
	process->application[0] = '\0';
}

static void on_program(void *data, const struct ev_header *header)
{
	const struct ev_user_program *e = (const struct ev_user_program *)header;
	struct process *process = process_get(data, e->pid);

	if (process)
		memcpy(process->application, e->program, sizeof(e->program));
}

static void on_cpu(void *data, const struct ev_header *header)
{
	struct event_context *context = data;

	thread_cpus_follow(context->cpus, header);
}

static const struct event_handler handlers[] = {
	{ EV_THREAD_BORN, on_born }, { EV_THREAD_FOUND, on_found },   { EV_THREAD_NAME, on_name },
	{ EV_THREAD_EXEC, on_exec }, { EV_USER_PROGRAM, on_program }, { 0, NULL },
};

static const struct event_handler cpu_handlers[] = {
	{ EV_SCHED_SWITCH, on_cpu },
	{ EV_THREAD_FOUND, on_cpu },
	{ 0, NULL },
};

struct event_context *event_context_new(struct session *session, struct threads *threads, bool follows_cpus)
{
	struct event_context *context = xcalloc(1, sizeof(*context));

	context->threads = threads;
	context->hosts = hosts_new(session);
	context->processes = table_new();
	session_subscribe(session, handlers, context);
	if (follows_cpus) {
		context->cpus = thread_cpus_new();
		session_subscribe(session, cpu_handlers, context);
	}
	return context;
}

void event_context_free(struct event_context *context)
{
	struct process *process;
	size_t cursor = 0;

	if (!context)
		return;
	while ((process = table_next(context->processes, &cursor)))
		free(process);
	hosts_free(context->hosts);
	table_free(context->processes);
	thread_cpus_free(context->cpus);
	free(context);
}

const struct thread *event_context_thread(const struct event_context *context, uint32_t number)
{
	return number ? threads_find(context->threads, number) : NULL;
}

uint32_t event_context_cpu(const struct event_context *context, uint32_t number)
{
	int32_t cpu = context->cpus && number ? thread_cpus_find(context->cpus, number) : -1;

	return cpu < 0 ? CPU_UNKNOWN : (uint32_t)cpu;
}

const char *event_context_application(const struct event_context *context, uint32_t pid)
{
	const struct process *process = table_find(context->processes, pid);

	if (!process)
		return "";
	return process->application[0] ? process->application : process->name;
}

const char *event_context_process(const struct event_context *context, uint32_t pid)
{
	const struct process *process = table_find(context->processes, pid);

	return process ? process->name : "";
}

const char *event_context_host(const struct event_context *context, uint32_t pid)
{
	const char *name = hosts_name(context->hosts, pid);

	return name ? name : "";
}
