/* SPDX-License-Identifier: BSD-2-Clause */
#include "area.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "announce.h"
#include "environment.h"
#include "pinchtrace.h"
#include "ticks.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/* Multiples of all page sizes, but for control, which shares the header's page. */
#define CONTROL_OFFSET 4096
#define SWITCHES_OFFSET 65536
#define SCHEMA_OFFSET (SWITCHES_OFFSET + PINCHTRACE_SUBSYSTEMS)
#define SCHEMA_BYTES_MAX (1u << 20)
#define RINGS_OFFSET (SCHEMA_OFFSET + SCHEMA_BYTES_MAX)

/* Between two threads, or a thread and a signal handler, no event can be longer. */
#define EVENT_SLOTS_MAX (1 + PINCHTRACE_PAYLOAD_MAX / PINCHTRACE_MORE_PAYLOAD)

struct pinchtrace_area pinchtrace_area;
__attribute__((aligned(PINCHTRACE_PAGE_BYTES))) union pinchtrace_own_page pinchtrace_own_page;

static uint64_t generation_last;
static char path[288]; /* of the area's file; empty: it has none */
static bool is_memfd;  /* which is never full */

/* --- Its name ---------------------------------------------------------------------------- */

static char *add_text(char *to, const char *text)
{
	size_t size = strlen(text);

	memcpy(to, text, size + 1);
	return to + size;
}

static char *add_number(char *to, uint64_t number)
{
	char digits[24], *digit = digits + sizeof(digits) - 1;

	*digit = '\0';
	do {
		*--digit = '0' + number % 10;
		number /= 10;
	} while (number);
	return add_text(to, digit);
}

/* --- Its file ---------------------------------------------------------------------------- */

/* As many rings as the area may have: the kernel kills who makes a file longer than its limit. */
static uint32_t ring_count_allowed(uint64_t ring_bytes)
{
	uint32_t count = pinchtrace_environment.ring_count_max;
	struct rlimit limit;
	uint64_t allowed;

	if (getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur == RLIM_INFINITY)
		return count;
	allowed = limit.rlim_cur < RINGS_OFFSET ? 0 : (limit.rlim_cur - RINGS_OFFSET) / ring_bytes;
	return allowed < count ? allowed : count;
}

int pinchtrace_area_populate(const void *begin, size_t size_bytes)
{
	uintptr_t from = (uintptr_t)begin & -(uintptr_t)PINCHTRACE_PAGE_BYTES;

	if (!madvise((void *)from, (uintptr_t)begin + size_bytes - from, MADV_POPULATE_WRITE))
		return 0;
	/* Before Linux 5.14 nobody can tell that a file system is full. */
	return errno == EINVAL && is_memfd ? 0 : -errno;
}

/* NULL when it has no memory for what every area needs. */
static unsigned char *map(int fd, uint64_t size_bytes)
{
	unsigned char *base;

	if (ftruncate(fd, size_bytes))
		return NULL;
	base = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
	if (base == MAP_FAILED)
		return NULL;
	if (!pinchtrace_area_populate(base, CONTROL_OFFSET + sizeof(struct pinchtrace_control)) &&
	    !pinchtrace_area_populate(base + SWITCHES_OFFSET, PINCHTRACE_SUBSYSTEMS))
		return base;
	munmap(base, size_bytes);
	return NULL;
}

/* Where it can: a file, else memory with a file's name. Leaves path. */
static unsigned char *make(uint64_t start_ns, uint64_t size_bytes, int *fd_out)
{
	char *name = add_text(add_text(path, pinchtrace_environment.directory), "/");
	unsigned char *base;
	int fd;

	add_number(add_text(add_number(add_text(name, PINCHTRACE_NAME), getpid()), "."), start_ns);
	is_memfd = false;
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd >= 0) {
		base = map(fd, size_bytes);
		if (base) {
			*fd_out = fd;
			return base;
		}
		close(fd);
		unlink(path);
	}
	is_memfd = true;
	fd = memfd_create(name, MFD_CLOEXEC);
	path[0] = '\0';
	if (fd < 0)
		return NULL;
	base = map(fd, size_bytes);
	if (base)
		*fd_out = fd;
	else
		close(fd);
	return base;
}

/* --- The area ---------------------------------------------------------------------------- */

