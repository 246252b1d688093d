/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chunks are maps of one size, made when they are needed and mapped here, so that a table is
 * written like memory. What the kernel side may be reading is never written again at once: it
 * rests first. Tables that no process uses stay for the next one, until memory is short.
 */
#include "collect/unwinder.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/table.h"
#include "collect/collector.h"
#include "collect/early_stacks.h"
#include "collect/room.h"
#include "shared.h"
#include "unwind/walk.h"

enum {
	RANGE_UNITS = sizeof(struct unwind_range) / sizeof(uint64_t),
	CHUNKS_AT_ONCE = 2,
	RANGES_MAX = 4096, /* of a process */
	UNUSED_SHARE = 4,  /* tables without a user stay until that part of the memory is used */
};

/* Of one update: records come in meanwhile. */
static const uint64_t update_ns_max = 5000000;

/* Long after any program that had begun to read a list has ended, and its records were read. */
static const uint64_t rest_ns_default = 2000000000ull;

struct part {
	uint64_t base, end; /* addresses as the file has them */
	uint32_t place, block_count, unit_count;
};

/* What is known of a module; no part when it has no table. */
struct module_table {
	uint32_t number;
	struct unwind_segment segments[UNWIND_SEGMENTS_MAX];
	uint32_t segment_count;
	struct part *parts;
	uint32_t part_count;
	struct python_process python;       /* addresses as the file has them; no runtime: none */
	bool is_awaited;                    /* it is being made */
	bool is_cut;                        /* there was no memory for all of it */
	uint32_t user_count;                /* of lists, one for each mapping */
	struct module_table *older, *newer; /* among those without a user */
};

/* A process's ranges and the modules they lead to. Several processes share one after a fork. */
struct list {
	uint32_t place, range_count;
	uint32_t version;
	uint32_t user_count;
	struct python_process python;
	uint32_t module_count;
	struct module_table *modules[];
};

struct process {
	uint32_t pid;
	struct list *list; /* NULL: none */
	bool is_dirty;
	bool awaits_tables; /* of some that it maps */
	bool has_ended;     /* and early stacks are left of it */
};

struct unwinder {
	struct session *session;
	struct symbols *symbols;
	struct unwinder_options options;
	uint64_t *chunks[UNWIND_CHUNKS_MAX];
	uint32_t chunk_count, chunk_max;
	struct room *room;
	struct table *modules;                /* by number; struct module_table */
	struct module_table *oldest, *newest; /* of those without a user */
	struct table *processes;              /* by pid + 1 */
	/* Of the process that is being updated. */
	struct unwind_range *ranges;
	struct module_table **used;
	uint32_t range_count, used_count;
	struct python_process python;
	bool awaits_tables;
	uint32_t last_version;
	bool has_dirty;
	struct early_stacks *early;
	struct unwinder_counts counts;
};

static struct process *process_get(struct unwinder *unwinder, uint32_t pid)
{
	struct process *process = table_find(unwinder->processes, (uint64_t)pid + 1);

	if (!process) {
		process = xcalloc(1, sizeof(*process));
		process->pid = pid;
		table_put(unwinder->processes, (uint64_t)pid + 1, process);
	}
	return process;
}

static void set_dirty(struct unwinder *unwinder, uint32_t pid)
{
	process_get(unwinder, pid)->is_dirty = true;
	unwinder->has_dirty = true;
}

static struct unwind_space space_of(const struct list *list)
{
	return (struct unwind_space){
		.ranges = list->place,
		.range_count = list->range_count,
		.version = list->version,
		.python = list->python,
	};
}

static int tell_list(const struct unwinder *unwinder, uint32_t pid, const struct list *list, uint64_t flags)
{
	struct unwind_space space = space_of(list);

	return bpf_map_update_elem(unwinder->options.spaces_fd, &pid, &space, flags);
}

/* --- Memory of the kernel side -------------------------------------------------------------- */

static int make_chunk(struct unwinder *unwinder, uint32_t number)
{
	struct bpf_map_create_opts options = { .sz = sizeof(options), .map_flags = BPF_F_MMAPABLE };
	void *memory;
	int fd;

	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "pinch_unwind", sizeof(uint32_t), sizeof(uint64_t), UNWIND_CHUNK_UNITS,
			    &options);
	if (fd < 0)
		return -errno;
	memory = mmap(NULL, UNWIND_CHUNK_UNITS * sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED) {
		int err = -errno;

		close(fd);
		return err;
	}
	unwinder->chunks[number] = memory;
	return fd;
}

