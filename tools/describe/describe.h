/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The report's description in other languages. */
#pragma once

struct text;

/* JSON Schema: doc/report-schema.json. */
void describe_schema(struct text *out);

/* Types of TypeScript, for web/. */
void describe_types(struct text *out);
