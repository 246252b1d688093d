/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What prologue_facts.h keeps by number: prologue_facts.c keeps it, prologue_references.c knows who refers to it. */
#pragma once

#include "session/event_kinds.h"
#include "trace/prologue/prologue_facts.h"

enum fact_kind { FACT_STACK, FACT_FILE, FACT_HOST, FACT_CODE, FACT_OTHER, FACT_KLOCK, FACT_SCHEMA, FACT_KINDS };

enum {
	PROLOGUE_FACT_MEANINGS =
		1 << MEANS_STACK | 1 << MEANS_FILE | 1 << MEANS_TID | 1 << MEANS_KLOCK | 1 << MEANS_SCHEMA
};

/* What a field with this meaning names or refers to; FACT_KINDS: none of these. */
enum fact_kind prologue_fact_of(enum field_meaning meaning);

/* Which of these an event says; false: none. */
bool prologue_facts_emit(const struct ev_header *header, enum fact_kind *kind, uint64_t *key);

/* The keys of what has more than a number. */
uint64_t prologue_facts_code(uint32_t pid, uint64_t address);
uint64_t prologue_facts_address(uint16_t family, const uint8_t address[16]);

/*
 * The event to record now, and the process it belongs to; NULL: it is recorded already, or it is
 * unknown.
 */
struct ev_header *prologue_facts_take(struct prologue_facts *facts, enum fact_kind kind, uint64_t key, uint32_t *pid);

/* NULL: it is unknown. */
const struct ev_header *prologue_facts_find(const struct prologue_facts *facts, enum fact_kind kind, uint64_t key);
