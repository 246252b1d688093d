/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A history of states that an enemy made. The first byte says what the others are: one block, either as it is
 * stored or its columns, which is read, written and read again; or the chunks of a file, which is asked all
 * there is to ask. Whatever it holds, answers are in time order, within what was asked, and come to an end.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"
#include "graph/critical_path.h"
#include "graph/graph.h"
#include "graph/lost_most.h"
#include "input.h"
#include "lanes/lanes.h"
#include "lanes/part_choice.h"
#include "lanes/part_filter.h"
#include "lanes/tile.h"
#include "query/trace_states.h"
#include "states/activity.h"
#include "states/interruptions.h"
#include "states/state_block.h"
#include "states/state_columns.h"
#include "states/state_gaps.h"
#include "states/states.h"
#include "trace/trace_writer.h"

enum { CHUNKS_MAX = 12, THREADS = 6, CPUS = 3, RECORDS_MAX = 60, RANGES = 2, STATES_ASKED = 2000 };

/* What the first byte says, modulo how many there are. */
enum { BLOCK_STORED, BLOCK_COLUMNS, FILE_ANY, FILE_TAME, INPUTS };

static void check(bool is_right)
{
	if (!is_right)
		abort();
}

/* --- Blocks ---------------------------------------------------------------------------------- */

static void put_varint(struct text *out, uint64_t value)
{
	char byte;

	for (; value >= 0x80; value >>= 7) {
		byte = value | 0x80;
		text_put_bytes(out, &byte, 1);
	}
	byte = value;
	text_put_bytes(out, &byte, 1);
}

/* Each column with its size before it; the last one has the rest. */
static void put_columns(struct input *input, struct text *out)
{
	for (unsigned int i = 0; i < COLUMNS; i++) {
		size_t size_bytes = i + 1 < COLUMNS ? take_number(input, 1) : input->size;

		if (size_bytes > input->size)
			size_bytes = input->size;
		put_varint(out, size_bytes);
		put_varint(out, 0);
		text_put_bytes(out, (const char *)input->bytes, size_bytes);
		input->bytes += size_bytes;
		input->size -= size_bytes;
	}
}

/* Of what nothing is known, it is not kept since when. */
static void forget_ends(struct state_origin *origins, size_t count, uint64_t first_ns)
{
	for (size_t i = 0; i < count; i++)
		if (origins[i].kind == RECORD_END)
			origins[i].since_ns = first_ns;
}

static bool is_same(const void *a, const void *b, size_t count, size_t size_bytes)
{
	return !memcmp(a, b, count * size_bytes);
}

static void check_block(const void *bytes, size_t size_bytes)
{
	struct state_columns columns = { 0 };
	struct state_block block, again;
	struct text text = { 0 };

	if (state_block_decode(bytes, size_bytes, &block))
		return;
	state_block_encode(&block, &columns, &text);
	check(!state_block_decode(text.bytes, text.length, &again));
	forget_ends(block.threads, block.thread_count, block.first_ns);
	forget_ends(block.owners, block.owner_count, block.first_ns);
	check(block.first_ns == again.first_ns && block.last_ns == again.last_ns);
	check(block.value_count == again.value_count && block.thread_count == again.thread_count &&
	      block.owner_count == again.owner_count && block.record_count == again.record_count);
	check(is_same(block.values, again.values, block.value_count, sizeof(*block.values)));
	check(is_same(block.threads, again.threads, block.thread_count, sizeof(*block.threads)));
	check(is_same(block.owners, again.owners, block.owner_count, sizeof(*block.owners)));
	check(is_same(block.records, again.records, block.record_count, sizeof(*block.records)));
	state_block_fini(&again);
	state_block_fini(&block);
	state_columns_fini(&columns);
	text_fini(&text);
}

static void check_columns(struct input *input)
{
	struct text text = { 0 };

	put_columns(input, &text);
	check_block(text.bytes, text.length);
	text_fini(&text);
}

