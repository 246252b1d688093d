/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables made from this machine's own libraries and programs, against libdw, which executes the
 * same call frame information one place at a time.
 */
#include "test.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "symbol/elf/elf_file.h"
#include "symbol/elf/vdso.h"
#include "unwind/rule.h"
#include "unwind/table_file.h"
#include "unwind/unwind_table.h"

enum { QUESTIONS_MAX = 100000 };

/* --- What libdw says, as a rule ----------------------------------------------------------- */

static bool ops_are(const Dwarf_Op *ops, size_t count, const uint8_t *atoms, size_t atom_count)
{
	if (count != atom_count)
		return false;
	for (size_t i = 0; i < count; i++)
		if (ops[i].atom != atoms[i])
			return false;
	return true;
}

/* An expression begins with the CFA on its stack, which libdw writes down. */
static const Dwarf_Op *skip_cfa(const Dwarf_Op *ops, size_t *count)
{
	if (*count < 2 || ops[0].atom != DW_OP_call_frame_cfa || ops[1].atom == DW_OP_plus_uconst)
		return ops;
	--*count;
	return ops + 1;
}

/* "register + offset", however it is written. */
static bool op_register(const Dwarf_Op *op, uint64_t *reg, int64_t *offset)
{
	if (op->atom == DW_OP_bregx) {
		*reg = op->number;
		*offset = op->number2;
		return true;
	}
	if (op->atom < DW_OP_breg0 || op->atom > DW_OP_breg31)
		return false;
	*reg = op->atom - DW_OP_breg0;
	*offset = op->number;
	return true;
}

static bool in_offset_range(int64_t offset)
{
	return offset % 8 == 0 && offset / 8 >= -(1 << 18) && offset / 8 < 1 << 18;
}

static uint32_t expect_cfa(const Dwarf_Op *ops, size_t count)
{
	static const uint8_t plt[] = {
		DW_OP_breg7, DW_OP_breg16, DW_OP_lit15, DW_OP_and, 0, DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus,
	};
	uint8_t atoms[9];
	uint64_t reg;
	int64_t offset;

	if (count == 9) {
		memcpy(atoms, plt, sizeof(plt));
		atoms[4] = ops[4].atom;
		return ops_are(ops, count, atoms, 9) && ops[0].number == 8
			       ? rule_make(UNWIND_PLT, ops[4].atom - DW_OP_lit0, 0, 0)
			       : 0;
	}
	if (!count || !op_register(&ops[0], &reg, &offset))
		return 0;
	if (count == 1 && reg == 7 && offset % 8 && in_offset_range(offset * 8))
		return rule_make(UNWIND_RSP_BYTES, offset, 0, 0);
	if (!in_offset_range(offset))
		return 0;
	if (count == 1 && reg == 7)
		return rule_make(UNWIND_RSP, offset / 8, 0, 0);
	if (count == 1 && reg == 6)
		return rule_make(UNWIND_RBP, offset / 8, 0, 0);
	if (count == 1 && reg < 16)
		return rule_make(UNWIND_REGISTER, offset / 8 * 16 + (int64_t)reg, 0, 0);
	if (count == 2 && ops[1].atom == DW_OP_deref && (reg == 6 || reg == 7))
		return rule_make(reg == 6 ? UNWIND_RBP_DEREF : UNWIND_RSP_DEREF, offset / 8, 0, 0);
	if (count == 3 && ops[1].atom == DW_OP_deref && ops[2].atom == DW_OP_plus_uconst && ops[2].number == 8 &&
	    reg == 7)
		return rule_make(UNWIND_RSP_DEREF_8, offset / 8, 0, 0);
	return 0;
}

/* The register lies at CFA + *offset. */
static bool is_at_cfa(const Dwarf_Op *ops, size_t count, int64_t *offset)
{
	*offset = count == 2 ? (int64_t)ops[1].number : 0;
	return (count == 1 || (count == 2 && ops[1].atom == DW_OP_plus_uconst)) && ops[0].atom == DW_OP_call_frame_cfa;
}

