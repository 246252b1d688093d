// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "shim.h"

#include <errno.h>

uint64_t shim_now_ns, shim_tick_ns, shim_jiffies;
uint32_t shim_cpu;
struct task_struct *shim_current;
struct pt_regs shim_user_regs;
struct shim_stack shim_user_stack, shim_kernel_stack;
struct pt_regs *(*shim_registers)(struct task_struct *task);
uint64_t shim_stacks_asked, shim_doorbell_rings, shim_user_reads, shim_cookie;
struct python_process shim_python;
struct ruby_process shim_ruby;
struct v8_process shim_v8;
const char *shim_missing_field;
bool shim_storage_fails, shim_stacks_map_fails, shim_tables_are_missing;
uint32_t (*shim_random)(void);
struct task_struct *(*shim_find_task)(int pid);
struct kmem_cache *(*shim_find_cache)(uint64_t address);
size_t shim_tasks_held;
void (*shim_at_point)(void);

/* Says which promise a program broke, and ends the test run: a verifier would not load it. */
#define require(condition)                                                                      \
	do {                                                                                    \
		if (!(condition)) {                                                             \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
			abort();                                                                \
		}                                                                               \
	} while (0)

/* --- A hash table whose values do not move ---------------------------------------------- */

enum { TABLE_BITS = 13, TABLE_SLOTS = 1 << TABLE_BITS };

struct entry {
	uint64_t key;
	struct thread_state value; /* or something smaller */
	struct entry *next;
};

struct hash_table {
	struct entry *slots[TABLE_SLOTS];
	size_t count;
};

static struct hash_table threads_table, externals_table, targets_table, stacks_table, files_table, others_table,
	klocks_table, klock_others_table, askers_table;

static struct entry **table_place(struct hash_table *table, uint64_t key)
{
	struct entry **e = &table->slots[(key * 0x9e3779b97f4a7c15ull) >> (64 - TABLE_BITS)];

	while (*e && (*e)->key != key)
		e = &(*e)->next;
	return e;
}

static void *table_get(struct hash_table *table, uint64_t key)
{
	struct entry *e = *table_place(table, key);

	return e ? &e->value : NULL;
}

static void *table_add(struct hash_table *table, uint64_t key)
{
	struct entry **place = table_place(table, key);

	if (!*place) {
		*place = calloc(1, sizeof(**place));
		require(*place);
		(*place)->key = key;
		table->count++;
	}
	return &(*place)->value;
}

static void table_delete(struct hash_table *table, uint64_t key)
{
	struct entry **place = table_place(table, key), *e = *place;

	if (!e)
		return;
	*place = e->next;
	free(e);
	table->count--;
}

static void table_clear(struct hash_table *table)
{
	for (size_t i = 0; i < TABLE_SLOTS && table->count; i++)
		while (table->slots[i])
			table_delete(table, table->slots[i]->key);
}

/* --- Ring buffers: as full as the kernel's, record by record ---------------------------- */

enum { RECORD_BUSY, RECORD_SENT, RECORD_DISCARDED, RECORD_HEADER_BYTES = 8 };

struct record {
	struct record *next;
	uint64_t size, order;
	int state;
	uint64_t data[];
};

struct shim_ring {
	size_t capacity, used;
	struct record *first, *last;
};

enum { RING_MAPS = 3 };

static struct shim_ring rings_by_cpu[RING_MAPS][KERNEL_CPUS_MAX];
static struct record *last_read;
static size_t records_open;
static uint64_t records_begun; /* in rings of both kinds: gives their order */

/* Those of a map; NULL: it has none. */
static struct shim_ring *rings_of(const void *map)
{
	const void *maps[RING_MAPS] = { &rings, &sample_rings, &system_rings };

	for (size_t i = 0; i < RING_MAPS; i++)
		if (map == maps[i])
			return rings_by_cpu[i];
	return NULL;
}

static struct shim_ring *ring_of(void *map, uint32_t cpu)
{
	struct shim_ring *all = rings_of(map);

	require(all);
	return cpu < KERNEL_CPUS_MAX && all[cpu].capacity ? &all[cpu] : NULL;
}

static size_t record_bytes(uint64_t size)
{
	return (size + RECORD_HEADER_BYTES + 7) / 8 * 8;
}

void *bpf_ringbuf_reserve(void *map, __u64 size, __u64 flags)
{
	struct shim_ring *ring = map;
	struct record *record;

	shim_point();
	require(!flags && size);
	/* The kernel never fills the last byte: positions would be equal. */
	if (ring->used + record_bytes(size) > ring->capacity - 1)
		return NULL;
	record = malloc(sizeof(*record) + size);
	require(record);
	memset(record->data, 0xa5, size); /* what a program forgets to fill shows */
	record->next = NULL;
	record->size = size;
	record->order = ++records_begun;
	record->state = RECORD_BUSY;
	if (ring->last)
		ring->last->next = record;
	else
		ring->first = record;
	ring->last = record;
	ring->used += record_bytes(size);
	records_open++;
	return record->data;
}

