/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/elf/function_ends.h"

#include <capstone/capstone.h>
#include <string.h>

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

/* Of a jump that leaves the code, where it leads. */
static struct code_target target_of(const cs_insn *instruction)
{
	const cs_x86_op *operand = &instruction->detail->x86.operands[0];
	uint64_t next = instruction->address + instruction->size;

	if (operand->type == X86_OP_IMM)
		return (struct code_target){ TARGET_CODE, operand->imm };
	if (operand->type == X86_OP_MEM && operand->mem.base == X86_REG_RIP && operand->mem.index == X86_REG_INVALID)
		return (struct code_target){ TARGET_SLOT, next + operand->mem.disp };
	return (struct code_target){ TARGET_UNKNOWN, 0 };
}

/* A table of differences; one of addresses may have functions. */
static bool reads_differences(const cs_insn *instruction)
{
	return reads_table(instruction) && instruction->detail->x86.operands[1].type == X86_OP_MEM;
}

/* Whether the code goes on in itself for certain: by a jump to a part of it, or by one of a switch. */
static bool stays(const cs_insn *instruction, uint64_t begin, uint64_t end, unsigned int since_table)
{
	const cs_x86_op *operand = &instruction->detail->x86.operands[0];

	if (operand->type == X86_OP_IMM)
		return (uint64_t)operand->imm >= begin && (uint64_t)operand->imm < end;
	return operand->type == X86_OP_REG && is_switch(instruction, operand, since_table);
}

bool function_jumps(const uint8_t *code, size_t size_bytes, uint64_t address,
		    void (*on_jump)(void *data, uint64_t at, const struct code_target *target), void *data)
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
		since_table = reads_differences(instruction) ? 0 : since_table + (since_table < NEAR);
		if (cs_insn_group(disassembler, instruction, CS_GRP_JUMP) && instruction->detail->x86.op_count &&
		    !stays(instruction, address, end, since_table)) {
			struct code_target target = target_of(instruction);

			on_jump(data, instruction->address, &target);
		}
	}
	cs_free(instruction, 1);
	cs_close(&disassembler);
	return !size_bytes;
}

size_t code_call(const uint8_t before[CODE_CALL_BYTES], uint64_t address, struct code_target *target)
{
	enum { CALL = 0xe8, INDIRECT = 0xff, THROUGH = 0x15 };
	int32_t distance;

	memcpy(&distance, before + CODE_CALL_BYTES - sizeof(distance), sizeof(distance));
	if (before[1] == CALL) {
		*target = (struct code_target){ TARGET_CODE, address + distance };
		return CODE_CALL_BYTES - 1;
	}
	if (before[0] == INDIRECT && before[1] == THROUGH) {
		*target = (struct code_target){ TARGET_SLOT, address + distance };
		return CODE_CALL_BYTES;
	}
	return 0;
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
