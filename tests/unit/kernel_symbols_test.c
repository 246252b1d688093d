/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "symbol/names/kernel_symbols.h"

static struct kernel_function function;

static char modules[] = "/tmp/pinch-modules-XXXXXX";

static void write_at(int fd, const char *text)
{
	CHECK_THAT(fd, >=, 0);
	CHECK_EQUAL(pwrite(fd, text, strlen(text), 0), (ssize_t)strlen(text));
}

static struct kernel_symbols *symbols_of(const char *text)
{
	char path[] = "/tmp/pinch-kallsyms-XXXXXX";
	int fd = mkstemp(path);
	struct kernel_symbols *symbols;

	write_at(fd, text);
	symbols = kernel_symbols_new(path, modules);
	unlink(path);
	close(fd);
	return symbols;
}

static bool is_at(struct kernel_symbols *symbols, uint64_t address, const char *name, const char *module)
{
	return kernel_symbols_find(symbols, address, &function) && !strcmp(function.name, name) &&
	       !strcmp(function.module, module);
}

TEST(functions_of_kernel_modules_and_programs_are_found)
{
	struct kernel_symbols *symbols =
		symbols_of("ffffffffc0100000 t nf_hook\t[nf_tables]\n"
			   "ffffffff81000100 t local_name\nffffffff81000100 T global_name\n"
			   "ffffffff81000100 t other_name\nffffffff81000000 T _stext\n"
			   "ffffffff81000180 d some_data\nffffffff81000200 W weak\n"
			   "ffffffffc0200000 t bpf_prog_0123456789abcdef_sched_switch\t[bpf]\n");

	CHECK(is_at(symbols, 0xffffffff81000000, "_stext", "[kernel]"));
	CHECK(is_at(symbols, 0xffffffff810001ff, "global_name", "[kernel]"));
	CHECK_EQUAL(function.start, 0xffffffff81000100);
	CHECK(is_at(symbols, 0xffffffff81000200, "weak", "[kernel]"));
	CHECK(is_at(symbols, 0xffffffffc0100010, "nf_hook", "[nf_tables]"));
	CHECK(is_at(symbols, 0xffffffffc0200010, "bpf_prog_0123456789abcdef_sched_switch", "[bpf]"));
	CHECK(!kernel_symbols_find(symbols, 0xffffffff80ffffff, &function));
	CHECK(!kernel_symbols_find(symbols, 0xffffffffffffffff, &function));
	kernel_symbols_free(symbols);
}

static void check_begun(const char *modules_before, const char *modules_after, int steps)
{
	struct kernel_symbols *symbols =
		symbols_of("ffffffff81000100 T global_name\nffffffff81000100 t local_name\n"
			   "ffffffff81000000 T _stext\nffffffffc0100000 t nf_hook\t[nf_tables]\n"
			   "ffffffffc0200000 t bpf_prog_one\t[bpf]\nffffffffc0100100 t nf_next\t[nf_tables]\n");
	int fd = mkstemp(modules);

	write_at(fd, modules_before);
	for (int i = 0; i < steps; i++)
		kernel_symbols_step(symbols, i * 1000000ull);
	write_at(fd, modules_after);
	CHECK(is_at(symbols, 0xffffffff81000000, "_stext", "[kernel]"));
	CHECK(is_at(symbols, 0xffffffff81000101, "global_name", "[kernel]"));
	CHECK(is_at(symbols, 0xffffffffc0100010, "nf_hook", "[nf_tables]"));
	CHECK(is_at(symbols, 0xffffffffc0100110, "nf_next", "[nf_tables]"));
	CHECK(is_at(symbols, 0xffffffffc0200010, "bpf_prog_one", "[bpf]"));
	CHECK_EQUAL(kernel_symbols_count(symbols), 6);
	kernel_symbols_free(symbols);
	unlink(modules);
	close(fd);
	strcpy(modules + sizeof(modules) - 7, "XXXXXX");
}

TEST(functions_of_the_kernel_may_be_read_before_those_of_modules)
{
	check_begun("nf_tables 1 2 - Live 0xffffffffc0100000\n", "nf_tables 1 3 - Live 0xffffffffc0100000\n", 1);
	check_begun("nf_tables 1 2 - Live 0xffffffffc0100000\n", "nf_others 1 2 - Live 0xffffffffc0100000\n", 3);
	check_begun("", "nf_tables 1 2 - Live 0xffffffffc0100000\n", 2);
	check_begun("", "", 0);
}

TEST(hidden_addresses_make_an_empty_table)
{
	struct kernel_symbols *symbols = symbols_of("0000000000000000 T _stext\n"
						    "0000000000000000 t schedule\n");

	CHECK_EQUAL(kernel_symbols_count(symbols), 0);
	CHECK(!kernel_symbols_find(symbols, 0xffffffff81000000, &function));
	kernel_symbols_free(symbols);
}

TEST(lines_that_make_no_sense_are_passed_over)
{
	struct kernel_symbols *symbols = symbols_of("\n\nhello\nffffffff81000000\n"
						    "ffffffff81000000 T\n"
						    "ffffffff81000000 T good\n");

	CHECK_EQUAL(kernel_symbols_count(symbols), 1);
	kernel_symbols_free(symbols);
}

TEST(the_running_kernel_has_its_functions)
{
	struct kernel_symbols *symbols = kernel_symbols_new("/proc/kallsyms", "/proc/modules");
	char line[512], found[256], type;
	unsigned long long address;
	FILE *file = fopen("/proc/kallsyms", "r");
	bool is_checked = false;

	while (file && !is_checked && fgets(line, sizeof(line), file))
		if (sscanf(line, "%llx %c %255s", &address, &type, found) == 3 && address &&
		    !strcmp(found, "schedule")) {
			CHECK(is_at(symbols, address + 1, "schedule", "[kernel]"));
			is_checked = true;
		}
	if (file)
		fclose(file);
	kernel_symbols_free(symbols);
	if (!is_checked)
		skip(); /* the kernel hides its addresses from this user */
}
