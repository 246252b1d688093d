// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The user's call path of a thread, from the tables that the engine has made of the call frame
 * information: unwind_step.h; and of code that a JVM generates: unwind_jvm.h.
 */
#include "python.bpf.h"
#include "ruby.bpf.h"
#include "unwind_jvm.h"
#include "unwind_step.h"
#include "v8.bpf.h"

static __always_inline void *chunk_of(const struct unwind *u __attribute__((unused)), __u32 place)
{
	__u32 chunk = place >> UNWIND_CHUNK_BITS;

	return bpf_map_lookup_elem(&unwind_chunks, &chunk);
}

static __always_inline void *unit_at(const struct unwind *u __attribute__((unused)), void *chunk, __u32 place)
{
	__u32 index = place & (UNWIND_CHUNK_UNITS - 1);

	return bpf_map_lookup_elem(chunk, &index);
}

/* Reads a word, and with it what follows on its page: one reading takes the same time whatever its size. */
static __always_inline bool window_fill(struct unwind *u, __u64 address)
{
	__u32 bytes = PAGE_BYTES - address % PAGE_BYTES;

	if (bytes > sizeof(u->window))
		bytes = sizeof(u->window);
	barrier_var(bytes);
	if (bytes > sizeof(u->window) || bpf_probe_read_user(u->window, bytes, (void *)address)) {
		u->window_bytes = 0;
		return false;
	}
	u->window_begin = address;
	u->window_bytes = bytes;
	return true;
}

/* Verified once, not for each word that a step may need. */
__noinline int window_read(struct unwind *u, __u64 address)
{
	return u && window_fill(u, address);
}

/* is_innermost: in a function so deep that the stack has no space for another one. */
static __always_inline bool word_find(struct unwind *u, __u64 address, __u64 *word, bool is_innermost)
{
	__u64 offset = address - u->window_begin;

	if (address % WORD_BYTES)
		return !bpf_probe_read_user(word, sizeof(*word), (void *)address);
	if (offset >= u->window_bytes) {
		if (!(is_innermost ? window_fill(u, address) : window_read(u, address)))
			return false;
		offset = 0;
	}
	*word = u->window[(offset / WORD_BYTES) & (UNWIND_WINDOW_WORDS - 1)];
	return true;
}

static __always_inline bool word_read(struct unwind *u, __u64 address, __u64 *word)
{
	return word_find(u, address, word, false);
}

/* Into u->word. Verified once, not for each word that a step may need. */
__noinline int word_load(struct unwind *u, __u64 address)
{
	return u && word_find(u, address, &u->word, true);
}

static __always_inline bool rare_word(struct unwind *u, __u64 address, __u64 *word)
{
	if (!word_load(u, address))
		return false;
	*word = u->word;
	return true;
}

static __always_inline const struct stack_subject *subject_of(const struct unwind *u)
{
	const struct stack_scratch *s = (const void *)u - __builtin_offsetof(struct stack_scratch, unwind);

	return &s->subject;
}

static __always_inline bool register_read(const struct unwind *u, __u32 number, __u64 *value)
{
	if (number >= REGISTERS)
		return false;
	*value = subject_of(u)->registers[number & (SUBJECT_REGISTERS - 1)];
	return true;
}

static __always_inline bool thread_pointer(struct unwind *u, __u64 *address)
{
	*address = subject_of(u)->thread_pointer;
	return true;
}

/* What lies there is no stack: it is not worth keeping what is around it. */
static __always_inline bool code_read(struct unwind *u __attribute__((unused)), void *bytes, __u32 size_bytes,
				      __u64 address)
{
	return !bpf_probe_read_user(bytes, size_bytes, (void *)address);
}

/* Verified once, not for each thing that may come after it. */
__noinline int jvm_blob_search(struct unwind *u, __u64 address)
{
	return u && jvm_blob(u, address);
}

