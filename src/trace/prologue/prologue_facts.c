/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/prologue/prologue_facts_internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/memory.h"
#include "base/table.h"
#include "session/event_kinds.h"

enum {
	FACTS_MAX = 1 << 18, /* of all kinds */
	BYTES_MAX = 128 << 20,
};

struct fact {
	struct ev_header *event; /* NULL: it was referred to, and not recorded yet */
	uint64_t key;
	size_t size_bytes;
	uint32_t recorded, wanted; /* the last beginning at which it was; from 1 on */
	uint32_t used;             /* the turn in which it was recorded or referred to last */
	uint32_t pid;              /* of a stack with managed frames: whose they are */
};

struct prologue_facts {
	struct table *tables[FACT_KINDS];
	size_t count, bytes;
	uint32_t begins;
	uint32_t turn;      /* how often room was made */
	size_t retry_count; /* refusals until it is worth looking for room again */
};

struct prologue_facts *prologue_facts_new(void)
{
	struct prologue_facts *facts = xcalloc(1, sizeof(*facts));

	for (int kind = 0; kind < FACT_KINDS; kind++)
		facts->tables[kind] = table_new();
	facts->begins = 1;
	return facts;
}

static void forget(struct prologue_facts *facts, struct fact *fact)
{
	facts->count--;
	facts->bytes -= fact->size_bytes;
	free(fact->event);
	free(fact);
}

void prologue_facts_free(struct prologue_facts *facts)
{
	struct fact *fact;

	if (!facts)
		return;
	for (int kind = 0; kind < FACT_KINDS; kind++) {
		size_t cursor = 0;

		while ((fact = table_next(facts->tables[kind], &cursor)))
			forget(facts, fact);
		table_free(facts->tables[kind]);
	}
	free(facts);
}

void prologue_facts_begin(struct prologue_facts *facts)
{
	facts->begins++;
}

/* What was not needed since room was made the last time goes. */
static void sweep(struct prologue_facts *facts, struct table *table)
{
	struct fact **old = xcalloc(table_count(table) + 1, sizeof(*old)), *fact;
	size_t count = 0, cursor = 0;

	while ((fact = table_next(table, &cursor)))
		if (fact->used < facts->turn)
			old[count++] = fact;
	for (size_t i = 0; i < count; i++)
		forget(facts, table_take(table, old[i]->key));
	free(old);
}

static bool is_full(const struct prologue_facts *facts, size_t size_bytes)
{
	return facts->count >= FACTS_MAX || facts->bytes + size_bytes > BYTES_MAX;
}

static bool has_space(struct prologue_facts *facts, size_t size_bytes)
{
	if (!is_full(facts, size_bytes))
		return true;
	if (facts->retry_count) {
		facts->retry_count--;
		return false;
	}
	for (int kind = 0; kind < FACT_KINDS; kind++)
		sweep(facts, facts->tables[kind]);
	facts->turn++;
	facts->retry_count = FACTS_MAX / 16;
	return !is_full(facts, size_bytes);
}

static struct fact *get(struct prologue_facts *facts, enum fact_kind kind, uint64_t key)
{
	struct fact *fact = table_find(facts->tables[kind], key);

	if (!fact) {
		if (!has_space(facts, 0))
			return NULL;
		fact = xcalloc(1, sizeof(*fact));
		fact->key = key;
		table_put(facts->tables[kind], key, fact);
		facts->count++;
	}
	fact->used = facts->turn;
	return fact;
}

uint64_t prologue_facts_code(uint32_t pid, uint64_t address)
{
	return hash_u64(address ^ hash_u64(pid));
}

uint64_t prologue_facts_address(uint16_t family, const uint8_t address[16])
{
	uint64_t words[2] = { 0 };

	memcpy(words, address, family == AF_INET ? 4 : sizeof(words));
	return hash_u64(words[0] ^ hash_u64(words[1] ^ family));
}

