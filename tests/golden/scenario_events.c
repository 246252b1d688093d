/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What each kind of event has as keys. */
#include "scenario.h"

#include <stdlib.h>
#include <string.h>

#include "session/syscalls.h"
#include "values.h"

static const char *const states[] = { "runnable", "sleeping", "blocked", "stopped", "dead", NULL };
static const char *const contexts[] = { "thread", "kernel", "softirq", "hardirq", NULL };
static const char *const klock_kinds[] = {
	"spinlock",    "rwlock-read", "rwlock-write", "mutex",   "rwsem-read",
	"rwsem-write", "percpu-read", "percpu-write", "rtmutex", NULL,
};
static const char *const phases[] = { "unknown", "blocked", "runnable", "running", "dead", NULL };

static size_t fill_header(union any_event *e, struct keys *keys)
{
	(void)keys;
	return sizeof(e->header);
}

/* By its name or number; none when it is not given. */
static uint16_t key_syscall(struct keys *keys)
{
	const char *text = key_text(keys, "syscall", NULL);

	if (!text)
		return SYSCALL_NONE;
	for (uint32_t i = 0; i < SYSCALLS_MAX; i++)
		if (syscall_name(i) && !strcmp(syscall_name(i), text))
			return i;
	return scenario_number(text);
}

static size_t fill_gap(union any_event *e, struct keys *keys)
{
	e->gap.lost = key_number(keys, "lost", 1);
	e->gap.cpu = key_number(keys, "cpu", 0);
	return sizeof(e->gap);
}

static size_t fill_switch(union any_event *e, struct keys *keys)
{
	const char *stack = key_text(keys, "stack", NULL);

	e->switched.next = key_thread(keys, "next");
	e->switched.state = key_word(keys, "state", states, 0);
	e->switched.cpu = key_number(keys, "cpu", 0);
	if (stack) {
		e->switched.flags = SWITCH_HAS_STACK;
		e->switched.stack = scenario_number(stack);
	}
	if (key_number(keys, "skipped", 0))
		e->switched.flags = SWITCH_STACK_SKIPPED;
	if (key_number(keys, "after_hidden", 0))
		e->switched.flags |= SWITCH_AFTER_HIDDEN;
	if (key_number(keys, "throttled", 0))
		e->switched.flags |= SWITCH_THROTTLED;
	if (key_number(keys, "kernel_lock", 0))
		e->switched.flags |= SWITCH_KERNEL_LOCK;
	e->switched.keep = atof(key_text(keys, "keep", "0")) * 0x1p32;
	e->switched.syscall = key_syscall(keys);
	e->switched.object = key_number(keys, "object", 0);
	e->switched.value = key_number(keys, "value", 0);
	e->switched.operation = key_number(keys, "operation", 0);
	e->switched.owners[0] = key_number(keys, "owner", key_number(keys, "bytes", 0));
	return sizeof(e->switched);
}

static size_t fill_wake(union any_event *e, struct keys *keys)
{
	const char *stack = key_text(keys, "stack", NULL);
	const char *wait_stack = key_text(keys, "wait_stack", NULL);

	e->wake.waker = key_thread(keys, "waker");
	e->wake.tid = key_number(keys, "tid", e->wake.waker);
	e->wake.context = key_word(keys, "context", contexts, WAKE_THREAD);
	e->wake.syscall = key_syscall(keys);
	e->wake.flags = key_number(keys, "to_die", 0) ? WAKE_TO_DIE : 0;
	e->wake.keep = atof(key_text(keys, "keep", "0")) * 0x1p32;
	if (stack) {
		e->wake.flags |= WAKE_HAS_STACK;
		e->wake.stack = scenario_number(stack);
	}
	if (wait_stack) {
		e->wake.flags |= WAKE_HAS_WAIT_STACK;
		e->wake.wait_stack = scenario_number(wait_stack);
	}
	return sizeof(e->wake);
}

/* The name of one file, below the root. */
static size_t fill_path(union any_event *e, struct keys *keys)
{
	const char *name = key_text(keys, "name", "");
	char *names = (char *)(&e->path + 1);
	size_t bytes = strlen(name) + 1;

	e->path.file = key_number(keys, "file", 0);
	e->path.mode = key_number(keys, "mode", 0100644);
	e->path.links = key_number(keys, "links", 1);
	memcpy(names, name, bytes);
	e->path.name_bytes = bytes;
	if (!key_number(keys, "anonymous", 0)) {
		memcpy(names + bytes, "/", 2);
		e->path.name_bytes += 2;
	}
	return sizeof(e->path) + e->path.name_bytes;
}

