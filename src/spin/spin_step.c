/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "spin/spin_step.h"

#include <capstone/capstone.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

struct spin_decoder {
	csh capstone;
	cs_insn *instruction;
	uint8_t effects[X86_INS_ENDING];   /* enum spin_effect by the instruction's id */
	uint8_t registers[X86_REG_ENDING]; /* enum spin_location */
};

/* Integer instructions only: a loop that waits needs no others, and what they do is easily known. */
/* clang-format off */
static const struct {
	uint16_t id;
	uint8_t effect;
} effects[] = {
	{ X86_INS_NOP, SPIN_IDLE }, { X86_INS_ENDBR64, SPIN_IDLE }, { X86_INS_LFENCE, SPIN_IDLE },
	{ X86_INS_MFENCE, SPIN_IDLE }, { X86_INS_SFENCE, SPIN_IDLE },
	{ X86_INS_PREFETCH, SPIN_IDLE }, { X86_INS_PREFETCHW, SPIN_IDLE },
	{ X86_INS_PREFETCHNTA, SPIN_IDLE }, { X86_INS_PREFETCHT0, SPIN_IDLE },
	{ X86_INS_PREFETCHT1, SPIN_IDLE }, { X86_INS_PREFETCHT2, SPIN_IDLE },
	/* Their results stay in the register that they come from. */
	{ X86_INS_CBW, SPIN_IDLE }, { X86_INS_CWDE, SPIN_IDLE }, { X86_INS_CDQE, SPIN_IDLE },
	{ X86_INS_PAUSE, SPIN_PAUSING },
	{ X86_INS_MOV, SPIN_COPY }, { X86_INS_MOVABS, SPIN_COPY }, { X86_INS_MOVZX, SPIN_COPY },
	{ X86_INS_MOVSX, SPIN_COPY }, { X86_INS_MOVSXD, SPIN_COPY },
	{ X86_INS_LEA, SPIN_ADDRESS },
	{ X86_INS_ADD, SPIN_ADD }, { X86_INS_INC, SPIN_ADD },
	{ X86_INS_SUB, SPIN_SUB }, { X86_INS_DEC, SPIN_SUB },
	{ X86_INS_SHL, SPIN_SCALE }, { X86_INS_SAL, SPIN_SCALE },
	{ X86_INS_AND, SPIN_AND }, { X86_INS_OR, SPIN_OR }, { X86_INS_XOR, SPIN_XOR },
	{ X86_INS_ADC, SPIN_CHANGE }, { X86_INS_SBB, SPIN_CHANGE }, { X86_INS_SHR, SPIN_CHANGE },
	{ X86_INS_SAR, SPIN_CHANGE }, { X86_INS_ROL, SPIN_CHANGE }, { X86_INS_ROR, SPIN_CHANGE },
	{ X86_INS_NEG, SPIN_CHANGE }, { X86_INS_NOT, SPIN_CHANGE }, { X86_INS_BSWAP, SPIN_CHANGE },
	{ X86_INS_SHLD, SPIN_CHANGE }, { X86_INS_SHRD, SPIN_CHANGE }, { X86_INS_IMUL, SPIN_CHANGE },
	{ X86_INS_BTS, SPIN_MARK }, { X86_INS_BTR, SPIN_MARK }, { X86_INS_BTC, SPIN_CHANGE },
	{ X86_INS_BSF, SPIN_COMPUTE }, { X86_INS_BSR, SPIN_COMPUTE },
	{ X86_INS_TZCNT, SPIN_COMPUTE }, { X86_INS_LZCNT, SPIN_COMPUTE },
	{ X86_INS_POPCNT, SPIN_COMPUTE }, { X86_INS_ANDN, SPIN_COMPUTE },
	{ X86_INS_BEXTR, SPIN_COMPUTE }, { X86_INS_BLSI, SPIN_COMPUTE },
	{ X86_INS_BLSR, SPIN_COMPUTE }, { X86_INS_BLSMSK, SPIN_COMPUTE },
	{ X86_INS_BZHI, SPIN_COMPUTE }, { X86_INS_RORX, SPIN_COMPUTE },
	{ X86_INS_SARX, SPIN_COMPUTE }, { X86_INS_SHLX, SPIN_COMPUTE },
	{ X86_INS_SHRX, SPIN_COMPUTE },
	{ X86_INS_CWD, SPIN_SIGN }, { X86_INS_CDQ, SPIN_SIGN }, { X86_INS_CQO, SPIN_SIGN },
	{ X86_INS_MUL, SPIN_WIDE }, { X86_INS_DIV, SPIN_WIDE }, { X86_INS_IDIV, SPIN_WIDE },
	{ X86_INS_CMP, SPIN_COMPARE }, { X86_INS_TEST, SPIN_TEST }, { X86_INS_BT, SPIN_PROBE },
	{ X86_INS_SETA, SPIN_SET }, { X86_INS_SETAE, SPIN_SET }, { X86_INS_SETB, SPIN_SET },
	{ X86_INS_SETBE, SPIN_SET }, { X86_INS_SETE, SPIN_SET }, { X86_INS_SETG, SPIN_SET },
	{ X86_INS_SETGE, SPIN_SET }, { X86_INS_SETL, SPIN_SET }, { X86_INS_SETLE, SPIN_SET },
	{ X86_INS_SETNE, SPIN_SET }, { X86_INS_SETNO, SPIN_SET }, { X86_INS_SETNP, SPIN_SET },
	{ X86_INS_SETNS, SPIN_SET }, { X86_INS_SETO, SPIN_SET }, { X86_INS_SETP, SPIN_SET },
	{ X86_INS_SETS, SPIN_SET },
	{ X86_INS_CMOVA, SPIN_SELECT }, { X86_INS_CMOVAE, SPIN_SELECT },
	{ X86_INS_CMOVB, SPIN_SELECT }, { X86_INS_CMOVBE, SPIN_SELECT },
	{ X86_INS_CMOVE, SPIN_SELECT }, { X86_INS_CMOVG, SPIN_SELECT },
	{ X86_INS_CMOVGE, SPIN_SELECT }, { X86_INS_CMOVL, SPIN_SELECT },
	{ X86_INS_CMOVLE, SPIN_SELECT }, { X86_INS_CMOVNE, SPIN_SELECT },
	{ X86_INS_CMOVNO, SPIN_SELECT }, { X86_INS_CMOVNP, SPIN_SELECT },
	{ X86_INS_CMOVNS, SPIN_SELECT }, { X86_INS_CMOVO, SPIN_SELECT },
	{ X86_INS_CMOVP, SPIN_SELECT }, { X86_INS_CMOVS, SPIN_SELECT },
	{ X86_INS_XCHG, SPIN_SWAP }, { X86_INS_CMPXCHG, SPIN_COMPARE_SWAP },
	{ X86_INS_CMPXCHG8B, SPIN_COMPARE_SWAP }, { X86_INS_CMPXCHG16B, SPIN_COMPARE_SWAP },
	{ X86_INS_XADD, SPIN_FETCH_ADD },
	{ X86_INS_RDTSC, SPIN_CLOCK }, { X86_INS_RDTSCP, SPIN_CLOCK },
	{ X86_INS_CALL, SPIN_CALL }, { X86_INS_SYSCALL, SPIN_SYSCALL },
};
/* clang-format on */