static void record_close(void *data, int state)
{
	struct record *record = (struct record *)((char *)data - offsetof(struct record, data));

	require(record->state == RECORD_BUSY);
	record->state = state;
	records_open--;
}

void bpf_ringbuf_submit(void *data, __u64 flags)
{
	require(flags == BPF_RB_NO_WAKEUP);
	shim_point();
	record_close(data, RECORD_SENT);
}

void bpf_ringbuf_discard(void *data, __u64 flags)
{
	require(flags == BPF_RB_NO_WAKEUP);
	shim_point();
	record_close(data, RECORD_DISCARDED);
}

long bpf_ringbuf_output(void *ring, void *data, __u64 size, __u64 flags)
{
	void *copy;

	if (ring == &doorbell) {
		require(flags == BPF_RB_FORCE_WAKEUP);
		shim_doorbell_rings++;
		return 0;
	}
	copy = bpf_ringbuf_reserve(ring, size, 0);
	require(flags == BPF_RB_NO_WAKEUP);
	if (!copy)
		return -EAGAIN;
	memcpy(copy, data, size);
	record_close(copy, RECORD_SENT);
	return 0;
}

__u64 bpf_ringbuf_query(void *map, __u64 what)
{
	const struct shim_ring *ring = map;

	shim_point();
	require(what == BPF_RB_AVAIL_DATA || what == BPF_RB_RING_SIZE);
	return what == BPF_RB_AVAIL_DATA ? ring->used : ring->capacity;
}

/* The first record that was not discarded. */
static struct record *ring_first(struct shim_ring *ring)
{
	while (ring && ring->first && ring->first->state == RECORD_DISCARDED) {
		struct record *record = ring->first;

		ring->first = record->next;
		if (!ring->first)
			ring->last = NULL;
		ring->used -= record_bytes(record->size);
		free(record);
	}
	return ring ? ring->first : NULL;
}

static const struct ev_header *ring_take(struct shim_ring *ring, size_t *size)
{
	struct record *record = ring->first;

	ring->first = record->next;
	if (!ring->first)
		ring->last = NULL;
	ring->used -= record_bytes(record->size);
	last_read = record;
	if (size)
		*size = record->size;
	return (const struct ev_header *)record->data;
}

size_t shim_bytes_waiting(struct rings_map *map, uint32_t cpu)
{
	struct shim_ring *ring = ring_of(map, cpu);

	return ring ? ring->used : 0;
}

void shim_make_ring(struct rings_map *map, uint32_t cpu, size_t bytes)
{
	rings_of(map)[cpu].capacity = bytes;
}

/* --- Slot rings: the programs fill them, this reads them as the engine does --------------- */

struct slot_ring {
	struct slot *slots;
	uint64_t *orders;
	uint32_t cpu;
};

static struct slot_ring slots_by_cpu[KERNEL_CPUS_MAX];
static uint32_t slot_cpus, slot_count;
static struct slot slot_last_read;

static struct slot_ring *slots_of(uint32_t cpu)
{
	return cpu < slot_cpus ? &slots_by_cpu[cpu] : NULL;
}

/*
 * What the program will write to, among the slots of all CPUs. The engine must have read it, and
 * no other be begun.
 */
static void *slot_give(uint32_t place)
{
	struct slot_ring *ring = slots_of(place / slot_count);
	const struct cpu_counts *counts = &cpu_counts[shim_cpu];
	uint32_t index = place % slot_count;

	if (!ring)
		return NULL;
	require(ring->cpu == shim_cpu);
	require(index == (counts->slots_begun & (slot_count - 1)));
	require(counts->slots_begun == counts->slots_done);
	require(counts->slots_begun - counts->slots_read < slot_count);
	memset(&ring->slots[index], 0xa5, sizeof(struct slot));
	ring->orders[index] = ++records_begun;
	return &ring->slots[index];
}

size_t shim_slots_waiting(uint32_t cpu)
{
	return cpu_counts[cpu].slots_done - cpu_counts[cpu].slots_read;
}

static const struct ev_header *slots_first(const struct slot_ring *ring, uint64_t *order)
{
	uint64_t index;

	if (!ring || !shim_slots_waiting(ring->cpu))
		return NULL;
	index = cpu_counts[ring->cpu].slots_read & (slot_count - 1);
	*order = ring->orders[index];
	return (const struct ev_header *)&ring->slots[index];
}

