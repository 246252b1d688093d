// SPDX-License-Identifier: GPL-2.0-or-later
#include "world_internal.h"

enum {
	FUTEX_WORDS = 5,
	POLL_COUNT = 3, /* of descriptors, unless it is one */
	NO_LIMIT = 0xffff,
	PARTS_KNOWN = 16, /* of more than these nobody knows the sum */
	PARTS = 20,
	DEVICE = 8 << 20 | 1,
};

/* --- The user's memory ---------------------------------------------------------------------- */

static const struct {
	uint64_t address;
	uint32_t bytes; /* that can be read */
	uint32_t words[FUTEX_WORDS];
} futexes[WORLD_FUTEXES] = {
	{ 0x7e000100, sizeof(futexes[0].words), { 2, 0xdead, 301, 302, 303 } },
	{ 0x7e001ffc, sizeof(uint32_t), { 0x80000001 } },
	{ 0x7e005000, 0, { 0 } },
};

static uint64_t vector_address(uint32_t futex)
{
	return 0x7d000000 + futex * 0x100;
}

/* One for each descriptor, for the first that there is not, and for -1. */
static uint64_t poll_address(uint32_t descriptor)
{
	return 0x7c000000 + descriptor * 0x100;
}

static const uint64_t parts_address = 0x7a000000;

/* What has so many parts. */
static uint64_t message_address(uint32_t count)
{
	return 0x79000000 + count * 0x100;
}

/* Each has twice as many bytes as the one before, so that each sum says which there are. */
static void plant_parts(void)
{
	struct {
		uint64_t address, bytes;
	} parts[PARTS];

	for (uint32_t i = 0; i < PARTS; i++) {
		uint64_t message[] = { 0, 0, parts_address, i };

		parts[i].address = 0x5000;
		parts[i].bytes = 100ull << i;
		shim_plant(message_address(i), message, sizeof(message));
	}
	shim_plant(parts_address, parts, sizeof(parts));
}

static uint32_t parts_bytes(uint32_t count)
{
	return count <= PARTS_KNOWN ? 100 * ((1u << count) - 1) : 0;
}

static void plant_memory(void)
{
	plant_parts();
	for (uint32_t i = 0; i < WORLD_FUTEXES; i++) {
		struct {
			uint64_t value, address;
			uint32_t flags, reserved;
		} vector = {
			.value = 1,
			.address = futexes[i].address,
		};

		if (futexes[i].bytes)
			shim_plant(futexes[i].address, futexes[i].words, futexes[i].bytes);
		shim_plant(vector_address(i), &vector, sizeof(vector));
	}
	for (uint32_t i = 0; i < WORLD_DESCRIPTORS + 2; i++) {
		struct {
			int descriptor;
			short events, revents;
		} polled = {
			.descriptor = i > WORLD_DESCRIPTORS ? -1 : (int)i,
			.events = 1,
		};

		shim_plant(poll_address(i), &polled, sizeof(polled));
	}
}

/* --- System calls ----------------------------------------------------------------------------- */

static const uint8_t arguments[CALL_COUNT] = {
	[CALL_FUTEX] = ARGUMENT_FUTEX,
	[CALL_FUTEX_FLAGS] = ARGUMENT_FUTEX_FLAGS,
	[CALL_FUTEX_VECTOR] = ARGUMENT_FUTEX_VECTOR,
	[CALL_FILE] = ARGUMENT_FILE,
	[CALL_POLL] = ARGUMENT_POLL,
	[CALL_RESTART] = ARGUMENT_RESTART,
	[CALL_POLL_TIME] = ARGUMENT_POLL_TIME,
	[CALL_FILE_PARTS] = ARGUMENT_FILE_PARTS,
	[CALL_FILE_MESSAGE] = ARGUMENT_FILE_MESSAGE,
};

static struct world_wait on_futex(enum world_call call, uint32_t which, uint16_t operation)
{
	struct world_wait wait = { .syscall = call, .operation = operation };

