/* SPDX-License-Identifier: BSD-2-Clause */
/* Which subsystems are recorded. Async-signal-safe. A child that has no area yet would switch its parent's: it gets one. */
#include "switches.h"

#include <stdbool.h>
#include <string.h>

#include "area.h"
#include "pinchtrace.h"

#define ALL_RECORD (0x0101010101010101u * PINCHTRACE_ON_RECORD)

/* Eight subsystems. */
static uint64_t *group(uint32_t number)
{
	return (uint64_t *)pinchtrace_on + number;
}

void pinchtrace_enable(uint16_t subsystem)
{
	if (pinchtrace_area_ensure() && subsystem != TRACE_NO_EVENT)
		__atomic_fetch_or(&pinchtrace_on[subsystem], PINCHTRACE_ON_RECORD, __ATOMIC_RELAXED);
}

void pinchtrace_disable(uint16_t subsystem)
{
	if (pinchtrace_area_ensure())
		__atomic_fetch_and(&pinchtrace_on[subsystem], (unsigned char)~PINCHTRACE_ON_RECORD, __ATOMIC_RELAXED);
}

void pinchtrace_enable_all(void)
{
	uint32_t i;

	if (!pinchtrace_area_ensure())
		return;
	for (i = 0; i < PINCHTRACE_SUBSYSTEMS / 8; i++)
		__atomic_fetch_or(group(i), ALL_RECORD, __ATOMIC_RELAXED);
}

void pinchtrace_disable_all(void)
{
	uint32_t i;

	if (!pinchtrace_area_ensure())
		return;
	for (i = 0; i < PINCHTRACE_SUBSYSTEMS / 8; i++)
		if (__atomic_load_n(group(i), __ATOMIC_RELAXED))
			__atomic_fetch_and(group(i), ~ALL_RECORD, __ATOMIC_RELAXED);
}

/* --- By name ----------------------------------------------------------------------------- */

/* Behind the string that text begins with. */
static const char *skip_string(const char *text)
{
	for (text++; *text && *text != '"'; text++)
		if (*text == '\\' && text[1])
			text++;
	return *text ? text + 1 : text;
}

static bool name_is(const char *name, size_t size, const char *begin, const char *end)
{
	return size == (size_t)(end - begin) && memcmp(name, begin, size) == 0;
}

/* Whether a list "net, 3,mm" has the name or the number. */
static bool list_has(const char *list, const char *name, size_t name_size, const char *number, size_t number_size)
{
	const char *end;

	for (; *list; list = *end ? end + 1 : end) {
		list += strspn(list, " \t");
		end = list + strcspn(list, ", \t");
		if (name_is(name, name_size, list, end) || name_is(number, number_size, list, end))
			return true;
		end += strspn(end, " \t");
	}
	return false;
}

/* The number of digits; 65535 is no subsystem. */
static uint32_t read_number(const char *digits, size_t size)
{
	uint32_t number = 0;

	for (; size && *digits >= '0' && *digits <= '9' && number < TRACE_NO_EVENT; size--)
		number = 10 * number + (*digits++ - '0');
	return size || number > TRACE_NO_EVENT ? TRACE_NO_EVENT : number;
}

/*
 * { "0": { "name": "kernel", ... }, ... }: depth counts braces. What is not like that enables nothing.
 */
void pinchtrace_switches_enable_named(const char *json, const char *list)
{
	const char *number = NULL, *key = NULL, *text = json, *begin;
	size_t number_size = 0, key_size = 0, size;
	int depth = 0;

	while (*text) {
		if (*text == '{' || *text == '[')
			depth++;
		else if (*text == '}' || *text == ']')
			depth--;
		if (*text != '"') {
			text++;
			continue;
		}
		begin = text + 1;
		text = skip_string(text);
		size = *(text - 1) == '"' && text > begin ? (size_t)(text - 1 - begin) : 0;
		text += strspn(text, " \t\n");
		if (*text == ':' && depth == 1) {
			number = begin;
			number_size = size;
		} else if (*text == ':') {
			key = begin;
			key_size = size;
		} else if (depth == 2 && key && number && name_is("name", 4, key, key + key_size)) {
			if (list_has(list, begin, size, number, number_size))
				pinchtrace_enable(read_number(number, number_size));
		}
	}
}

void pinchtrace_switches_start(const char *list)
{
	const char *end;

	if (strcmp(list, "all") == 0) {
		pinchtrace_enable_all();
		return;
	}
	/* Numbers at once, names when they are registered. */
	for (; *list; list = *end ? end + 1 : end) {
		list += strspn(list, " \t");
		end = list + strcspn(list, ", \t");
		if (end > list)
			pinchtrace_enable(read_number(list, end - list));
		end += strspn(end, " \t");
	}
}
