/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The area that a process with libpinchtrace shares with those who read its events: one mapping, of a file
 * "pinchtrace.PID.NS" or of a memfd of that name, which /proc/PID/maps has. NS is start_ns. A process that was forked has
 * its parent's area in its maps until its first event: pid says whose it is. A process that has the library twice has two.
 *
 *	0		struct pinchtrace_header
 *	control_offset	struct pinchtrace_control	triggers
 *	switches_offset	unsigned char[65536]		a byte a subsystem, PINCHTRACE_ON_X
 *	schema_offset	char[schema_bytes_max]		JSON as plecoc(1) writes it, each text with a NUL behind it
 *	rings_offset	ring_count_max times ring_bytes: struct pinchtrace_ring, at slots_offset its slots
 *
 * What was never used has no memory: rings from ring_count on, the schema from schema_bytes on. Where the file system is full,
 * reading these through a mapping ends the reader.
 *
 * Numbers are little endian. The area is as hostile as the process: a reader maps or reads it read-only, copies, checks
 * offsets and counts against the size of the file, and believes nothing twice.
 *
 * A ring belongs to one thread. Slots have an index that only grows; slot i is at i % ring_capacity. The thread and its
 * signal handlers first raise claim, then write the slots, then raise head to what is written. So a reader
 *
 *	reads owner_changes (odd: later), tid and begin,
 *	reads head (acquire), and takes the slots from max(begin, head - ring_capacity, where it was) to head,
 *	copies them, then (acquire fence) reads claim and drops the slots below claim - ring_capacity: the thread has written
 *	into these meanwhile,
 *	reads owner_changes again: if that differs, another thread has got the ring, and all of the copy is dropped.
 *
 * The clock is read for a slot when claim says that it is being written. So if a reader finds claim == head, all events up to
 * the moment before that look are there; else one may come that is older. (A store takes a moment to reach another CPU.)
 *
 * What lies between where it was and what it has is lost to it: that many slots. What it has is never torn, and its time
 * stamps never go back. For a moment head can be lower than it was, by what signal handlers wrote: then nothing is new.
 * This also holds for the file of a process that was killed.
 *
 * An event has one slot, and more if it has a payload: these have PINCHTRACE_MORE set in the time stamp's place, so that a
 * reader that begins anywhere skips them up to the first event. A claim takes all slots of an event, and head never ends
 * within one; but where a reader begins, and at claim - ring_capacity, an event can lack its first slots.
 */
#ifndef PINCHTRACE_FORMAT_H
#define PINCHTRACE_FORMAT_H

#include <stdint.h>

#define PINCHTRACE_MAGIC 0x3145434152544350ull /* "PCTRACE1" */
#define PINCHTRACE_VERSION 1u
#define PINCHTRACE_NAME "pinchtrace."
#define PINCHTRACE_DIRECTORY "/dev/shm" /* unless the environment says another one */

/*
 * Readers' sockets (AF_UNIX, SOCK_SEQPACKET) in the areas' directory, this name and a digit, 0 first, which root or the process's
 * user has made: a process that has made its area connects to each, and sends one byte with the descriptor of the area. So it is read
 * however soon the process ends.
 */
#define PINCHTRACE_READER_NAME "pinchtrace.reader"
#define PINCHTRACE_READERS 4

/* The sizes of version 1. Readers take the header's. */
#define PINCHTRACE_SUBSYSTEMS 65536u
#define PINCHTRACE_RING_HEADER_BYTES 4096u
#define PINCHTRACE_SLOT_BYTES 16u
#define PINCHTRACE_CAPACITY_MIN 256u
#define PINCHTRACE_CAPACITY_MAX (1u << 24)
#define PINCHTRACE_RINGS_MAX 65536u

/* What time stamps count. */
#define PINCHTRACE_CLOCK_MONOTONIC 1u /* ns of CLOCK_MONOTONIC */
#define PINCHTRACE_CLOCK_TSC 2u       /* the time stamp counter of x86: the header's pairs say when */