static __always_inline bool blob_find(struct unwind *u, __u64 address)
{
	return jvm_blob_search(u, address);
}

/* Of code that a JVM generates, and may generate anew: nothing of it is remembered. */
__noinline __u32 jvm_rule_search(struct unwind *u, __u64 address)
{
	return u ? jvm_rule_find(u, address) : UNWIND_NONE;
}

static __always_inline __u32 jvm_rule(struct stack_scratch *s, __u64 address)
{
	s->unwind.code.r13 = s->subject.registers[JVM_R13];
	return jvm_rule_search(&s->unwind, address);
}

/* Verified once, not for each way that leads to it. */
__noinline __u32 rule_search(struct unwind *u, __u64 address)
{
	return u ? rule_find(u, address) : UNWIND_NONE;
}

/* The same of what only some runtimes need. */
__noinline int python_advance(struct python_walk *p)
{
	if (p)
		python_step(p, NULL);
	return 0;
}

__noinline int python_meet(struct python_walk *p, __u64 begin, __u64 end)
{
	if (p)
		python_on_native(p, NULL, begin, end);
	return 0;
}

/* A frame for the stack; 0: none. */
__noinline __u64 ruby_advance(struct ruby_walk *r)
{
	__u64 frame;

	return r && ruby_next(r, NULL, &frame) ? frame : 0;
}

__noinline int ruby_meet(struct ruby_walk *r)
{
	if (r)
		ruby_on_native(r, NULL);
	return 0;
}

__noinline __u64 v8_search(struct unwind *u)
{
	return u ? v8_frame(u) : 0;
}

/* Stacks are much like those before them, and a search takes ten times as long as this. */
static __always_inline __u32 rule_remember(struct stack_scratch *s, __u64 address)
{
	__u32 place = address * 0x9e3779b97f4a7c15ull >> 32;
	struct unwind_memo *memo = &s->memos[place & (STACK_MEMOS - 1)];
	struct unwind *u = &s->unwind;
	__u32 version = u->space.version;

	__u32 rule;

	if (version && memo->version == version && memo->address == address)
		return memo->rule;
	rule = rule_search(u, address);
	if (!u->lacks_range) {
		memo->address = address;
		memo->version = version;
		memo->rule = rule;
	}
	return rule;
}

static __always_inline void frame_note(struct stack_scratch *s, __u64 frame)
{
	s->managed_count += (frame & STACK_FRAME_MANAGED) != 0;
	s->frames[(s->first + s->unwind.count) & (STACK_FRAMES_CAPACITY - 1)] = frame;
	s->unwind.count++;
}

/*
 * Notes the frame and goes to the next, or does one step for the frames of Python or Ruby; 1 when there
 * is none. A callback of bpf_loop().
 */
static long frame_step(__u32 index __attribute__((unused)), void *owner)
{
	struct stack_scratch *s = bpf_map_lookup_elem(&scratch, owner);
	struct python_walk *p;
	struct unwind *u;
	__u64 sp, address, frame;
	__u32 rule;

	if (!s)
		return 1;
	u = &s->unwind;
	p = &s->python;
	if (p->state < PYTHON_EMITS) {
		python_advance(p);
		return 0;
	}
	if (u->count >= stack_depth) {
		u->end = STACK_TRUNCATED;
		return 1;
	}
	if (p->state == PYTHON_EMITS) {
		if (python_emit(p, &frame))
			frame_note(s, frame);
		return 0;
	}
	if (s->ruby.state == RUBY_READS) {
		frame = ruby_advance(&s->ruby);
		if (frame)
			frame_note(s, frame);
		return 0;
	}
	address = unwind_address(u);
	sp = u->sp;
	rule = is_jvm_code(u, address) ? jvm_rule(s, address) : rule_remember(s, address);
	frame = 0;
	if ((rule & 0xf) == UNWIND_INTERPRETED)
		frame = jvm_method_frame(u);
	else if (u->space.v8.shared_type && (rule & 0xf) == UNWIND_NONE)
		frame = v8_search(u);
	if (frame) /* its frame pointer leads on, whether or not tables know the code */
		u->lacks_range = false;
	frame_note(s, frame ? frame : unwind_frame(u));
	if (!unwind_step(u, rule))
		return 1;
	if (follows_hosts && u->sp == s->subject.return_at + WORD_BYTES)
		u->ip = s->subject.return_address;
	if (address - p->process.code_begin < p->process.code_bytes)
		python_meet(p, sp, u->sp);
	if (address - s->ruby.process.code_begin < s->ruby.process.code_bytes)
		ruby_meet(&s->ruby);
	return 0;
}