/* --- Files ----------------------------------------------------------------------------------- */

static struct state_origin take_origin(struct input *input, uint64_t first_ns)
{
	struct state_origin origin = {
		.kind = take_number(input, 1) % RECORD_KINDS,
		.number = take_number(input, 1) % THREADS,
		.waker = take_number(input, 1) % THREADS,
		.since_ns = first_ns - take_number(input, 1) % (first_ns + 1),
	};

	origin.value = state_has_value(origin.kind) ? 1 : take_number(input, 1) % CPUS;
	return origin;
}

static struct state_record take_record(struct input *input, uint64_t time_ns)
{
	struct state_record record = {
		.time_ns = time_ns,
		.kind = take_number(input, 1) % RECORD_KINDS,
		.who = take_number(input, 1) % THREADS,
	};

	if (state_has_value(record.kind))
		record.value = take_number(input, 1) % 3;
	else if (record.kind != RECORD_END)
		record.value = take_number(input, 1) % CPUS;
	if (record.kind == RECORD_RUNNABLE || record.kind == RECORD_WOKEN)
		record.waker = take_number(input, 1) % (THREADS + 1);
	return record;
}

static struct state_value take_value(struct input *input)
{
	return (struct state_value){
		.why = take_number(input, 1) % 32,
		.how = take_number(input, 1) % 16,
		.syscall = take_number(input, 1),
		.tid = take_number(input, 1) % THREADS,
	};
}

/* One block in eight goes back in time, and one hides that from who reads only its chunk's header. */
enum { LIE_BACK = 1, LIE_HIDDEN = 2, LIES = 8 };

/* A block that makes sense except for what it says. */
static struct trace_span put_tame_block(struct trace_writer *writer, struct input *input, uint64_t *now_ns)
{
	unsigned int lie = take_number(input, 1) % LIES;
	uint64_t honest_ns = *now_ns;
	struct state_value values[3] = { { 0 }, take_value(input), take_value(input) };
	struct state_origin threads[THREADS], owners[CPUS];
	struct state_record records[RECORDS_MAX];
	struct state_block block = {
		.values = values,
		.value_count = 3,
		.threads = threads,
		.thread_count = THREADS,
		.owners = owners,
		.owner_count = take_number(input, 1) % (CPUS + 1),
		.records = records,
		.record_count = 1 + take_number(input, 1) % RECORDS_MAX,
	};
	struct state_columns columns = { 0 };
	struct text text = { 0 };
	struct trace_span span;

	if (lie == LIE_BACK || lie == LIE_HIDDEN)
		*now_ns = take_number(input, 1);
	block.first_ns = *now_ns;
	for (uint32_t i = 0; i < THREADS; i++)
		threads[i] = take_origin(input, block.first_ns);
	for (uint32_t i = 0; i < block.owner_count; i++)
		owners[i] = take_origin(input, block.first_ns);
	for (size_t i = 0; i < block.record_count; i++) {
		records[i] = take_record(input, *now_ns);
		*now_ns += take_number(input, 1) % 32;
	}
	block.last_ns = *now_ns;
	state_block_encode(&block, &columns, &text);
	span = (struct trace_span){ block.first_ns, block.last_ns, block.record_count };
	if (lie == LIE_HIDDEN)
		span.first_ns = span.last_ns = *now_ns = honest_ns;
	trace_writer_chunk(writer, TRACE_CHUNK_STATES, text.bytes, text.length, &span);
	state_columns_fini(&columns);
	text_fini(&text);
	return span;
}

static void put_chunk(struct trace_writer *writer, struct input *input, enum trace_chunk_kind kind)
{
	struct trace_span span;
	size_t size_bytes;

	span.first_ns = take_number(input, 2);
	span.last_ns = span.first_ns + take_number(input, 2);
	span.count = take_number(input, 1);
	size_bytes = take_number(input, 1) * (kind == TRACE_CHUNK_STATE_GAPS ? sizeof(struct state_gap) : 1);
	if (size_bytes > input->size)
		size_bytes = input->size;
	trace_writer_chunk(writer, kind, input->bytes, size_bytes, &span);
	input->bytes += size_bytes;
	input->size -= size_bytes;
}

