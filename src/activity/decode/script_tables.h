/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tables of statistics that scripts have made, in that order. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct script_table;
struct script_tables;

enum { TABLES_MAX = 8 }; /* of each script */

struct script_tables *script_tables_new(void);
void script_tables_free(struct script_tables *tables);

/* From here on there are none. */
void script_tables_clear(struct script_tables *tables);

/* Copies the table, and the name of its script. Of more than TABLES_MAX of a script, further ones are counted. */
void script_tables_add(struct script_tables *tables, const char *script, const struct script_table *table);

/* The table numbered i, from 0 on, valid until the tables are cleared; NULL: there is none. */
const struct script_table *script_tables_get(const struct script_tables *tables, size_t i);

uint64_t script_tables_left_out(const struct script_tables *tables);