enum fact_kind prologue_fact_of(enum field_meaning meaning)
{
	switch (meaning) {
	case MEANS_STACK:
		return FACT_STACK;
	case MEANS_FILE:
		return FACT_FILE;
	case MEANS_TID:
		return FACT_OTHER;
	case MEANS_KLOCK:
		return FACT_KLOCK;
	case MEANS_SCHEMA:
		return FACT_SCHEMA;
	default:
		return FACT_KINDS;
	}
}

static bool names_by_number(const struct ev_header *header, enum fact_kind *kind, uint64_t *key)
{
	const struct event_kind *described = event_kind_find(header->subsys, header->event);
	const struct event_field *field;

	if (!(described->meanings & PROLOGUE_FACT_MEANINGS))
		return false;
	for (uint32_t i = 0; i < described->field_count; i++) {
		field = &described->fields[i];
		*kind = prologue_fact_of(field->meaning);
		if (field->role == ROLE_NAMES && *kind != FACT_KINDS) {
			*key = event_field_number(field, (const char *)header + field->offset_bytes);
			return true;
		}
	}
	return false;
}

bool prologue_facts_emit(const struct ev_header *header, enum fact_kind *kind, uint64_t *key)
{
	const struct ev_space_managed_code *managed = (const void *)header;
	const struct ev_space_python_code *code = (const void *)header;
	const struct ev_file_host *host = (const void *)header;

	switch ((unsigned int)header->subsys << 16 | header->event) {
	case EV_FILE_HOST:
		*kind = FACT_HOST;
		*key = prologue_facts_address(host->family, host->address);
		return true;
	case EV_SPACE_PYTHON_CODE:
		*kind = FACT_CODE;
		*key = prologue_facts_code(code->pid, code->address);
		return true;
	case EV_SPACE_MANAGED_CODE:
		*kind = FACT_CODE;
		*key = prologue_facts_code(managed->pid, managed->address);
		return true;
	default:
		return names_by_number(header, kind, key);
	}
}

/* The first event that defines a stack, a file, a lock or a schema stands for it, as in the analyses. */
static bool is_final(enum fact_kind kind)
{
	return kind == FACT_STACK || kind == FACT_FILE || kind == FACT_KLOCK || kind == FACT_SCHEMA;
}

static void keep(struct prologue_facts *facts, struct fact *fact, const struct ev_header *header)
{
	size_t size_bytes = event_bytes(header);

	if (!has_space(facts, size_bytes))
		return;
	free(fact->event);
	fact->event = memcpy(xcalloc(1, size_bytes), header, size_bytes);
	facts->bytes += size_bytes - fact->size_bytes;
	fact->size_bytes = size_bytes;
}

void prologue_facts_follow(struct prologue_facts *facts, const struct ev_header *header, uint32_t pid, bool is_written)
{
	enum fact_kind kind;
	struct fact *fact;
	uint64_t key;

	if (!prologue_facts_emit(header, &kind, &key))
		return;
	fact = get(facts, kind, key);
	if (!fact)
		return;
	if (!fact->event || !is_final(kind)) {
		keep(facts, fact, header);
		fact->pid = pid;
		fact->recorded = 0;
	}
	if (is_written)
		fact->recorded = facts->begins;
}

bool prologue_facts_want(const struct prologue_facts *facts, const struct ev_header *header)
{
	enum fact_kind kind;
	const struct fact *fact;
	uint64_t key;

	if (!prologue_facts_emit(header, &kind, &key))
		return false;
	fact = table_find(facts->tables[kind], key);
	return fact && fact->wanted == facts->begins && fact->recorded != facts->begins;
}

struct ev_header *prologue_facts_take(struct prologue_facts *facts, enum fact_kind kind, uint64_t key, uint32_t *pid)
{
	struct fact *fact = get(facts, kind, key);

	if (!fact)
		return NULL;
	fact->wanted = facts->begins;
	if (!fact->event || fact->recorded == facts->begins)
		return NULL;
	fact->recorded = facts->begins;
	if (pid)
		*pid = fact->pid;
	return fact->event;
}

const struct ev_header *prologue_facts_find(const struct prologue_facts *facts, enum fact_kind kind, uint64_t key)
{
	const struct fact *fact = table_find(facts->tables[kind], key);

	return fact ? fact->event : NULL;
}