/* Of what says the kind of a chunk: from there on it is another one. */
enum { OTHER_KINDS = 240 };

/* Gaps and activities at times that blocks have. */
static void put_tame_gap(struct trace_writer *writer, struct input *input)
{
	struct state_gap gap = { .begin_ns = take_number(input, 2) };

	gap.end_ns = gap.begin_ns + take_number(input, 1);
	trace_writer_chunk(writer, TRACE_CHUNK_STATE_GAPS, &gap, sizeof(gap), NULL);
}

/* The changes of threads in the last block; of the chunk only what comes behind the number of that makes sense or not. */
static void put_tame_threads(struct trace_writer *writer, struct input *input, const struct trace_span *block,
			     uint32_t block_count)
{
	struct trace_span span = { block->first_ns, block->last_ns, take_number(input, 1) % THREADS };
	size_t size_bytes = take_number(input, 1);
	struct text text = { 0 };

	if (size_bytes > input->size)
		size_bytes = input->size;
	put_varint(&text, block_count - 1);
	put_varint(&text, 1);
	text_put_bytes(&text, (const char *)input->bytes, size_bytes);
	trace_writer_chunk(writer, TRACE_CHUNK_STATE_THREADS, text.bytes, text.length, &span);
	input->bytes += size_bytes;
	input->size -= size_bytes;
	text_fini(&text);
}

/* Most are of the first kinds; the others are totals, summaries of CPUs, late causes and changes by thread. */
static enum trace_chunk_kind take_kind(struct input *input)
{
	unsigned int number = take_number(input, 1);

	return number < OTHER_KINDS ? TRACE_CHUNK_STATES + number % 6 : TRACE_CHUNK_STATE_TOTALS + number % 4;
}

static void put_file(struct trace_writer *writer, struct input *input, bool is_tame)
{
	struct trace_span block = { 0 };
	uint32_t block_count = 0;
	uint64_t now_ns = 0;

	for (int i = 0; i < CHUNKS_MAX && input->size; i++) {
		enum trace_chunk_kind kind = take_kind(input);

		block_count += kind == TRACE_CHUNK_STATES;
		if (is_tame && kind == TRACE_CHUNK_STATES)
			block = put_tame_block(writer, input, &now_ns);
		else if (is_tame && kind == TRACE_CHUNK_STATE_THREADS && block_count)
			put_tame_threads(writer, input, &block, block_count);
		else if (is_tame && kind == TRACE_CHUNK_STATE_GAPS)
			put_tame_gap(writer, input);
		else
			put_chunk(writer, input, kind);
	}
}

/* --- Questions ------------------------------------------------------------------------------- */

struct range {
	uint64_t from_ns, to_ns;
};

static void ask_states(struct states *states, uint32_t thread, const struct range *range)
{
	uint64_t before_ns = 0;
	struct state_walk walk;
	struct state state;
	unsigned int count = 0;

	states_walk(states, thread, range->from_ns, range->to_ns, &walk);
	while (count++ < STATES_ASKED && state_walk_next(&walk, &state)) {
		check(state.begin_ns < state.end_ns && state.begin_ns >= before_ns);
		check(state.begin_ns < range->to_ns && state.end_ns > range->from_ns);
		before_ns = state.end_ns;
	}
	states_at(states, thread, range->from_ns, &state);
}

