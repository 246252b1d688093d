/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/trace_part.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "serve/answer.h"
#include "serve/own_command.h"

enum { NUMBER_BYTES = 32, THREAD_BYTES = 12, ARGUMENTS_MAX = 11 + 2 * PART_THREADS_MAX };

/* What the parameters are called. */
struct part_names {
	const char *from, *to, *thread;
};

static bool read_part(const struct request *request, const struct part_names *names, struct trace_part *out)
{
	char number[NUMBER_BYTES], *end;

	*out = (struct trace_part){ .to_ns = INT64_MAX };
	request_number(request, names->from, 0, INT64_MAX, &out->from_ns);
	request_number(request, names->to, 0, INT64_MAX, &out->to_ns);
	while (request_text_at(request, names->thread, out->thread_count, number, sizeof(number))) {
		if (out->thread_count == PART_THREADS_MAX || number[0] < '0' || number[0] > '9')
			return false;
		out->threads[out->thread_count++] = strtoul(number, &end, 10);
		if (*end)
			return false;
	}
	return out->from_ns < out->to_ns;
}

bool trace_part_read(const struct request *request, struct trace_part *out)
{
	return read_part(request, &(struct part_names){ "from", "to", "thread" }, out);
}

bool trace_part_read_second(const struct request *request, struct trace_part *out)
{
	return read_part(request, &(struct part_names){ "from_b", "to_b", "thread_b" }, out);
}

bool trace_part_is_whole(const struct trace_part *part)
{
	return !part->from_ns && part->to_ns == INT64_MAX && !part->thread_count;
}

void trace_part_put_key(const struct trace_part *part, struct text *out)
{
	text_printf(out, "%lld %lld", (long long)part->from_ns, (long long)part->to_ns);
	for (size_t i = 0; i < part->thread_count; i++)
		text_printf(out, " %u", part->threads[i]);
}

static int cut(const struct trace_part *part, const char *trace_path, const char *path, struct text *messages)
{
	const char *arguments[ARGUMENTS_MAX] = { "cut", "-o", path };
	char from[NUMBER_BYTES], to[NUMBER_BYTES], threads[PART_THREADS_MAX][THREAD_BYTES];
	struct text out = { 0 };
	size_t count = 3;
	int err;

	snprintf(from, sizeof(from), "%lluns", (unsigned long long)(part->first_ns + part->from_ns));
	snprintf(to, sizeof(to), "%lluns", (unsigned long long)(part->first_ns + part->to_ns));
	if (part->first_ns)
		arguments[count++] = "--monotonic";
	if (part->from_ns || part->to_ns != INT64_MAX) {
		arguments[count++] = "--from";
		arguments[count++] = from;
	}
	if (part->to_ns != INT64_MAX) {
		arguments[count++] = "--to";
		arguments[count++] = to;
	}
	for (size_t i = 0; i < part->thread_count; i++) {
		snprintf(threads[i], sizeof(threads[i]), "%u", part->threads[i]);
		arguments[count++] = "--thread";
		arguments[count++] = threads[i];
	}
	arguments[count++] = trace_path;
	err = own_command_run(arguments, &out, messages);
	text_fini(&out);
	return err;
}

int part_file_make(const struct trace_part *part, const char *trace_path, struct part_file *out, struct text *messages)
{
	*out = (struct part_file){ 0 };
	return trace_part_is_whole(part) ? 0 : part_file_cut(part, trace_path, out, messages);
}

int part_file_place(struct part_file *out)
{
	*out = (struct part_file){ 0 };
	snprintf(out->directory, sizeof(out->directory), "/var/tmp/pinch-view-XXXXXX");
	if (!mkdtemp(out->directory)) {
		out->directory[0] = '\0';
		return -errno;
	}
	snprintf(out->path, sizeof(out->path), "%s/part.pinch", out->directory);
	return 0;
}

int part_file_cut(const struct trace_part *part, const char *trace_path, struct part_file *out, struct text *messages)
{
	int err = part_file_place(out);

	if (err)
		return err;
	err = cut(part, trace_path, out->path, messages);
	if (err)
		part_file_remove(out);
	return err;
}

void part_file_remove(struct part_file *file)
{
	struct text states = { 0 };

	if (!file->path[0])
		return;
	text_printf(&states, "%s.states", file->path);
	unlink(states.bytes);
	unlink(file->path);
	rmdir(file->directory);
	text_fini(&states);
	*file = (struct part_file){ 0 };
}

const char *part_file_path(const struct part_file *file, const char *trace_path)
{
	return file->path[0] ? file->path : trace_path;
}
