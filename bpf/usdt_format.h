/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where the arguments of a USDT probe are when a program comes to one of its sites (x86-64). */
#pragma once

#include <linux/types.h>

enum {
	USDT_ARGUMENTS_MAX = 12, /* as sdt.h has it */
	USDT_REGISTERS = 20,     /* words of struct pt_regs, up to sp */
	USDT_NO_REGISTER = 255,
};

enum usdt_argument_kind {
	USDT_UNREADABLE, /* in a form that is not read */
	USDT_CONSTANT,
	USDT_REGISTER,
	USDT_MEMORY, /* at base + (index << scale_shift) + number */
	USDT_ARGUMENT_KINDS,
};

struct usdt_argument {
	__s64 number;
	__u8 kind;        /* enum usdt_argument_kind */
	__u8 base, index; /* words of struct pt_regs, or USDT_NO_REGISTER */
	__u8 scale_shift; /* 0 to 3 */
	__u8 size_bytes;  /* 1, 2, 4 or 8 */
	__u8 is_signed;
	__u8 shift_bits; /* of a register: 0, or 8 where it is the second byte */
	__u8 reserved;
};

/* A site of a probe. */
struct usdt_site {
	__u64 schema; /* of user.EVENT */
	__u32 argument_count;
	__u32 reserved;
	struct usdt_argument arguments[USDT_ARGUMENTS_MAX];
};
