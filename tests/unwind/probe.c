/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The BPF programs' unwinder, compiled for the host, on the threads of another process.
 *
 * probe PID ROUNDS: stops the process at random moments and compares frame by frame with what
 * libdwfl finds. Prints what differs and how many stacks were alike; the exit status says nothing
 * about that.
 *
 * probe --print PID: the stack of its first thread as it is now, an address a line, innermost
 * first, "guessed" behind those that a frame pointer led to; then "end" and enum stack_end.
 *
 * probe --step TID STEPS: has a thread of a process that has a JVM do so many instructions of generated code, and
 * examines its stack before each. Those who called it must be those from before, but for one more behind a call and one
 * less behind a return. Prints how many differ, and were not found.
 */
#include <elfutils/libdwfl.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "symbol/java/jvm_layout.h"
#include "symbol/java/jvm_read.h"
#include "symbol/object/object.h"
#include "unwind/walk.h"

#include "host.h"

enum { FRAMES_MAX = STACK_DEPTH_MAX, THREADS_MAX = 512, MODULES_MAX = 512, RANGES_MAX = 2048, COPY_BYTES = 1 << 20 };

/* --- The helpers of the unwinder, on a stopped thread ---------------------------------------- */

static uint64_t *chunks[UNWIND_CHUNKS_MAX];
static uint32_t chunk_count, used_units = UNWIND_CHUNK_UNITS;
static pid_t target;

void *bpf_map_lookup_elem(void *map, const void *key)
{
	uint32_t index = *(const uint32_t *)key;

	if (map == &scratch)
		return &host_scratch;
	if (map == &unwind_spaces)
		return &host_space;
	if (map == &unwind_chunks)
		return index < chunk_count ? chunks[index] : NULL;
	for (uint32_t i = 0; i < chunk_count; i++)
		if (map == chunks[i])
			return index < UNWIND_CHUNK_UNITS ? &chunks[i][index] : NULL;
	abort();
}

long bpf_probe_read_user(void *to, __u32 size, const void *from)
{
	struct iovec local = { to, size }, remote = { (void *)from, size };

	return process_vm_readv(target, &local, 1, &remote, 1, 0) == (ssize_t)size ? 0 : -EFAULT;
}

/* --- Tables of what the process has mapped ---------------------------------------------------- */

struct loaded {
	char path[512];
	struct unwind_file file;
	bool has_table;
};

static struct loaded modules[MODULES_MAX];
static size_t module_count;

static uint32_t take_units(uint32_t count)
{
	uint32_t place;

	if (UNWIND_CHUNK_UNITS - used_units < count) {
		chunks[chunk_count++] = xcalloc(UNWIND_CHUNK_UNITS, sizeof(uint64_t));
		used_units = 0;
	}
	place = (chunk_count - 1) * UNWIND_CHUNK_UNITS + used_units;
	used_units += count;
	return place;
}

static uint64_t *units_at(uint32_t place)
{
	return chunks[place / UNWIND_CHUNK_UNITS] + place % UNWIND_CHUNK_UNITS;
}

static struct loaded *module_get(const char *path)
{
	struct loaded *module;
	struct object *object;
	char real[600];

	for (size_t i = 0; i < module_count; i++)
		if (!strcmp(modules[i].path, path))
			return &modules[i];
	if (module_count == MODULES_MAX)
		return NULL;
	module = &modules[module_count++];
	snprintf(module->path, sizeof(module->path), "%s", path);
	snprintf(real, sizeof(real), "/proc/%d/root%s", target, path);
	object = strcmp(path, "[vdso]") ? object_new(open(real, O_RDONLY | O_CLOEXEC), NULL, path) : object_new_vdso();
	module->has_table = !object_unwind_file(object, &module->file);
	object_free(object);
	return module;
}

static struct unwind_range ranges[RANGES_MAX];
static size_t range_count;