/* All names of the registers, in the order of enum spin_location. Of ah and the like, the whole. */
static const uint16_t registers[][5] = {
	{ X86_REG_RAX, X86_REG_EAX, X86_REG_AX, X86_REG_AL, X86_REG_AH },
	{ X86_REG_RCX, X86_REG_ECX, X86_REG_CX, X86_REG_CL, X86_REG_CH },
	{ X86_REG_RDX, X86_REG_EDX, X86_REG_DX, X86_REG_DL, X86_REG_DH },
	{ X86_REG_RBX, X86_REG_EBX, X86_REG_BX, X86_REG_BL, X86_REG_BH },
	{ X86_REG_RSP, X86_REG_ESP, X86_REG_SP, X86_REG_SPL },
	{ X86_REG_RBP, X86_REG_EBP, X86_REG_BP, X86_REG_BPL },
	{ X86_REG_RSI, X86_REG_ESI, X86_REG_SI, X86_REG_SIL },
	{ X86_REG_RDI, X86_REG_EDI, X86_REG_DI, X86_REG_DIL },
	{ X86_REG_R8, X86_REG_R8D, X86_REG_R8W, X86_REG_R8B },
	{ X86_REG_R9, X86_REG_R9D, X86_REG_R9W, X86_REG_R9B },
	{ X86_REG_R10, X86_REG_R10D, X86_REG_R10W, X86_REG_R10B },
	{ X86_REG_R11, X86_REG_R11D, X86_REG_R11W, X86_REG_R11B },
	{ X86_REG_R12, X86_REG_R12D, X86_REG_R12W, X86_REG_R12B },
	{ X86_REG_R13, X86_REG_R13D, X86_REG_R13W, X86_REG_R13B },
	{ X86_REG_R14, X86_REG_R14D, X86_REG_R14W, X86_REG_R14B },
	{ X86_REG_R15, X86_REG_R15D, X86_REG_R15W, X86_REG_R15B },
	{ X86_REG_EFLAGS },
	{ X86_REG_FS },
	{ X86_REG_GS },
};

