/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Call paths: takes the stack of a thread, names it by a hash of all its frames
 * and their number, and sends the frames only when the engine has not had them.
 */
#pragma once

#include "emit.bpf.h"

/* Probabilities, times 2^32. An event tells certainty by 0. */
#define KEEP_CERTAIN (1ull << 32)

/* Between the program that a timer runs and what the timer has interrupted. */
enum { INTERRUPT_FRAMES_MAX = 32 };

/*
 * Priority sampling: a slice at least as heavy as the threshold keeps its stack, a lighter
 * one with the probability weight / threshold. Weighing the kept ones by its inverse gives
 * unbiased sums whose variance is least for their number (Duffield, Lund, Thorup, J. ACM 2007).
 * Returns that probability.
 */
static __always_inline __u64 stack_keep(__u64 weight_ns)
{
	__u64 threshold_ns = keep_all_above_ns;
	__u64 keep;

	if (weight_ns >= threshold_ns)
		return KEEP_CERTAIN;
	/* Both fit 32 bits: the engine never asks for a threshold above 4 s. */
	keep = (weight_ns << 32) / threshold_ns;
	/* Never rarer than one in a million, so that a weight stays a sane number. */
	return keep < (1ull << 12) ? 1ull << 12 : keep;
}

/* The probability with which one of two says, of which neither is certain; as an event tells it. */
static __always_inline __u32 keep_of_two(__u64 first, __u64 second)
{
	return second < KEEP_CERTAIN ? first + ((KEEP_CERTAIN - first) * second >> 32) : 0;
}

/*
 * The rest of stack_take(): of what lies in scratch memory. A function of its own, for the verifier
 * examines it once then, and not with all that each caller knows.
 */
__u64 stack_find(__u32 owner);

/* Where among the first frames in scratch memory an address is; not below count: nowhere. */
__u32 stack_place(__u32 owner, __u64 address, __u32 count);

/* The same of nothing but the kernel's frames. */
__u64 stack_find_kernel(__u32 owner);

/*
 * Puts the user's frames behind those of the kernel, innermost first. How many there are, and why there
 * are no more, s->unwind says. With needs_range the tables must know all the code: otherwise
 * s->unwind.lacks_range.
 */
int stack_unwind(__u32 owner, bool needs_range);

/* What a thread has left behind when it left user space, by their numbers in DWARF. */
static __always_inline void registers_read(__u64 *registers, struct task_struct *task)
{
	struct pt_regs *regs = (void *)bpf_task_pt_regs(task);

	registers[0] = regs->ax;
	registers[1] = regs->dx;
	registers[2] = regs->cx;
	registers[3] = regs->bx;
	registers[4] = regs->si;
	registers[5] = regs->di;
	registers[6] = regs->bp;
	registers[7] = regs->sp;
	registers[8] = regs->r8;
	registers[9] = regs->r9;
	registers[10] = regs->r10;
	registers[11] = regs->r11;
	registers[12] = regs->r12;
	registers[13] = regs->r13;
	registers[14] = regs->r14;
	registers[15] = regs->r15;
	registers[16] = regs->ip;
}

/* NULL: of the current thread; else of another one, which may have to be waited for. */
static __always_inline bool memory_read(void *to, __u32 bytes, __u64 from, struct task_struct *task)
{
	return !(task ? bpf_copy_from_user_task(to, bytes, (void *)from, task, 0)
		      : bpf_probe_read_user(to, bytes, (void *)from));
}

/* Reads a stack from sp on, and its red zone; returns the number of bytes, whole words. */
static __always_inline __u32 memory_copy(struct memory_scratch *m, struct task_struct *task, __u64 sp)
{
	__u32 done = 0, bytes, i;

	sp = (sp & -(__u64)WORD_BYTES) - RED_ZONE_BYTES;
	for (i = 0; i < MEMORY_PAGES; i++) {
		bytes = PAGE_BYTES - (sp & (PAGE_BYTES - 1));
		barrier_var(bytes);
		if (bytes > PAGE_BYTES || done > (MEMORY_PAGES - 1) * PAGE_BYTES ||
		    !memory_read((char *)m->words + done, bytes, sp, task))
			break;
		done += bytes;
		sp += bytes;
	}
	return done;
}

/* The thread whose stack is to be taken, into scratch memory. */
static __always_inline void subject_read(struct stack_subject *subject, struct task_struct *task,
					 const struct thread_state *thread)
{
	registers_read(subject->registers, task);
	subject->thread_pointer = task->thread.fsbase;
	subject->pid = task->tgid;
	subject->thread = thread->thread;
	subject->python = thread->python;
	subject->return_at = thread->host.return_at;
	subject->return_address = thread->host.return_address;
}

