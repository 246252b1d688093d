/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The shared tables as JSON: an array for each column. */
#include <ctype.h>
#include <string.h>

#include "export/export_files.h"
#include "export/export_out.h"
#include "export/firefox_tables.h"
#include "export/spill.h"

enum { RESOURCE_IS_LIBRARY = 1 };

enum { BUILD_ID_DIGITS_MIN = 32, BUILD_ID_FIELDS = 3 };

/* --- Columns ---------------------------------------------------------------------------------- */

static void put_number(struct text *out, uint32_t value)
{
	if (value == FIREFOX_NONE)
		text_put(out, "null");
	else
		text_put_decimal(out, value, 1);
}

/* An array of a member of a struct that is 32 bits wide, that far behind the beginning of each. */
static void put_column(struct export_out *out, const char *name, const void *first, size_t count, size_t stride_bytes)
{
	text_printf(&out->text, "\"%s\":[", name);
	for (size_t i = 0; i < count; i++) {
		uint32_t value;

		memcpy(&value, (const char *)first + i * stride_bytes, sizeof(value));
		text_put(&out->text, i ? "," : "");
		put_number(&out->text, value);
		export_out_step(out);
	}
	text_put(&out->text, "],\n");
}

/* The same of a value that all have. */
static void put_constant(struct export_out *out, const char *name, size_t count, const char *value)
{
	text_printf(&out->text, "\"%s\":[", name);
	for (size_t i = 0; i < count; i++) {
		text_put(&out->text, i ? "," : "");
		text_put(&out->text, value);
		export_out_step(out);
	}
	text_put(&out->text, "],\n");
}

static void put_length(struct export_out *out, size_t count, const char *behind)
{
	text_printf(&out->text, "\"length\":%zu}%s", count, behind);
}

/* --- Tables ----------------------------------------------------------------------------------- */

static void put_stacks(struct export_out *out, const struct firefox_tables *tables)
{
	const struct firefox_stack *stacks = tables->stacks;
	size_t count = tables->stack_count;

	text_put(&out->text, "\"stackTable\":{");
	put_column(out, "frame", &stacks->frame, count, sizeof(*stacks));
	put_column(out, "prefix", &stacks->prefix, count, sizeof(*stacks));
	put_length(out, count, ",\n");
}

static void put_lines(struct export_out *out, const struct firefox_tables *tables)
{
	text_put(&out->text, "\"line\":[");
	for (size_t i = 0; i < tables->frame_count; i++) {
		text_put(&out->text, i ? "," : "");
		put_number(&out->text, tables->frames[i].line ? tables->frames[i].line : FIREFOX_NONE);
		export_out_step(out);
	}
	text_put(&out->text, "],\n");
}

static void put_frames(struct export_out *out, const struct firefox_tables *tables)
{
	const struct firefox_frame *frames = tables->frames;
	size_t count = tables->frame_count;

	text_put(&out->text, "\"frameTable\":{");
	put_column(out, "func", &frames->function, count, sizeof(*frames));
	put_column(out, "category", &frames->category, count, sizeof(*frames));
	put_constant(out, "subcategory", count, "0");
	put_constant(out, "address", count, "-1");
	put_constant(out, "inlineDepth", count, "0");
	put_constant(out, "nativeSymbol", count, "null");
	put_constant(out, "innerWindowID", count, "null");
	put_constant(out, "column", count, "null");
	put_lines(out, tables);
	put_length(out, count, ",\n");
}

static void put_resources_of_functions(struct export_out *out, const struct firefox_tables *tables)
{
	text_put(&out->text, "\"resource\":[");
	for (size_t i = 0; i < tables->function_count; i++) {
		uint32_t module = tables->functions[i].module;

		text_printf(&out->text, "%s%d", i ? "," : "", module == FIREFOX_NONE ? -1 : (int)module);
		export_out_step(out);
	}
	text_put(&out->text, "],\n");
}

static void put_functions(struct export_out *out, const struct firefox_tables *tables)
{
	const struct firefox_function *functions = tables->functions;
	size_t count = tables->function_count;

	text_put(&out->text, "\"funcTable\":{");
	put_column(out, "name", &functions->name, count, sizeof(*functions));
	put_constant(out, "isJS", count, "false");
	put_constant(out, "relevantForJS", count, "false");
	put_resources_of_functions(out, tables);
	put_column(out, "source", &functions->source, count, sizeof(*functions));
	put_constant(out, "lineNumber", count, "null");
	put_constant(out, "columnNumber", count, "null");
	put_length(out, count, ",\n");
}