	wait.object = futexes[which].address;
	wait.value = futexes[which].words[0];
	for (uint32_t i = 0; i < 3; i++)
		wait.owners[i] = futexes[which].words[2 + i];
	return wait;
}

/* The arguments of a call, each with something that is not its own in the upper half. */
static void call_futex(struct world_task *task, enum world_call call, uint32_t which)
{
	struct pt_regs *registers = &task->registers;
	uint16_t operation = which * 7;
	uint32_t futex = which % WORLD_FUTEXES;
	uint64_t limit = which % 2 ? which + 1 : 0;
	uint16_t recorded = (operation & (FUTEX_WITHOUT_LIMIT - 1)) | (limit ? 0 : FUTEX_WITHOUT_LIMIT);

	registers->di = call == CALL_FUTEX_VECTOR ? vector_address(futex) : futexes[futex].address;
	registers->si = call == CALL_FUTEX ? 0xabc00000000 | operation : which;
	registers->r10 = call == CALL_FUTEX_FLAGS ? operation : limit;
	registers->r8 = limit;
	task->wait = on_futex(call, futex, call == CALL_FUTEX_VECTOR ? 0 : recorded);
}

static void call_file(struct world_task *task, uint32_t which)
{
	struct pt_regs *registers = &task->registers;

	registers->di = which % (WORLD_DESCRIPTORS + 1);
	registers->si = 0x7ffe00001000 + which;
	registers->dx = 100 + which;
	registers->r10 = which % 2 ? 0xffffffff : 0x100000000 + which;
	registers->r8 = 300 + which;
	task->wait = (struct world_wait){
		.syscall = CALL_FILE,
		.has_descriptor = true,
		.descriptor = registers->di,
		.value = registers->di,
		.operation = 0x1000 + which,
		.owners = { 100 + which, 0xffffffff, 300 + which },
	};
}

static void call_parts(struct world_task *task, enum world_call call, uint32_t which)
{
	struct pt_regs *registers = &task->registers;
	uint32_t count = which / 8 % PARTS;

	call_file(task, which);
	registers->si = call == CALL_FILE_PARTS ? parts_address : message_address(count);
	registers->dx = call == CALL_FILE_PARTS ? count : which;
	task->wait.syscall = call;
	task->wait.operation = registers->si;
	task->wait.owners[0] = parts_bytes(count);
}

static const struct {
	int ms;
	uint16_t recorded;
} limits[] = {
	{ 0, 0 }, { 250, 250 }, { 65534, 65534 }, { 65535, NO_LIMIT }, { 1000000, NO_LIMIT }, { -1, NO_LIMIT },
};

enum { LIMITS = sizeof(limits) / sizeof(*limits) };

/* Where there is none, for what cannot be read. */
static uint64_t limit_address(uint32_t limit)
{
	return limits[limit].ms < 0 ? 0 : 0x7b000000 + limit * 0x100;
}

static void plant_limits(void)
{
	for (uint32_t i = 0; i < LIMITS; i++) {
		uint64_t limit[] = { limits[i].ms / 1000, limits[i].ms % 1000 * 1000000ull + 999999 };

		if (limits[i].ms >= 0)
			shim_plant(limit_address(i), limit, sizeof(limit));
	}
}

static void call_poll(struct world_task *task, enum world_call call, uint32_t which)
{
	uint32_t limit = which % LIMITS;
	uint32_t descriptor = which / 8 % (WORLD_DESCRIPTORS + 2);
	uint32_t count = which / 64 % 2 ? POLL_COUNT : 1;
	struct pt_regs *registers = &task->registers;

	registers->di = poll_address(descriptor);
	registers->si = count;
	registers->dx = call == CALL_POLL_TIME ? limit_address(limit) : (uint32_t)limits[limit].ms;
	task->wait = (struct world_wait){
		.syscall = call,
		.has_descriptor = count == 1,
		.descriptor = descriptor,
		.value = count,
		.operation = limits[limit].recorded,
		.owners = { count == 1 },
	};
}

