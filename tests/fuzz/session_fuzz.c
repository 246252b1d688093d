/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Arbitrary records on three streams, through the session and every handler. The input is
 * a list of commands of one byte: what to do, then its operands. Nothing may crash, and the
 * account must close.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "account/criticality.h"
#include "account/code_shares.h"
#include "account/run_samples.h"
#include "session/session.h"
#include "session/threads.h"
#include "stacks/stacks.h"

enum { STREAMS = 3, EVENT_BYTES_MAX = 512, PENDING_BYTES_MAX = 64 * 1024 };

struct input {
	const uint8_t *bytes;
	size_t size;
};

static void take(struct input *input, void *to, size_t size)
{
	size_t taken = input->size < size ? input->size : size;

	memset(to, 0, size);
	memcpy(to, input->bytes, taken);
	input->bytes += taken;
	input->size -= taken;
}

static uint8_t take_byte(struct input *input)
{
	uint8_t byte;

	take(input, &byte, 1);
	return byte;
}

struct world {
	struct session *session;
	struct threads *threads;
	struct stacks *stacks;
	struct run_samples *samples;
	struct code_samples *code;
	struct criticality *criticality;
	uint64_t now_ns;
};

static bool is_spinning(void *data, const struct thread *thread, uint64_t time_ns, const struct ev_sched_sample *e,
			const struct ev_sched_sample *before)
{
	(void)data;
	(void)thread;
	(void)time_ns;
	return (e->ip ^ e->kernel_ip ^ before->ip) & 1;
}

static void begin(struct world *world, uint8_t flags)
{
	struct criticality_options options = {
		.nmin = flags & 3,
		.threads_max = flags & 4 ? 3 : 0,
		.paths_max = flags & 8 ? 2 : 0,
	};

	world->session = session_new(STREAMS, PENDING_BYTES_MAX);
	world->threads = threads_new(world->session);
	world->stacks = stacks_new(world->session, flags & 16 ? 2 : 0);
	if (flags & 64)
		options.is_spinning = is_spinning;
	world->samples = options.samples = run_samples_new();
	world->code = options.code = code_samples_new();
	if (!(flags & 32))
		options.stacks = world->stacks;
	world->criticality = criticality_new(world->session, world->threads, &options);
	world->now_ns = 0;
}

static volatile uint64_t seen_by_the_sanitizers;

/* Nothing that samples stand for is more than there is. */
static void check_code(const struct world *world)
{
	struct code_shares *shares = code_shares_new(world->criticality, world->code);
	const struct code_sample *sample;

	for (size_t q = 0; q < CODE_QUANTITIES; q++) {
		double exact_ns = code_shares_exact_ns(shares, q), sum_ns = code_shares_unsampled_ns(shares, q);

		for (size_t i = 0; (sample = code_shares_sample(shares, i)); i++)
			sum_ns += code_shares_ns(shares, sample, q);
		if (!(sum_ns <= exact_ns * (1 + 1e-6) + 1))
			abort();
	}
	code_shares_free(shares);
}

/* The account closes, and all that is handed out can be read. */
static void check(const struct world *world)
{
	struct criticality_totals totals = criticality_totals(world->criticality);
	const struct thread_metrics *row;
	const struct path_metrics *path;
	double average[32];
	size_t cursor = 0;
	uint64_t sum = 0;

	check_code(world);
	if (totals.spun_ns > totals.stalled_ns)
		abort();
	if (totals.closure_error_ns || totals.active_ns + totals.stalled_ns != totals.wall_ns)
		abort();
	while ((row = criticality_next_thread(world->criticality, &cursor)))
		sum += strlen(row->name) + (row->thread ? row->thread->number : 0);
	cursor = 0;
	while ((path = criticality_next_path(world->criticality, &cursor))) {
		for (size_t i = 0; i < path->thread_count && i < PATH_THREADS_MAX; i++)
			sum += path->threads[i]->number;
		for (size_t i = 0; i < path->sample_kind_count; i++)
			sum += path->samples[i].ip;
	}
	for (size_t i = 0; run_samples_place(world->samples, i); i++)
		sum += run_samples_place(world->samples, i)->count;
	criticality_timeline(world->criticality, average, 32);
	seen_by_the_sanitizers = sum;
}

static void push(struct world *world, uint8_t stream, const void *event, size_t size)
{
	if (session_push(world->session, stream % STREAMS, event, size) == -ENOSPC)
		session_advance(world->session, world->now_ns + 1);
}

