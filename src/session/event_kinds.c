/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/event_kinds.h"

#include <string.h>

#define KIND(id, type, is_flexible) [(id) >> 16][(id)&0xffff] = { id, sizeof(type), is_flexible }

static const struct event_kind kinds[TRACE_NUM_SUBSYSTEMS][EVENTS_MAX] = {
	KIND(EV_SCHED_SWITCH, struct ev_sched_switch, false),
	KIND(EV_SCHED_WAKE, struct ev_sched_wake, false),
	KIND(EV_SCHED_SAMPLE, struct ev_sched_sample, false),
	KIND(EV_SCHED_THROTTLED, struct ev_sched_throttled, false),
	KIND(EV_SCHED_HIDDEN, struct ev_sched_hidden, false),
	KIND(EV_THREAD_BORN, struct ev_thread_born, false),
	KIND(EV_THREAD_FOUND, struct ev_thread_found, false),
	KIND(EV_THREAD_NAME, struct ev_thread_name, false),
	KIND(EV_THREAD_EXEC, struct ev_thread_exec, false),
	KIND(EV_THREAD_OTHER, struct ev_thread_other, false),
	KIND(EV_THREAD_WAITS, struct ev_thread_waits, false),
	KIND(EV_STACK_FRAMES, struct ev_stack_frames, true),
	KIND(EV_STACK_MEMORY, struct ev_stack_memory, true),
	KIND(EV_SPACE_MAP, struct ev_space_map, true),
	KIND(EV_SPACE_EXEC, struct ev_space_exec, false),
	KIND(EV_SPACE_FORK, struct ev_space_fork, false),
	KIND(EV_SPACE_EXIT, struct ev_space_exit, false),
	KIND(EV_SPACE_FOUND, struct ev_space_found, true),
	KIND(EV_SPACE_PYTHON_CODE, struct ev_space_python_code, true),
	KIND(EV_COLLECT_GAP, struct ev_collect_gap, false),
	KIND(EV_COLLECT_SYNC_BEGIN, struct ev_collect_sync_begin, false),
	KIND(EV_COLLECT_SYNC_END, struct ev_collect_sync_end, false),
	KIND(EV_COLLECT_RUN, struct ev_collect_run, true),
	KIND(EV_COLLECT_END, struct ev_collect_end, true),
	KIND(EV_FILE_PATH, struct ev_file_path, true),
	KIND(EV_FILE_SOCKET, struct ev_file_socket, true),
	KIND(EV_FILE_HOST, struct ev_file_host, false),
	KIND(EV_SYSTEM_INTERRUPT, struct ev_system_interrupt, false),
	KIND(EV_SYSTEM_SOFTIRQ, struct ev_system_softirq, false),
	KIND(EV_SYSTEM_RECEIVE, struct ev_system_receive, false),
	KIND(EV_SYSTEM_BLOCK_ISSUE, struct ev_system_block_issue, false),
	KIND(EV_SYSTEM_BLOCK_COMPLETE, struct ev_system_block_complete, false),
	KIND(EV_SYSTEM_LOST, struct ev_system_lost, false),
	KIND(EV_SPAN_NAME, struct ev_span_name, true),
	KIND(EV_SPAN_BEGIN, struct ev_span_begin, false),
	KIND(EV_SPAN_END, struct ev_span_end, false),
	KIND(EV_KLOCK_WAIT, struct ev_klock_wait, false),
	KIND(EV_KLOCK_LOCK, struct ev_klock_lock, false),
	KIND(EV_KLOCK_HELD, struct ev_klock_held, false),
};
_Static_assert(TRACE_NUM_SUBSYSTEMS == 9, "a subsystem is missing above");

const struct event_kind *event_kind_find(unsigned int subsys, unsigned int event)
{
	if (subsys >= TRACE_NUM_SUBSYSTEMS || event >= EVENTS_MAX || !kinds[subsys][event].size_bytes)
		return NULL;
	return &kinds[subsys][event];
}

static bool has_strings(const char *bytes, size_t size_bytes, unsigned int count)
{
	const char *end = bytes + size_bytes, *nul;

	for (; count; count--) {
		nul = memchr(bytes, '\0', end - bytes);
		if (!nul)
			return false;
		bytes = nul + 1;
	}
	return true;
}

static size_t code_bytes(const struct ev_space_python_code *code)
{
	return sizeof(*code) + (size_t)code->function_bytes + code->file_bytes + code->table_bytes;
}

static bool is_code_whole(const char *event, size_t size_bytes)
{
	struct ev_space_python_code code;
	const char *file;

	memcpy(&code, event, sizeof(code));
	file = event + sizeof(code) + code.function_bytes;
	return size_bytes == code_bytes(&code) && code.function_bytes && !file[-1] &&
	       (!code.file_bytes || !file[code.file_bytes - 1]);
}

static bool is_run_whole(const char *event, size_t size_bytes)
{
	enum { STRINGS = 3 };
	struct ev_collect_run run;
	size_t text;

	memcpy(&run, event, sizeof(run));
	text = sizeof(run) + sizeof(uint32_t) * (size_t)run.pid_count;
	return size_bytes == text + run.text_bytes && has_strings(event + text, run.text_bytes, STRINGS);
}

static bool is_end_whole(const char *event, size_t size_bytes)
{
	struct ev_collect_end end;

	memcpy(&end, event, sizeof(end));
	return size_bytes == sizeof(end) + (size_t)end.text_bytes && (!end.text_bytes || !event[size_bytes - 1]);
}