static size_t slot_size(const struct ev_header *header)
{
	require(header->subsys == TRACE_SUBSYS_SCHED);
	if (header->event == TRACE_EVENT_SCHED_WAKE)
		return sizeof(struct ev_sched_wake);
	require(header->event == TRACE_EVENT_SCHED_SWITCH);
	return sizeof(struct ev_sched_switch);
}

static const struct ev_header *slots_take(struct slot_ring *ring, size_t *size)
{
	uint64_t order;

	slot_last_read = *(const struct slot *)slots_first(ring, &order);
	cpu_counts[ring->cpu].slots_read++;
	if (size)
		*size = slot_size((const struct ev_header *)&slot_last_read);
	return (const struct ev_header *)&slot_last_read;
}

bool shim_drain_slots(uint32_t cpu, void (*on_record)(const struct ev_header *header))
{
	uint64_t begun = cpu_counts[cpu].slots_begun, done = cpu_counts[cpu].slots_done;

	while (cpu_counts[cpu].slots_read != done)
		on_record(slots_take(slots_of(cpu), NULL));
	return begun == done;
}

const struct ev_header *shim_read(struct rings_map *map, uint32_t cpu, size_t *size)
{
	struct shim_ring *ring = ring_of(map, cpu);
	struct record *record = ring_first(ring);
	struct slot_ring *slots = map == &rings ? slots_of(cpu) : NULL;
	uint64_t slot_order;
	const struct ev_header *slot = slots_first(slots, &slot_order), *header;

	free(last_read);
	last_read = NULL;
	if (record && record->state == RECORD_BUSY)
		record = NULL;
	if (slot && record) {
		header = (const void *)record->data;
		if (slot->time_ns == header->time_ns ? slot_order < record->order
						     : (int64_t)(slot->time_ns - header->time_ns) < 0)
			record = NULL;
	}
	if (record)
		return ring_take(ring, size);
	return slot ? slots_take(slots, size) : NULL;
}

size_t shim_records_open(void)
{
	size_t open = records_open;

	for (uint32_t cpu = 0; cpu < slot_cpus; cpu++)
		open += cpu_counts[cpu].slots_begun - cpu_counts[cpu].slots_done;
	return open;
}

void shim_make_slots(uint32_t cpu_count, uint32_t slots)
{
	for (uint32_t cpu = 0; cpu < slot_cpus; cpu++) {
		free(slots_by_cpu[cpu].slots);
		free(slots_by_cpu[cpu].orders);
	}
	slot_cpus = cpu_count;
	slot_count = slots;
	for (uint32_t cpu = 0; cpu < cpu_count; cpu++) {
		struct slot_ring *ring = &slots_by_cpu[cpu];

		ring->cpu = cpu;
		ring->slots = calloc(slots, sizeof(*ring->slots));
		ring->orders = calloc(slots, sizeof(*ring->orders));
		require(ring->slots && ring->orders);
		shim_set_slot_position(cpu, 0);
	}
	shim_set_option(slot_mask, slots - 1);
}

void shim_set_slot_position(uint32_t cpu, uint64_t position)
{
	struct cpu_counts *counts = &cpu_counts[cpu];

	require(counts->slots_begun == counts->slots_read);
	counts->slots_begun = counts->slots_done = counts->slots_read = position;
}

void shim_make_rings(uint32_t cpu_count, size_t bytes, uint32_t slots)
{
	for (uint32_t cpu = 0; cpu < cpu_count; cpu++) {
		shim_make_ring(&rings, cpu, bytes);
		shim_make_ring(&sample_rings, cpu, bytes);
		shim_make_ring(&system_rings, cpu, bytes);
	}
	shim_make_slots(cpu_count, slots);
}

/* --- Unwind tables ------------------------------------------------------------------------ */

/*
 * A space with one range, whose table says of all code that it was called by what lies at the top
 * of the stack. As a block of code, the same unit has all rows that a search may want.
 */
static struct unwind_space unwind_space = { .range_count = 1, .version = 1 };
static char unwind_chunk;

static uint64_t *unwind_unit(uint32_t index)
{
	static uint64_t units[] = { 0, UINT64_MAX, 0, 4 | 0xffffffffull << 32 };
	static uint64_t unit;

	if (index < sizeof(units) / sizeof(*units))
		return &units[index];
	unit = (UNWIND_RSP | 1ull << UNWIND_OFFSET_SHIFT) << 32;
	return &unit;
}

/* --- Maps ------------------------------------------------------------------------------- */