/*
 * Adds chunks, some at a time: the kernel waits after each change of an array of maps until no
 * program can be using the old one, 10 ms and more.
 */
static void add_chunks(struct unwinder *unwinder)
{
	LIBBPF_OPTS(bpf_map_batch_opts, options);
	uint32_t keys[CHUNKS_AT_ONCE], made = 0, placed;
	int fds[CHUNKS_AT_ONCE];

	while (made < CHUNKS_AT_ONCE && unwinder->chunk_count + made < unwinder->chunk_max) {
		keys[made] = unwinder->chunk_count + made;
		fds[made] = make_chunk(unwinder, keys[made]);
		if (fds[made] < 0)
			break;
		made++;
	}
	placed = made;
	if (!made || bpf_map_update_batch(unwinder->options.chunks_fd, keys, fds, &placed, &options))
		placed = 0;
	for (uint32_t i = 0; i < made; i++) {
		close(fds[i]); /* the array and the mapping hold it */
		if (i < placed)
			room_add_chunk(unwinder->room);
		else
			munmap(unwinder->chunks[keys[i]], UNWIND_CHUNK_UNITS * sizeof(uint64_t));
	}
	unwinder->chunk_count += placed;
	unwinder->counts.table_bytes += placed * UNWIND_CHUNK_UNITS * sizeof(uint64_t);
}

static uint64_t *units_at(const struct unwinder *unwinder, uint32_t place)
{
	return unwinder->chunks[place / UNWIND_CHUNK_UNITS] + place % UNWIND_CHUNK_UNITS;
}

/* --- Tables --------------------------------------------------------------------------------- */

/* Among those without a user it is the newest one. */
static void add_unused(struct unwinder *unwinder, struct module_table *module)
{
	module->older = unwinder->newest;
	module->newer = NULL;
	*(module->older ? &module->older->newer : &unwinder->oldest) = module;
	unwinder->newest = module;
}

static void remove_unused(struct unwinder *unwinder, struct module_table *module)
{
	*(module->older ? &module->older->newer : &unwinder->oldest) = module->newer;
	*(module->newer ? &module->newer->older : &unwinder->newest) = module->older;
}

static void module_forget(struct unwinder *unwinder, struct module_table *module)
{
	for (uint32_t i = 0; i < module->part_count; i++)
		room_give(unwinder->room, module->parts[i].place, module->parts[i].unit_count, clock_ns());
	unwinder->counts.tables -= module->part_count > 0;
	table_take(unwinder->modules, module->number);
	free(module->parts);
	free(module);
}

/* Gives up tables that have no user, the oldest ones, while more units are taken than that. */
static void evict(struct unwinder *unwinder, uint64_t units_max)
{
	struct module_table *module;

	while ((module = unwinder->oldest) && room_used(unwinder->room) > units_max) {
		remove_unused(unwinder, module);
		module_forget(unwinder, module);
	}
}

/* Units in one chunk; false when there are none any more. */
static bool take_units(struct unwinder *unwinder, uint32_t count, uint32_t *place)
{
	if (room_take(unwinder->room, count, clock_ns(), place))
		return true;
	if (unwinder->chunk_count < unwinder->chunk_max)
		add_chunks(unwinder);
	else
		evict(unwinder, 0);
	if (room_take(unwinder->room, count, clock_ns(), place))
		return true;
	unwinder->counts.dropped++;
	return false;
}