/* The kernel's frames, into scratch memory. Their number is nothing that the verifier should follow. */
static __always_inline void kernel_frames_read(void *ctx, struct stack_scratch *s)
{
	long bytes = bpf_get_stack(ctx, s->frames, STACK_DEPTH_MAX * sizeof(__u64), 0);

	if (bytes > 0)
		s->first = bytes / sizeof(__u64);
}

static __always_inline void stack_count(struct cpu_counts *here, __u64 spent_ns, enum scratch_owner owner)
{
	__u64 time = spent_ns >> STACK_TIME_SHIFT;

	here->stack_ns += spent_ns;
	if (owner != SCRATCH_OF_SAMPLES)
		here->governed_ns += spent_ns;
	if (time >= STACK_TIMES)
		time = STACK_TIMES - 1;
	barrier_var(time);
	here->stack_times[time & (STACK_TIMES - 1)]++;
}

/* Behind the kernel's frames that lie in scratch memory those of the thread; it was begun at begin_ns. */
static __always_inline __u64 subject_stack(struct stack_scratch *s, struct task_struct *task,
					   struct thread_state *thread, __u64 begin_ns)
{
	__u64 stack;

	subject_read(&s->subject, task, thread);
	stack = stack_find(s->owner);
	thread->python = s->subject.python;
	stack_count(counts_here(), bpf_ktime_get_ns() - begin_ns, s->owner);
	return stack;
}

/*
 * Sends the stack of a thread if it is new. It is the current one, or one of its process that is
 * blocked: the memory is the same. The kernel's frames are the current one's, whatever is wanted.
 * Returns its name, 0 when there is nothing to be read.
 */
static __always_inline __u64 stack_take(void *ctx, struct task_struct *task, struct thread_state *thread,
					bool wants_kernel, enum scratch_owner owner)
{
	__u32 key = owner;
	struct stack_scratch *s = bpf_map_lookup_elem(&scratch, &key);
	__u64 begin_ns = bpf_ktime_get_ns();

	if (!s)
		return 0;
	s->owner = owner;
	s->first = 0;
	if (wants_kernel)
		kernel_frames_read(ctx, s);
	return subject_stack(s, task, thread, begin_ns);
}

/*
 * The kernel's frames of a thread that was interrupted at ip, into scratch memory, without those of the
 * interrupt. The first one is left out: stacks that differ in nothing else are sent once.
 */
static __always_inline void interrupted_frames_read(void *ctx, struct stack_scratch *s, __u64 ip)
{
	long bytes = bpf_get_stack(ctx, s->frames, INTERRUPT_FRAMES_MAX * sizeof(__u64), 0);
	__u32 count = bytes > 0 ? bytes / sizeof(__u64) : 0;
	__u32 i = stack_place(s->owner, ip, count);

	s->frames[0] = 0;
	s->first = 1;
	if (i >= INTERRUPT_FRAMES_MAX || i >= count)
		return;
	bytes = bpf_get_stack(ctx, s->frames + 1, (STACK_DEPTH_MAX - 1) * sizeof(__u64), i + 1);
	if (bytes > 0)
		s->first += bytes / sizeof(__u64);
}

/*
 * The same of the current thread, which a timer has interrupted; kernel_ip: where in the kernel, 0: in
 * the program. The first frame is where it runs, and has the address 0.
 */
static __always_inline __u64 stack_of_sample(void *ctx, struct task_struct *task, struct thread_state *thread,
					     __u64 kernel_ip)
{
	__u32 key = SCRATCH_OF_SAMPLES;
	struct stack_scratch *s = bpf_map_lookup_elem(&scratch, &key);
	__u64 begin_ns = bpf_ktime_get_ns();

	if (!s)
		return 0;
	s->owner = SCRATCH_OF_SAMPLES;
	s->first = 0;
	if (kernel_ip)
		interrupted_frames_read(ctx, s, kernel_ip);
	return subject_stack(s, task, thread, begin_ns);
}

/* The same of the kernel's frames of what runs now. */
static __always_inline __u64 stack_take_kernel(void *ctx, enum scratch_owner owner)
{
	__u32 key = owner;
	struct stack_scratch *s = bpf_map_lookup_elem(&scratch, &key);

	if (!s)
		return 0;
	s->owner = owner;
	s->first = 0;
	kernel_frames_read(ctx, s);
	return s->first ? stack_find_kernel(owner) : 0;
}

/* The same of where in the kernel a thread is that has no CPU, whoever it is. */
static __always_inline __u64 stack_of_sleeper(struct task_struct *task, enum scratch_owner owner)
{
	__u32 key = owner;
	struct stack_scratch *s = bpf_map_lookup_elem(&scratch, &key);
	long bytes;

	if (!s)
		return 0;
	bytes = bpf_get_task_stack(task, s->frames, STACK_DEPTH_MAX * sizeof(__u64), 0);
	if (bytes <= 0)
		return 0;
	s->owner = owner;
	s->first = bytes / sizeof(__u64);
	return stack_find_kernel(owner);
}
