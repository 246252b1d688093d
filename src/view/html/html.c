/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/html/html.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/memory.h"
#include "base/text.h"

enum {
	PARTS_MAX = 16,
	LEVEL = 6,
	PIECE_BYTES = 16 << 10,
	GZIP_WINDOW_BITS = 15 + 16, /* with the header and the checksum of gzip */
	MEMORY_LEVEL = 8,
};

struct html {
	struct {
		const char *name;
		struct text json;
	} parts[PARTS_MAX];
	size_t count;
	const char *first; /* the part that the page begins with; NULL: as always */
	bool is_served;
};

/* In pieces: no compiler has to take a string of half a megabyte. */
static const char *const page_start[] = {
#include "report_start.inc"
};

static const char *const page_head[] = {
#include "report_head.inc"
};

static const char *const page_tail[] = {
#include "report_tail.inc"
};

struct html *html_new(void)
{
	return xcalloc(1, sizeof(struct html));
}

void html_free(struct html *html)
{
	if (!html)
		return;
	for (size_t i = 0; i < html->count; i++)
		text_fini(&html->parts[i].json);
	free(html);
}

struct text *html_part(struct html *html, const char *name)
{
	assert(html->count < PARTS_MAX);
	html->parts[html->count].name = name;
	return &html->parts[html->count++].json;
}

bool html_has_part(const struct html *html, const char *name)
{
	for (size_t i = 0; i < html->count; i++)
		if (!strcmp(html->parts[i].name, name))
			return true;
	return false;
}

static void *allocate(void *opaque, unsigned int count, unsigned int size_bytes)
{
	(void)opaque;
	return xcalloc(count, size_bytes);
}

static void release(void *opaque, void *memory)
{
	(void)opaque;
	free(memory);
}

static void compress_text(const struct text *text, struct text *out)
{
	z_stream stream = { .zalloc = allocate, .zfree = release };
	unsigned char bytes[PIECE_BYTES];
	size_t taken = 0;
	int got = deflateInit2(&stream, LEVEL, Z_DEFLATED, GZIP_WINDOW_BITS, MEMORY_LEVEL, Z_DEFAULT_STRATEGY);

	assert(got == Z_OK); /* there is memory */
	do {
		size_t left = text->length - taken;
		bool is_last = left <= sizeof(bytes);

		stream.next_in = (unsigned char *)text->bytes + taken;
		stream.avail_in = is_last ? left : sizeof(bytes);
		taken += stream.avail_in;
		do {
			stream.next_out = bytes;
			stream.avail_out = sizeof(bytes);
			got = deflate(&stream, is_last ? Z_FINISH : Z_NO_FLUSH);
			text_put_bytes(out, (const char *)bytes, sizeof(bytes) - stream.avail_out);
		} while (!stream.avail_out);
	} while (got != Z_STREAM_END);
	deflateEnd(&stream);
}

static void put_base64(const struct text *text, struct text *out)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < text->length; i += 3) {
		const unsigned char *bytes = (const unsigned char *)text->bytes + i;
		size_t left = text->length - i;
		uint32_t word = bytes[0] << 16 | (left > 1 ? bytes[1] << 8 : 0) | (left > 2 ? bytes[2] : 0);
		char four[4] = {
			digits[word >> 18],
			digits[word >> 12 & 63],
			left > 1 ? digits[word >> 6 & 63] : '=',
			left > 2 ? digits[word & 63] : '=',
		};

		text_put_bytes(out, four, sizeof(four));
	}
}

/* A browser runs no script of a type that is none, and shows nothing of it. */
static void put_part(const char *name, const char *attribute, const struct text *json, struct text *out)
{
	struct text compressed = { 0 };

	compress_text(json, &compressed);
	text_printf(out, "<script type=\"application/gzip\" data-part=\"%s\" data-bytes=\"%zu\"%s>", name, json->length,
		    attribute);
	put_base64(&compressed, out);
	text_put(out, "</script>\n");
	text_fini(&compressed);
}

static void put_pieces(const char *const *pieces, size_t count, struct text *out)
{
	for (size_t i = 0; i < count; i++)
		text_put(out, pieces[i]);
}

void html_begin_with(struct html *html, const char *name)
{
	html->first = name;
}

bool html_begins_with(const struct html *html, const char *name)
{
	return html->first && !strcmp(html->first, name);
}

void html_serve(struct html *html)
{
	html->is_served = true;
}

void html_put(const struct html *html, struct text *out)
{
	put_pieces(page_start, sizeof(page_start) / sizeof(*page_start), out);
	if (html->is_served)
		text_put(out, "connect-src 'self'; ");
	put_pieces(page_head, sizeof(page_head) / sizeof(*page_head), out);
	for (size_t i = 0; i < html->count; i++)
		put_part(html->parts[i].name, html_begins_with(html, html->parts[i].name) ? " data-first" : "",
			 &html->parts[i].json, out);
	put_pieces(page_tail, sizeof(page_tail) / sizeof(*page_tail), out);
}