static struct stack_scratch scratch_by_cpu[KERNEL_CPUS_MAX][SCRATCH_OWNERS];
static struct memory_scratch memory_by_cpu[KERNEL_CPUS_MAX][SCRATCH_OWNERS];
static struct memory_scratch memory_of_blocked;
static struct blocked_python python_of_blocked;
static struct file_scratch files_by_cpu[KERNEL_CPUS_MAX][FILE_SCRATCH_OWNERS];

static struct klock_wait spins_by_cpu[KERNEL_CPUS_MAX][2 * SPINS_INNER];
static struct ev_klock_lock klock_by_cpu[KERNEL_CPUS_MAX][WAKE_CONTEXTS];

/* Locks whose acquisitions are counted. */
enum { HELD_MAX = 64 };
static struct {
	struct klock_held_key key;
	struct klock_held held;
} helds[HELD_MAX];
static size_t held_count;
struct usdt_site shim_usdt_site;
size_t shim_held_max = HELD_MAX;

void *shim_held(size_t i)
{
	return i < held_count ? &helds[i].key : NULL;
}

static struct klock_held *held_lookup(const struct klock_held_key *key)
{
	for (size_t i = 0; i < held_count; i++)
		if (helds[i].key.lock == key->lock && helds[i].key.kind == key->kind)
			return &helds[i].held;
	return NULL;
}

static long held_add(const struct klock_held_key *key, const struct klock_held *held)
{
	if (held_lookup(key))
		return -EEXIST;
	if (held_count >= shim_held_max || held_count == HELD_MAX)
		return -E2BIG;
	helds[held_count].key = *key;
	helds[held_count++].held = *held;
	return 0;
}

/* Who has locked files. */
enum { LOCKERS_MAX = 8 };
static struct {
	struct file_locker_key key;
	struct file_locker locker;
} lockers[LOCKERS_MAX];
static size_t locker_count;

static struct file_locker *locker_lookup(const struct file_locker_key *key)
{
	for (size_t i = 0; i < locker_count; i++)
		if (!memcmp(&lockers[i].key, key, sizeof(*key)))
			return &lockers[i].locker;
	return NULL;
}

static long locker_put(const struct file_locker_key *key, const struct file_locker *locker)
{
	struct file_locker *there = locker_lookup(key);

	if (!there) {
		require(locker_count < LOCKERS_MAX);
		lockers[locker_count].key = *key;
		there = &lockers[locker_count++].locker;
	}
	*there = *locker;
	return 0;
}

/* What lies unread. */
enum { INPUTS_MAX = 8 };
static struct {
	uint64_t address;
	struct input_seen seen;
} inputs[INPUTS_MAX];
static size_t input_count;

static struct input_seen *input_lookup(uint64_t address)
{
	for (size_t i = 0; i < input_count; i++)
		if (inputs[i].address == address)
			return &inputs[i].seen;
	return NULL;
}

static long input_put(uint64_t address, const struct input_seen *seen)
{
	struct input_seen *there = input_lookup(address);

	if (!there) {
		require(input_count < INPUTS_MAX);
		inputs[input_count].address = address;
		there = &inputs[input_count++].seen;
	}
	*there = *seen;
	return 0;
}

/* NULL: the map is no set of what has been recorded. */
static struct hash_table *known_table(void *map)
{
	return map == &stacks_known   ? &stacks_table
	       : map == &files_known  ? &files_table
	       : map == &others_known ? &others_table
	       : map == &klocks_known ? &klocks_table
				      : NULL;
}