struct spin_decoder *spin_decoder_new(void)
{
	struct spin_decoder *decoder = xcalloc(1, sizeof(*decoder));

	if (cs_open(CS_ARCH_X86, CS_MODE_64, &decoder->capstone))
		goto out_free;
	if (cs_option(decoder->capstone, CS_OPT_DETAIL, CS_OPT_ON))
		goto out_free;
	decoder->instruction = cs_malloc(decoder->capstone);
	if (!decoder->instruction)
		goto out_free;
	for (size_t i = 0; i < sizeof(effects) / sizeof(*effects); i++)
		decoder->effects[effects[i].id] = effects[i].effect;
	memset(decoder->registers, SPIN_NOWHERE, sizeof(decoder->registers));
	for (size_t i = 0; i < sizeof(registers) / sizeof(*registers); i++)
		for (size_t k = 0; k < 5 && registers[i][k]; k++)
			decoder->registers[registers[i][k]] = i;
	return decoder;

out_free:
	spin_decoder_free(decoder);
	return NULL;
}

void spin_decoder_free(struct spin_decoder *decoder)
{
	if (!decoder)
		return;
	if (decoder->instruction)
		cs_free(decoder->instruction, 1);
	if (decoder->capstone)
		cs_close(&decoder->capstone);
	free(decoder);
}

static bool has_register(const uint16_t *list, size_t count, uint16_t wanted)
{
	for (size_t i = 0; i < count; i++)
		if (list[i] == wanted)
			return true;
	return false;
}

static bool is_in_group(const cs_detail *detail, uint8_t group)
{
	for (size_t i = 0; i < detail->groups_count; i++)
		if (detail->groups[i] == group)
			return true;
	return false;
}

static void read_place(const struct spin_decoder *decoder, const cs_insn *instruction, const cs_x86_op *operand,
		       struct spin_step *step)
{
	const x86_op_mem *memory = &operand->mem;

	step->has_place = true;
	step->access_bytes = operand->size;
	step->place = (struct spin_place){
		.base = decoder->registers[memory->base],
		.index = decoder->registers[memory->index],
		.segment = decoder->registers[memory->segment],
		.scale = memory->scale,
		.displacement = memory->disp,
	};
	if (memory->base == X86_REG_RIP)
		step->place.displacement += instruction->address + instruction->size;
	else if (memory->base && step->place.base == SPIN_NOWHERE)
		step->effect = SPIN_WORK; /* eip, or a mistake */
	if (memory->index && step->place.index == SPIN_NOWHERE && memory->index != X86_REG_RIZ &&
	    memory->index != X86_REG_EIZ)
		step->effect = SPIN_WORK; /* a vector of addresses */
}

static void read_operands(const struct spin_decoder *decoder, const cs_insn *instruction, struct spin_step *step)
{
	const cs_x86 *x86 = &instruction->detail->x86;

	for (size_t i = 0; i < x86->op_count && i < SPIN_OPERANDS_MAX; i++) {
		const cs_x86_op *operand = &x86->operands[i];
		struct spin_operand *ours = &step->operands[step->operand_count++];

		*ours = (struct spin_operand){ .kind = SPIN_OTHER, .location = SPIN_NOWHERE };
		if (operand->type == X86_OP_IMM) {
			ours->kind = SPIN_CONSTANT;
			ours->constant = operand->imm;
		} else if (operand->type == X86_OP_REG) {
			ours->location = decoder->registers[operand->reg];
			if (ours->location != SPIN_NOWHERE)
				ours->kind = SPIN_REGISTER;
		} else if (operand->type == X86_OP_MEM) {
			ours->kind = SPIN_MEMORY;
			read_place(decoder, instruction, operand, step);
		}
	}
}