/* Of IPv4, between this machine and itself or another one. */
static size_t fill_socket(union any_event *e, struct keys *keys)
{
	e->socket.file = key_number(keys, "file", 0);
	e->socket.family = 2;
	e->socket.local_port = key_number(keys, "local_port", 0);
	e->socket.peer_port = key_number(keys, "peer_port", 0);
	memcpy(e->socket.local, (uint8_t[]){ 127, 0, 0, 1 }, 4);
	memcpy(e->socket.peer, (uint8_t[]){ key_number(keys, "peer", 127), 0, 0, 1 }, 4);
	return sizeof(e->socket) + 1;
}

static size_t fill_hidden(union any_event *e, struct keys *keys)
{
	e->hidden.begin_ns = key_number(keys, "begin_ns", 0);
	e->hidden.tid = key_number(keys, "tid", 1);
	e->hidden.cpu = key_number(keys, "cpu", 0);
	return sizeof(e->hidden);
}

static size_t fill_ready(union any_event *e, struct keys *keys)
{
	e->ready.file = key_number(keys, "file", 0);
	e->ready.asked_ns = key_number(keys, "asked_ns", 0);
	return sizeof(e->ready);
}

static size_t fill_throttled(union any_event *e, struct keys *keys)
{
	e->throttled.throttled_ns = key_number(keys, "throttled_ns", 0);
	return sizeof(e->throttled);
}

/* Of the same addresses. */
static size_t fill_host(union any_event *e, struct keys *keys)
{
	const char *name = key_text(keys, "name", "");

	e->host.family = 2;
	memcpy(e->host.address, (uint8_t[]){ key_number(keys, "peer", 127), 0, 0, 1 }, 4);
	memcpy(e->host.name, name, strnlen(name, sizeof(e->host.name)));
	return sizeof(e->host);
}

static size_t fill_other(union any_event *e, struct keys *keys)
{
	const char *name = key_text(keys, "name", "");

	e->other.tid = key_number(keys, "tid", 0);
	e->other.pid = key_number(keys, "pid", 0);
	e->other.is_kernel = key_number(keys, "kernel", 0);
	memcpy(e->other.name, name, strnlen(name, sizeof(e->other.name)));
	return sizeof(e->other);
}

static size_t fill_sample(union any_event *e, struct keys *keys)
{
	e->sample.ip = key_number(keys, "ip", 0);
	e->sample.kernel_ip = key_number(keys, "kernel_ip", 0);
	e->sample.registers = key_number(keys, "registers", 0);
	return sizeof(e->sample);
}

static size_t fill_map(union any_event *e, struct keys *keys)
{
	const char *path = key_text(keys, "path", "/bin/true");

	e->map.pid = key_number(keys, "pid", 0);
	memcpy(e->map.path, path, strlen(path) + 1);
	/* The record ends before its NUL: damaged. */
	return sizeof(e->map) + strlen(path) + !key_number(keys, "cut", 0);
}

static size_t fill_space_exec(union any_event *e, struct keys *keys)
{
	e->space_exec.pid = key_number(keys, "pid", 0);
	return sizeof(e->space_exec);
}

static size_t fill_fork(union any_event *e, struct keys *keys)
{
	e->fork.pid = key_number(keys, "pid", 0);
	e->fork.parent_pid = key_number(keys, "parent_pid", 0);
	return sizeof(e->fork);
}

static size_t add_frames(union any_event *e, size_t count, const char *list)
{
	size_t added = 0;
	char *end;

	while (*list) {
		if (count + added >= SCENARIO_FRAMES_MAX)
			scenario_stop("too many frames");
		e->frames.frames[count + added++] = strtoull(list, &end, 0);
		if (end == list || (*end && *end != ','))
			scenario_stop("'%s' is no list of frames", list);
		list = *end ? end + 1 : end;
	}
	return added;
}

static size_t fill_frames(union any_event *e, struct keys *keys)
{
	size_t kernel, user;

	e->frames.stack = key_number(keys, "stack", 0);
	kernel = add_frames(e, 0, key_text(keys, "kernel", ""));
	user = add_frames(e, kernel, key_text(keys, "user", ""));
	e->frames.kernel_count = kernel;
	e->frames.user_count = user;
	return sizeof(e->frames) + (kernel + user) * sizeof(uint64_t);
}

