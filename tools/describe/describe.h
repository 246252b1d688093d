/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The description of the report, and of results, in other languages. */
#pragma once

struct document;
struct text;

/* JSON Schema: doc/report-schema.json. */
void describe_schema(struct text *out, const struct document *document);

/* Types of TypeScript, of all documents, for web/. */
void describe_types(struct text *out);