/* The parts of a table, from begin to end as the file has addresses. */
static void add_parts(const struct unwind_table *table, uint64_t begin, uint64_t end, uint64_t bias)
{
	for (uint64_t base = table->base; base < table->base + table->size_bytes;) {
		struct unwind_part part = unwind_part_at(table, base, UNWIND_CHUNK_UNITS);
		uint64_t part_end = base + ((uint64_t)part.block_count << UNWIND_BLOCK_BITS);
		struct unwind_range range = {
			.begin = (base > begin ? base : begin) + bias,
			.end = (part_end < end ? part_end : end) + bias,
			.bias = base + bias,
			.block_count = part.block_count,
		};

		if (range.begin < range.end && range_count < RANGES_MAX) {
			range.table = take_units(part.block_count + part.row_count);
			unwind_part_write(table, &part, units_at(range.table));
			ranges[range_count++] = range;
		}
		base = part_end;
	}
}

static void add_ranges(const struct unwind_file *file, uint64_t start, uint64_t end, uint64_t file_offset)
{
	for (uint32_t i = 0; i < file->segment_count; i++) {
		const struct unwind_segment *segment = &file->segments[i];
		uint64_t first, last, bias;

		if (!unwind_segment_bias(segment, start, end, file_offset, &bias))
			continue;
		first = start - bias;
		last = end - bias;
		if (first < segment->address)
			first = segment->address;
		if (last > segment->address + segment->size_bytes)
			last = segment->address + segment->size_bytes;
		add_parts(&file->table, first, last, bias);
	}
}

/* --- Where a JVM keeps its code --------------------------------------------------------------- */

static bool read_pieces(void *data __attribute__((unused)), struct memory_piece *pieces, size_t count, void *bytes)
{
	for (size_t i = 0; i < count; i++) {
		pieces[i].is_read = !bpf_probe_read_user(bytes, pieces[i].size_bytes, (const void *)pieces[i].address);
		bytes = (char *)bytes + pieces[i].size_bytes;
	}
	return true;
}

static void load_jvm(const char *path, uint64_t start, uint64_t file_offset)
{
	const struct object_mapping mapping = { start, file_offset };
	const struct jvm_memory memory = { .read = read_pieces };
	struct jvm_layout layout;
	struct jvm_answer answer;
	struct object *object;
	char real[600];

	if (host_space.jvm.bytes || !strstr(path, "/libjvm.so"))
		return;
	snprintf(real, sizeof(real), "/proc/%d/root%s", target, path);
	object = object_new(open(real, O_RDONLY | O_CLOEXEC), NULL, path);
	object_read_jvm(object, &mapping, &memory, &layout, &answer);
	object_free(object);
	if (answer.result == JVM_READ)
		host_space.jvm = answer.process;
	else
		printf("# the JVM is not read: %u\n", answer.result);
}

/* --- The process ------------------------------------------------------------------------------ */

static void load_space(void)
{
	char path[64], line[1024];
	FILE *maps;

	range_count = 0;
	chunk_count = 0;
	used_units = UNWIND_CHUNK_UNITS;
	snprintf(path, sizeof(path), "/proc/%d/maps", target);
	maps = fopen(path, "re");
	while (maps && fgets(line, sizeof(line), maps)) {
		unsigned long start, end, offset;
		const struct loaded *module;
		char rights[8], name[512] = "";

		if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %511s", &start, &end, rights, &offset, name) < 4 ||
		    rights[2] != 'x' || (name[0] != '/' && strcmp(name, "[vdso]")))
			continue;
		load_jvm(name, start, offset);
		module = module_get(name);
		if (module && module->has_table)
			add_ranges(&module->file, start, end, offset);
	}
	if (maps)
		fclose(maps);
	if (!range_count)
		return;
	host_space.ranges = take_units(range_count * sizeof(*ranges) / sizeof(uint64_t));
	host_space.range_count = range_count;
	host_space.version++;
	memcpy(units_at(host_space.ranges), ranges, range_count * sizeof(*ranges));
}

/* --- Both ways --------------------------------------------------------------------------------- */

struct stack {
	uint64_t frames[FRAMES_MAX];
	size_t count;
	int end;         /* ours: enum stack_end */
	bool has_failed; /* libdwfl did not reach the outermost frame */
};

static unsigned long walked, walked_alike;

