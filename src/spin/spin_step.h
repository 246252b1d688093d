/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One instruction of x86-64, as far as it matters to whether a loop waits: what it makes of which
 * registers and memory, and where control goes next. Capstone decodes; what it says about operands
 * being read or written is not used: version 4 is wrong about cmpxchg, xadd, test and rotations.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where values are kept. General registers have the processor's numbers. */
enum spin_location {
	SPIN_RAX,
	SPIN_RCX,
	SPIN_RDX,
	SPIN_RBX,
	SPIN_RSP,
	SPIN_RBP,
	SPIN_RSI,
	SPIN_RDI,
	SPIN_R8,
	SPIN_R11 = 11,
	SPIN_R15 = 15,
	SPIN_FLAGS,
	SPIN_FS,
	SPIN_GS,
	SPIN_SLOTS, /* the first of the variables on the stack */
	SPIN_NOWHERE = 255,
};

enum spin_effect {
	SPIN_WORK, /* whatever is not below */
	SPIN_IDLE, /* nothing that we follow: nop, fences */
	SPIN_PAUSING,
	SPIN_COPY,    /* first operand = second */
	SPIN_ADDRESS, /* first = address of the memory operand */
	SPIN_ADD,
	SPIN_SUB,   /* first += or -= second */
	SPIN_SCALE, /* first <<= second */
	SPIN_AND,
	SPIN_OR,
	SPIN_XOR,
	SPIN_MARK,    /* sets or clears a bit of the first: once more changes nothing */
	SPIN_CHANGE,  /* first = some function of all operands */
	SPIN_COMPUTE, /* first = some function of the others */
	SPIN_SIGN,    /* rdx = the sign of rax */
	SPIN_WIDE,    /* rdx and rax = some function of rax and the operands */
	SPIN_COMPARE,
	SPIN_TEST,
	SPIN_PROBE,  /* flags only; a probe is of some other kind */
	SPIN_SET,    /* first = what the flags say */
	SPIN_SELECT, /* first = second, if the flags say so */
	SPIN_SWAP,
	SPIN_COMPARE_SWAP,
	SPIN_FETCH_ADD,
	SPIN_CLOCK, /* all operands = something that changes by itself */
	SPIN_CALL,
	SPIN_SYSCALL,
};

enum spin_control {
	SPIN_NEXT,   /* goes on behind it */
	SPIN_JUMP,   /* goes on at target */
	SPIN_BRANCH, /* does either */
	SPIN_STOP,   /* leaves the function, or where it goes is unknown */
};

enum spin_condition { SPIN_IF_EQUAL, SPIN_IF_NOT_EQUAL, SPIN_IF_COUNTED, SPIN_IF_OTHER };

struct spin_place {
	uint8_t base, index; /* registers, or SPIN_NOWHERE; rip is in the displacement */
	uint8_t segment;     /* SPIN_FS, SPIN_GS or SPIN_NOWHERE */
	uint8_t scale;
	int64_t displacement;
};

enum spin_operand_kind { SPIN_REGISTER, SPIN_CONSTANT, SPIN_MEMORY, SPIN_OTHER };

struct spin_operand {
	enum spin_operand_kind kind;
	uint8_t location;
	int64_t constant;
};

enum { SPIN_OPERANDS_MAX = 3, SPIN_TEXT_BYTES = 96 };

struct spin_step {
	uint64_t address;
	uint64_t target; /* of a jump, branch or call; 0: unknown */
	enum spin_effect effect;
	enum spin_control control;
	enum spin_condition condition;
	struct spin_place place; /* of the only memory operand that is followed */
	struct spin_operand operands[SPIN_OPERANDS_MAX];
	uint8_t operand_count;
	uint8_t size;         /* of the instruction, in bytes */
	uint8_t access_bytes; /* of the memory operand */
	bool has_place, is_locked, reads_flags, writes_flags;
	bool is_yield; /* a call that gives the CPU away: for others to find out */
};

struct spin_decoder;

/* NULL when there is no memory, or Capstone cannot decode x86. */
struct spin_decoder *spin_decoder_new(void);
void spin_decoder_free(struct spin_decoder *decoder);

/* Decodes what lies at the front of bytes. False when that is no instruction. */
bool spin_decode(struct spin_decoder *decoder, const uint8_t *bytes, size_t size, uint64_t address,
		 struct spin_step *step);

/* The general registers that it may change, as bits; a call, those that a function may. */
uint16_t spin_step_writes(const struct spin_step *step);

/* The name of the instruction and the memory that it accesses: "lock cmpxchg dword ptr [rdi]". */
void spin_step_text(struct spin_decoder *decoder, const uint8_t *bytes, size_t size, uint64_t address,
		    char text[SPIN_TEXT_BYTES]);