void *bpf_map_lookup_elem(void *map, const void *key)
{
	shim_point();
	if (rings_of(map))
		return ring_of(map, *(const uint32_t *)key);
	if (map == &unwind_spaces) {
		unwind_space.python = shim_python;
		unwind_space.ruby = shim_ruby;
		unwind_space.v8 = shim_v8;
		return shim_tables_are_missing ? NULL : &unwind_space;
	}
	if (map == &unwind_chunks)
		return *(const uint32_t *)key ? NULL : &unwind_chunk;
	if (map == &unwind_chunk)
		return unwind_unit(*(const uint32_t *)key);
	if (map == &slots)
		return slot_give(*(const uint32_t *)key);
	if (map == &scratch)
		return *(const uint32_t *)key < SCRATCH_OWNERS ? &scratch_by_cpu[shim_cpu][*(const uint32_t *)key]
							       : NULL;
	if (map == &memory_scratch)
		return *(const uint32_t *)key < SCRATCH_OWNERS ? &memory_by_cpu[shim_cpu][*(const uint32_t *)key]
							       : NULL;
	if (map == &blocked_memory)
		return &memory_of_blocked;
	if (map == &blocked_python)
		return &python_of_blocked;
	if (map == &file_scratch)
		return *(const uint32_t *)key < FILE_SCRATCH_OWNERS ? &files_by_cpu[shim_cpu][*(const uint32_t *)key]
								    : NULL;
	if (map == &klock_spins)
		return *(const uint32_t *)key < 2 * SPINS_INNER ? &spins_by_cpu[shim_cpu][*(const uint32_t *)key]
								: NULL;
	if (map == &klock_scratch)
		return *(const uint32_t *)key < WAKE_CONTEXTS ? &klock_by_cpu[shim_cpu][*(const uint32_t *)key] : NULL;
	if (map == &klocks_held)
		return held_lookup(key);
	if (map == &usdt_sites)
		return *(const uint32_t *)key ? NULL : &shim_usdt_site;
	if (map == &file_lockers)
		return locker_lookup(key);
	if (map == &block_askers)
		return table_get(&askers_table, *(const uint64_t *)key);
	if (map == &inputs_seen)
		return input_lookup(*(const uint64_t *)key);
	if (known_table(map))
		return table_get(known_table(map), *(const uint64_t *)key);
	require(map == &targets);
	return table_get(&targets_table, *(const uint32_t *)key);
}

long bpf_map_update_elem(void *map, const void *key, const void *value, __u64 flags)
{
	shim_point();
	if (map == &stacks_known && shim_stacks_map_fails)
		return -ENOMEM;
	if (map == &others_known) {
		*(uint64_t *)table_add(&others_table, *(const uint64_t *)key) = *(const uint64_t *)value;
		return 0;
	}
	if (known_table(map)) {
		*(uint8_t *)table_add(known_table(map), *(const uint64_t *)key) = *(const uint8_t *)value;
		return 0;
	}
	if (map == &unwind_spaces)
		return 0;
	if (map == &klocks_held)
		return held_add(key, value);
	if (map == &file_lockers)
		return locker_put(key, value);
	if (map == &block_askers) {
		memcpy(table_add(&askers_table, *(const uint64_t *)key), value, sizeof(struct block_asker));
		return 0;
	}
	if (map == &inputs_seen)
		return input_put(*(const uint64_t *)key, value);
	require(map == &targets);
	if (flags == BPF_EXIST && !table_get(&targets_table, *(const uint32_t *)key))
		return -ENOENT;
	shim_set_target(*(const uint32_t *)key, *(const uint32_t *)value);
	return 0;
}

long bpf_map_delete_elem(void *map, const void *key)
{
	shim_point();
	require(map == &unwind_spaces || map == &block_askers);
	if (map == &block_askers)
		table_delete(&askers_table, *(const uint64_t *)key);
	return 0;
}

bool shim_field_exists(const char *field)
{
	return !shim_missing_field || !strstr(field, shim_missing_field);
}

void *bpf_task_storage_get(void *map, struct task_struct *task, void *value, __u64 flags)
{
	struct hash_table *table = map == &externals      ? &externals_table
				   : map == &klock_others ? &klock_others_table
							  : &threads_table;

	shim_point();
	require((map == &threads || map == &externals || map == &klock_others) && !value);
	if (!task)
		return NULL;
	if (!(flags & BPF_LOCAL_STORAGE_GET_F_CREATE) || shim_storage_fails)
		return table_get(table, (uintptr_t)task);
	return table_add(table, (uintptr_t)task);
}

long bpf_task_storage_delete(void *map, struct task_struct *task)
{
	shim_point();
	require(map == &externals && task);
	table_delete(&externals_table, (uintptr_t)task);
	return 0;
}

struct external_thread *shim_external(struct task_struct *task)
{
	return table_get(&externals_table, (uintptr_t)task);
}

struct thread_state *shim_thread(struct task_struct *task)
{
	return table_get(&threads_table, (uintptr_t)task);
}

void shim_free_task(struct task_struct *task)
{
	table_delete(&threads_table, (uintptr_t)task);
	table_delete(&externals_table, (uintptr_t)task);
}

void shim_set_target(uint32_t pid, uint32_t kind)
{
	*(uint32_t *)table_add(&targets_table, pid) = kind;
}

uint32_t shim_target(uint32_t pid)
{
	uint32_t *kind = table_get(&targets_table, pid);

	return kind ? *kind : 0;
}

void shim_forget(void *map)
{
	table_clear(known_table(map));
	for (uint32_t cpu = 0; map == &others_known && cpu < KERNEL_CPUS_MAX; cpu++)
		memset(cpu_counts[cpu].others_recorded, 0, sizeof(cpu_counts[cpu].others_recorded));
}

/* --- The rest --------------------------------------------------------------------------- */