void world_call(struct world_task *task, enum world_call call, uint32_t which)
{
	struct pt_regs *registers = &task->registers;

	registers->orig_ax = call == CALL_NONE ? -1ul : call;
	registers->di = 0x5000 + which;
	registers->si = 0xabc00000000 | which;
	registers->dx = registers->r10 = which + 2;
	task->wait = (struct world_wait){
		.syscall = call,
		.object = 0x5000 + which,
		.value = which,
	};
	switch (call) {
	case CALL_NONE:
		task->wait = (struct world_wait){ .syscall = SYSCALL_NONE };
		break;
	case CALL_FUTEX:
	case CALL_FUTEX_FLAGS:
	case CALL_FUTEX_VECTOR:
		call_futex(task, call, which % 0x1000);
		break;
	case CALL_FILE:
		call_file(task, which % 0x1000);
		break;
	case CALL_FILE_PARTS:
	case CALL_FILE_MESSAGE:
		call_parts(task, call, which % 0x1000);
		break;
	case CALL_POLL:
	case CALL_POLL_TIME:
		call_poll(task, call, which);
		break;
	case CALL_RESTART:
		task->wait = (struct world_wait){ .syscall = CALL_RESTART, .restarts = true };
		break;
	default:
		break;
	}
}

/* --- Files ------------------------------------------------------------------------------------ */

static void init_file(struct world *world, uint32_t i)
{
	struct world_file *file = &world->files[i];

	snprintf(file->name, sizeof(file->name), "file%u", i);
	file->inode = (struct inode){
		.i_mode = 0100644,
		.i_nlink = 1,
		.i_ino = 1000 + i,
		.i_sb = &world->super,
	};
	file->dentry = (struct dentry){
		.d_parent = &world->root,
		.d_name = { .hash_len = i, .name = (unsigned char *)file->name },
		.d_inode = &file->inode,
	};
	file->file = (struct file){
		.f_path = { .mnt = &world->mount.mnt, .dentry = &file->dentry },
		.f_inode = &file->inode,
	};
}

void world_waits_init(struct world *world)
{
	plant_memory();
	plant_limits();
	for (uint32_t call = 0; call < CALL_COUNT; call++)
		shim_set_option(wait_arguments[call], arguments[call]);
	world->super.s_dev = DEVICE;
	world->root.d_parent = &world->root;
	world->root.d_name.name = (unsigned char *)"/";
	world->mount.mnt_parent = &world->mount;
	world->mount.mnt_mountpoint = world->mount.mnt.mnt_root = &world->root;
	world->files_struct.fdt = &world->fdtable;
	world->fdtable = (struct fdtable){ WORLD_DESCRIPTORS, world->descriptors };
	for (uint32_t i = 0; i < WORLD_FILES; i++) {
		init_file(world, i);
		world_open(world, i, &world->files[i]);
	}
}

void world_open(struct world *world, uint32_t descriptor, struct world_file *file)
{
	world->descriptors[descriptor] = file ? &file->file : NULL;
}

static void expect_file(struct world *world, uint32_t cpu, struct world_file *file)
{
	const struct ev_file_path *e = world_expect(world, cpu, EV_FILE_PATH, 0);

	world_require(world, e->file && (!file->id || e->file == file->id));
	world_require(world, (e->file & 0x1f) == (8 << 1 | 1)); /* a regular file */
	for (uint32_t i = 0; i < WORLD_FILES; i++)
		world_require(world, &world->files[i] == file || world->files[i].id != e->file);
	file->id = e->file;
	file->is_recorded = true;
	world_require(world, e->inode == file->inode.i_ino && e->major == 8 && e->minor == 1);
	world_require(world, e->mode == 0100644 && e->links == 1 && !e->reserved);
	world_require(world, e->name_bytes == strlen(file->name) + 3);
	world_require(world, !strcmp(e->names, file->name));
	world_require(world, !strcmp(e->names + strlen(file->name) + 1, "/"));
}

