/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A table of statistics that a script has made, as text. */
#pragma once

struct script_table;
struct text;

/* Puts title, names of columns, rows with aligned columns and words for their units, what is left out, and an empty line. */
void statistics_text_put(struct text *out, const struct script_table *table);