void shim_point(void)
{
	if (shim_at_point)
		shim_at_point();
}

__u64 bpf_ktime_get_ns(void)
{
	__u64 now_ns;

	shim_point();
	now_ns = shim_now_ns += shim_tick_ns;
	shim_point(); /* and what was read is old already */
	return now_ns;
}

__u64 bpf_jiffies64(void)
{
	shim_point();
	return shim_jiffies;
}

__u32 bpf_get_smp_processor_id(void)
{
	return shim_cpu;
}

static uint32_t random_fixed(void)
{
	static uint64_t x = 88172645463325252ull;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x >> 32;
}

__u32 bpf_get_prandom_u32(void)
{
	return shim_random ? shim_random() : random_fixed();
}

static bool is_in_scratch(const char *frames, size_t size_bytes)
{
	for (size_t i = 0; i < SCRATCH_OWNERS; i++) {
		const struct stack_scratch *s = &scratch_by_cpu[shim_cpu][i];

		if (frames >= (const char *)s->frames &&
		    frames + size_bytes <= (const char *)s->frames + sizeof(s->frames))
			return true;
	}
	return false;
}

static long kernel_stack_read(void *frames, __u32 size, size_t skip)
{
	size_t bytes;

	if (size % sizeof(uint64_t))
		return -EINVAL;
	memset(frames, 0, size); /* so does the kernel on failure */
	if (shim_kernel_stack.count < 0)
		return shim_kernel_stack.count;
	if (skip > (size_t)shim_kernel_stack.count)
		return -EFAULT;
	bytes = (shim_kernel_stack.count - skip) * sizeof(uint64_t);
	if (bytes > size)
		bytes = size;
	memcpy(frames, shim_kernel_stack.frames + skip, bytes);
	return bytes;
}

long bpf_get_stack(void *ctx, void *frames, __u32 size, __u64 flags)
{
	(void)ctx;
	shim_point();
	shim_stacks_asked++;
	require(!(flags & BPF_F_USER_STACK));
	require(is_in_scratch(frames, size));
	return kernel_stack_read(frames, size, flags & BPF_F_SKIP_FIELD_MASK);
}

long bpf_get_task_stack(struct task_struct *task, void *frames, __u32 size, __u64 flags)
{
	shim_point();
	require(task && !flags);
	return kernel_stack_read(frames, size, 0);
}
/* --- The user's stack: return addresses, one upon the other ------------------------------- */

enum { STACK_BELOW_BYTES = 4096, STACK_BYTES = 1 << 16 };

/* Objects in the user's memory, the later ones in front of the others. */
enum { PLANTED_MAX = 4096, PLANTED_BYTES_MAX = 512 };

static struct planted {
	uint64_t address;
	size_t size;
	uint8_t bytes[PLANTED_BYTES_MAX];
} planted[PLANTED_MAX];
static size_t planted_count;

void shim_plant(uint64_t address, const void *bytes, size_t size)
{
	require(planted_count < PLANTED_MAX && size <= PLANTED_BYTES_MAX);
	planted[planted_count].address = address;
	planted[planted_count].size = size;
	memcpy(planted[planted_count++].bytes, bytes, size);
}

static const void *planted_at(uint64_t address, size_t size)
{
	for (size_t i = planted_count; i--;) {
		uint64_t offset = address - planted[i].address;

		if (offset < planted[i].size && size <= planted[i].size - offset)
			return planted[i].bytes + offset;
	}
	return NULL;
}

static long user_read(void *to, __u32 size, const void *from, const struct task_struct *task)
{
	const void *object = planted_at((uint64_t)from, size);
	uint64_t at = (uint64_t)from - SHIM_STACK_BASE;

	shim_point();
	shim_user_reads++;
	memset(to, 0, size); /* so does the kernel on failure */
	if (task && !task->mm)
		return -EFAULT;
	if (object) {
		memcpy(to, object, size);
		return 0;
	}
	at += STACK_BELOW_BYTES;
	if (at >= STACK_BYTES || size > STACK_BYTES - at || at % sizeof(uint64_t))
		return -EFAULT;
	for (uint64_t i = 0; i < size / sizeof(uint64_t); i++) {
		/* What is on top is the return address of the first frame. */
		long frame = (long)(at - STACK_BELOW_BYTES) / (long)sizeof(uint64_t) + (long)i + 1;

		((uint64_t *)to)[i] = frame > 0 && frame < shim_user_stack.count ? shim_user_stack.frames[frame] : 0;
	}
	return 0;
}

__u64 bpf_get_attach_cookie(void *ctx __attribute__((unused)))
{
	return shim_cookie;
}

