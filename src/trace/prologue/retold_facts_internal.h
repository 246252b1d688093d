/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What retold_facts.h keeps by number: retold_facts.c keeps it, retold_references.c knows who refers to it. */
#pragma once

#include "trace/prologue/retold_facts.h"

enum fact_kind { FACT_STACK, FACT_FILE, FACT_HOST, FACT_CODE, FACT_OTHER, FACT_KLOCK, FACT_KINDS };

/* Which of these an event tells; false: none. */
bool retold_facts_tell(const struct ev_header *header, enum fact_kind *kind, uint64_t *key);

/* The keys of what has more than a number. */
uint64_t retold_facts_code(uint32_t pid, uint64_t address);
uint64_t retold_facts_address(uint16_t family, const uint8_t address[16]);

/*
 * The event that is to be told now, and whose process's it is; NULL: it was told already, or it is not
 * known.
 */
struct ev_header *retold_facts_take(struct retold_facts *facts, enum fact_kind kind, uint64_t key,
				    uint32_t *pid);

/* NULL: it is not known. */
const struct ev_header *retold_facts_find(const struct retold_facts *facts, enum fact_kind kind,
					  uint64_t key);
