/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/jit/perf_map.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bound.h"
#include "base/memory.h"
#include "helper/close_file.h"
#include "symbol/jit/jit_dump.h"

enum {
	LINES_MAX = 1 << 18,     /* a large Java or .NET server has 60 000 */
	ALL_LINES_MAX = 1 << 20, /* of all files of a user: 40 MB */
	FILE_BYTES_MAX = 64 << 20,
	ALL_BYTES_MAX = 256 << 20,
	REFILL_BYTES = 4 << 20,     /* a second: they take 20 ms to read */
	DUMP_RECORDS_MAX = 1 << 20, /* whose headers are read */
	LINE_BYTES_MAX = 4096,      /* longer ones are skipped */
	STEP_BYTES = 64 << 10,
};

struct line {
	uint64_t start, end;
	uint64_t reach; /* highest end of this line and those sorted before it */
	uint64_t at;    /* in the file: its line, or of a dump, its name */
	uint32_t order; /* in the file: code that is compiled again replaces the old */
};

struct perf_map {
	int fd;
	struct perf_map_budget *budget;
	uid_t owner;
	bool is_dump;
	bool is_rewritten;  /* a line was not where it was */
	struct line *lines; /* sorted by start */
	size_t count, capacity;
	uint64_t read_bytes;   /* whole lines seen up to there */
	uint64_t records_left; /* of a dump, to be read */
	uint64_t dropped;
};

void perf_map_budget_init(struct perf_map_budget *budget)
{
	*budget = (struct perf_map_budget){ .lines = ALL_LINES_MAX, .read_bytes = ALL_BYTES_MAX };
}

void perf_map_budget_refill(struct perf_map_budget *budget, uint64_t seconds)
{
	uint64_t missing_bytes = ALL_BYTES_MAX - budget->read_bytes;

	budget->read_bytes += seconds < missing_bytes / REFILL_BYTES ? seconds * REFILL_BYTES : missing_bytes;
}

uint64_t perf_map_budget_lines(const struct perf_map_budget *budget)
{
	return ALL_LINES_MAX - budget->lines;
}

bool perf_map_budget_is_enough(const struct perf_map_budget *budget)
{
	return budget->lines >= LINES_MAX;
}

static uid_t owner_of(int fd)
{
	struct stat status;

	return fstat(fd, &status) ? (uid_t)-1 : status.st_uid;
}

struct perf_map *perf_map_new(int fd, struct perf_map_budget *budget)
{
	struct perf_map *map = xcalloc(1, sizeof(*map));

	map->fd = fd;
	map->budget = budget;
	map->records_left = DUMP_RECORDS_MAX;
	map->owner = owner_of(fd);
	perf_map_refresh(map);
	return map;
}

void perf_map_close(struct perf_map *map)
{
	if (!map)
		return;
	map->budget->lines += map->count;
	file_close(map->fd);
	free(map->lines);
	free(map);
}