static bool unwind_ours(pid_t tid, struct stack *stack)
{
	struct user_regs_struct regs;

	/* A thread that io_uring has the kernel run for the process has no user code. */
	if (ptrace(PTRACE_GETREGS, tid, NULL, &regs) || !regs.rip)
		return false;
	host_registers = (struct pt_regs){
		.r15 = regs.r15,
		.r14 = regs.r14,
		.r13 = regs.r13,
		.r12 = regs.r12,
		.bp = regs.rbp,
		.bx = regs.rbx,
		.r11 = regs.r11,
		.r10 = regs.r10,
		.r9 = regs.r9,
		.r8 = regs.r8,
		.ax = regs.rax,
		.cx = regs.rcx,
		.dx = regs.rdx,
		.si = regs.rsi,
		.di = regs.rdi,
		.ip = regs.rip,
		.sp = regs.rsp,
	};
	host_task.thread.fsbase = regs.fs_base;
	host_unwind(0);
	stack->count = host_scratch.unwind.count;
	stack->end = host_scratch.unwind.end;
	for (size_t i = 0; i < stack->count; i++)
		stack->frames[i] = host_scratch.frames[i];
	return true;
}

/* The engine's way, from copies, finds the same as long as they are large enough. */
static void check_walk(const struct stack *stack)
{
	static char memory[COPY_BYTES];
	uint64_t registers[REGISTERS], frames[FRAMES_MAX], sp;
	struct unwind_copy copy = { .registers = registers, .stack = memory };
	struct unwind_tables tables = { chunks, chunk_count, host_space };
	enum stack_end end;
	uint32_t count;

	for (uint32_t i = 0; i < REGISTERS; i++)
		register_read(&host_scratch.unwind, i, (__u64 *)&registers[i]);
	sp = (registers[STACK_POINTER] & -(uint64_t)WORD_BYTES) - RED_ZONE_BYTES;
	while (copy.stack_bytes < sizeof(memory)) {
		char *to = memory + copy.stack_bytes;
		uint64_t from = sp + copy.stack_bytes;
		uint32_t bytes = PAGE_BYTES - from % PAGE_BYTES;

		if (bytes > sizeof(memory) - copy.stack_bytes)
			bytes = sizeof(memory) - copy.stack_bytes;
		if (bpf_probe_read_user(to, bytes, (void *)from))
			break;
		copy.stack_bytes += bytes;
	}
	count = unwind_walk(&tables, &copy, NULL, FRAMES_MAX, frames, &end);
	if (end == STACK_TRUNCATED && stack->end != STACK_TRUNCATED)
		return;
	walked++;
	if (count != stack->count || (int)end != stack->end || memcmp(frames, stack->frames, count * sizeof(*frames)))
		printf("# the engine's walk differs: %u frames, end %d\n", count, (int)end);
	else
		walked_alike++;
}

/* Then the engine has not the memory that it takes. */
static bool has_jvm_code(const struct stack *stack)
{
	for (size_t i = 0; i < stack->count; i++)
		if (is_jvm_code(&host_scratch.unwind, stack->frames[i] & STACK_FRAME_ADDRESS))
			return true;
	return false;
}

static int on_frame(Dwfl_Frame *frame, void *data)
{
	struct stack *stack = data;
	Dwarf_Addr pc;
	bool is_exact;

	if (stack->count == FRAMES_MAX || !dwfl_frame_pc(frame, &pc, &is_exact))
		return DWARF_CB_ABORT;
	stack->frames[stack->count++] = pc;
	return DWARF_CB_OK;
}

static void print_stack(Dwfl *dwfl, const char *name, const struct stack *stack)
{
	printf("#   %s, end %d:\n", name, stack->end);
	for (size_t i = 0; i < stack->count && i < 40; i++) {
		uint64_t address = stack->frames[i] & STACK_FRAME_ADDRESS;
		Dwfl_Module *module = dwfl_addrmodule(dwfl, address);
		const char *function = module ? dwfl_module_addrname(module, address - (i > 0)) : NULL;
		Dwarf_Addr start = 0;
		const char *file = module ? dwfl_module_info(module, NULL, &start, NULL, NULL, NULL, NULL, NULL) : "?";

		printf("#     %#lx%s %s (%s+%#lx)\n", address,
		       stack->frames[i] & STACK_FRAME_GUESSED ? " by frame pointer" : "", function ? function : "?",
		       file, address - start);
	}
}

static unsigned long total, alike, failed, earlier, complete;

/* What the Go runtime says about its goroutines' stacks, no call frame information does. */
static bool goes_to_goroutine(const struct stack *ours, size_t i)
{
	return i &&
	       (rule_find(&host_scratch.unwind, (ours->frames[i - 1] & STACK_FRAME_ADDRESS) - 1) & 0xf) == UNWIND_GO;
}