static void fill_name(char to[16], const char *name)
{
	memset(to, 0, 16);
	memcpy(to, name, strnlen(name, 16)); /* 16 bytes without NUL are possible */
}

static size_t fill_born(union any_event *e, struct keys *keys)
{
	e->born.parent = key_thread(keys, "parent");
	e->born.tid = key_number(keys, "tid", e->header.thread);
	e->born.pid = key_number(keys, "pid", 1);
	fill_name(e->born.name, key_text(keys, "name", ""));
	return sizeof(e->born);
}

static size_t fill_found(union any_event *e, struct keys *keys)
{
	e->found.parent = key_thread(keys, "parent");
	e->found.tid = key_number(keys, "tid", e->header.thread);
	e->found.pid = key_number(keys, "pid", 1);
	e->found.phase = key_word(keys, "phase", phases, PHASE_UNKNOWN);
	e->found.cpu = key_number(keys, "cpu", 0);
	fill_name(e->found.name, key_text(keys, "name", ""));
	e->found.syscall = key_syscall(keys);
	e->found.object = key_number(keys, "object", 0);
	e->found.operation = key_number(keys, "operation", 0);
	return sizeof(e->found);
}

static size_t fill_waits(union any_event *e, struct keys *keys)
{
	e->waits.begin_ns = key_number(keys, "begin", 0);
	e->waits.stack = key_number(keys, "stack", 0);
	e->waits.state = key_word(keys, "state", states, 0);
	e->waits.value = key_number(keys, "value", 0);
	e->waits.owners[0] = key_number(keys, "owner", 0);
	return sizeof(e->waits);
}

static size_t fill_name_event(union any_event *e, struct keys *keys)
{
	fill_name(e->name.name, key_text(keys, "name", ""));
	return sizeof(e->name);
}

static size_t fill_exec(union any_event *e, struct keys *keys)
{
	e->exec.tid = key_number(keys, "tid", e->header.thread);
	fill_name(e->exec.name, key_text(keys, "name", ""));
	return sizeof(e->exec);
}
/* --- The rest of the machine ----------------------------------------------------------------- */

static size_t fill_interrupt(union any_event *e, struct keys *keys)
{
	const char *name = key_text(keys, "name", "");

	e->interrupt.begin_ns = key_number(keys, "begin", 0);
	e->interrupt.irq = key_number(keys, "irq", 0);
	e->interrupt.cpu = key_number(keys, "cpu", 0);
	e->interrupt.is_handled = 1;
	memcpy(e->interrupt.name, name, strnlen(name, sizeof(e->interrupt.name)));
	return sizeof(e->interrupt);
}

static size_t fill_softirq(union any_event *e, struct keys *keys)
{
	e->softirq.begin_ns = key_number(keys, "begin", 0);
	e->softirq.cpu = key_number(keys, "cpu", 0);
	e->softirq.vector = key_number(keys, "vector", 0);
	return sizeof(e->softirq);
}

static size_t fill_issue(union any_event *e, struct keys *keys)
{
	e->issue.request = key_number(keys, "request", 0);
	e->issue.bytes = key_number(keys, "bytes", 4096);
	e->issue.device = key_number(keys, "device", 1);
	e->issue.tid = key_number(keys, "tid", 0);
	return sizeof(e->issue);
}

static size_t fill_complete(union any_event *e, struct keys *keys)
{
	e->complete.request = key_number(keys, "request", 0);
	e->complete.bytes = key_number(keys, "bytes", 4096);
	e->complete.device = key_number(keys, "device", 1);
	e->complete.cpu = key_number(keys, "cpu", 0);
	e->complete.is_last = key_number(keys, "last", 1);
	return sizeof(e->complete);
}

/* --- Kernel locks ---------------------------------------------------------------------- */