/* Sizes of what the schema declares, so that most records are taken. */
static const struct {
	unsigned int id;
	size_t size;
} kinds[] = {
	{ EV_SCHED_SWITCH, sizeof(struct ev_sched_switch) },
	{ EV_SCHED_SWITCH, sizeof(struct ev_sched_switch) },
	{ EV_SCHED_SWITCH, sizeof(struct ev_sched_switch) },
	{ EV_SCHED_WAKE, sizeof(struct ev_sched_wake) },
	{ EV_SCHED_SAMPLE, sizeof(struct ev_sched_sample) },
	{ EV_THREAD_BORN, sizeof(struct ev_thread_born) },
	{ EV_THREAD_FOUND, sizeof(struct ev_thread_found) },
	{ EV_THREAD_NAME, sizeof(struct ev_thread_name) },
	{ EV_THREAD_TITLE, sizeof(struct ev_thread_title) },
	{ EV_THREAD_EXEC, sizeof(struct ev_thread_exec) },
	{ EV_COLLECT_GAP, sizeof(struct ev_collect_gap) },
	{ EV_COLLECT_SYNC_BEGIN, sizeof(struct ev_collect_sync_begin) },
	{ EV_COLLECT_SYNC_END, sizeof(struct ev_collect_sync_end) },
	{ EV_STACK_FRAMES, sizeof(struct ev_stack_frames) + 16 },
	{ EV_SPACE_MAP, sizeof(struct ev_space_map) + 8 },
};

/* A record that looks right, with few threads and small steps of time: it meets others. */
static void push_plausible(struct world *world, struct input *input)
{
	unsigned int kind = take_byte(input) % (sizeof(kinds) / sizeof(*kinds));
	uint8_t stream = take_byte(input), step = take_byte(input), thread = take_byte(input);
	uint64_t buffer[EVENT_BYTES_MAX / 8];
	struct ev_header *header = (struct ev_header *)buffer;

	memset(buffer, 0, sizeof(buffer));
	header->time_ns = world->now_ns + (step & 31) - (step & 32 ? 16 : 0);
	if (header->time_ns > world->now_ns || step & 64)
		world->now_ns = header->time_ns;
	header->thread = thread & 15;
	header->subsys = kinds[kind].id >> 16;
	header->event = kinds[kind].id & 0xffff;
	switch (kinds[kind].id) {
	case EV_SCHED_SWITCH: {
		struct ev_sched_switch *e = (struct ev_sched_switch *)buffer;

		e->next = take_byte(input) & 15;
		e->cpu = take_byte(input) & 3;
		e->state = thread >> 4;
		e->flags = stream >> 6;
		e->stack = take_byte(input) & 7;
		e->keep = (uint32_t)(step >> 7) << 30;
		break;
	}
	case EV_STACK_FRAMES: {
		struct ev_stack_frames *e = (struct ev_stack_frames *)buffer;

		e->stack = thread >> 4;
		e->kernel_count = stream >> 6 & 1;
		e->user_count = 2 - e->kernel_count;
		break;
	}
	default:
		take(input, header + 1,
		     kinds[kind].size - sizeof(*header) < 32 ? kinds[kind].size - sizeof(*header) : 32);
	}
	push(world, stream, buffer, kinds[kind].size);
}

static void push_anything(struct world *world, struct input *input)
{
	uint8_t stream = take_byte(input);
	size_t size = take_byte(input) * 2 % EVENT_BYTES_MAX;
	/* Just as large as it says, so that reading beyond it is seen. */
	uint8_t *event = malloc(size ? size : 1);

	take(input, event, size);
	push(world, stream, event, size);
	free(event);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct input input = { bytes, size };
	struct world world;
	uint64_t jump_ns;

	begin(&world, take_byte(&input));
	while (input.size) {
		uint8_t command = take_byte(&input);

		if (command < 200)
			push_plausible(&world, &input);
		else if (command < 220)
			push_anything(&world, &input);
		else if (command < 240)
			session_advance(world.session, world.now_ns);
		else if (command < 250)
			check(&world);
		else {
			take(&input, &jump_ns, sizeof(jump_ns));
			world.now_ns = jump_ns;
		}
	}
	session_finish(world.session);
	check(&world);
	criticality_finish(world.criticality, world.now_ns);
	check(&world);
	criticality_free(world.criticality);
	run_samples_free(world.samples);
	code_samples_free(world.code);
	stacks_free(world.stacks);
	threads_free(world.threads);
	session_free(world.session);
	return 0;
}