static uint32_t expect_rbp(Dwarf_Frame *frame)
{
	const Dwarf_Op *expression;
	Dwarf_Op memory[3], *ops;
	int64_t offset;
	size_t count;
	uint64_t reg;

	if (dwarf_frame_register(frame, 6, memory, &ops, &count))
		return rule_make(0, 0, UNWIND_RBP_LOST, 0);
	if (!count)
		return rule_make(0, 0, ops ? UNWIND_RBP_LOST : UNWIND_RBP_SAME, 0);
	if (is_at_cfa(ops, count, &offset) && offset % 8 == 0 && offset >= -512 && offset < 512)
		return rule_make(0, 0, UNWIND_RBP_AT_CFA, offset / 8);
	expression = skip_cfa(ops, &count);
	if (count == 1 && op_register(expression, &reg, &offset) && reg == 6 && offset % 8 == 0 && offset >= -512 &&
	    offset < 512)
		return rule_make(0, 0, UNWIND_RBP_AT_RBP, offset / 8);
	return rule_make(0, 0, UNWIND_RBP_LOST, 0);
}

static uint32_t expect_rule(Dwarf_Frame *frame)
{
	const Dwarf_Op *expression;
	Dwarf_Op memory[3], *ops, *cfa;
	size_t count, cfa_count;
	int64_t offset;
	uint32_t rule;

	if (dwarf_frame_register(frame, 16, memory, &ops, &count) || dwarf_frame_cfa(frame, &cfa, &cfa_count))
		return 0;
	if (!count)
		return ops ? UNWIND_END : 0;
	if (!is_at_cfa(ops, count, &offset)) {
		expression = skip_cfa(ops, &count);
		return count == 1 && expression->atom == DW_OP_breg7 && expression->number == 168 ? UNWIND_SIGNAL : 0;
	}
	if (offset != -8)
		return 0;
	rule = expect_cfa(cfa, cfa_count);
	return rule ? rule | expect_rbp(frame) : 0;
}

/* --- Files ---------------------------------------------------------------------------------- */

static uint64_t asked;

static void check_at(Dwarf_CFI *cfi, const struct unwind_table *table, uint64_t address)
{
	Dwarf_Frame *frame;
	uint32_t found = unwind_table_find(table, address), expected;

	if (dwarf_cfi_addrframe(cfi, address, &frame))
		return; /* between functions */
	expected = expect_rule(frame);
	free(frame);
	asked++;
	if (found == expected)
		return;
	fprintf(stderr, "at 0x%lx: %08x, libdw says %08x\n", address, found, expected);
	CHECK_EQUAL(found, expected);
}

/* Each row of the blocks, searched as the kernel side does. */
static void check_parts(const struct unwind_table *table, uint32_t units_max)
{
	uint64_t *units = calloc(units_max, sizeof(*units));
	uint64_t address = table->base, end = table->base + table->size_bytes;
	uint32_t next = 0;

	while (address < end) {
		struct unwind_part part = unwind_part_at(table, address, units_max);
		uint64_t part_end = address + ((uint64_t)part.block_count << UNWIND_BLOCK_BITS);

		CHECK(part.block_count);
		CHECK_THAT(part.block_count + part.row_count, <=, units_max);
		unwind_part_write(table, &part, units);
		for (; next < table->row_count && table->base + table->rows[next].pc < part_end; next++) {
			uint32_t pc = table->base + table->rows[next].pc - address;
			const struct unwind_block *block = &((struct unwind_block *)units)[pc >> UNWIND_BLOCK_BITS];
			const struct unwind_row *rows = (struct unwind_row *)units + part.block_count + block->first;
			uint32_t i = 0;

			CHECK(block->count);
			CHECK_THAT(block->count, <=, UNWIND_BLOCK_ROWS_MAX);
			CHECK_THAT(block->first + block->count, <=, part.row_count);
			CHECK_THAT(rows[0].pc, <=, pc >> UNWIND_BLOCK_BITS << UNWIND_BLOCK_BITS);
			while (i + 1 < block->count && rows[i + 1].pc <= pc)
				i++;
			CHECK_EQUAL(rows[i].rule, table->rows[next].rule);
			CHECK_EQUAL(rows[i].pc, pc);
		}
		address = part_end;
	}
	free(units);
}