/* What a descriptor names, to a task or (NULL) to somebody who remembers nothing. */
static uint64_t file_expected(struct world *world, uint32_t cpu, struct world_task *task,
			      const struct files_struct *files, uint32_t descriptor)
{
	struct world_file *file;

	if (!files || descriptor >= WORLD_DESCRIPTORS)
		return 0;
	file = (struct world_file *)world->descriptors[descriptor];
	if (!file)
		return task && task->file_recorded && task->descriptor_recorded == descriptor ? task->file_recorded->id
											      : 0;
	/* A task that waits for a file again does not look whether it has been forgotten. */
	if (!file->is_recorded && !(task && task->file_recorded == file))
		expect_file(world, cpu, file);
	if (task) {
		task->file_recorded = file;
		task->descriptor_recorded = descriptor;
	}
	return file->id;
}

/* --- What must have come ---------------------------------------------------------------------- */

static const struct world_wait nothing = { .syscall = SYSCALL_NONE };

static bool is_compat(const struct world_task *task)
{
	return task->wait.syscall != SYSCALL_NONE && task->task.thread_info.status & 2;
}

static bool says(const struct ev_sched_switch *e, const struct world_wait *wait)
{
	return e->syscall == wait->syscall && e->operation == wait->operation && e->object == wait->object &&
	       e->value == wait->value && !memcmp(e->owners, wait->owners, sizeof(e->owners));
}

/* The same where its memory cannot be read: that is gone, or not that of who looks. */
static bool is_file_call(uint16_t call)
{
	return call == CALL_FILE || call == CALL_FILE_PARTS || call == CALL_FILE_MESSAGE;
}

static struct world_wait without_memory(struct world_wait wait)
{
	switch (wait.syscall) {
	case CALL_FUTEX_VECTOR:
		return (struct world_wait){ .syscall = wait.syscall };
	case CALL_FUTEX:
	case CALL_FUTEX_FLAGS:
		return (struct world_wait){ .syscall = wait.syscall,
					    .object = wait.object,
					    .operation = wait.operation };
	case CALL_POLL_TIME:
		wait.operation = NO_LIMIT;
		wait.has_descriptor = false;
		wait.owners[0] = 0;
		break;
	case CALL_POLL:
		wait.has_descriptor = false;
		wait.owners[0] = 0;
		break;
	case CALL_FILE_PARTS:
	case CALL_FILE_MESSAGE:
		wait.owners[0] = 0;
	}
	return wait;
}

void world_check_no_wait(struct world *world, const struct world_task *rival, const struct ev_sched_switch *e)
{
	struct world_wait wait = nothing;

	wait.value = rival ? rival->task.pid : 0;
	world_require(world, says(e, &wait));
	world_require(world, !(e->flags & (SWITCH_IO_WAIT | SWITCH_COMPAT)));
}

void world_check_wait(struct world *world, uint32_t cpu, struct world_task *task, const struct ev_sched_switch *e)
{
	struct world_wait wait = is_compat(task) ? nothing : task->wait;
	uint8_t flags = (task->task.in_iowait ? SWITCH_IO_WAIT : 0) | (is_compat(task) ? SWITCH_COMPAT : 0);

	world_require(world, (e->flags & (SWITCH_IO_WAIT | SWITCH_COMPAT)) == flags);
	if (!task->task.mm)
		wait = without_memory(wait);
	if (wait.restarts && task->wait_recorded.syscall) {
		wait = task->wait_recorded;
		wait.has_descriptor = false;
		if (is_file_call(wait.syscall) || wait.syscall == CALL_POLL ||
		    wait.syscall == CALL_POLL_TIME) /* more than is kept */
			memset(wait.owners, 0, sizeof(wait.owners));
		/* The word of a futex is read again. */
		if (!task->task.mm && arguments[wait.syscall] <= ARGUMENT_FUTEX_VECTOR &&
		    arguments[wait.syscall] >= ARGUMENT_FUTEX) {
			wait.value = 0;
			memset(wait.owners, 0, sizeof(wait.owners));
		}
	}
	if (wait.has_descriptor)
		wait.object = file_expected(world, cpu, task, task->task.files, wait.descriptor);
	world_require(world, says(e, &wait));
	if (wait.syscall != SYSCALL_NONE)
		task->wait_recorded = wait;
}