/* A method that a JVM interprets stands for the interpreter. */
static bool is_alike(uint64_t ours, uint64_t theirs)
{
	const struct jvm_process *jvm = &host_scratch.unwind.space.jvm;

	if (ours & STACK_FRAME_MANAGED && (ours & STACK_MANAGED_INDEX) == STACK_MANAGED_JAVA)
		return theirs - jvm->interpreter_begin < jvm->interpreter_bytes;
	return (ours & STACK_FRAME_ADDRESS) == theirs;
}

static void compare(Dwfl *dwfl, pid_t tid)
{
	struct stack ours = { 0 }, theirs = { 0 };
	size_t i = 0;

	if (!unwind_ours(tid, &ours))
		return;
	theirs.has_failed = dwfl_getthread_frames(dwfl, tid, on_frame, &theirs) != DWARF_CB_OK;
	if (!has_jvm_code(&ours))
		check_walk(&ours);
	total++;
	complete += ours.end == STACK_COMPLETE;
	while (i < ours.count && i < theirs.count && is_alike(ours.frames[i], theirs.frames[i]))
		i++;
	if (i == ours.count && i == theirs.count) {
		alike++;
		return;
	}
	/* What it could not unwind, ours goes beyond. */
	if ((theirs.has_failed && i == theirs.count) || goes_to_goroutine(&ours, i)) {
		failed++;
		return;
	}
	/* At a function that nobody calls, says its runtime. */
	if (ours.end == STACK_COMPLETE && i == ours.count) {
		earlier++;
		return;
	}
	printf("# thread %d differs from frame %zu on\n", tid, i);
	print_stack(dwfl, "ours", &ours);
	print_stack(dwfl, "libdwfl", &theirs);
}

/* --- Stopping ------------------------------------------------------------------------------------ */

static size_t stop_all(pid_t *tids)
{
	char path[64];
	struct dirent *entry;
	size_t count = 0;
	DIR *directory;

	snprintf(path, sizeof(path), "/proc/%d/task", target);
	directory = opendir(path);
	while (directory && count < THREADS_MAX && (entry = readdir(directory))) {
		pid_t tid = atoi(entry->d_name);

		if (!tid || ptrace(PTRACE_SEIZE, tid, NULL, NULL))
			continue;
		if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) || waitpid(tid, NULL, __WALL) != tid)
			continue;
		tids[count++] = tid;
	}
	if (directory)
		closedir(directory);
	return count;
}

static bool probe(void)
{
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_linux_proc_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
	};
	pid_t tids[THREADS_MAX];
	size_t count = stop_all(tids);
	Dwfl *dwfl = dwfl_begin(&callbacks);

	if (count && !dwfl_linux_proc_report(dwfl, target) && !dwfl_report_end(dwfl, NULL, NULL) &&
	    !dwfl_linux_proc_attach(dwfl, target, true)) {
		load_space();
		for (size_t i = 0; i < count; i++)
			compare(dwfl, tids[i]);
	}
	dwfl_end(dwfl);
	for (size_t i = 0; i < count; i++)
		ptrace(PTRACE_DETACH, tids[i], NULL, NULL);
	return count;
}

static int print(void)
{
	struct stack stack = { 0 };

	if (ptrace(PTRACE_SEIZE, target, NULL, NULL) || ptrace(PTRACE_INTERRUPT, target, NULL, NULL) ||
	    waitpid(target, NULL, __WALL) != target) {
		perror("cannot stop the process");
		return 1;
	}
	load_space();
	unwind_ours(target, &stack);
	ptrace(PTRACE_DETACH, target, NULL, NULL);
	for (size_t i = 0; i < stack.count; i++)
		printf("%#llx%s\n", stack.frames[i] & STACK_FRAME_ADDRESS,
		       stack.frames[i] & STACK_FRAME_GUESSED ? " guessed" : "");
	printf("end %d\n", stack.end);
	return 0;
}

/* --- Step by step ------------------------------------------------------------------------------- */

static unsigned long steps, steps_different, steps_cut, steps_guessed;