static void read_control(const cs_insn *instruction, struct spin_step *step)
{
	const cs_detail *detail = instruction->detail;
	bool is_direct = detail->x86.op_count && detail->x86.operands[0].type == X86_OP_IMM;

	if (is_direct && (is_in_group(detail, CS_GRP_JUMP) || step->effect == SPIN_CALL))
		step->target = detail->x86.operands[0].imm;
	switch (instruction->id) {
	case X86_INS_XBEGIN:
		return;
	case X86_INS_JMP:
		step->control = is_direct ? SPIN_JUMP : SPIN_STOP;
		step->effect = SPIN_IDLE;
		return;
	case X86_INS_LJMP:
	case X86_INS_RET:
	case X86_INS_RETF:
	case X86_INS_RETFQ:
	case X86_INS_IRET:
	case X86_INS_IRETD:
	case X86_INS_IRETQ:
	case X86_INS_SYSRET:
	case X86_INS_SYSEXIT:
	case X86_INS_HLT:
	case X86_INS_UD0:
	case X86_INS_UD2:
	case X86_INS_UD2B:
	case X86_INS_INT3:
		step->control = SPIN_STOP;
		return;
	case X86_INS_LOOP:
	case X86_INS_LOOPE:
	case X86_INS_LOOPNE:
	case X86_INS_JCXZ:
	case X86_INS_JECXZ:
	case X86_INS_JRCXZ:
		step->condition = SPIN_IF_COUNTED;
		break;
	case X86_INS_JE:
	case X86_INS_SETE:
	case X86_INS_CMOVE:
		step->condition = SPIN_IF_EQUAL;
		break;
	case X86_INS_JNE:
	case X86_INS_SETNE:
	case X86_INS_CMOVNE:
		step->condition = SPIN_IF_NOT_EQUAL;
		break;
	default:
		step->condition = SPIN_IF_OTHER;
	}
	if (!is_in_group(detail, CS_GRP_JUMP))
		return;
	step->control = SPIN_BRANCH;
	step->effect = SPIN_IDLE;
}

static void add_register(struct spin_step *step, enum spin_location location)
{
	step->operands[step->operand_count++] = (struct spin_operand){ .kind = SPIN_REGISTER, .location = location };
}

static void add_one(struct spin_step *step)
{
	step->operands[step->operand_count++] = (struct spin_operand){
		.kind = SPIN_CONSTANT,
		.location = SPIN_NOWHERE,
		.constant = 1,
	};
}

/* Operands that Capstone leaves out, and what depends on how many there are. */
static void complete(const cs_insn *instruction, struct spin_step *step)
{
	switch (instruction->id) {
	case X86_INS_INC:
	case X86_INS_DEC:
		add_one(step);
		break;
	case X86_INS_LOOP:
	case X86_INS_LOOPE:
	case X86_INS_LOOPNE:
		step->effect = SPIN_SUB;
		step->operand_count = 0;
		add_register(step, SPIN_RCX);
		add_one(step);
		break;
	case X86_INS_IMUL:
		step->effect = step->operand_count == 1   ? SPIN_WIDE
			       : step->operand_count == 3 ? SPIN_COMPUTE
							  : SPIN_CHANGE;
		break;
	case X86_INS_DIV:
	case X86_INS_IDIV:
		add_register(step, SPIN_RDX);
		break;
	case X86_INS_RDTSCP:
		add_register(step, SPIN_RCX);
		/* fall through */
	case X86_INS_RDTSC:
		add_register(step, SPIN_RDX);
		add_register(step, SPIN_RAX);
		break;
	case X86_INS_CMPXCHG:
	case X86_INS_CMPXCHG8B:
	case X86_INS_CMPXCHG16B:
	case X86_INS_XADD:
		step->writes_flags = true;
		if (!step->has_place)
			step->effect = SPIN_WORK;
		break;
	default:
		break;
	}
	for (size_t i = 0; i < step->operand_count; i++)
		if (step->operands[i].kind == SPIN_OTHER)
			step->effect = SPIN_WORK;
}

/*
 * What Capstone does not know: umwait, tpause and umonitor, which older processors take for
 * something else, and monitorx and mwaitx.
 */