static void check_file(struct elf_file *file)
{
	struct cfi_section section = { .is_eh = true };
	struct unwind_table table;
	struct cfi_counts counts;
	GElf_Shdr header;
	Elf_Scn *scn = elf_find_section(file->elf, ".eh_frame", &header);
	Elf_Data *data = scn ? elf_getdata(scn, NULL) : NULL;
	Dwarf_CFI *cfi;
	uint32_t step;

	CHECK(data);
	section.bytes = data->d_buf;
	section.size_bytes = data->d_size;
	section.address = header.sh_addr;
	unwind_table_build(&section, &table, &counts);
	CHECK(table.row_count && unwind_table_is_valid(&table) && !counts.skipped);
	fprintf(stderr, "# %lu functions, %u rows, %lu without words\n", counts.functions, table.row_count,
		counts.inexpressible);
	cfi = dwarf_getcfi_elf(file->elf);
	CHECK(cfi);
	step = 1 + table.row_count / QUESTIONS_MAX;
	for (uint32_t i = 0; i < table.row_count; i += step) {
		check_at(cfi, &table, table.base + table.rows[i].pc);
		if (i + 1 < table.row_count)
			check_at(cfi, &table, table.base + table.rows[i + 1].pc - 1);
	}
	dwarf_cfi_end(cfi);
	check_parts(&table, UNWIND_CHUNK_UNITS);
	check_parts(&table, 2000);
	unwind_table_fini(&table);
}

static void check_path(const char *path)
{
	struct elf_file file;
	int fd = open(path, O_RDONLY);

	if (fd < 0)
		return;
	CHECK(!elf_file_open(fd, &file));
	fprintf(stderr, "# %s\n", path);
	check_file(&file);
	elf_file_close(&file);
}

TEST(libraries_and_programs_have_the_rules_that_libdw_finds)
{
	static const char *const paths[] = {
		"/lib64/ld-linux-x86-64.so.2",
		"/lib/x86_64-linux-gnu/libc.so.6",
		"/lib/x86_64-linux-gnu/libm.so.6",
		"/lib/x86_64-linux-gnu/libstdc++.so.6",
		"/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
		"/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
		"/usr/lib/x86_64-linux-gnu/libdw.so.1",
		"/usr/bin/python3",
		"/usr/sbin/mariadbd",
		"/proc/self/exe",
	};

	asked = 0;
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++)
		check_path(paths[i]);
	CHECK_THAT(asked, >, 50000);
}

TEST(the_vdso_has_them_too)
{
	struct elf_file file;
	void *bytes;

	asked = 0;
	CHECK(!vdso_open(&file, &bytes));
	check_file(&file);
	elf_file_close(&file);
	free(bytes);
	CHECK_THAT(asked, >, 10);
}

/* --- Its way from one process to another ---------------------------------------------------- */

static struct unwind_row some_rows[] = { { 0, 5 }, { 7, 0 }, { 300, 6 }, { 512, 0 } };

static struct unwind_file some_file(void)
{
	return (struct unwind_file){
		.table = { .base = 0x1000, .size_bytes = 512, .rows = some_rows, .row_count = 4 },
		.segments = { { 0x2000, 0x3000, 0x100 }, { 0x5000, 0x9000, 0x80 } },
		.segment_count = 2,
	};
}

struct written {
	char *bytes;
	size_t size_bytes;
};

