/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether an event is recorded, where triggers have a say. Their state is in the area, changed only as a whole; so that all
 * that is recorded is younger than the start event, that is recorded before the state says "running". Async-signal-safe.
 */
#pragma once

#include <stdint.h>

enum trigger_action {
	TRIGGER_DROP,
	TRIGGER_RECORD,
	TRIGGER_RECORD_AND_START, /* the state is BUSY until pinchtrace_triggers_after() */
	TRIGGER_RECORD_AND_STOP,
};

/* key: subsystem | event << 16. on: its byte of pinchtrace_on. state: for pinchtrace_triggers_after(). */
enum trigger_action pinchtrace_triggers_before(uint32_t key, unsigned int on, uint32_t *state);

/* After the event was recorded. */
void pinchtrace_triggers_after(enum trigger_action action, uint32_t state);

/* As if the start event, or the stop event, had come. Async-signal-safe. */
void pinchtrace_triggers_start(void);
void pinchtrace_triggers_stop(void);