/* Reads a hexadecimal number; NULL when there is none or it does not fit. */
static const char *parse_hex(const char *text, const char *end, uint64_t *value)
{
	const char *digits;

	*value = 0;
	if (end - text > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		text += 2;
	for (digits = text; text < end && isxdigit((unsigned char)*text); text++) {
		int digit = *text <= '9' ? *text - '0' : (*text | 0x20) - 'a' + 10;

		if (*value >> 60)
			return NULL;
		*value = *value << 4 | digit;
	}
	return text == digits ? NULL : text;
}

static void add_code(struct perf_map *map, uint64_t start, uint64_t size_bytes, uint64_t at)
{
	if (map->count == LINES_MAX || !map->budget->lines) {
		map->dropped++;
		return;
	}
	map->budget->lines--;
	ARRAY_GROW(map->lines, map->count, map->capacity, 256);
	map->lines[map->count] = (struct line){
		.start = start,
		.end = start + size_bytes,
		.at = at,
		.order = map->count,
	};
	map->count++;
}

/* "START SIZE NAME", all hexadecimal but the name, which may have spaces. The name; NULL: it is no such line. */
static const char *parse_line(const char *text, const char *end, uint64_t *start, uint64_t *size_bytes)
{
	text = parse_hex(text, end, start);
	if (!text || text == end || *text++ != ' ')
		return NULL;
	text = parse_hex(text, end, size_bytes);
	if (!text || text == end || *text++ != ' ' || text == end)
		return NULL;
	return *size_bytes && *start + *size_bytes >= *start ? text : NULL;
}

static void add_line(struct perf_map *map, const char *text, size_t length, uint64_t at)
{
	uint64_t start, size_bytes;

	if (parse_line(text, text + length, &start, &size_bytes))
		add_code(map, start, size_bytes, at);
}

/* Takes in the whole lines of a piece of the file; the bytes that they are. */
static size_t add_lines(struct perf_map *map, const char *bytes, size_t size_bytes)
{
	const char *line = bytes, *end = bytes + size_bytes, *newline;

	while ((newline = memchr(line, '\n', end - line))) {
		if (newline - line < LINE_BYTES_MAX)
			add_line(map, line, newline - line, map->read_bytes + (line - bytes));
		line = newline + 1;
	}
	/* A line without end is passed over, so that reading goes on. */
	return line == bytes && size_bytes == STEP_BYTES ? size_bytes : (size_t)(line - bytes);
}

static int by_start(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

static void read_lines(struct perf_map *map)
{
	char *bytes = xcalloc(STEP_BYTES, 1);
	size_t used;
	ssize_t n;

	while (map->read_bytes < FILE_BYTES_MAX && map->budget->read_bytes >= STEP_BYTES &&
	       (n = pread(map->fd, bytes, STEP_BYTES, map->read_bytes)) > 0) {
		used = add_lines(map, bytes, n);
		if (!used)
			break;
		map->read_bytes += used;
		map->budget->read_bytes -= used;
	}
	free(bytes);
}

static void read_dump(struct perf_map *map)
{
	struct jit_dump_code code;

	while (jit_dump_next(map->fd, &map->read_bytes, &map->records_left, &code))
		if (code.size_bytes && code.start + code.size_bytes >= code.start)
			add_code(map, code.start, code.size_bytes, code.name_at);
}

/* The name at a line as the file has it; false: another one stands there. */
static bool read_name(const struct perf_map *map, const struct line *line, char *name, size_t capacity_bytes)
{
	char text[LINE_BYTES_MAX];
	uint64_t start = line->start, size_bytes = line->end - line->start;
	ssize_t n = pread(map->fd, text, sizeof(text) - 1, line->at);
	const char *found = text;

	if (n <= 0)
		return false;
	text[n] = '\0';
	text[strcspn(text, "\r\n")] = '\0';
	if (!map->is_dump)
		found = parse_line(text, text + strlen(text), &start, &size_bytes);
	if (!found || start != line->start || size_bytes != line->end - line->start)
		return false;
	snprintf(name, capacity_bytes, "%s", found);
	return name[0];
}

static const struct line *last_read(const struct perf_map *map)
{
	for (size_t i = 0; i < map->count; i++)
		if (map->lines[i].order == map->count - 1)
			return &map->lines[i];
	return NULL;
}

/* Some runtimes write the whole file again when they are asked to: then nothing is where it was. */
static void forget_rewritten(struct perf_map *map)
{
	const struct line *last = last_read(map);
	char name[2];

	if (map->is_dump || !last || (!map->is_rewritten && read_name(map, last, name, sizeof(name))))
		return;
	map->budget->lines += map->count;
	map->count = 0;
	map->read_bytes = 0;
	map->is_rewritten = false;
}

void perf_map_refresh(struct perf_map *map)
{
	uint64_t reach = 0;
	size_t count;

	/* It was given to somebody else, who could write other names. */
	if (owner_of(map->fd) != map->owner)
		return;
	forget_rewritten(map);
	/* It may have been empty so far. */
	if (!map->read_bytes)
		map->is_dump = jit_dump_is(map->fd);
	count = map->count;
	if (map->is_dump)
		read_dump(map);
	else
		read_lines(map);
	if (map->count == count)
		return;
	qsort(map->lines, map->count, sizeof(*map->lines), by_start);
	for (size_t i = 0; i < map->count; i++) {
		if (map->lines[i].end > reach)
			reach = map->lines[i].end;
		map->lines[i].reach = reach;
	}
}

static const struct line *find_line(const struct perf_map *map, uint64_t address)
{
	const struct line *best = NULL;
	size_t low = BOUND(0, map->count, i, map->lines[i].start <= address);

	while (low-- && map->lines[low].reach > address)
		if (map->lines[low].end > address && (!best || map->lines[low].order > best->order))
			best = &map->lines[low];
	return best;
}

bool perf_map_find(struct perf_map *map, uint64_t address, char *name, size_t size_bytes, uint64_t *start)
{
	const struct line *line = find_line(map, address);

	if (!line || owner_of(map->fd) != map->owner)
		return false;
	if (!read_name(map, line, name, size_bytes)) {
		map->is_rewritten = true;
		return false;
	}
	*start = line->start;
	return true;
}

bool perf_map_is_trusted(const struct perf_map *map)
{
	return owner_of(map->fd) == map->owner;
}

bool perf_map_is_cut(const struct perf_map *map)
{
	return map->dropped || !map->records_left || (!map->is_dump && map->read_bytes >= FILE_BYTES_MAX) ||
	       map->budget->read_bytes < STEP_BYTES;
}

uint64_t perf_map_dropped(const struct perf_map *map)
{
	return map->dropped;
}