/* False: no memory for all of it. */
static bool load_parts(struct unwinder *unwinder, const struct unwind_table *table, struct module_table *module)
{
	uint64_t address = table->base, end = table->base + table->size_bytes;

	while (address < end) {
		uint32_t largest = room_largest(unwinder->room, clock_ns());
		struct unwind_part part = unwind_part_at(table, address, UNWIND_CHUNK_UNITS);
		struct part *loaded;
		uint32_t place;

		/* Rather fill a chunk than leave much of it empty. */
		if (part.block_count + part.row_count > largest && largest > UNWIND_CHUNK_UNITS / 4)
			part = unwind_part_at(table, address, largest);
		if (!part.block_count || !take_units(unwinder, part.block_count + part.row_count, &place))
			return false;
		unwind_part_write(table, &part, units_at(unwinder, place));
		module->parts = xrealloc(module->parts, module->part_count + 1, sizeof(*module->parts));
		loaded = &module->parts[module->part_count++];
		*loaded = (struct part){
			.base = address,
			.place = place,
			.block_count = part.block_count,
			.unit_count = part.block_count + part.row_count,
			.end = address + ((uint64_t)part.block_count << UNWIND_BLOCK_BITS),
		};
		address = loaded->end;
	}
	return true;
}

static void on_table(void *data, uint32_t number, int err, struct unwind_file *file)
{
	struct unwinder *unwinder = data;
	struct module_table *module = table_find(unwinder->modules, number);
	struct process *process;
	size_t cursor = 0;

	/* It was given up and asked for again since: one of both answers is enough. */
	if (module && !module->is_awaited)
		module = NULL;
	if (module)
		module->is_awaited = false;
	if (module && !module->user_count) {
		/* Nobody maps the file any more. */
		remove_unused(unwinder, module);
		module_forget(unwinder, module);
		module = NULL;
	}
	if (module && !err) {
		memcpy(module->segments, file->segments, sizeof(module->segments));
		module->segment_count = file->segment_count;
		module->python = file->python;
		module->is_cut = !load_parts(unwinder, &file->table, module);
		unwinder->counts.tables += module->part_count > 0;
	}
	if (!err)
		unwind_file_fini(file);
	if (!module)
		return;
	while ((process = table_next(unwinder->processes, &cursor))) {
		if (!process->awaits_tables)
			continue;
		process->is_dirty = true;
		unwinder->has_dirty = true;
	}
}

static struct module_table *module_load(struct unwinder *unwinder, uint32_t number)
{
	struct module_table *module = xcalloc(1, sizeof(*module));

	module->number = number;
	table_put(unwinder->modules, number, module);
	module->is_awaited = !symbols_ask_unwind_file(unwinder->symbols, number, on_table, unwinder);
	return module;
}

/* For a list to have; module_release() ends it. */
static struct module_table *module_use(struct unwinder *unwinder, uint32_t number)
{
	struct module_table *module = table_find(unwinder->modules, number);

	if (!module)
		module = module_load(unwinder, number);
	else if (!module->user_count)
		remove_unused(unwinder, module);
	module->user_count++;
	return module;
}

static void module_release(struct unwinder *unwinder, struct module_table *module)
{
	if (--module->user_count)
		return;
	if (module->is_cut && !module->is_awaited)
		module_forget(unwinder, module);
	else
		add_unused(unwinder, module);
}

/* --- Lists ---------------------------------------------------------------------------------- */

/* Of what is known of the process that is being updated, at this place. */
static struct list *list_new(struct unwinder *unwinder, uint32_t place)
{
	struct list *list;

	list = xcalloc(1, sizeof(*list) + unwinder->used_count * sizeof(*list->modules));
	list->place = place;
	list->range_count = unwinder->range_count;
	list->version = ++unwinder->last_version;
	list->python = unwinder->python;
	list->user_count = 1;
	if (list->range_count)
		memcpy(units_at(unwinder, place), unwinder->ranges, unwinder->range_count * sizeof(*unwinder->ranges));
	list->module_count = unwinder->used_count;
	memcpy(list->modules, unwinder->used, unwinder->used_count * sizeof(*unwinder->used));
	return list;
}

static void list_release(struct unwinder *unwinder, struct list *list)
{
	if (!list || --list->user_count)
		return;
	if (list->range_count)
		room_give(unwinder->room, list->place, list->range_count * RANGE_UNITS, clock_ns());
	for (uint32_t i = 0; i < list->module_count; i++)
		module_release(unwinder, list->modules[i]);
	free(list);
	evict(unwinder, (uint64_t)unwinder->chunk_max * UNWIND_CHUNK_UNITS / UNUSED_SHARE);
}

/* --- Processes ------------------------------------------------------------------------------ */

static uint64_t max3(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t max = a > b ? a : b;

	return max > c ? max : c;
}