static void ask_cpu(struct states *states, uint32_t cpu, const struct range *range)
{
	uint64_t before_ns = range->from_ns;
	struct cpu_state piece;
	struct cpu_walk walk;
	size_t count;

	states_walk_cpu(states, cpu, range->from_ns, range->to_ns, &walk);
	while (cpu_walk_next(&walk, &piece)) {
		check(piece.begin_ns < piece.end_ns && piece.begin_ns >= before_ns);
		check(piece.end_ns <= range->to_ns);
		before_ns = piece.end_ns;
	}
	struct interruption *list =
		interruptions_of(states_activities(states), cpu, range->from_ns, range->to_ns, &count);

	before_ns = range->from_ns;
	for (size_t i = 0; i < count; i++) {
		check(list[i].begin_ns < list[i].end_ns && list[i].begin_ns >= before_ns);
		check(list[i].end_ns <= range->to_ns);
		before_ns = list[i].end_ns;
	}
	free(list);
}

static void ask_disks(struct states *states, const struct range *range)
{
	uint64_t sum_ns;
	size_t count;
	struct disk_use *uses = disk_uses_of(states_activities(states), range->from_ns, range->to_ns, &count, &sum_ns);

	for (size_t i = 0; i < count; i++) {
		check(uses[i].begin_ns >= range->from_ns && uses[i].begin_ns <= uses[i].end_ns);
		check(uses[i].end_ns <= range->to_ns && uses[i].ns <= uses[i].end_ns - uses[i].begin_ns);
		sum_ns += uses[i].ns;
	}
	check(sum_ns == range->to_ns - range->from_ns);
	free(uses);
}

static void ask_graph(struct states *states, const uint32_t *threads, size_t thread_count, const struct range *range)
{
	struct graph_options options = { .from_ns = range->from_ns, .to_ns = range->to_ns };
	struct graph graph;

	graph_of_threads(states, threads, thread_count, &options, &graph);
	for (size_t i = 0; i < graph.count; i++) {
		uint64_t sum_ns = 0;
		size_t child = graph.nodes[i].first;

		for (; child != SIZE_MAX; child = graph.nodes[child].next)
			sum_ns += graph.nodes[child].ns;
		/* How long roots lived, another part of the file says. */
		if (graph.nodes[i].kind == GRAPH_WAIT)
			check(sum_ns == graph.nodes[i].ns);
	}
	graph_fini(&graph);
}

/* What is merged adds up no less than what is not. */
static void ask_merged(struct states *states, const uint32_t *threads, size_t thread_count, const struct range *range)
{
	struct graph_options options = { .from_ns = range->from_ns, .to_ns = range->to_ns, .merges_contexts = true };
	struct graph graph;

	graph_of_threads(states, threads, thread_count, &options, &graph);
	for (size_t i = 1; i < graph.count; i++)
		check(graph.nodes[i].parent < i && graph.nodes[i].max_ns <= graph.nodes[i].ns);
	graph_fini(&graph);
}

static void ask_lost(struct states *states, const uint32_t *threads, size_t thread_count, const struct range *range)
{
	struct lost_stretch lost;

	if (lost_most_find(states, NULL, threads, thread_count, range->from_ns, range->to_ns, &lost))
		check(lost.begin_ns >= range->from_ns && lost.end_ns <= range->to_ns && lost.lost_ns &&
		      lost.lost_ns <= lost.end_ns - lost.begin_ns);
}

static void ask_path(struct states *states, uint32_t thread, const struct range *range)
{
	uint64_t before_ns = range->from_ns;
	struct critical_path path;

	critical_path_of(states, thread, range->from_ns, range->to_ns, &path);
	for (size_t i = 0; i < path.count; i++) {
		check(path.parts[i].begin_ns < path.parts[i].end_ns);
		check(path.parts[i].begin_ns >= before_ns);
		before_ns = path.parts[i].end_ns;
	}
	check(before_ns <= range->to_ns);
	critical_path_fini(&path);
}