static int put(void *data, const void *bytes, size_t size_bytes)
{
	struct written *to = data;

	to->bytes = realloc(to->bytes, to->size_bytes + size_bytes);
	memcpy(to->bytes + to->size_bytes, bytes, size_bytes);
	to->size_bytes += size_bytes;
	return 0;
}

static struct written write_file(const struct unwind_file *file)
{
	struct written to = { 0 };

	CHECK(!unwind_file_write(file, put, &to));
	return to;
}

static int written(const struct unwind_file *file, struct unwind_file *back)
{
	struct written to = write_file(file);
	int err = unwind_file_read(to.bytes, to.size_bytes, back);

	free(to.bytes);
	return err;
}

TEST(what_is_written_is_read)
{
	struct unwind_file file = some_file(), back;

	CHECK(!written(&file, &back));
	CHECK_EQUAL(back.table.row_count, 4);
	CHECK_EQUAL(back.segment_count, 2);
	CHECK(!memcmp(back.table.rows, some_rows, sizeof(some_rows)));
	CHECK_EQUAL(unwind_table_find(&back.table, 0x1006), 5);
	CHECK(!unwind_table_find(&back.table, 0x1007));
	unwind_file_fini(&back);
}

TEST(a_mapping_may_begin_before_its_segment)
{
	/* As lld makes them: the page is that of what lies before in the file, too. */
	struct unwind_segment segment = { 0xf20, 0x201f20, 0x1030 };
	uint64_t bias;

	CHECK(unwind_segment_bias(&segment, 0x7f0000000000, 0x7f0000002000, 0, &bias));
	CHECK_EQUAL(bias, 0x7f0000000000 - 0x201000);
	CHECK(unwind_segment_bias(&segment, 0x7f0000000000, 0x7f0000001000, 0x1000, &bias));
	CHECK_EQUAL(bias, 0x7f0000000000 - 0x202000);
	CHECK(!unwind_segment_bias(&segment, 0x7f0000000000, 0x7f0000001000, 0x2000, &bias));
	segment.file_offset += 0x1000;
	CHECK(!unwind_segment_bias(&segment, 0x7f0000000000, 0x7f0000001000, 0, &bias));
}

TEST(what_makes_no_sense_is_refused)
{
	struct unwind_row twice[] = { { 0, 5 }, { 7, 6 }, { 7, 0 } };
	struct unwind_file file = some_file(), back;
	struct written to;

	file.table.rows = twice;
	file.table.row_count = 3;
	CHECK_EQUAL(written(&file, &back), -EINVAL);
	CHECK(!back.table.rows);
	file = some_file();
	file.table.base = 0x1001;
	CHECK_EQUAL(written(&file, &back), -EINVAL);
	file = some_file();
	file.table.size_bytes = 500; /* the last row lies beyond */
	CHECK_EQUAL(written(&file, &back), -EINVAL);
	file = some_file();
	file.segment_count = UNWIND_SEGMENTS_MAX + 1;
	CHECK_EQUAL(written(&file, &back), -EINVAL);
	CHECK_EQUAL(unwind_file_read("", 0, &back), -EINVAL);
	file = some_file();
	to = write_file(&file);
	for (size_t n = 0; n < to.size_bytes; n++) {
		CHECK_EQUAL(unwind_file_read(to.bytes, n, &back), -EINVAL);
		CHECK(!back.table.rows);
	}
	free(to.bytes);
}

static int put_none(void *data, const void *bytes, size_t size_bytes)
{
	(void)data, (void)bytes, (void)size_bytes;
	return -EIO;
}

TEST(what_is_too_large_is_neither_written_nor_read)
{
	struct unwind_file file = some_file(), back;
	struct written to = write_file(&file);

	CHECK_EQUAL(unwind_file_write(&file, put_none, NULL), -EIO);
	file.table.row_count = UNWIND_FILE_BYTES_MAX / sizeof(struct unwind_row);
	CHECK_EQUAL(unwind_file_write(&file, put_none, NULL), -EFBIG);
	CHECK_EQUAL(unwind_file_read(to.bytes, (size_t)UNWIND_FILE_BYTES_MAX + 1, &back), -EFBIG);
	free(to.bytes);
}