/* Frames of one that are those of the other, from the outermost one on. */
static bool are_same(const struct stack *a, size_t first_of_a, const struct stack *b, size_t first_of_b)
{
	if (a->count < first_of_a || b->count < first_of_b || a->count - first_of_a != b->count - first_of_b)
		return false;
	for (size_t i = first_of_a; i < a->count; i++)
		if ((a->frames[i] ^ b->frames[i - first_of_a + first_of_b]) & STACK_FRAME_ADDRESS)
			return false;
	return true;
}

static bool is_whole(const struct stack *stack)
{
	return stack->end == STACK_COMPLETE && stack->count > 1;
}

static void check_step(const struct stack *before, const struct stack *now)
{
	static unsigned int printed;
	uint64_t words[3] = { 0 };

	steps++;
	for (size_t i = 0; i < now->count; i++) {
		if (now->frames[i] & STACK_FRAME_GUESSED) {
			steps_guessed++;
			break;
		}
	}
	if (is_whole(before) && is_whole(now) &&
	    (are_same(before, 1, now, 1) || are_same(before, 1, now, 2) || are_same(before, 2, now, 1)))
		return;
	if (!is_whole(now))
		steps_cut++;
	else if (is_whole(before))
		steps_different++;
	if (!is_whole(before) || printed++ >= 40)
		return;
	bpf_probe_read_user(words, sizeof(words), (const void *)(now->frames[0] - 16));
	printf("# %#llx: %016lx %016lx | %016lx, frame %d, complete at %d, offset %ld; %zu frames, %zu before, end %d:",
	       (unsigned long long)now->frames[0], __builtin_bswap64(words[0]), __builtin_bswap64(words[1]),
	       __builtin_bswap64(words[2]), host_scratch.unwind.code.frame_words, host_scratch.unwind.code.complete,
	       (long)host_scratch.unwind.code.offset, now->count, before->count, now->end);
	for (size_t i = 1; i < now->count && i < 4; i++)
		printf(" %#lx", now->frames[i]);
	printf(" before:");
	for (size_t i = 0; i < before->count && i < 4; i++)
		printf(" %#lx", before->frames[i]);
	printf("\n");
}

enum { STEPS_FACTOR = 40 }; /* instructions of all code for one of the generated */

static int step(pid_t tid, long count)
{
	struct stack stacks[2] = { 0 };
	int status, signal = 0;

	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) || ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) ||
	    waitpid(tid, NULL, __WALL) != tid) {
		perror("cannot stop the thread");
		return 1;
	}
	load_space();
	for (long i = 0; i < STEPS_FACTOR * count && steps < (unsigned long)count; i++) {
		struct stack *now = &stacks[i & 1], *before = &stacks[~i & 1];
		uint64_t ip = ptrace(PTRACE_PEEKUSER, tid, offsetof(struct user_regs_struct, rip), NULL);

		now->count = 0;
		if (ip - host_space.jvm.begin < host_space.jvm.bytes) {
			if (!unwind_ours(tid, now))
				break;
			check_step(before, now);
		}
		if (ptrace(PTRACE_SINGLESTEP, tid, NULL, signal) || waitpid(tid, &status, __WALL) != tid ||
		    !WIFSTOPPED(status))
			break;
		signal = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
	}
	ptrace(PTRACE_DETACH, tid, NULL, signal);
	printf("%lu steps, %lu different, %lu cut, %lu with guesses\n", steps, steps_different, steps_cut,
	       steps_guessed);
	return steps ? 0 : 1;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "--print")) {
		target = atoi(argv[2]);
		host_task.tgid = target;
		return print();
	}
	if (argc == 4 && !strcmp(argv[1], "--step")) {
		target = atoi(argv[2]);
		host_task.tgid = target;
		return step(target, atol(argv[3]));
	}
	if (argc != 3) {
		fprintf(stderr, "usage: probe PID ROUNDS, probe --print PID, probe --step PID STEPS\n");
		return 2;
	}
	target = atoi(argv[1]);
	host_task.tgid = target;
	srandom(target);
	for (int i = 0; i < atoi(argv[2]) && probe(); i++)
		usleep(random() % 20000);
	printf("%lu stacks, %lu alike, %lu that libdwfl gives up on, %lu that end before it does,"
	       " %lu complete, %lu walked, %lu alike\n",
	       total, alike, failed, earlier, complete, walked, walked_alike);
	return total ? 0 : 1;
}
