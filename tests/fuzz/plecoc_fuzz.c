/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzzes plecoc: any bytes are a Pleco file. They either are refused with a message or compile to
 * all outputs. A byte 0x01, which no good file holds, separates several files.
 */
#include <assert.h>
#include <string.h>

#include "../../tools/plecoc/buffer.h"
#include "../../tools/plecoc/emit.h"
#include "../../tools/plecoc/parser.h"
#include "../../tools/plecoc/schema.h"
#include "../../tools/plecoc/source.h"

enum { SOURCE_COUNT_MAX = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The bytes up to the next separator, in memory of their own so that reading past them shows. */
static size_t take_source(struct source *source, const char *data, size_t size)
{
	const char *end = memchr(data, 1, size);
	size_t taken = end ? (size_t)(end - data) : size;

	*source = (struct source){ .path = "fuzz.pleco" };
	buffer_add(&source->text, data, taken);
	return end ? taken + 1 : taken;
}

static void check_outputs(const struct schema *schema)
{
	struct buffer header = { 0 }, json = { 0 }, table = { 0 };

	emit_header(schema, &header);
	emit_json(schema, &json);
	emit_table(schema, &table);
	assert(header.size && strlen(header.data) == header.size);
	assert(json.size && strlen(json.data) == json.size);
	assert(table.size && strlen(table.data) == table.size);
	buffer_fini(&header);
	buffer_fini(&json);
	buffer_fini(&table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct source sources[SOURCE_COUNT_MAX];
	struct buffer messages = { 0 };
	struct schema schema = { 0 };
	struct parser parser;
	size_t at = 0;
	int count = 0, err = 0;

	parser_init(&parser, &schema, &messages);
	do {
		at += take_source(&sources[count], (const char *)data + at, size - at);
		err = source_check(&sources[count], &messages);
		if (!err)
			err = parser_parse(&parser, &sources[count]);
		count++;
	} while (!err && at < size && count < SOURCE_COUNT_MAX);

	assert(!err == !messages.size);
	if (!err)
		check_outputs(&schema);
	parser_fini(&parser);
	schema_fini(&schema);
	while (count)
		source_fini(&sources[--count]);
	buffer_fini(&messages);
	return 0;
}
