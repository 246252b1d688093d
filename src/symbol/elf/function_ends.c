/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/elf/function_ends.h"

#include <capstone/capstone.h>

enum { NEAR = 8 }; /* instructions that compute where a switch jumps to */

static bool is_return(const cs_insn *instruction)
{
	return instruction->id == X86_INS_RET;
}

static const cs_x86_op *jump_target(const cs_insn *instruction)
{
	const cs_x86 *x86 = &instruction->detail->x86;

	return instruction->id == X86_INS_JMP && x86->op_count ? &x86->operands[0] : NULL;
}

/* What a switch reads its table with. */
static bool reads_table(const cs_insn *instruction)
{
	return instruction->id == X86_INS_MOVSXD;
}

/* Tables are of one word a case, or of differences that are added up in a register. */
static bool is_switch(const cs_insn *instruction, const cs_x86_op *target, unsigned int since_table)
{
	if (target->type == X86_OP_MEM)
		return target->mem.index != X86_REG_INVALID;
	/* 3e: "notrack", of code that may be jumped to for this reason alone */
	return since_table < NEAR || instruction->bytes[0] == 0x3e;
}

static bool is_leaving(const cs_insn *instruction, uint64_t begin, uint64_t end, unsigned int since_table)
{
	const cs_x86_op *target = jump_target(instruction);

	if (!target)
		return false;
	if (target->type == X86_OP_IMM)
		return (uint64_t)target->imm < begin || (uint64_t)target->imm >= end;
	return !is_switch(instruction, target, since_table);
}

bool function_ends(const uint8_t *code, size_t size_bytes, uint64_t address,
		   void (*on_end)(void *data, uint64_t at, bool is_jump), void *data)
{
	uint64_t at = address, end = address + size_bytes;
	unsigned int since_table = NEAR;
	cs_insn *instruction;
	csh disassembler;

	if (cs_open(CS_ARCH_X86, CS_MODE_64, &disassembler))
		return false;
	cs_option(disassembler, CS_OPT_DETAIL, CS_OPT_ON);
	instruction = cs_malloc(disassembler);
	while (size_bytes && cs_disasm_iter(disassembler, &code, &size_bytes, &at, instruction)) {
		since_table = reads_table(instruction) ? 0 : since_table + (since_table < NEAR);
		if (is_return(instruction))
			on_end(data, instruction->address - address, false);
		else if (is_leaving(instruction, address, end, since_table))
			on_end(data, instruction->address - address, true);
	}
	cs_free(instruction, 1);
	cs_close(&disassembler);
	return !size_bytes;
}

bool function_has_instruction(const uint8_t *code, size_t size_bytes, uint64_t address, uint64_t at)
{
	uint64_t next = address;
	cs_insn *instruction;
	csh disassembler;
	bool is_one = false;

	if (cs_open(CS_ARCH_X86, CS_MODE_64, &disassembler))
		return false;
	instruction = cs_malloc(disassembler);
	while (next - address <= at && !is_one && cs_disasm_iter(disassembler, &code, &size_bytes, &next, instruction))
		is_one = instruction->address - address == at;
	cs_free(instruction, 1);
	cs_close(&disassembler);
	return is_one;
}