static uint64_t min3(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t min = a < b ? a : b;

	return min < c ? min : c;
}

static void add_range(struct unwinder *unwinder, const struct part *part, uint64_t begin, uint64_t end, uint64_t bias)
{
	if (unwinder->range_count == RANGES_MAX) {
		unwinder->counts.dropped++;
		return;
	}
	unwinder->ranges[unwinder->range_count++] = (struct unwind_range){
		.begin = begin,
		.end = end,
		.bias = bias + part->base,
		.table = part->place,
		.block_count = part->block_count,
	};
}

/* The parts of the module's table that the mapping shows, one range each. */
static void on_mapping(void *data, const struct symbol_mapping *mapping)
{
	struct unwinder *unwinder = data;
	uint32_t range_count = unwinder->range_count;
	struct module_table *module;

	if (!mapping->module || unwinder->used_count == RANGES_MAX)
		return;
	module = module_use(unwinder, mapping->module);
	unwinder->used[unwinder->used_count++] = module;
	for (uint32_t s = 0; s < module->segment_count; s++) {
		const struct unwind_segment *segment = &module->segments[s];
		uint64_t bias;

		if (!unwind_segment_bias(segment, mapping->start, mapping->end, mapping->file_offset, &bias))
			continue;
		if (module->python.runtime && segment->address == module->python.code_begin) {
			unwinder->python = module->python;
			unwinder->python.runtime += bias;
			unwinder->python.none += bias;
			unwinder->python.code_begin += bias;
		}
		for (uint32_t p = 0; p < module->part_count; p++) {
			const struct part *part = &module->parts[p];
			uint64_t begin = max3(part->base, segment->address, mapping->start - bias);
			uint64_t end = min3(part->end, segment->address + segment->size_bytes, mapping->end - bias);

			if (begin < end)
				add_range(unwinder, part, begin + bias, end + bias, bias);
		}
	}
	unwinder->awaits_tables |= module->is_awaited;
	/* That there is no table is something to know, too. */
	if (unwinder->range_count == range_count && !module->is_awaited)
		add_range(unwinder, &(struct part){ 0 }, mapping->start, mapping->end, 0);
}

static void update_process(struct unwinder *unwinder, struct process *process)
{
	struct list *list;
	uint32_t place = 0;

	process->is_dirty = false;
	unwinder->awaits_tables = false;
	unwinder->range_count = unwinder->used_count = 0;
	unwinder->python.runtime = 0;
	symbols_each_mapping(unwinder->symbols, process->pid, on_mapping, unwinder);
	process->awaits_tables = unwinder->awaits_tables;
	/* The tables that are awaited must have a user, or they would be given up when they come. */
	if ((!unwinder->range_count && !unwinder->awaits_tables) ||
	    (unwinder->range_count && !take_units(unwinder, unwinder->range_count * RANGE_UNITS, &place))) {
		for (uint32_t i = 0; i < unwinder->used_count; i++)
			module_release(unwinder, unwinder->used[i]);
		return;
	}
	list = list_new(unwinder, place);
	if (list->range_count && !process->has_ended && tell_list(unwinder, process->pid, list, BPF_ANY))
		unwinder->counts.dropped++;
	list_release(unwinder, process->list);
	process->list = list;
}

static void on_map(void *data, const struct ev_header *header)
{
	set_dirty(data, ((const struct ev_space_map *)header)->pid);
}

/* --- Stacks that the kernel side could not unwind, and what happens to processes ------------- */

static void unwind(struct unwinder *unwinder, const struct ev_stack_memory *e)
{
	struct process *process = process_get(unwinder, e->pid);
	struct unwind_tables tables = { .chunks = unwinder->chunks };
	struct unwind_copy copy = {
		.registers = (const uint64_t *)e->registers,
		.stack = e->words,
		.stack_bytes = e->word_count * sizeof(*e->words),
	};
	uint64_t room[sizeof(struct ev_stack_frames) / sizeof(uint64_t) + 2 * STACK_DEPTH_MAX];
	struct ev_stack_frames *told = (struct ev_stack_frames *)room;
	enum stack_end end;

	tables.chunk_count = unwinder->chunk_count;
	if (process->list)
		tables.space = space_of(process->list);
	*told = (struct ev_stack_frames){
		.header = e->header,
		.stack = e->stack,
		.kernel_count = e->kernel_count,
	};
	told->header.event = EV_STACK_FRAMES & 0xffff;
	/* Others were delivered while its tables were made. */
	if (told->header.time_ns < session_time_ns(unwinder->session))
		told->header.time_ns = session_time_ns(unwinder->session);
	memcpy(told->frames, e->words + e->word_count, e->kernel_count * sizeof(*e->words));
	told->user_count =
		unwind_walk(&tables, &copy, unwinder->options.depth, (uint64_t *)told->frames + e->kernel_count, &end);
	told->end = end;
	unwinder->counts.stack_ends[end]++;
	unwinder->counts.stack_frames += told->user_count;
	if (told->kernel_count + told->user_count)
		session_hand_out(unwinder->session, &told->header);
}