static size_t fill_klock_wait(union any_event *e, struct keys *keys)
{
	const char *stack = key_text(keys, "stack", NULL);

	e->klock_wait.begin_ns = key_number(keys, "begin", 0);
	e->klock_wait.lock = key_number(keys, "lock", 0);
	e->klock_wait.kind = key_word(keys, "kind", klock_kinds, KLOCK_SPINLOCK);
	e->klock_wait.context = key_word(keys, "context", contexts, WAKE_THREAD);
	e->klock_wait.tid = key_number(keys, "tid", e->header.thread);
	e->klock_wait.owner = key_number(keys, "owner", 0);
	e->klock_wait.owner_stack = key_number(keys, "owner_stack", 0);
	e->klock_wait.keep = atof(key_text(keys, "keep", "0")) * 0x1p32;
	if (stack) {
		e->klock_wait.flags = KLOCK_HAS_STACK;
		e->klock_wait.stack = scenario_number(stack);
	}
	if (key_number(keys, "lasts", 0))
		e->klock_wait.flags |= KLOCK_LASTS;
	if (key_number(keys, "gave_up", 0))
		e->klock_wait.flags |= KLOCK_GAVE_UP;
	if (key_number(keys, "readers", 0))
		e->klock_wait.flags |= KLOCK_HAS_READERS;
	return sizeof(e->klock_wait);
}

static size_t fill_klock_lock(union any_event *e, struct keys *keys)
{
	const char *process = key_text(keys, "process", "");

	e->klock_lock.lock = key_number(keys, "lock", 0);
	e->klock_lock.address = key_number(keys, "address", 0);
	e->klock_lock.file = key_number(keys, "file", 0);
	e->klock_lock.offset = key_number(keys, "offset", 0);
	e->klock_lock.pid = key_number(keys, "pid", 0);
	e->klock_lock.object = key_number(keys, "object", KLOCK_OF_NOTHING);
	fill_name(e->klock_lock.process, process);
	return sizeof(e->klock_lock);
}

const struct scenario_kind scenario_kinds[] = {
	{ "collect.GAP", EV_COLLECT_GAP, fill_gap },
	{ "collect.SYNC_BEGIN", EV_COLLECT_SYNC_BEGIN, fill_header },
	{ "collect.SYNC_END", EV_COLLECT_SYNC_END, fill_header },
	{ "sched.SWITCH", EV_SCHED_SWITCH, fill_switch },
	{ "sched.WAKE", EV_SCHED_WAKE, fill_wake },
	{ "sched.SAMPLE", EV_SCHED_SAMPLE, fill_sample },
	{ "space.MAP", EV_SPACE_MAP, fill_map },
	{ "space.EXEC", EV_SPACE_EXEC, fill_space_exec },
	{ "space.FORK", EV_SPACE_FORK, fill_fork },
	{ "stack.FRAMES", EV_STACK_FRAMES, fill_frames },
	{ "thread.BORN", EV_THREAD_BORN, fill_born },
	{ "thread.FOUND", EV_THREAD_FOUND, fill_found },
	{ "thread.NAME", EV_THREAD_NAME, fill_name_event },
	{ "thread.EXEC", EV_THREAD_EXEC, fill_exec },
	{ "thread.OTHER", EV_THREAD_OTHER, fill_other },
	{ "thread.WAITS", EV_THREAD_WAITS, fill_waits },
	{ "sched.THROTTLED", EV_SCHED_THROTTLED, fill_throttled },
	{ "sched.HIDDEN", EV_SCHED_HIDDEN, fill_hidden },
	{ "sched.READY", EV_SCHED_READY, fill_ready },
	{ "file.PATH", EV_FILE_PATH, fill_path },
	{ "file.SOCKET", EV_FILE_SOCKET, fill_socket },
	{ "file.HOST", EV_FILE_HOST, fill_host },
	{ "system.INTERRUPT", EV_SYSTEM_INTERRUPT, fill_interrupt },
	{ "system.SOFTIRQ", EV_SYSTEM_SOFTIRQ, fill_softirq },
	{ "system.BLOCK_ISSUE", EV_SYSTEM_BLOCK_ISSUE, fill_issue },
	{ "system.BLOCK_COMPLETE", EV_SYSTEM_BLOCK_COMPLETE, fill_complete },
	{ "klock.WAIT", EV_KLOCK_WAIT, fill_klock_wait },
	{ "klock.LOCK", EV_KLOCK_LOCK, fill_klock_lock },
	{ "nonsense.SUBSYSTEM", 999u << 16, fill_header },
	{ "nonsense.EVENT", EV_SCHED_SWITCH | 99, fill_header },
	{ NULL, 0, NULL },
};