long bpf_probe_read_user(void *to, __u32 size, const void *from)
{
	return user_read(to, size, from, shim_current);
}

long bpf_copy_from_user_task(void *to, __u32 size, const void *from, struct task_struct *task, __u64 flags)
{
	require(task && !flags);
	return user_read(to, size, from, task);
}

struct vm_area_struct *shim_mapped;
uint64_t shim_mapped_begin, shim_mapped_bytes;

long bpf_find_vma(struct task_struct *task, __u64 address,
		  long (*found)(struct task_struct *task, struct vm_area_struct *area, void *data), void *data,
		  __u64 flags)
{
	shim_point();
	require(task == shim_current && !flags);
	if (!task->mm || !shim_mapped || address - shim_mapped_begin >= shim_mapped_bytes)
		return -ENOENT;
	found(task, shim_mapped, data);
	return 0;
}

/* Of what was planted only. */
long bpf_probe_read_user_str(void *to, __u32 size, const void *from)
{
	const char *byte;
	char *out = to;

	shim_point();
	for (__u32 i = 0; i < size; i++) {
		byte = planted_at((uint64_t)from + i, 1);
		if (!byte)
			return -EFAULT;
		out[i] = *byte;
		if (!*byte)
			return i + 1;
	}
	out[size - 1] = '\0';
	return size;
}

long bpf_loop(__u32 count, long (*step)(__u32 index, void *data), void *data, __u64 flags)
{
	__u32 i = 0;

	require(!flags);
	shim_stacks_asked++;
	while (i < count && !step(i, data))
		i++;
	return i;
}

/* Registers that a test sets count, or else those at the innermost frame of the stack. */
long bpf_task_pt_regs(struct task_struct *task)
{
	static struct pt_regs regs;

	if (shim_registers)
		return (long)shim_registers(task);
	regs = shim_user_regs;
	if (!regs.ip && shim_user_stack.count > 0)
		regs.ip = shim_user_stack.frames[0];
	regs.sp = SHIM_STACK_BASE;
	return (long)&regs;
}

__u64 bpf_get_current_task(void)
{
	return (uintptr_t)bpf_get_current_task_btf();
}

struct task_struct *bpf_get_current_task_btf(void)
{
	static struct task_struct nobody;

	nobody.se.cfs_rq = shim_queue(shim_cpu);
	return shim_current ? shim_current : &nobody;
}

struct task_struct *bpf_task_from_pid(__s32 pid)
{
	struct task_struct *task = shim_find_task ? shim_find_task(pid) : NULL;

	shim_point();
	shim_tasks_held += task != NULL;
	return task;
}

void bpf_task_release(struct task_struct *task)
{
	shim_point();
	require(task && shim_tasks_held);
	shim_tasks_held--;
}

struct kmem_cache *bpf_get_kmem_cache(__u64 address)
{
	shim_point();
	return shim_find_cache ? shim_find_cache(address) : NULL;
}

/* Neither on the first page, where fields of NULL lie, nor beyond all that a program can have. */
static bool is_readable(const void *from)
{
	return (uint64_t)from - PAGE_BYTES < 1ull << 47;
}

long bpf_probe_read_kernel(void *to, __u32 size, const void *from)
{
	if (!is_readable(from)) {
		memset(to, 0, size);
		return -EFAULT;
	}
	memcpy(to, from, size);
	return 0;
}

/* As the kernel's: always ended by a NUL, and nothing written behind it. */
long bpf_probe_read_kernel_str(void *to, __u32 size, const void *from)
{
	size_t length;

	if (!is_readable(from)) {
		*(char *)to = '\0';
		return -EFAULT;
	}
	length = strnlen(from, size - 1);
	memcpy(to, from, length);
	((char *)to)[length] = '\0';
	return length + 1;
}

/* --- The variables that a CPU has of its own --------------------------------------------- */

struct cpu_area {
	struct tick_sched tick;
	struct hrtimer other;
	struct hrtimer_cpu_base bases;
	struct pt_regs *regs;
	struct rq runqueue;
	int preempt_count;
};

static struct cpu_area cpu_areas[KERNEL_CPUS_MAX];

void shim_expire_timers(struct pt_regs *regs)
{
	struct cpu_area *here = &cpu_areas[shim_cpu];
	struct hrtimer_clock_base base = { .cpu_base = &here->bases };

	here->regs = regs;
	here->tick.sched_timer.base = here->other.base = &base;
	here->tick.sched_timer.node.expires = shim_now_ns - SHIM_TICK_LATE_NS;
	sample_expiry(NULL, &here->other);
	sample_expiry(NULL, &here->tick.sched_timer);
}