/* A module has the resource and the library of its number. */
static void put_resources(struct export_out *out, const struct firefox_tables *tables)
{
	size_t count = tables->module_count;

	text_put(&out->text, "\"resourceTable\":{\"lib\":[");
	for (size_t i = 0; i < count; i++)
		text_printf(&out->text, "%s%zu", i ? "," : "", i);
	text_put(&out->text, "],\n");
	put_column(out, "name", tables->module_names, count, sizeof(*tables->module_names));
	put_constant(out, "host", count, "null");
	text_put(&out->text, "\"type\":[");
	for (size_t i = 0; i < count; i++)
		text_printf(&out->text, "%s%d", i ? "," : "", RESOURCE_IS_LIBRARY);
	text_put(&out->text, "],\n");
	put_length(out, count, ",\n");
}

static void put_sources(struct export_out *out, const struct firefox_tables *tables)
{
	size_t count = tables->source_count;

	text_put(&out->text, "\"sources\":{");
	put_constant(out, "uuid", count, "null");
	put_column(out, "filename", tables->source_names, count, sizeof(*tables->source_names));
	put_length(out, count, ",\n");
}

static void put_strings(struct export_out *out, struct firefox_tables *tables, uint64_t number_count)
{
	struct spill_reader reader;

	text_put(&out->text, "\"stringArray\":[");
	spill_read(tables->spill, tables->spilled, &reader);
	while (spill_has_more(&reader)) {
		char byte = spill_next_byte(&reader);

		text_put_bytes(&out->text, &byte, 1);
		export_out_step(out);
	}
	for (uint64_t i = 1; i <= number_count; i++) {
		text_put(&out->text, ",\"");
		text_put_hexadecimal(&out->text, i, 1);
		text_put(&out->text, "\"");
		export_out_step(out);
	}
	text_put(&out->text, "]");
}

/* --- Libraries -------------------------------------------------------------------------------- */

/*
 * Breakpad's id of a file: the first 16 bytes of the build-id as a GUID, whose first three fields have their bytes in the other order, and
 * an age of 0.
 */
static void put_breakpad_id(struct text *out, const char *build_id)
{
	static const unsigned int ends[BUILD_ID_FIELDS] = { 8, 12, 16 };
	unsigned int begin = 0;

	if (strlen(build_id) < BUILD_ID_DIGITS_MIN)
		return;
	for (unsigned int field = 0; field < BUILD_ID_FIELDS; begin = ends[field++])
		for (unsigned int at = ends[field]; at > begin; at -= 2)
			text_printf(out, "%c%c", toupper(build_id[at - 2]), toupper(build_id[at - 1]));
	for (; begin < BUILD_ID_DIGITS_MIN; begin++)
		text_printf(out, "%c", toupper(build_id[begin]));
	text_put(out, "0");
}

static void put_library(struct text *out, const char *name, const struct export_file *file)
{
	static const char *const paths[] = { "path", "debugPath" }, *const names[] = { "name", "debugName" };
	struct text shown = { 0 };

	text_put_escaped(&shown, name);
	text_put(out, "{\"arch\":\"x86_64\"");
	for (unsigned int i = 0; i < 2; i++) {
		text_printf(out, ",\"%s\":", names[i]);
		text_put_json_string(out, shown.bytes ? shown.bytes : "");
		text_printf(out, ",\"%s\":", paths[i]);
		text_put_json_string(out, file ? file->path : shown.bytes ? shown.bytes : "");
	}
	text_put(out, ",\"breakpadId\":\"");
	put_breakpad_id(out, file ? file->build_id : "");
	if (file && *file->build_id)
		text_printf(out, "\",\"codeId\":\"%s\"}", file->build_id);
	else
		text_put(out, "\",\"codeId\":null}");
	text_fini(&shown);
}

static void put_libraries(struct export_out *out, const struct firefox_tables *tables, const struct export_files *files)
{
	text_put(&out->text, "\"libs\":[");
	for (size_t i = 0; i < tables->library_count; i++) {
		text_put(&out->text, i ? ",\n" : "");
		put_library(&out->text, tables->libraries[i], export_files_find(files, tables->libraries[i]));
		export_out_step(out);
	}
	text_put(&out->text, "],\n");
}

void firefox_tables_put(struct firefox_tables *tables, struct export_out *out, const struct export_files *files,
			uint64_t number_count)
{
	put_libraries(out, tables, files);
	text_put(&out->text, "\"shared\":{");
	put_stacks(out, tables);
	put_frames(out, tables);
	put_functions(out, tables);
	put_resources(out, tables);
	text_put(&out->text,
		 "\"nativeSymbols\":{\"libIndex\":[],\"address\":[],\"name\":[],\"functionSize\":[],\"length\":0},\n");
	put_sources(out, tables);
	put_strings(out, tables, number_count);
	text_put(&out->text, "},\n");
}