TEST(rows_that_are_not_there_take_no_memory)
{
	struct unwind_file file = some_file(), back;
	struct written to = write_file(&file);
	uint32_t row_count = 15 << 20;
	pid_t child;
	int status;

	memcpy(to.bytes + 16, &row_count, sizeof(row_count));
	child = fork();
	if (!child) {
		struct rlimit limit = { 100 << 20, 100 << 20 };

		setrlimit(RLIMIT_DATA, &limit);
		_exit(unwind_file_read(to.bytes, to.size_bytes, &back) != -EINVAL);
	}
	CHECK_EQUAL(waitpid(child, &status, 0), child);
	CHECK(!status);
	free(to.bytes);
}

/* --- Call frame information by hand --------------------------------------------------------- */

static struct unwind_table build(const uint8_t *bytes, size_t size_bytes, struct cfi_counts *counts)
{
	struct cfi_section section = { bytes, size_bytes, 0x10000, true };
	struct unwind_table table;

	unwind_table_build(&section, &table, counts);
	CHECK(unwind_table_is_valid(&table));
	return table;
}

/* "zR", pointers of 4 bytes relative to themselves; at first the CFA is rsp + 8. */
#define CIE 20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1, 0, 0

/* Of 32 bytes of code at 0x10400 - where the pointer lies; the instructions follow. */
#define FDE(length, place)                                                                                             \
	length, 0, 0, 0, (place) + 4, 0, 0, 0, (uint8_t)(0x400 - (place)-8), (0x400 - (place)-8) >> 8, 0, 0, 32, 0, 0, \
		0, 0

TEST(a_push_moves_the_frame_and_saves_rbp)
{
	static const uint8_t bytes[] = {
		CIE, FDE(24, 24), 0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0, 0, 0, 0, 0, 0, 0,
	};
	struct cfi_counts counts;
	struct unwind_table table = build(bytes, sizeof(bytes), &counts);

	CHECK_EQUAL(counts.functions, 1);
	CHECK(!counts.skipped);
	CHECK_EQUAL(table.base, 0x10400);
	CHECK_EQUAL(unwind_table_find(&table, 0x10400), rule_make(UNWIND_RSP, 1, UNWIND_RBP_SAME, 0));
	CHECK_EQUAL(unwind_table_find(&table, 0x10401), rule_make(UNWIND_RSP, 2, UNWIND_RBP_AT_CFA, -2));
	CHECK_EQUAL(unwind_table_find(&table, 0x10403), rule_make(UNWIND_RSP, 2, UNWIND_RBP_AT_CFA, -2));
	CHECK_EQUAL(unwind_table_find(&table, 0x10404), rule_make(UNWIND_RBP, 2, UNWIND_RBP_AT_CFA, -2));
	CHECK_EQUAL(unwind_table_find(&table, 0x1041f), rule_make(UNWIND_RBP, 2, UNWIND_RBP_AT_CFA, -2));
	CHECK(!unwind_table_find(&table, 0x10420) && !unwind_table_find(&table, 0x103ff));
	unwind_table_fini(&table);
}

/* The second one stands first, and what a linker has dropped between them. */
TEST(functions_have_their_beginnings_and_ends_in_order)
{
	static const uint8_t bytes[] = {
		CIE, FDE(16, 24), 0,  0, 0, 16, 0,  0, 0, 48, 0,    0, 0, 0xcc, 0xff, 0xfe, 0xff, 8, 0, 0, 0, 0, 0,
		0,   0,           16, 0, 0, 0,  68, 0, 0, 0,  0xb0, 2, 0, 0,    8,    0,    0,    0, 0, 0, 0, 0,
	};
	struct cfi_section section = { bytes, sizeof(bytes), 0x10000, true };
	struct cfi_function *functions;
	size_t count;

	functions = cfi_functions(&section, &count);
	CHECK_EQUAL(count, 2);
	CHECK_EQUAL(functions[0].begin, 0x102f8);
	CHECK_EQUAL(functions[0].end, 0x10300);
	CHECK_EQUAL(functions[1].begin, 0x10400);
	CHECK_EQUAL(functions[1].end, 0x10420);
	free(functions);
	section.size_bytes = 24;
	CHECK(!cfi_functions(&section, &count) && !count);
}

