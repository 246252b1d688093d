/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs with events of their own as a list: what they record, and what starts and stops that. */
#pragma once

struct outside_programs;
struct text;

/* For people. What programs chose is escaped. An area that cannot be read any more is left out. */
void program_list_put(const struct outside_programs *programs, struct text *out);

/* As doc/trace-schema.json has it. */
void program_list_put_json(const struct outside_programs *programs, struct text *out);