/* Its process's mappings up to that moment are known now: their events came before. */
static void on_memory(void *data, const struct ev_header *header)
{
	const struct ev_stack_memory *e = (const struct ev_stack_memory *)header;
	struct unwinder *unwinder = data;
	struct process *process = process_get(unwinder, e->pid);

	if (e->kernel_count > STACK_DEPTH_MAX)
		return;
	if (process->is_dirty)
		update_process(unwinder, process);
	if (!process->awaits_tables || !early_stacks_add(unwinder->early, e))
		unwind(unwinder, e);
}

static void on_early(void *data, const struct ev_stack_memory *e)
{
	unwind(data, e);
}

static bool has_tables(void *data, uint32_t pid)
{
	const struct unwinder *unwinder = data;
	const struct process *process = table_find(unwinder->processes, (uint64_t)pid + 1);

	return !process || !process->awaits_tables;
}

static bool is_any(void *data __attribute__((unused)), uint32_t pid __attribute__((unused)))
{
	return true;
}

struct early_choice {
	struct unwinder *unwinder;
	uint32_t pid;
};

static bool is_chosen(void *data, uint32_t pid)
{
	const struct early_choice *choice = data;

	return choice->pid == pid;
}

static void on_chosen(void *data, const struct ev_stack_memory *e)
{
	const struct early_choice *choice = data;

	unwind(choice->unwinder, e);
}

/* What lies where in the process changes: its early stacks cannot wait any longer. */
static void unwind_early_of(struct unwinder *unwinder, uint32_t pid)
{
	struct early_choice choice = { unwinder, pid };

	early_stacks_take(unwinder->early, is_chosen, on_chosen, &choice);
}

static void process_free(struct unwinder *unwinder, struct process *process)
{
	table_take(unwinder->processes, (uint64_t)process->pid + 1);
	list_release(unwinder, process->list);
	free(process);
}

static void free_ended(struct unwinder *unwinder)
{
	struct process *process;
	size_t cursor = 0;

	while ((process = table_next(unwinder->processes, &cursor))) {
		if (!process->has_ended || early_stacks_count(unwinder->early, process->pid))
			continue;
		process_free(unwinder, process);
		cursor = 0;
	}
}

/* The kernel side has forgotten the old program's list when the exec happened. */
static void on_exec(void *data, const struct ev_header *header)
{
	struct unwinder *unwinder = data;
	struct process *process = process_get(unwinder, ((const struct ev_space_exec *)header)->pid);

	unwind_early_of(unwinder, process->pid);
	process->has_ended = false;
	bpf_map_delete_elem(unwinder->options.spaces_fd, &process->pid);
	list_release(unwinder, process->list);
	process->list = NULL;
}

/* The kernel side may have been told of a list after it had forgotten the process. */
static void on_end(void *data, const struct ev_header *header)
{
	const struct ev_space_exit *e = (const struct ev_space_exit *)header;
	struct unwinder *unwinder = data;
	struct process *process = table_find(unwinder->processes, (uint64_t)e->pid + 1);

	if (!process)
		return;
	bpf_map_delete_elem(unwinder->options.spaces_fd, &process->pid);
	process->has_ended = early_stacks_count(unwinder->early, e->pid);
	if (!process->has_ended)
		process_free(unwinder, process);
}

