/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The unwind tables of the files that traced processes execute, made once and shared by all of them, in the memory of
 * the kernel side. Those that no process uses stay for the next one, until memory is short.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/table_file.h"

struct module_tables;
struct symbols;
struct unwind_memory;

struct table_part {
	uint64_t base, end; /* addresses as the file has them */
	uint32_t place, block_count, unit_count;
};

/* What is known about a module; no part when it has no table. */
struct module_table {
	uint32_t number;
	struct unwind_segment segments[UNWIND_SEGMENTS_MAX];
	uint32_t segment_count;
	struct table_part *parts;
	uint32_t part_count;
	struct python_process python;       /* addresses as the file has them; no runtime: none */
	struct ruby_process ruby;           /* the same; no code: none */
	struct v8_process v8;               /* no shared_type: none */
	bool is_awaited;                    /* it is being made */
	bool is_cut;                        /* there was no memory for all of it */
	uint32_t user_count;                /* of lists, one for each mapping */
	struct module_table *older, *newer; /* among those without a user */
};

/* Borrows both. */
struct module_tables *module_tables_new(struct symbols *symbols, struct unwind_memory *memory);
void module_tables_free(struct module_tables *tables);

/* For one more user, until module_tables_release(). Asks for the table of a file that has none yet. */
struct module_table *module_tables_use(struct module_tables *tables, uint32_t number);
void module_tables_release(struct module_tables *tables, struct module_table *module);

/* Whether any was made, or found not to be there, since this was asked last. */
bool module_tables_take_news(struct module_tables *tables);

/*
 * Units in one chunk of the kernel side's memory, for others than tables, too: those without a user are given up for
 * it. False, which is counted: there are none any more.
 */
bool module_tables_take_units(struct module_tables *tables, uint32_t count, uint32_t *place);

/* Gives up tables that have no user, the oldest ones, while more units are taken than that. */
void module_tables_evict(struct module_tables *tables, uint64_t units_max);

/* Files that have a table now. */
size_t module_tables_count(const struct module_tables *tables);

/* Tables and other things that found no memory. */
uint64_t module_tables_dropped(const struct module_tables *tables);
