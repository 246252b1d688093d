/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/elf/usdt_argument.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 8 };

/* The names of a register by its size, and its place in struct pt_regs. */
struct register_names {
	const char *names[4]; /* of 8, 4, 2 and 1 bytes */
	const char *second;   /* its second byte; NULL: has no name */
	__u8 word;
};

static const struct register_names registers[] = {
	{ { "rax", "eax", "ax", "al" }, "ah", 10 },     { { "rbx", "ebx", "bx", "bl" }, "bh", 5 },
	{ { "rcx", "ecx", "cx", "cl" }, "ch", 11 },     { { "rdx", "edx", "dx", "dl" }, "dh", 12 },
	{ { "rsi", "esi", "si", "sil" }, NULL, 13 },    { { "rdi", "edi", "di", "dil" }, NULL, 14 },
	{ { "rbp", "ebp", "bp", "bpl" }, NULL, 4 },     { { "rsp", "esp", "sp", "spl" }, NULL, 19 },
	{ { "r8", "r8d", "r8w", "r8b" }, NULL, 9 },     { { "r9", "r9d", "r9w", "r9b" }, NULL, 8 },
	{ { "r10", "r10d", "r10w", "r10b" }, NULL, 7 }, { { "r11", "r11d", "r11w", "r11b" }, NULL, 6 },
	{ { "r12", "r12d", "r12w", "r12b" }, NULL, 3 }, { { "r13", "r13d", "r13w", "r13b" }, NULL, 2 },
	{ { "r14", "r14d", "r14w", "r14b" }, NULL, 1 }, { { "r15", "r15d", "r15w", "r15b" }, NULL, 0 },
};

/* A number in decimal or as 0x…, perhaps with a sign. */
static bool take_number(const char **at, __s64 *number)
{
	const char *digits = *at + (**at == '-');
	char *end;

	if (*digits < '0' || *digits > '9')
		return false;
	errno = 0;
	*number = **at == '-' ? strtoll(*at, &end, 0) : (__s64)strtoull(*at, &end, 0);
	*at = end;
	return !errno;
}

/* "%eax"; shift_bits may be NULL where only whole registers count, as in addresses. */
static bool take_register(const char **at, __u8 *word, __u8 *shift_bits)
{
	char name[NAME_BYTES];
	size_t length = **at == '%' ? strcspn(*at + 1, ",) ") : 0;

	if (!length || length >= sizeof(name))
		return false;
	memcpy(name, *at + 1, length);
	name[length] = '\0';
	*at += 1 + length;
	for (size_t i = 0; i < sizeof(registers) / sizeof(*registers); i++) {
		const struct register_names *known = &registers[i];
		bool is_second = shift_bits && known->second && !strcmp(name, known->second);
		bool is_it = is_second || !strcmp(name, known->names[0]);

		for (size_t size = 1; size < 4 && shift_bits; size++)
			is_it |= !strcmp(name, known->names[size]);
		if (!is_it)
			continue;
		*word = known->word;
		if (shift_bits)
			*shift_bits = is_second ? 8 : 0;
		return true;
	}
	return false;
}

/* "(%rax)", "(%rax,%rbx)", "(%rax,%rbx,8)" or "(,%rbx,8)" */
static bool take_address(const char **at, struct usdt_argument *argument)
{
	__s64 scale = 1;

	argument->base = argument->index = USDT_NO_REGISTER;
	if (*(*at)++ != '(')
		return false;
	if (**at != ',' && !take_register(at, &argument->base, NULL))
		return false;
	if (**at == ',') {
		++*at;
		if (!take_register(at, &argument->index, NULL))
			return false;
	}
	if (**at == ',') {
		++*at;
		if (!take_number(at, &scale))
			return false;
	}
	if (scale != 1 && scale != 2 && scale != 4 && scale != 8)
		return false;
	argument->scale_shift = __builtin_ctzll(scale);
	return *(*at)++ == ')';
}

static bool take_operand(const char **at, struct usdt_argument *argument)
{
	if (**at == '$') {
		++*at;
		argument->kind = USDT_CONSTANT;
		return take_number(at, &argument->number);
	}
	if (**at == '%') {
		argument->kind = USDT_REGISTER;
		return take_register(at, &argument->base, &argument->shift_bits);
	}
	argument->kind = USDT_MEMORY;
	if (**at != '(' && !take_number(at, &argument->number))
		return false;
	return take_address(at, argument);
}

/* "-4@": of four bytes, signed */
static bool take_size(const char **at, struct usdt_argument *argument)
{
	__s64 size;

	if (!take_number(at, &size) || *(*at)++ != '@')
		return false;
	argument->is_signed = size < 0;
	if (size < 0)
		size = -size;
	argument->size_bytes = size;
	return size == 1 || size == 2 || size == 4 || size == 8;
}

size_t usdt_arguments_parse(const char *text, struct usdt_argument arguments[USDT_ARGUMENTS_MAX])
{
	size_t count = 0;

	for (text += strspn(text, " "); *text && count < USDT_ARGUMENTS_MAX; text += strspn(text, " ")) {
		struct usdt_argument argument = { .kind = USDT_UNREADABLE };
		size_t length = strcspn(text, " ");
		const char *at = text;

		if (!take_size(&at, &argument) || !take_operand(&at, &argument) || at != text + length)
			argument = (struct usdt_argument){ .kind = USDT_UNREADABLE };
		arguments[count++] = argument;
		text += length;
	}
	return count;
}

static bool is_register(__u8 word)
{
	return word < USDT_REGISTERS || word == USDT_NO_REGISTER;
}

bool usdt_argument_is_valid(const struct usdt_argument *argument)
{
	__u8 size = argument->size_bytes;

	if (argument->kind == USDT_UNREADABLE)
		return true;
	return argument->kind < USDT_ARGUMENT_KINDS && is_register(argument->base) && is_register(argument->index) &&
	       argument->scale_shift <= 3 && (size == 1 || size == 2 || size == 4 || size == 8) &&
	       argument->is_signed <= 1 && (argument->shift_bits == 0 || argument->shift_bits == 8);
}

bool usdt_name_is_valid(const char *name, size_t size_bytes)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
	size_t length = strnlen(name, size_bytes);

	return length && length < size_bytes && strspn(name, letters) == length;
}
