/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pprof's profile.proto, compressed: a sample each call path, with a value for each sum. Fields by their public numbers. */
#include <errno.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/memory.h"
#include "base/text.h"
#include "export/export_files.h"
#include "export/export_format.h"
#include "export/export_out.h"
#include "export/formats.h"
#include "export/interned.h"
#include "export/proto.h"
#include "export/stack_sums.h"

enum profile_field {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
};

enum { TYPE_TYPE = 1, TYPE_UNIT = 2 };

enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE = 2 };

enum { MAPPING_ID = 1, MAPPING_FILE = 5, MAPPING_BUILD_ID = 6, MAPPING_HAS_FUNCTIONS = 7 };

enum { LOCATION_ID = 1, LOCATION_MAPPING = 2, LOCATION_ADDRESS = 3, LOCATION_LINE = 4 };

enum { LINE_FUNCTION = 1, LINE_LINE = 2 };

enum { FUNCTION_ID = 1, FUNCTION_NAME = 2, FUNCTION_FILE = 4 };

enum { PIECE_BYTES = 16 << 10, GZIP_WINDOW_BITS = 15 + 16, GZIP_MEMORY = 8 };

struct pprof {
	struct export_out *out;
	struct text plain, message, part; /* what is not compressed yet; what is being made */
	struct interned strings, modules;
	const struct export_files *files;
	z_stream gzip;
};

static void compress_plain(struct pprof *pprof, int flush)
{
	unsigned char piece[PIECE_BYTES];
	z_stream *gzip = &pprof->gzip;

	gzip->next_in = (unsigned char *)pprof->plain.bytes;
	gzip->avail_in = pprof->plain.length;
	do {
		gzip->next_out = piece;
		gzip->avail_out = sizeof(piece);
		deflate(gzip, flush);
		text_put_bytes(&pprof->out->text, (char *)piece, sizeof(piece) - gzip->avail_out);
	} while (!gzip->avail_out);
	pprof->plain.length = 0;
	export_out_step(pprof->out);
}

/* The message that was made is a field of the profile. */
static void put_field(struct pprof *pprof, enum profile_field field)
{
	proto_put_message(&pprof->plain, field, &pprof->message);
	pprof->message.length = 0;
	if (pprof->plain.length >= PIECE_BYTES)
		compress_plain(pprof, Z_NO_FLUSH);
}

/* Its place in the table of strings, which is written as it grows; 0 is "". */
static uint32_t put_string(struct pprof *pprof, const char *string)
{
	bool is_first;
	uint32_t number = interned_number(&pprof->strings, string, &is_first);

	if (is_first)
		proto_put_string(&pprof->plain, PROFILE_STRING, string);
	return number ? number - 1 : 0;
}

static void put_sample_types(struct pprof *pprof)
{
	for (unsigned int kind = 0; kind < SUM_KINDS; kind++) {
		uint32_t name = put_string(pprof, sum_kind_names[kind]), unit = put_string(pprof, "nanoseconds");

		proto_put_uint(&pprof->message, TYPE_TYPE, name);
		proto_put_uint(&pprof->message, TYPE_UNIT, unit);
		put_field(pprof, PROFILE_SAMPLE_TYPE);
	}
}

/* The mapping's number; 0: the frame is in no file. */
static uint32_t put_mapping(struct pprof *pprof, const char *module)
{
	bool is_first;
	uint32_t number = module ? interned_number(&pprof->modules, module, &is_first) : 0, name, build_id;
	const struct export_file *file;

	if (!number || !is_first)
		return number;
	file = export_files_find(pprof->files, module);
	name = put_string(pprof, file ? file->path : module);
	build_id = put_string(pprof, file ? file->build_id : "");
	proto_put_uint(&pprof->message, MAPPING_ID, number);
	proto_put_uint(&pprof->message, MAPPING_FILE, name);
	proto_put_uint(&pprof->message, MAPPING_BUILD_ID, build_id);
	proto_put_uint(&pprof->message, MAPPING_HAS_FUNCTIONS, 1);
	put_field(pprof, PROFILE_MAPPING);
	return number;
}

/* A frame is a function and a location, with its own number plus 1. */
static void put_frame(struct pprof *pprof, uint32_t number, const struct sum_frame *frame)
{
	uint32_t mapping = put_mapping(pprof, frame->module);
	uint32_t name = put_string(pprof, frame->name), file = frame->file ? put_string(pprof, frame->file) : 0;

	proto_put_uint(&pprof->message, FUNCTION_ID, number);
	proto_put_uint(&pprof->message, FUNCTION_NAME, name);
	proto_put_uint(&pprof->message, FUNCTION_FILE, file);
	put_field(pprof, PROFILE_FUNCTION);
	pprof->part.length = 0;
	proto_put_uint(&pprof->part, LINE_FUNCTION, number);
	proto_put_uint(&pprof->part, LINE_LINE, frame->line);
	proto_put_uint(&pprof->message, LOCATION_ID, number);
	proto_put_uint(&pprof->message, LOCATION_MAPPING, mapping);
	proto_put_uint(&pprof->message, LOCATION_ADDRESS, frame->offset);
	proto_put_message(&pprof->message, LOCATION_LINE, &pprof->part);
	put_field(pprof, PROFILE_LOCATION);
}

/* Locations come innermost first. */
static void put_sample(struct pprof *pprof, const struct sum_stack *stack)
{
	pprof->part.length = 0;
	for (size_t i = stack->frame_count; i-- > 0;)
		text_put_varint(&pprof->part, stack->frames[i] + 1);
	proto_put_message(&pprof->message, SAMPLE_LOCATION, &pprof->part);
	pprof->part.length = 0;
	for (unsigned int kind = 0; kind < SUM_KINDS; kind++)
		text_put_varint(&pprof->part, stack->ns[kind]);
	proto_put_message(&pprof->message, SAMPLE_VALUE, &pprof->part);
	put_field(pprof, PROFILE_SAMPLE);
}

static void put_sums(void *data, const struct stack_sums *sums, const struct export_files *files)
{
	struct pprof *pprof = data;

	pprof->files = files;
	put_string(pprof, "");
	put_sample_types(pprof);
	put_mapping(pprof, export_files_first(files)); /* the first one is that of the program */
	for (uint32_t i = 0; i < stack_sums_frame_count(sums); i++)
		put_frame(pprof, i + 1, stack_sums_frame(sums, i));
	for (size_t i = 0; i < stack_sums_count(sums); i++) {
		struct sum_stack stack = stack_sums_at(sums, i);

		put_sample(pprof, &stack);
	}
	compress_plain(pprof, Z_FINISH);
}

static void *begin(struct export_out *out, const struct trace_states *all)
{
	struct pprof *pprof = xcalloc(1, sizeof(*pprof));

	(void)all;
	pprof->out = out;
	if (deflateInit2(&pprof->gzip, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW_BITS, GZIP_MEMORY,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		out->err = -ENOMEM;
	return pprof;
}

static void end(void *data)
{
	struct pprof *pprof = data;

	deflateEnd(&pprof->gzip);
	interned_fini(&pprof->strings);
	interned_fini(&pprof->modules);
	text_fini(&pprof->plain);
	text_fini(&pprof->message);
	text_fini(&pprof->part);
	free(pprof);
}

const struct export_format pprof_format = {
	.name = "pprof",
	.help = "profile of CMetric, lost time, lock waits and CPU for pprof",
	.lacks = "times, wake-ups, events, activities, CPUs, and addresses",
	.is_binary = true,
	.begin = begin,
	.sums = put_sums,
	.end = end,
};
