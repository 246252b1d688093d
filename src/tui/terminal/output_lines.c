/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/terminal/output_lines.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

struct output_lines {
	char *lines[OUTPUT_LINES_MAX]; /* a ring */
	size_t first, count;           /* whole ones */
	size_t bytes;                  /* of all of them */
	uint64_t number;               /* of the first */
	struct text open;              /* the line that has no end yet */
	struct output_losses losses;
};

struct output_lines *output_lines_new(void)
{
	return xcalloc(1, sizeof(struct output_lines));
}

static char **slot(const struct output_lines *output, size_t i)
{
	return (char **)&output->lines[(output->first + i) % OUTPUT_LINES_MAX];
}

void output_lines_free(struct output_lines *output)
{
	if (!output)
		return;
	for (size_t i = 0; i < output->count; i++)
		free(*slot(output, i));
	text_fini(&output->open);
	free(output);
}

static void drop_first(struct output_lines *output)
{
	char **line = slot(output, 0);

	output->bytes -= strlen(*line);
	free(*line);
	*line = NULL;
	output->first = (output->first + 1) % OUTPUT_LINES_MAX;
	output->count--;
	output->number++;
	output->losses.lines++;
}

static void end_line(struct output_lines *output)
{
	struct text *open = &output->open;

	text_put(open, "");
	if (open->length && open->bytes[open->length - 1] == '\r')
		open->bytes[--open->length] = '\0';
	while (output->count && (output->count == OUTPUT_LINES_MAX || output->bytes + open->length > OUTPUT_BYTES_MAX))
		drop_first(output);
	*slot(output, output->count++) = xstrdup(open->bytes);
	output->bytes += open->length;
	open->length = 0;
}

static void put_byte(struct text *line, char byte)
{
	static const char spaces[] = "        ";

	if (byte == '\t')
		text_put(line, spaces + line->length % 8);
	else if (!byte)
		text_put(line, "\\x00"); /* it would end the string */
	else
		text_put_bytes(line, &byte, 1);
}

static void add_to_line(struct output_lines *output, const char *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (output->open.length >= OUTPUT_LINE_BYTES_MAX) {
			output->losses.bytes += count - i;
			return;
		}
		put_byte(&output->open, bytes[i]);
	}
}

void output_lines_add(struct output_lines *output, const char *bytes, size_t count)
{
	while (count) {
		const char *end = memchr(bytes, '\n', count);
		size_t length = end ? (size_t)(end - bytes) : count;

		add_to_line(output, bytes, length);
		if (end) {
			end_line(output);
			length++;
		}
		bytes += length;
		count -= length;
	}
}

size_t output_lines_count(const struct output_lines *output)
{
	return output->count + (output->open.length > 0);
}

const char *output_lines_at(const struct output_lines *output, size_t i, uint64_t *number)
{
	if (number)
		*number = output->number + i;
	return i < output->count ? *slot(output, i) : output->open.bytes;
}

struct output_losses output_lines_losses(const struct output_lines *output)
{
	return output->losses;
}
