/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "helper/opener.h"
#include "helper/pair.h"
#include "symbol/answer/answer_book.h"
#include "symbol/elf/function_ends.h"
#include "symbol/space/module.h"
#include "symbol/worker/worker.h"

static char directory[PATH_MAX + 16];
static struct helper_pair *helpers;
static struct opener *opener;
static struct worker *worker;
static struct modules *modules;

static void on_stuck(void *data, uint32_t pid, const char *path)
{
	(void)data, (void)pid, (void)path;
	fail_msg("a file could not be looked at");
}

static void begin(void)
{
	char output[PATH_MAX];

	CHECK(realpath(TEST_OUTPUT, output));
	snprintf(directory, sizeof(directory), "%s/module-XXXXXX", output);
	CHECK(mkdtemp(directory));
}

static void open_modules(void)
{
	helpers = helper_pair_new(worker_roles());
	opener = opener_new(helpers, on_stuck, NULL);
	worker = worker_new(helpers, opener);
	modules = modules_new(opener);
}

static void close_modules(void)
{
	modules_free(modules);
	worker_free(worker);
	opener_free(opener);
	helper_pair_free(helpers);
}

static void ask_build_id(struct module *module)
{
	struct build_id build_id;

	CHECK(!worker_ask_build_id(worker, module, &build_id) && build_id.size_bytes);
	modules_set_build_id(modules, module, &build_id);
}

static void run(const char *format)
{
	char command[8 * sizeof(directory)];

	snprintf(command, sizeof(command), format, directory, directory, directory);
	CHECK(!system(command));
}

/* A mapping of a file of the folder, as the kernel tells it, of a process that has nothing mapped there. */
static struct module *get(const char *name)
{
	char path[sizeof(directory) + 64];
	struct module_identity identity = { .pid = getpid(), .path = path };
	struct stat status;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	CHECK(!stat(path, &status));
	identity.device = status.st_dev;
	identity.inode = status.st_ino;
	return modules_get(modules, &identity);
}

TEST(files_of_one_build_id_are_as_many_modules_and_links_are_one)
{
	struct module *one, *two;

	begin();
	open_modules();
	run("cp /proc/self/exe %s/one && cp %s/one %s/two");
	run("ln %s/one %s/link; : %s");
	one = get("one");
	two = get("two");
	CHECK(one && two);
	CHECK_THAT(one, !=, two);
	CHECK(one->has_stamp && two->has_stamp);
	ask_build_id(one);
	ask_build_id(two);
	CHECK(build_id_is_same(&one->build_id, &two->build_id));
	CHECK_THAT(module_owner(one), !=, module_owner(two));
	CHECK_EQUAL(get("one"), one);
	CHECK_EQUAL(get("two"), two);
	CHECK_EQUAL(get("link"), one);
	run("rm -rf %s; : %s %s");
	close_modules();
}

TEST(a_file_that_is_written_again_is_another_module)
{
	struct module *before, *after;

	begin();
	open_modules();
	run("cp /proc/self/exe %s/file; : %s %s");
	before = get("file");
	ask_build_id(before);
	run("printf x >>%s/file; : %s %s");
	before->checked_ns = 0; /* a second ago or more */
	after = get("file");
	CHECK(before && after);
	CHECK_THAT(before, !=, after);
	CHECK_EQUAL(before->inode, after->inode);
	ask_build_id(after);
	CHECK_THAT(module_owner(before), !=, module_owner(after));
	CHECK_EQUAL(get("file"), after);
	run("rm -rf %s; : %s %s");
	close_modules();
}

/* Who forges a build-id reaches no more of the key than its end. */
TEST(a_build_id_does_not_make_a_file_another_one)
{
	struct module module = { .device = 0x803, .inode = 1234, .path = "/a" }, other = module;

	other.inode = 1235;
	for (uint32_t i = 0; i < 256; i++) {
		module.build_id.size_bytes = 1;
		module.build_id.bytes[0] = i;
		CHECK_THAT(module_owner(&module) >> 16, !=, module_owner(&other) >> 16);
		CHECK_EQUAL(module_owner(&module) >> 16,
			    module_owner(&(struct module){ .device = 0x803, .inode = 1234, .path = "/b" }) >> 16);
	}
}

TEST(a_trace_of_before_is_read_by_its_build_ids)
{
	struct module_identity identity = {
		.path = "/no such file",
		.device = 5,
		.inode = 7,
		.build_id = { .size_bytes = 3, .bytes = { 1, 2, 3 } },
	};
	struct answer answer = { .frame_count = 1, .text_bytes = 6, .text = "\0name" };
	struct answer_book *book = answer_book_new();
	const struct answer *found;
	struct module *module, *same;

	answer.frames[0].function = 1;
	open_modules();
	modules_shut(modules);
	module = modules_get(modules, &identity);
	identity.inode = 8;
	same = modules_get(modules, &identity);
	CHECK(module && same);
	CHECK_THAT(module, !=, same);
	answer_book_put(book, BOOK_PLACE, module_old_owner(module), 16, &answer,
			offsetof(struct answer, text) + answer.text_bytes);
	worker_use_book(worker, book, true);
	CHECK(!worker_ask(worker, module, 16, true, &found));
	CHECK_STRING(found->text + 1, "name");
	/* Then, they were one. */
	CHECK(!worker_ask(worker, same, 16, true, &found));
	CHECK_STRING(found->text + 1, "name");
	answer.text[1] = 'f';
	answer_book_put(book, BOOK_PLACE, module_owner(module), 16, &answer,
			offsetof(struct answer, text) + answer.text_bytes);
	CHECK(!worker_ask(worker, module, 16, true, &found));
	CHECK_STRING(found->text + 1, "fame");
	CHECK(!worker_ask(worker, same, 16, true, &found));
	CHECK_STRING(found->text + 1, "name");
	/* With nothing but a build-id. */
	identity.inode = 0;
	module = modules_get(modules, &identity);
	CHECK(module);
	CHECK_EQUAL(modules_get(modules, &identity), module);
	CHECK(!worker_ask(worker, module, 16, true, &found));
	CHECK_STRING(found->text + 1, "name");
	close_modules();
	answer_book_free(book);
}

TEST(a_file_describes_a_program_if_root_or_its_owner_made_it)
{
	struct file_stamp program = { .device = 1, .inode = 1, .owner = 1000 }, file = program;

	file.inode = 2;
	CHECK(file_stamp_may_describe(&file, &program));
	file.owner = 0;
	CHECK(file_stamp_may_describe(&file, &program));
	file.owner = 1001;
	CHECK(!file_stamp_may_describe(&file, &program));
	program.owner = 0;
	file.owner = 1000;
	CHECK(!file_stamp_may_describe(&file, &program));
	/* Whoever mounted it says that it is root's. */
	file.owner = 0;
	file.device = 2;
	file.is_owner_doubtful = true;
	CHECK(!file_stamp_may_describe(&file, &program) && !file_stamp_is_owned(&file, 0));
	file.device = 1;
	CHECK(file_stamp_may_describe(&file, &program));
}

TEST(a_probe_is_put_where_an_instruction_begins)
{
	/* mov $0x12345678,%eax; add %rdi,%rax; ret */
	static const uint8_t code[] = "\xb8\x78\x56\x34\x12\x48\x01\xf8\xc3";

	for (uint64_t at = 0; at < 12; at++)
		CHECK_EQUAL(function_has_instruction(code, sizeof(code) - 1, 0x1000, at),
			    at == 0 || at == 5 || at == 8);
}