void shim_expire_our_timer(struct bpf_perf_event_data *ctx)
{
	struct cpu_area *here = &cpu_areas[shim_cpu];
	struct hrtimer_clock_base base = { .cpu_base = &here->bases };

	here->other.base = &base;
	here->other.node.expires = shim_now_ns - SHIM_TICK_LATE_NS;
	sample_expiry(NULL, &here->other);
	sample_timer(ctx);
}

struct cfs_rq *shim_queue(uint32_t cpu)
{
	static struct cfs_rq queues[KERNEL_CPUS_MAX];

	queues[cpu].rq = &cpu_areas[cpu].runqueue;
	return &queues[cpu];
}

void shim_set_preempt_count(uint32_t cpu, int count)
{
	cpu_areas[cpu].preempt_count = count;
}

void shim_reset(void)
{
	shim_set_option(sample_each_ticks, 1);
	for (uint32_t i = 0; i < RING_MAPS * KERNEL_CPUS_MAX; i++) {
		struct shim_ring *ring = &rings_by_cpu[i / KERNEL_CPUS_MAX][i % KERNEL_CPUS_MAX];

		while (ring->first) {
			struct record *record = ring->first;

			ring->first = record->next;
			free(record);
		}
		*ring = (struct shim_ring){ 0 };
	}
	free(last_read);
	last_read = NULL;
	records_open = records_begun = 0;
	memset(cpu_counts, 0, sizeof(cpu_counts));
	memset(system_cpus, 0, sizeof(system_cpus));
	shim_make_slots(0, 1);
	table_clear(&threads_table);
	table_clear(&externals_table);
	table_clear(&klock_others_table);
	table_clear(&targets_table);
	table_clear(&stacks_table);
	table_clear(&files_table);
	table_clear(&klocks_table);
	memset(spins_by_cpu, 0, sizeof(spins_by_cpu));
	held_count = 0;
	input_count = 0;
	input_look = inputs_new = 0;
	input_look_is_second = false;
	shim_held_max = HELD_MAX;
	holds_left = holds_lost = 0;
	own_hold = (struct klock_own){ 0 };
	table_clear(&others_table);
	table_clear(&askers_table);
	memset(cpu_areas, 0, sizeof(cpu_areas));
	/* What a program forgets to fill shows; one CPU's will do. */
	memset(files_by_cpu[0], 0xa5, sizeof(files_by_cpu[0]));
	shim_now_ns = 1000000;
	shim_tick_ns = 0;
	shim_cpu = 0;
	shim_current = NULL;
	shim_user_stack = shim_kernel_stack = (struct shim_stack){ 0 };
	shim_stacks_asked = shim_doorbell_rings = shim_user_reads = shim_cookie = 0;
	shim_python = (struct python_process){ 0 };
	shim_ruby = (struct ruby_process){ 0 };
	shim_v8 = (struct v8_process){ 0 };
	shim_mapped = NULL;
	shim_missing_field = NULL;
	planted_count = 0;
	shim_storage_fails = shim_stacks_map_fails = shim_tables_are_missing = false;
	shim_random = NULL;
	shim_find_task = NULL;
	shim_find_cache = NULL;
	shim_tasks_held = 0;
	shim_at_point = NULL;
	shim_registers = NULL;
	shim_user_regs = (struct pt_regs){ 0 };

	shim_set_option(nmin, 0);
	shim_set_option(stack_depth, STACK_DEPTH_MAX);
	shim_set_option(kernel_stacks, false);
	shim_set_option(slice_stacks, true);
	samples_have_stacks = 0;
	shim_set_option(threads_only, false);
	shim_set_option(processes_only, false);
	shim_set_option(trace_all, false);
	shim_set_option(awaits_names, false);
	shim_set_option(own_pid, 0);
	shim_set_option(tells_system, false);
	shim_set_option(tick_cpu_sched_offset, offsetof(struct cpu_area, tick));
	shim_set_option(hrtimer_bases_offset, offsetof(struct cpu_area, bases));
	shim_set_option(irq_regs_offset, offsetof(struct cpu_area, regs));
	shim_set_option(runqueues_offset, offsetof(struct cpu_area, runqueue));
	shim_set_option(preempt_count_offset, offsetof(struct cpu_area, preempt_count));
	memset((void *)wait_arguments, ARGUMENT_PLAIN, sizeof(wait_arguments));
	memset((void *)poll_kinds, POLL_NONE, sizeof(poll_kinds));
	polls_open = loops_watched_ns = 0;
	loops_may_ring = false;
	activity = threads_alive = threads_born = threads_untracked = others_renamed = 0;
	externals_seen = 0;
	keep_all_above_ns = 0;
}