/* The kernel side has given the child its parent's list when it was born. */
static void on_fork(void *data, const struct ev_header *header)
{
	const struct ev_space_fork *e = (const struct ev_space_fork *)header;
	struct unwinder *unwinder = data;
	struct process *parent = process_get(unwinder, e->parent_pid);
	struct process *child = process_get(unwinder, e->pid);

	unwind_early_of(unwinder, e->pid);
	child->has_ended = false;
	list_release(unwinder, child->list);
	child->list = parent->list;
	/* What the parent has mapped since its list was made, the child has, too. */
	if (parent->is_dirty || parent->awaits_tables)
		set_dirty(unwinder, e->pid);
	if (!child->list)
		return;
	child->list->user_count++;
	/* Unless the parent had none yet. */
	if (child->list->range_count)
		tell_list(unwinder, e->pid, child->list, BPF_NOEXIST);
}

/* --- All of it ------------------------------------------------------------------------------ */

static const struct event_handler handlers[] = {
	{ EV_SPACE_MAP, on_map },  { EV_SPACE_EXEC, on_exec },     { EV_SPACE_FORK, on_fork },
	{ EV_SPACE_EXIT, on_end }, { EV_STACK_MEMORY, on_memory }, { 0 },
};

struct unwinder *unwinder_new(struct session *session, struct symbols *symbols, const struct unwinder_options *options)
{
	struct unwinder *unwinder = xcalloc(1, sizeof(*unwinder));
	uint64_t chunks = options->bytes_max / (UNWIND_CHUNK_UNITS * sizeof(uint64_t));

	unwinder->session = session;
	unwinder->symbols = symbols;
	unwinder->options = *options;
	unwinder->chunk_max = chunks && chunks < UNWIND_CHUNKS_MAX ? chunks : UNWIND_CHUNKS_MAX;
	unwinder->room = room_new(options->rest_ns ? options->rest_ns : rest_ns_default);
	add_chunks(unwinder); /* now, for later we would be waited for */
	unwinder->early = early_stacks_new();
	unwinder->modules = table_new();
	unwinder->processes = table_new();
	unwinder->ranges = xcalloc(RANGES_MAX, sizeof(*unwinder->ranges));
	unwinder->used = xcalloc(RANGES_MAX, sizeof(*unwinder->used));
	session_subscribe(session, handlers, unwinder);
	return unwinder;
}

void unwinder_free(struct unwinder *unwinder)
{
	struct module_table *module;
	struct process *process;
	size_t cursor = 0;

	if (!unwinder)
		return;
	early_stacks_free(unwinder->early);
	while ((module = table_next(unwinder->modules, &cursor))) {
		free(module->parts);
		free(module);
	}
	for (cursor = 0; (process = table_next(unwinder->processes, &cursor));) {
		if (process->list && !--process->list->user_count)
			free(process->list);
		free(process);
	}
	for (uint32_t i = 0; i < unwinder->chunk_count; i++)
		munmap(unwinder->chunks[i], UNWIND_CHUNK_UNITS * sizeof(uint64_t));
	table_free(unwinder->modules);
	table_free(unwinder->processes);
	room_free(unwinder->room);
	free(unwinder->ranges);
	free(unwinder->used);
	free(unwinder);
}

void unwinder_add_process(struct unwinder *unwinder, uint32_t pid)
{
	update_process(unwinder, process_get(unwinder, pid));
}

void unwinder_expect_process(struct unwinder *unwinder, uint32_t pid)
{
	set_dirty(unwinder, pid);
}

bool unwinder_update(struct unwinder *unwinder)
{
	uint64_t begin_ns = clock_ns();
	struct process *process;
	size_t cursor = 0;

	if (!unwinder->has_dirty)
		return false;
	unwinder->has_dirty = false;
	while ((process = table_next(unwinder->processes, &cursor))) {
		if (!process->is_dirty)
			continue;
		if (clock_ns() - begin_ns > update_ns_max) {
			unwinder->has_dirty = true;
			break;
		}
		update_process(unwinder, process);
	}
	early_stacks_take(unwinder->early, has_tables, on_early, unwinder);
	free_ended(unwinder);
	return true;
}

void unwinder_finish(struct unwinder *unwinder)
{
	unwinder_update(unwinder);
	early_stacks_take(unwinder->early, is_any, on_early, unwinder);
}

struct unwinder_counts unwinder_counts(const struct unwinder *unwinder)
{
	return unwinder->counts;
}