static size_t waiting_size(const uint8_t *bytes, size_t size)
{
	size_t i = 1;

	if (size >= 3 && bytes[0] == 0x0f && bytes[1] == 0x01 && (bytes[2] & 0xfe) == 0xfa)
		return 3;
	if (size < 4 || (bytes[0] != 0x66 && bytes[0] != 0xf2 && bytes[0] != 0xf3))
		return 0;
	if ((bytes[i] & 0xf0) == 0x40)
		i++;
	if (size < i + 3 || bytes[i] != 0x0f || bytes[i + 1] != 0xae || (bytes[i + 2] & 0xf8) != 0xf0)
		return 0;
	return i + 3;
}

bool spin_decode(struct spin_decoder *decoder, const uint8_t *bytes, size_t size, uint64_t address,
		 struct spin_step *step)
{
	const cs_insn *instruction = decoder->instruction;
	const cs_detail *detail = instruction->detail;
	uint64_t next = address;

	*step = (struct spin_step){ .address = address, .size = waiting_size(bytes, size) };
	if (step->size) {
		step->effect = SPIN_PAUSING;
		step->writes_flags = true;
		return true;
	}
	if (!cs_disasm_iter(decoder->capstone, &bytes, &size, &next, decoder->instruction))
		return false;
	step->size = instruction->size;
	if (instruction->id < X86_INS_ENDING)
		step->effect = decoder->effects[instruction->id];
	step->is_locked = detail->x86.prefix[0] == X86_PREFIX_LOCK;
	step->reads_flags = has_register(detail->regs_read, detail->regs_read_count, X86_REG_EFLAGS);
	step->writes_flags = has_register(detail->regs_write, detail->regs_write_count, X86_REG_EFLAGS);
	read_operands(decoder, instruction, step);
	read_control(instruction, step);
	complete(instruction, step);
	return true;
}

/* The operand in brackets, with the size before them; "" when there is none. */
static void copy_memory(const char *operands, char *text, size_t size)
{
	const char *bracket = strchr(operands, '['), *begin = bracket;

	*text = '\0';
	if (!bracket)
		return;
	while (begin > operands && begin[-1] != ',')
		begin--;
	begin += *begin == ' ';
	snprintf(text, size, " %.*s", (int)(strcspn(begin, ",")), begin);
}

static uint16_t operand_bit(const struct spin_step *step, size_t i)
{
	const struct spin_operand *operand = &step->operands[i];

	if (i >= step->operand_count || operand->kind != SPIN_REGISTER || operand->location > SPIN_R15)
		return 0;
	return 1 << operand->location;
}

uint16_t spin_step_writes(const struct spin_step *step)
{
	uint16_t rax = 1 << SPIN_RAX, rdx = 1 << SPIN_RDX;

	switch (step->effect) {
	case SPIN_WORK:
		return UINT16_MAX;
	case SPIN_IDLE:
	case SPIN_PAUSING:
	case SPIN_COMPARE:
	case SPIN_TEST:
	case SPIN_PROBE:
		return 0;
	case SPIN_SIGN:
		return rdx;
	case SPIN_WIDE:
		return rax | rdx;
	case SPIN_COMPARE_SWAP:
		return operand_bit(step, 0) | rax | (step->access_bytes > 8 ? rdx : 0);
	case SPIN_SWAP:
	case SPIN_FETCH_ADD:
		return operand_bit(step, 0) | operand_bit(step, 1);
	case SPIN_CLOCK:
		return operand_bit(step, 0) | operand_bit(step, 1) | operand_bit(step, 2);
	case SPIN_CALL:
	case SPIN_SYSCALL:
		return rax | 1 << SPIN_RCX | rdx | 1 << SPIN_RSI | 1 << SPIN_RDI | 0xf << SPIN_R8;
	default:
		return operand_bit(step, 0);
	}
}

void spin_step_text(struct spin_decoder *decoder, const uint8_t *bytes, size_t size, uint64_t address,
		    char text[SPIN_TEXT_BYTES])
{
	const cs_insn *instruction = decoder->instruction;
	char memory[SPIN_TEXT_BYTES - sizeof(instruction->mnemonic)];

	*text = '\0';
	if (!cs_disasm_iter(decoder->capstone, &bytes, &size, &address, decoder->instruction))
		return;
	copy_memory(instruction->op_str, memory, sizeof(memory));
	snprintf(text, SPIN_TEXT_BYTES, "%s%s", instruction->mnemonic, memory);
}