TEST(a_stack_need_not_be_aligned)
{
	/* As clang makes it of a function with one char that calls nothing: sub $1,%rsp. */
	static const uint8_t bytes[] = {
		CIE, FDE(20, 24), 0x44, 0x0e, 9, 0x50, 0x0e, 8, 0, 0, 0, 0, 0, 0, 0,
	};
	struct cfi_counts counts;
	struct unwind_table table = build(bytes, sizeof(bytes), &counts);

	CHECK_EQUAL(unwind_table_find(&table, 0x10404), rule_make(UNWIND_RSP_BYTES, 9, UNWIND_RBP_SAME, 0));
	CHECK_EQUAL(unwind_table_find(&table, 0x10414), rule_make(UNWIND_RSP, 1, UNWIND_RBP_SAME, 0));
	unwind_table_fini(&table);
}

TEST(an_instruction_that_nobody_knows_leaves_the_rest_of_the_function_out)
{
	static const uint8_t bytes[] = {
		CIE, FDE(20, 24), 0x41, 0x0e, 16, 0x43, 0x3f, 0x0e, 24, 0, 0, 0, 0, 0, 0,
	};
	struct cfi_counts counts;
	struct unwind_table table = build(bytes, sizeof(bytes), &counts);

	CHECK_EQUAL(counts.skipped, 1);
	CHECK_EQUAL(unwind_table_find(&table, 0x10401), rule_make(UNWIND_RSP, 2, UNWIND_RBP_SAME, 0));
	CHECK(!unwind_table_find(&table, 0x10404));
	unwind_table_fini(&table);
}

/* --- Where nobody calls --------------------------------------------------------------------- */

static struct unwind_table marked(uint64_t address)
{
	static const struct unwind_row rows[] = { { 0x80, 5 }, { 0x90, 0 }, { 0x1a0, 6 }, { 0x200, 0 } };
	struct unwind_table table = { .base = 0x1000, .size_bytes = 0x200, .row_count = 4 };

	table.rows = malloc(sizeof(rows));
	memcpy(table.rows, rows, sizeof(rows));
	unwind_table_mark_end(&table, address);
	CHECK(unwind_table_is_valid(&table));
	CHECK_EQUAL(unwind_table_find(&table, 0x1080), 5);
	CHECK_EQUAL(unwind_table_find(&table, 0x11ff), 6);
	CHECK(!unwind_table_find(&table, 0x1200));
	return table;
}

TEST(a_gap_is_marked_to_its_end_and_no_rule_is_lost)
{
	static const struct {
		uint64_t address, begin, end;
	} places[] = {
		{ 0x1090, 0x1090, 0x11a0 }, { 0x1100, 0x1100, 0x11a0 }, { 0x1000, 0x1000, 0x1080 },
		{ 0x0ff0, 0x0ff0, 0x1080 }, { 0x0100, 0x0100, 0x1080 },
	};

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		struct unwind_table table = marked(places[i].address);

		CHECK_EQUAL(unwind_table_find(&table, places[i].begin), UNWIND_END);
		CHECK_EQUAL(unwind_table_find(&table, places[i].end - 1), UNWIND_END);
		CHECK_THAT(unwind_table_find(&table, places[i].end), >, UNWIND_END);
		CHECK_THAT(unwind_table_find(&table, places[i].begin - 1), !=, UNWIND_END);
		unwind_table_fini(&table);
	}
}