/* Finds the thread's state again, or decides whether it is worth looking for it. */
static __always_inline void python_prepare(struct stack_scratch *s, const struct unwind_space *space)
{
	struct python_hint *hint = &s->subject.python;
	struct python_walk *p = &s->python;

	python_begin(p, &space->python, s->subject.thread_pointer, hint->thread);
	if (hint->skip) {
		hint->skip--;
		p->state = PYTHON_OVER;
	}
}

/* Threads without a state must not cost a search each time. */
static __always_inline void python_remember(struct stack_scratch *s)
{
	struct python_hint *hint = &s->subject.python;
	struct python_walk *p = &s->python;

	if (p->is_found) {
		hint->thread = p->thread;
		hint->skip_last = 0;
	} else if (p->steps) {
		hint->thread = 0;
		hint->skip = hint->skip_last * 2 + 1;
		if (hint->skip > PYTHON_SKIP_MAX)
			hint->skip = PYTHON_SKIP_MAX;
		hint->skip_last = hint->skip;
	}
}

/* What its runtimes need, if it is known; returns whether a thread's state in CPython is sought. */
static __always_inline bool managed_prepare(struct stack_scratch *s, const struct unwind_space *space)
{
	s->python.state = PYTHON_OVER;
	s->python.process.code_bytes = 0;
	s->ruby.state = RUBY_OVER;
	s->ruby.process.code_bytes = 0;
	s->unwind.space.v8.shared_type = 0;
	s->managed_count = 0;
	if (!s->unwind.ip || !space || !s->subject.thread)
		return false;
	s->unwind.space.v8 = space->v8;
	if (space->ruby.code_bytes)
		ruby_begin(&s->ruby, &space->ruby, s->subject.thread_pointer);
	if (!space->python.runtime)
		return false;
	python_prepare(s, space);
	return true;
}

static __always_inline void unwind_user(struct stack_scratch *s, bool needs_range)
{
	const __u64 *registers = s->subject.registers;
	struct unwind_space *space;
	struct unwind *u = &s->unwind;
	__u32 pid = s->subject.pid, owner = s->owner;
	bool has_python;

	unwind_begin(u, registers[INSTRUCTION_POINTER], registers[STACK_POINTER], registers[FRAME_POINTER]);
	u->needs_range = needs_range;
	space = bpf_map_lookup_elem(&unwind_spaces, &pid);
	u->space.ranges = space ? space->ranges : 0;
	u->space.range_count = space ? space->range_count : 0;
	u->space.version = space ? space->version : 0;
	u->space.jvm.bytes = 0;
	if (space && space->jvm.bytes)
		u->space.jvm = space->jvm;
	has_python = managed_prepare(s, space);
	if (!u->ip) /* it has left user space for the last time */
		return;
	bpf_loop(2 * STACK_DEPTH_MAX + 2 * PYTHON_STEPS_MAX, frame_step, &owner, 0);
	if (has_python)
		python_remember(s);
}

__noinline int stack_unwind(__u32 owner, bool needs_range)
{
	struct stack_scratch *s = bpf_map_lookup_elem(&scratch, &owner);

	if (s)
		unwind_user(s, needs_range);
	return 0;
}