/* One moment on two clocks. */
struct pinchtrace_pair {
	uint64_t ticks;
	uint64_t monotonic_ns;
	uint64_t error_ns; /* the two were read at most so far apart */
};

struct pinchtrace_header {
	uint64_t magic; /* written last */
	uint32_t version;
	uint32_t header_bytes; /* fields are added at the end */
	uint32_t pid;          /* in the process's own PID namespace */
	uint32_t clock;        /* PINCHTRACE_CLOCK_X */
	uint64_t start_ns;     /* CLOCK_BOOTTIME */
	uint64_t area_bytes;
	uint64_t control_offset;
	uint64_t switches_offset;
	uint64_t schema_offset, schema_bytes_max;
	uint64_t rings_offset, ring_bytes, slots_offset; /* slots_offset: within a ring */
	uint32_t ring_capacity;                          /* slots; a power of two */
	uint32_t ring_count_max;
	char program[32]; /* with a NUL */

	/* What follows changes while the process runs. */
	uint32_t ring_count;       /* how many have ever been used, from the first on */
	uint32_t ring_ended_count; /* of these, how many have no thread */
	uint64_t schema_bytes;
	uint64_t lost;         /* events that found no ring */
	uint64_t overwritten;  /* slots of ended threads that nobody had read when their ring got another one */
	uint32_t has_ended;    /* the process left by exit() */
	uint32_t pair_changes; /* odd while last_pair changes */
	struct pinchtrace_pair first_pair;
	struct pinchtrace_pair last_pair; /* when a thread began, at trace_flush() and at the end; perhaps first_pair */
	/* Written by others: until then (CLOCK_MONOTONIC) a scope with a client takes the events, and a flush leaves them. */
	uint64_t scope_until_ns;

	/*
	 * How much later CLOCK_MONOTONIC is in the process's time namespace than on the machine: all times of it here are the process's,
	 * as its clock_gettime() shows them. Does not change.
	 */
	int64_t shift_ns;
};

/* Of a header without the fields that were added since. */
#define PINCHTRACE_HEADER_BYTES_MIN 232u

#define PINCHTRACE_ON_RECORD 1u  /* events of this subsystem are recorded */
#define PINCHTRACE_ON_TRIGGER 2u /* it has an event that starts or stops */

#define PINCHTRACE_PHASE_NONE 0u    /* there are no triggers: what the switches say is recorded */
#define PINCHTRACE_PHASE_ARMED 1u   /* nothing is recorded until the start event */
#define PINCHTRACE_PHASE_RUNNING 2u /* recorded, until the stop event or a limit */
#define PINCHTRACE_PHASE_DONE 3u    /* nothing is recorded any more */
#define PINCHTRACE_PHASE_BUSY 4u    /* between two of these; nothing is recorded */
#define PINCHTRACE_PHASE_REQUEST 5u /* others have written a request: the next event carries it out first */
#define PINCHTRACE_PHASE_MASK 7u

/* In the state, all the time: each event has to look whether its ring is so full that it is to be flushed. */
#define PINCHTRACE_STATE_WATCHED 0x80000000u

#define PINCHTRACE_MODE_ONE_SHOT 0u   /* after the stop, nothing is recorded any more */
#define PINCHTRACE_MODE_REPEATED 1u   /* the next start event starts again */
#define PINCHTRACE_MODE_CONTINUOUS 2u /* nothing stops it */

/* An event that is none: subsystems end at 65534. */
#define PINCHTRACE_NO_EVENT 0xffffffffu

#define PINCHTRACE_REQUEST_SET 1u   /* these triggers, in place of those that there are */
#define PINCHTRACE_REQUEST_CLEAR 2u /* no triggers */
#define PINCHTRACE_REQUEST_START 3u /* as if the start event had come */
#define PINCHTRACE_REQUEST_STOP 4u  /* as if the stop event had come */

/*
 * What somebody outside wants of the triggers. Only the process changes the rest of struct pinchtrace_control: others write
 * the request as a whole, and then the first byte of state: PINCHTRACE_PHASE_REQUEST, and above it one more than there was.
 * So a change of state that a thread has begun meanwhile fails. One at a time: who holds flock(2) of the file exclusively.
 */