TEST(code_with_a_rule_and_code_beyond_the_table_is_not_marked)
{
	static const uint64_t addresses[] = { 0x1080, 0x11ff, 0x1200, 0x100000 };

	for (size_t i = 0; i < sizeof(addresses) / sizeof(*addresses); i++) {
		struct unwind_table table = marked(addresses[i]);

		CHECK_EQUAL(table.row_count, 4);
		CHECK_EQUAL(table.base, 0x1000);
		unwind_table_fini(&table);
	}
}

/* --- Two tables ------------------------------------------------------------------------------ */

static struct unwind_table table_of(uint64_t base, const struct unwind_row *rows, uint32_t count)
{
	struct unwind_table table = {
		.base = base,
		.size_bytes = rows[count - 1].pc,
		.row_count = count,
		.rows = malloc(count * sizeof(*rows)),
	};

	memcpy(table.rows, rows, count * sizeof(*rows));
	return table;
}

TEST(a_merged_table_has_the_rules_of_both_and_prefers_the_first)
{
	static const struct unwind_row first[] = { { 0x10, 5 }, { 0x20, 0 }, { 0x300, 6 }, { 0x400, 0 } };
	static const struct unwind_row second[] = {
		{ 0x18, 7 }, { 0x30, 8 }, { 0x310, 0 }, { 0x3f0, 9 }, { 0x800, 0 }
	};
	struct unwind_table a = table_of(0x2000, first, 4), b = table_of(0x1f00, second, 5);
	struct unwind_table before = table_of(0x2000, first, 4);

	unwind_table_merge(&a, &b);
	CHECK(unwind_table_is_valid(&a));
	for (uint64_t address = 0x1e00; address < 0x2900; address++) {
		uint32_t rule = unwind_table_find(&before, address);

		CHECK_EQUAL(unwind_table_find(&a, address), (rule ? rule : unwind_table_find(&b, address)));
	}
	unwind_table_fini(&before);
	unwind_table_fini(&a);
	unwind_table_fini(&b);
}

TEST(a_table_merged_with_none_stays_what_it_is)
{
	struct unwind_table table = { 0 }, none = { 0 };
	struct unwind_table some = table_of(0x1000, some_rows, 4);

	unwind_table_merge(&table, &none);
	CHECK(!table.row_count);
	unwind_table_merge(&table, &some);
	CHECK_EQUAL(table.row_count, 4);
	CHECK_EQUAL(table.base, 0x1000);
	CHECK_EQUAL(table.size_bytes, some.size_bytes);
	unwind_table_merge(&table, &none);
	CHECK_EQUAL(table.row_count, 4);
	CHECK_EQUAL(table.size_bytes, some.size_bytes);
	unwind_table_fini(&table);
	unwind_table_fini(&some);
}

TEST(a_merged_table_that_was_cut_ends_where_the_longer_one_did)
{
	struct unwind_table cut = { 0 }, some = table_of(0x1000, some_rows, 4), none = { 0 };

	unwind_table_add(&cut, 0x2000, 5);
	unwind_table_add(&cut, 0x200002000, 0);
	CHECK(unwind_table_is_valid(&cut));
	CHECK_EQUAL(unwind_table_find(&cut, 0x80000000), 5);
	unwind_table_merge(&none, &cut);
	CHECK(unwind_table_is_valid(&none));
	CHECK_EQUAL(unwind_table_find(&none, 0x80000000), 5);
	unwind_table_merge(&some, &cut);
	CHECK(unwind_table_is_valid(&some));
	CHECK_EQUAL(unwind_table_find(&some, 0x80000000), 5);
	CHECK_EQUAL(unwind_table_find(&some, 0x1006), 5);
	CHECK(!unwind_table_find(&some, 0x1007));
	unwind_table_fini(&none);
	unwind_table_fini(&some);
	unwind_table_fini(&cut);
}