/* Of two threads, of all, and of a CPU, as wide as the range at least. */
static void ask_tiles(struct states *states, const uint32_t *threads, size_t thread_count, const struct range *range)
{
	struct lane list[] = {
		{ .kind = LANE_THREAD, .first_thread = 0, .thread_count = 1 },
		{ .kind = LANE_THREAD, .first_thread = thread_count - 1, .thread_count = 1 },
		{ .kind = LANE_PROCESS, .thread_count = thread_count },
		{ .kind = LANE_CPU, .cpu = 1 },
	};
	struct lane_thread lane_threads[THREADS];
	struct lanes lanes = { .list = list, .count = 4, .threads = lane_threads, .thread_count = thread_count };
	uint64_t origin_ns = tile_origin_ns(range->from_ns), width_ns = range->to_ns - range->from_ns;
	unsigned int shift = TILE_SHIFT_MIN;
	struct tile_question question = {
		.states = states, .lanes = &lanes, .ids = (uint32_t[]){ 0, 1, 2, 3 }, .count = 4, .origin_ns = origin_ns
	};
	struct part_filter filter;
	struct text out = { 0 };

	for (size_t i = 0; i < thread_count; i++)
		lane_threads[i] = (struct lane_thread){ .number = threads[i], .end_ns = UINT64_MAX };
	while (shift < TILE_SHIFT_MAX && width_ns >> (shift + TILE_COLUMNS_SHIFT))
		shift++;
	question.shift = shift;
	question.index = (range->from_ns - origin_ns) >> (shift + TILE_COLUMNS_SHIFT);
	tiles_put(&question, &out);
	check(out.length >= 4);
	out.length = 0;
	memset(&filter, 0, sizeof(filter));
	filter.cpus[filter.cpu_count++] = 1;
	question.choice = part_choice_new(&(struct trace_states){ .states = states }, NULL, &filter);
	tiles_put(&question, &out);
	check(out.length >= 4);
	part_choice_free(question.choice);
	text_fini(&out);
}

static void ignore(void *data, uint32_t thread)
{
	(void)data, (void)thread;
}

static void ask(struct states *states, const struct range *range)
{
	uint32_t threads[THREADS];
	uint64_t ns[SHARES] = { 0 };

	for (uint32_t i = 0; i < THREADS; i++) {
		threads[i] = i;
		ask_states(states, i, range);
		ask_path(states, i, range);
		ask_graph(states, &i, 1, range);
		states_add_shares(states, i, range->from_ns, range->to_ns, ns);
	}
	ask_graph(states, threads, THREADS, range);
	ask_merged(states, threads, THREADS, range);
	ask_lost(states, threads, THREADS, range);
	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		ask_cpu(states, cpu, range);
	ask_disks(states, range);
	ask_tiles(states, threads, THREADS, range);
}

static void check_file(struct input *input, bool is_tame)
{
	struct range ranges[RANGES] = { { 0, UINT64_MAX } };
	int fd = memfd_create("states", MFD_CLOEXEC);
	struct trace_writer *writer;
	struct states *states;
	char path[64];

	check(fd >= 0);
	for (unsigned int i = 1; i < RANGES; i++) {
		ranges[i].from_ns = take_number(input, 2);
		ranges[i].to_ns = ranges[i].from_ns + take_number(input, 2);
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	check(!trace_writer_open(path, &writer));
	put_file(writer, input, is_tame);
	check(!trace_writer_close(writer));
	if (!states_open(path, &states)) {
		for (unsigned int i = 0; i < RANGES; i++)
			ask(states, &ranges[i]);
		states_each_thread(states, ignore, NULL);
		activities_interrupt_name(states_activities(states), 1);
		states_close(states);
	}
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct input input = { bytes, size };

	switch (take_number(&input, 1) % INPUTS) {
	case BLOCK_STORED:
		check_block(input.bytes, input.size);
		break;
	case BLOCK_COLUMNS:
		check_columns(&input);
		break;
	case FILE_ANY:
		check_file(&input, false);
		break;
	case FILE_TAME:
		check_file(&input, true);
		break;
	}
	return 0;
}