void world_check_found_wait(struct world *world, uint32_t cpu, const struct world_task *task,
			    const struct ev_thread_found *e)
{
	bool is_recorded = task->place == PLACE_BLOCKED && !is_compat(task);
	struct world_wait wait = is_recorded ? without_memory(task->wait) : nothing;

	if (wait.has_descriptor)
		wait.object = file_expected(world, cpu, NULL, task->task.files, wait.descriptor);
	world_require(world, e->syscall == wait.syscall && e->operation == wait.operation);
	world_require(world, e->object == wait.object && e->value == wait.value);
}

void world_expect_other(struct world *world, uint32_t cpu, struct world_task *other)
{
	const struct ev_thread_other *e;

	if (other->is_traced || !strcmp(other->other_recorded, other->task.comm))
		return;
	memcpy(other->other_recorded, other->task.comm, sizeof(other->other_recorded));
	e = world_expect(world, cpu, EV_THREAD_OTHER, 0);
	world_require(world, e->tid == (uint32_t)other->task.pid);
	world_require(world, e->pid == (uint32_t)other->task.tgid);
	world_require(world, e->start_ns == other->task.start_boottime);
	world_require(world, e->is_kernel == ((other->task.flags & PF_KTHREAD) != 0));
	world_require(world, !memcmp(e->reserved, (char[7]){ 0 }, 7));
	world_require(world, !strcmp(e->name, other->task.comm));
	world_require(world, !strcmp(e->process, other->task.group_leader->comm));
}

void world_expect_waker(struct world *world, uint32_t cpu, struct world_task *waker, enum wake_context context)
{
	if (context == WAKE_THREAD || (context == WAKE_SOFTIRQ && waker->task.mm))
		world_expect_other(world, cpu, waker);
}

bool world_check_waker(struct world *world, const struct world_task *waker, enum wake_context context,
		       const struct ev_sched_wake *e)
{
	bool is_kernel = waker->task.flags & PF_KTHREAD;
	bool is_named = context == WAKE_THREAD || (context == WAKE_SOFTIRQ && waker->task.mm);
	uint64_t number = waker->registers.orig_ax;
	bool has_call;

	if (context == WAKE_THREAD && is_kernel)
		context = WAKE_KERNEL_THREAD;
	world_require(world, e->context == context);
	world_require(world, e->tid == (is_named ? (uint32_t)waker->task.pid : 0));
	world_require(world, e->pid == (is_named ? (uint32_t)waker->task.tgid : 0));
	has_call = is_named && !is_kernel && number < SYSCALLS_MAX && !is_compat(waker);
	world_require(world, e->syscall == (has_call ? number : SYSCALL_NONE));
	if (!is_named || !waker->is_traced) {
		world_require(world, !e->waker && !e->object && !e->operation);
		return false;
	}
	world_require(world, e->waker == waker->number);
	world_require(world, e->object == (has_call ? waker->registers.di : 0));
	world_require(world, e->operation == (has_call ? (uint32_t)waker->registers.si : 0));
	return true;
}

void world_forget(struct world *world)
{
	shim_forget(&stacks_known);
	shim_forget(&files_known);
	shim_forget(&others_known);
	for (uint32_t i = 0; i < WORLD_STACKS; i++)
		world->paths[i].is_recorded = false;
	for (uint32_t i = 0; i < WORLD_FILES; i++)
		world->files[i].is_recorded = false;
	for (size_t i = 0; i < world->task_count; i++)
		world->tasks[i]->other_recorded[0] = 0;
	for (uint32_t cpu = 0; cpu < world->options.cpu_count; cpu++)
		world->idle[cpu].other_recorded[0] = 0;
}