static bool is_span_whole(const char *event, size_t size_bytes)
{
	enum { STRINGS = 2 };
	struct ev_span_name name;

	memcpy(&name, event, sizeof(name));
	return size_bytes == sizeof(name) + (size_t)name.text_bytes &&
	       has_strings(event + sizeof(name), name.text_bytes, STRINGS);
}

/* Whether what follows the fixed part is what the fixed part says. */
static bool is_tail_whole(const void *event, size_t size_bytes)
{
	struct ev_stack_frames frames;
	struct ev_stack_memory memory;
	struct ev_file_socket socket;
	struct ev_file_path path;
	struct ev_header header;
	size_t fixed_bytes = sizeof(struct ev_space_map);

	_Static_assert(sizeof(struct ev_space_found) == sizeof(struct ev_space_map), "like it");

	memcpy(&header, event, sizeof(header));
	switch ((unsigned int)header.subsys << 16 | header.event) {
	case EV_STACK_FRAMES:
		memcpy(&frames, event, sizeof(frames));
		return size_bytes ==
		       sizeof(frames) + sizeof(uint64_t) * ((size_t)frames.kernel_count + frames.user_count);
	case EV_STACK_MEMORY:
		memcpy(&memory, event, sizeof(memory));
		return size_bytes ==
		       sizeof(memory) + sizeof(uint64_t) * ((size_t)memory.kernel_count + memory.word_count);
	case EV_FILE_PATH:
		memcpy(&path, event, sizeof(path));
		return size_bytes == sizeof(path) + (size_t)path.name_bytes && path.name_bytes &&
		       !((const char *)event)[size_bytes - 1];
	case EV_FILE_SOCKET:
		memcpy(&socket, event, sizeof(socket));
		return has_strings((const char *)event + sizeof(socket), size_bytes - sizeof(socket),
				   socket.has_process ? 2 : 1);
	case EV_SPACE_PYTHON_CODE:
		return is_code_whole(event, size_bytes);
	case EV_COLLECT_RUN:
		return is_run_whole(event, size_bytes);
	case EV_COLLECT_END:
		return is_end_whole(event, size_bytes);
	case EV_SPAN_NAME:
		return is_span_whole(event, size_bytes);
	}
	return has_strings((const char *)event + fixed_bytes, size_bytes - fixed_bytes, 1);
}

bool event_is_well_formed(const void *event, size_t size_bytes)
{
	const struct event_kind *kind;
	struct ev_header header;

	if (size_bytes < sizeof(header) || size_bytes > UINT32_MAX / 2)
		return false;
	memcpy(&header, event, sizeof(header));
	kind = event_kind_find(header.subsys, header.event);
	if (!kind)
		return false;
	if (!kind->is_flexible)
		return size_bytes == kind->size_bytes;
	return size_bytes >= kind->size_bytes && is_tail_whole(event, size_bytes);
}

/* Of so many strings, one behind the other. */
static size_t strings_bytes(const char *strings, unsigned int count)
{
	size_t bytes = 0;

	for (; count; count--)
		bytes += strlen(strings + bytes) + 1;
	return bytes;
}

size_t event_bytes(const struct ev_header *header)
{
	switch ((unsigned int)header->subsys << 16 | header->event) {
	case EV_STACK_FRAMES: {
		const struct ev_stack_frames *e = (const void *)header;

		return sizeof(*e) + sizeof(uint64_t) * ((size_t)e->kernel_count + e->user_count);
	}
	case EV_STACK_MEMORY: {
		const struct ev_stack_memory *e = (const void *)header;

		return sizeof(*e) + sizeof(uint64_t) * ((size_t)e->kernel_count + e->word_count);
	}
	case EV_FILE_PATH: {
		const struct ev_file_path *e = (const void *)header;

		return sizeof(*e) + e->name_bytes;
	}
	case EV_FILE_SOCKET: {
		const struct ev_file_socket *e = (const void *)header;

		return sizeof(*e) + strings_bytes(e->path, e->has_process ? 2 : 1);
	}
	case EV_SPACE_PYTHON_CODE:
		return code_bytes((const void *)header);
	case EV_COLLECT_RUN: {
		const struct ev_collect_run *e = (const void *)header;

		return sizeof(*e) + sizeof(uint32_t) * (size_t)e->pid_count + e->text_bytes;
	}
	case EV_COLLECT_END: {
		const struct ev_collect_end *e = (const void *)header;

		return sizeof(*e) + e->text_bytes;
	}
	case EV_SPAN_NAME: {
		const struct ev_span_name *e = (const void *)header;

		return sizeof(*e) + e->text_bytes;
	}
	case EV_SPACE_FOUND:
	case EV_SPACE_MAP: {
		const struct ev_space_map *e = (const void *)header;

		return sizeof(*e) + strings_bytes(e->path, 1);
	}
	default:
		return event_kind_find(header->subsys, header->event)->size_bytes;
	}
}

uint32_t event_other_thread(const struct ev_header *header)
{
	switch ((unsigned int)header->subsys << 16 | header->event) {
	case EV_SCHED_SWITCH:
		return ((const struct ev_sched_switch *)header)->next;
	case EV_SCHED_WAKE:
		return ((const struct ev_sched_wake *)header)->waker;
	}
	return header->thread;
}