struct pinchtrace_request {
	uint32_t what; /* PINCHTRACE_REQUEST_X */
	uint32_t mode;
	uint32_t start, stop;
	uint64_t duration_ns;
	uint64_t count;
};

struct pinchtrace_control {
	uint32_t state;       /* PINCHTRACE_PHASE_X; above PINCHTRACE_PHASE_MASK, how often triggers were set */
	uint32_t mode;        /* PINCHTRACE_MODE_X */
	uint32_t start, stop; /* subsystem | event << 16 */
	uint64_t duration_ns; /* 0: without a limit */
	uint64_t count;       /* of events, the start event included; 0: without a limit */
	uint64_t deadline_ns; /* CLOCK_MONOTONIC; while running, with a duration */
	uint64_t count_left;  /* while running, with a count; may fall below 0 */
	uint64_t start_count; /* how often it has started */
	struct pinchtrace_request request;
};

#define PINCHTRACE_RING_FREE 0u  /* has never been used */
#define PINCHTRACE_RING_TAKEN 1u /* is being given to a thread */
#define PINCHTRACE_RING_LIVE 2u
#define PINCHTRACE_RING_ENDED 3u /* its thread has ended; the events are there */

struct pinchtrace_ring {
	uint32_t state;         /* PINCHTRACE_RING_X */
	uint32_t owner_changes; /* odd while it is given to a thread */
	uint32_t tid;           /* in the process's own PID namespace */
	uint32_t reserved;
	uint64_t begin; /* index of its thread's first slot */
	uint64_t lost;  /* events of its thread's signal handlers for which there was no space */
	uint64_t reserved_line[4];
	/* Written by the thread. */
	uint64_t claim; /* index behind the last slot that is being written */
	uint64_t head;  /* index behind the last one that was written */
	uint64_t reserved_claim_line[6];
	/* Written by readers, if they want it: up to where events have been taken. Until an ended ring is read, others are used. */
	uint64_t read;
};

/* An event, or the first slot of one with a payload. */
struct pinchtrace_slot {
	uint64_t time; /* below PINCHTRACE_MORE << 32 */
	uint16_t subsystem;
	uint16_t event;
	uint32_t argument;
};

/*
 * 12 bytes of the payload: low has the first 4, high the others. A payload is the fields of the event as plecoc(1) lays
 * them out, from offset 16 on.
 */
struct pinchtrace_more {
	uint32_t low;
	uint32_t mark; /* PINCHTRACE_MORE | slots of this event that follow << 16 | bytes of its payload */
	uint64_t high;
};

#define PINCHTRACE_MORE 0x80000000u
#define PINCHTRACE_MORE_PAYLOAD 12u
#define PINCHTRACE_PAYLOAD_MAX 1020u /* 85 slots */
#define PINCHTRACE_MORE_FOLLOWING(mark) ((mark) >> 16 & 0x7fffu)
#define PINCHTRACE_MORE_SIZE(mark) ((mark)&0xffffu)

#ifdef __cplusplus
#define PINCHTRACE_ASSERT(condition) static_assert(condition, "this layout is the format")
#else
#define PINCHTRACE_ASSERT(condition) _Static_assert(condition, "this layout is the format")
#endif

PINCHTRACE_ASSERT(sizeof(struct pinchtrace_pair) == 24);
PINCHTRACE_ASSERT(sizeof(struct pinchtrace_header) == 240);
PINCHTRACE_ASSERT(sizeof(struct pinchtrace_request) == 32);
PINCHTRACE_ASSERT(sizeof(struct pinchtrace_control) == 88);
PINCHTRACE_ASSERT(sizeof(struct pinchtrace_ring) == 136);
PINCHTRACE_ASSERT(sizeof(struct pinchtrace_slot) == PINCHTRACE_SLOT_BYTES);
PINCHTRACE_ASSERT(sizeof(struct pinchtrace_more) == PINCHTRACE_SLOT_BYTES);

#endif /* PINCHTRACE_FORMAT_H */