static void write_header(unsigned char *base, uint64_t start_ns, uint64_t size_bytes, uint64_t ring_bytes,
			 uint32_t ring_count_max)
{
	struct pinchtrace_header *header = (struct pinchtrace_header *)base;
	struct pinchtrace_control *control = (struct pinchtrace_control *)(base + CONTROL_OFFSET);
	size_t i;

	header->version = PINCHTRACE_VERSION;
	header->header_bytes = sizeof(*header);
	header->pid = getpid();
	header->clock = pinchtrace_has_tsc ? PINCHTRACE_CLOCK_TSC : PINCHTRACE_CLOCK_MONOTONIC;
	header->start_ns = start_ns;
	header->area_bytes = size_bytes;
	header->control_offset = CONTROL_OFFSET;
	header->switches_offset = SWITCHES_OFFSET;
	header->schema_offset = SCHEMA_OFFSET;
	header->schema_bytes_max = SCHEMA_BYTES_MAX;
	header->rings_offset = RINGS_OFFSET;
	header->ring_bytes = ring_bytes;
	header->slots_offset = PINCHTRACE_RING_HEADER_BYTES;
	header->ring_capacity = pinchtrace_environment.capacity;
	header->ring_count_max = ring_count_max;
	for (i = 0; i < sizeof(header->program) - 1 && program_invocation_short_name[i]; i++)
		header->program[i] = program_invocation_short_name[i];
	header->shift_ns = pinchtrace_clock_shift();
	control->start = control->stop = PINCHTRACE_NO_EVENT;
	pinchtrace_pair_take(&header->first_pair);
	header->last_pair = header->first_pair;
}

/* A child goes on with its parent's names, switches and triggers. old: the parent's area, or NULL. */
static void inherit(unsigned char *base, const unsigned char *old)
{
	const struct pinchtrace_header *old_header = (const struct pinchtrace_header *)old;
	struct pinchtrace_control *control = (struct pinchtrace_control *)(base + CONTROL_OFFSET);
	uint64_t schema_bytes;

	memcpy(base + SWITCHES_OFFSET, pinchtrace_on, PINCHTRACE_SUBSYSTEMS);
	if (!old)
		return;
	memcpy(control, old + CONTROL_OFFSET, sizeof(*control));
	/* The thread that was about to change it is not in this process. */
	if ((control->state & PINCHTRACE_PHASE_MASK) == PINCHTRACE_PHASE_BUSY)
		control->state ^= PINCHTRACE_PHASE_BUSY ^ PINCHTRACE_PHASE_ARMED;
	schema_bytes = __atomic_load_n(&old_header->schema_bytes, __ATOMIC_ACQUIRE);
	if (schema_bytes > SCHEMA_BYTES_MAX || pinchtrace_area_populate(base + SCHEMA_OFFSET, schema_bytes + 1))
		return;
	memcpy(base + SCHEMA_OFFSET, old + SCHEMA_OFFSET, schema_bytes);
	((struct pinchtrace_header *)base)->schema_bytes = schema_bytes;
}

/* Puts the area's switches in the place that events look at. */
static bool map_switches(int fd)
{
	return (uintptr_t)pinchtrace_on % sysconf(_SC_PAGESIZE) == 0 &&
	       mmap(pinchtrace_on, PINCHTRACE_SUBSYSTEMS, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
		    SWITCHES_OFFSET) != MAP_FAILED;
}

