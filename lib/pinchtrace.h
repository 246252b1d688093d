/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libpinchtrace: a program records its own events into memory that others can read. libpinchtrace(3) has the manual.
 *
 *	trace_register(TRACE_DEFS_JSON);	the events' names, from the header that plecoc(1) made
 *	trace_event(TRACE_SUBSYS_NET, TRACE_EVENT_NET_SEND, bytes);
 *
 * Compiled with PINCH_TRACE_OFF, all of it leaves nothing behind, and the arguments of events are not evaluated.
 */
#ifndef PINCHTRACE_H
#define PINCHTRACE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum trace_mode {
	TRACE_ONE_SHOT = 0,   /* after the stop, nothing is recorded any more */
	TRACE_REPEATED = 1,   /* the next start event starts again */
	TRACE_CONTINUOUS = 2, /* nothing stops it */
};

/* In place of a subsystem: there is no such event. */
#define TRACE_NO_EVENT 0xffffu

/* The longest payload, bytes. */
#define TRACE_PAYLOAD_MAX 1020u

#ifndef PINCH_TRACE_OFF

#pragma GCC visibility push(default)

/* The exported names, for other languages. In C, use those below. */

/* A byte a subsystem: not 0 if its events are to be recorded. Others may write it, from outside too. */
extern unsigned char pinchtrace_on[65536];

void pinchtrace_event(uint16_t subsystem, uint16_t event, uint32_t argument);
void pinchtrace_event_payload(uint16_t subsystem, uint16_t event, uint32_t argument, const void *payload,
			      size_t size_bytes);
int pinchtrace_register(const char *json);
void pinchtrace_enable(uint16_t subsystem);
void pinchtrace_disable(uint16_t subsystem);
void pinchtrace_enable_all(void);
void pinchtrace_disable_all(void);
int pinchtrace_set_triggers(uint16_t start_subsystem, uint16_t start_event, uint16_t stop_subsystem,
			    uint16_t stop_event, uint64_t duration_ns, uint64_t count, int mode);
void pinchtrace_clear_triggers(void);
long pinchtrace_flush(void);

/* For the inline functions: what is subsystem | event << 16 | argument << 32, on a byte of pinchtrace_on that is not 0. */
void pinchtrace_record(uint64_t what, unsigned int on);
void pinchtrace_record_payload(uint64_t what, unsigned int on, const void *payload, size_t size_bytes);

#pragma GCC visibility pop

static inline uint64_t pinchtrace_what(uint16_t subsystem, uint16_t event, uint32_t argument)
{
	return subsystem | (uint64_t)event << 16 | (uint64_t)argument << 32;
}

/* Records an event of this thread: no lock, no system call but at the thread's first event. Async-signal-safe. */
static inline void trace_event(uint16_t subsystem, uint16_t event, uint32_t argument)
{
	unsigned char on = __atomic_load_n(&pinchtrace_on[subsystem], __ATOMIC_RELAXED);

	if (__builtin_expect(on != 0, 0))
		pinchtrace_record(pinchtrace_what(subsystem, event, argument), on);
}

/* The same with further bytes, at most TRACE_PAYLOAD_MAX: the fields of the event, as plecoc(1) lays them out. */
static inline void trace_event_payload(uint16_t subsystem, uint16_t event, uint32_t argument, const void *payload,
				       size_t size_bytes)
{
	unsigned char on = __atomic_load_n(&pinchtrace_on[subsystem], __ATOMIC_RELAXED);

	if (__builtin_expect(on != 0, 0))
		pinchtrace_record_payload(pinchtrace_what(subsystem, event, argument), on, payload, size_bytes);
}

/* Of a struct ev_x_y that plecoc made: all fields but its header. Fields of flexible arrays take trace_event_payload(). */
#define trace_event_fields(subsystem, event, argument, fields)                                             \
	trace_event_payload(subsystem, event, argument, (const char *)(fields) + sizeof((fields)->header), \
			    sizeof(*(fields)) - sizeof((fields)->header))

/* Gives readers the events' names: JSON as plecoc(1) writes it. Once for each header. 0 or a negative errno. */
static inline int trace_register(const char *json)
{
	return pinchtrace_register(json);
}

/* The switches. Async-signal-safe. */
static inline void trace_enable(uint16_t subsystem)
{
	pinchtrace_enable(subsystem);
}

static inline void trace_disable(uint16_t subsystem)
{
	pinchtrace_disable(subsystem);
}

static inline void trace_enable_all(void)
{
	pinchtrace_enable_all();
}

static inline void trace_disable_all(void)
{
	pinchtrace_disable_all();
}

/*
 * From now on nothing is recorded until the start event, which is recorded first. Then what the switches say is recorded,
 * up to and with the stop event; or for duration_ns; or count events with the start event. 0: without that limit.
 * TRACE_NO_EVENT as start_subsystem: starts at once. Async-signal-safe. 0 or -EINVAL.
 */
static inline int trace_set_triggers(uint16_t start_subsystem, uint16_t start_event, uint16_t stop_subsystem,
				     uint16_t stop_event, uint64_t duration_ns, uint64_t count, enum trace_mode mode)
{
	return pinchtrace_set_triggers(start_subsystem, start_event, stop_subsystem, stop_event, duration_ns, count,
				       (int)mode);
}

/* The switches alone say what is recorded. Async-signal-safe. */
static inline void trace_clear_triggers(void)
{
	pinchtrace_clear_triggers();
}

/*
 * Writes all threads' events that were not flushed before to $PINCHTRACE_FILE or standard error, a line each: thread,
 * CLOCK_MONOTONIC ns, subsystem, event, argument, payload as hexadecimal digits. Stops no thread. How many events, or a
 * negative errno.
 */
static inline long trace_flush(void)
{
	return pinchtrace_flush();
}

#else /* PINCH_TRACE_OFF */

#define trace_event(subsystem, event, argument) ((void)sizeof(subsystem), (void)sizeof(event), (void)sizeof(argument))
#define trace_event_payload(subsystem, event, argument, payload, size_bytes) \
	(trace_event(subsystem, event, argument), (void)sizeof(payload), (void)sizeof(size_bytes))
#define trace_event_fields(subsystem, event, argument, fields) \
	(trace_event(subsystem, event, argument), (void)sizeof(fields))

#define PINCHTRACE_NOTHING __attribute__((always_inline)) static inline

PINCHTRACE_NOTHING int trace_register(const char *json)
{
	(void)json;
	return 0;
}

PINCHTRACE_NOTHING void trace_enable(uint16_t subsystem)
{
	(void)subsystem;
}

PINCHTRACE_NOTHING void trace_disable(uint16_t subsystem)
{
	(void)subsystem;
}

PINCHTRACE_NOTHING void trace_enable_all(void)
{
}

PINCHTRACE_NOTHING void trace_disable_all(void)
{
}

PINCHTRACE_NOTHING int trace_set_triggers(uint16_t start_subsystem, uint16_t start_event, uint16_t stop_subsystem,
					  uint16_t stop_event, uint64_t duration_ns, uint64_t count,
					  enum trace_mode mode)
{
	(void)start_subsystem, (void)start_event, (void)stop_subsystem, (void)stop_event;
	(void)duration_ns, (void)count, (void)mode;
	return 0;
}

PINCHTRACE_NOTHING void trace_clear_triggers(void)
{
}

PINCHTRACE_NOTHING long trace_flush(void)
{
	return 0;
}

#endif /* PINCH_TRACE_OFF */

#ifdef __cplusplus
}
#endif

#endif /* PINCHTRACE_H */