/* Of a process that can have no area: events are switched off, here and not in the parent. */
static void be_without(void)
{
	if ((uintptr_t)pinchtrace_on % sysconf(_SC_PAGESIZE) == 0)
		mmap(pinchtrace_on, PINCHTRACE_SUBSYSTEMS, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	pinchtrace_area.base = NULL;
}

static void open_area(void)
{
	struct pinchtrace_area *area = &pinchtrace_area;
	uint64_t start_ns = pinchtrace_clock_ns(CLOCK_BOOTTIME);
	uint64_t ring_bytes =
		PINCHTRACE_RING_HEADER_BYTES + (uint64_t)pinchtrace_environment.capacity * PINCHTRACE_SLOT_BYTES;
	uint32_t ring_count_max = ring_count_allowed(ring_bytes);
	uint64_t size_bytes = RINGS_OFFSET + ring_count_max * ring_bytes;
	unsigned char *old = area->base, *base = NULL;
	int fd = -1;

	path[0] = '\0'; /* of a child, its parent's */
	if (ring_count_max)
		base = make(start_ns, size_bytes, &fd);
	if (!base) {
		be_without();
		return;
	}
	write_header(base, start_ns, size_bytes, ring_bytes, ring_count_max);
	inherit(base, old);
	if (pinchtrace_environment.flush_percent)
		((struct pinchtrace_control *)(base + CONTROL_OFFSET))->state |= PINCHTRACE_STATE_WATCHED;
	if (!map_switches(fd)) {
		munmap(base, size_bytes);
		if (path[0])
			unlink(path);
		path[0] = '\0';
		be_without();
		goto out_close;
	}
	/* In place of the parent's, so that /proc/PID/maps has one. */
	if (old)
		munmap(old, area->bytes);
	area->base = base;
	area->header = (struct pinchtrace_header *)base;
	area->control = (struct pinchtrace_control *)(base + CONTROL_OFFSET);
	area->schema = (char *)base + SCHEMA_OFFSET;
	area->schema_bytes_max = SCHEMA_BYTES_MAX;
	area->rings_offset = RINGS_OFFSET;
	area->ring_bytes = ring_bytes;
	area->bytes = size_bytes;
	area->slot_mask = pinchtrace_environment.capacity - 1;
	area->flush_slots = (uint64_t)pinchtrace_environment.capacity * pinchtrace_environment.flush_percent / 100;
	area->nested_max = pinchtrace_environment.capacity / 2 - EVENT_SLOTS_MAX;
	area->ring_count_max = ring_count_max;
	/* Whoever sees it sees the rest. */
	__atomic_store_n(&area->header->magic, PINCHTRACE_MAGIC, __ATOMIC_RELEASE);
	pinchtrace_announce(fd);

out_close:
	close(fd);
}

bool pinchtrace_area_ensure(void)
{
	int saved_errno = errno;

	if (!__atomic_load_n(&pinchtrace_own.generation, __ATOMIC_ACQUIRE)) {
		/* Who comes while it is being made must not wait: it may have interrupted who makes it. */
		if (__atomic_exchange_n(&pinchtrace_own.is_opening, 1, __ATOMIC_ACQUIRE))
			return false;
		open_area();
		errno = saved_errno;
		__atomic_store_n(&pinchtrace_own.generation, ++generation_last, __ATOMIC_RELEASE);
	}
	return pinchtrace_area.base != NULL;
}

static void forget(void)
{
	memset(&pinchtrace_own_page, 0, sizeof(pinchtrace_own_page));
}

void pinchtrace_area_start(void)
{
	/* The kernel empties it in every child, also in one that the C library does not know of. */
	if (mmap(&pinchtrace_own_page, sizeof(pinchtrace_own_page), PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED ||
	    madvise(&pinchtrace_own_page, sizeof(pinchtrace_own_page), MADV_WIPEONFORK))
		pthread_atfork(NULL, NULL, forget);
	pinchtrace_area_ensure();
}

void pinchtrace_area_take_pair(void)
{
	struct pinchtrace_header *header = pinchtrace_area.header;
	struct pinchtrace_pair pair;

	if (__atomic_exchange_n(&pinchtrace_own.is_taking_pair, 1, __ATOMIC_ACQUIRE))
		return;
	pinchtrace_pair_take(&pair);
	__atomic_store_n(&header->pair_changes, header->pair_changes + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	__atomic_store_n(&header->last_pair.ticks, pair.ticks, __ATOMIC_RELAXED);
	__atomic_store_n(&header->last_pair.monotonic_ns, pair.monotonic_ns, __ATOMIC_RELAXED);
	__atomic_store_n(&header->last_pair.error_ns, pair.error_ns, __ATOMIC_RELAXED);
	__atomic_store_n(&header->pair_changes, header->pair_changes + 1, __ATOMIC_RELEASE);
	__atomic_store_n(&pinchtrace_own.is_taking_pair, 0, __ATOMIC_RELEASE);
}

void pinchtrace_area_end(void)
{
	/* A child that recorded nothing has only its parent's. */
	if (!__atomic_load_n(&pinchtrace_own.generation, __ATOMIC_ACQUIRE) || !pinchtrace_area.base)
		return;
	pinchtrace_area_take_pair();
	__atomic_store_n(&pinchtrace_area.header->has_ended, 1, __ATOMIC_RELEASE);
	if (path[0] && !pinchtrace_environment.is_kept)
		unlink(path);
}
