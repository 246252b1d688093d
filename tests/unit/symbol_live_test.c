/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What needs living processes: their maps files, deleted programs, containers, JIT compilers. */
#include "test.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "helper/maps_file.h"
#include "symbol/elf/vdso.h"
#include "symbol/space/module.h"
#include "symbol_fixture.h"

static struct fixture fixture;

static void run(const char *command)
{
	CHECK(!system(command));
}

/* Starts a program that waits; in a file tree of its own if root is not NULL. */
static pid_t start(const char *root, const char *path)
{
	int ready[2];
	pid_t pid;
	char c;

	CHECK(!pipe2(ready, O_CLOEXEC));
	pid = fork();
	if (!pid) {
		if (root && (chroot(root) || chdir("/")))
			_exit(1);
		execl(path, path, "wait", NULL);
		_exit(1);
	}
	close(ready[1]);
	CHECK_EQUAL(read(ready[0], &c, 1), 0); /* the exec closes the other end */
	close(ready[0]);
	return pid;
}

static void stop(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

struct search {
	const char *path;
	uint64_t load; /* address of the file's first byte */
};

static void on_mapping(void *data, const struct file_mapping *mapping)
{
	struct search *search = data;

	if (!strcmp(mapping->path, search->path))
		search->load = mapping->start - mapping->file_offset;
}

static uint64_t load_address(pid_t pid, const char *path)
{
	struct search search = { .path = path };

	CHECK(!maps_file_read(pid, on_mapping, &search));
	CHECK(search.load);
	return search.load;
}

static void resolve_at(pid_t pid, uint64_t address)
{
	fixture.count = symbols_resolve(fixture.symbols, pid, 1000, address, false, fixture.frames, SYMBOL_INLINE_MAX);
}

/* The data there has a name. */
static bool is_variable(pid_t pid, uint64_t address, const char *name)
{
	struct symbol_object object;

	return !symbols_resolve_object(fixture.symbols, pid, 1000, address, &object) && object.name &&
	       !strcmp(object.name, name);
}

static bool is_function(const char *function)
{
	return fixture.count == 1 && fixture.frames[0].function && !strcmp(fixture.frames[0].function, function);
}

struct own_function {
	uint64_t address, file_offset;
	struct symbol_open_file file;
};

static void on_own_mapping(void *data, const struct file_mapping *mapping)
{
	struct own_function *function = data;
	const struct module_identity identity = {
		.pid = getpid(),
		.start = mapping->start,
		.end = mapping->end,
		.device = mapping->device,
		.inode = mapping->inode,
		.path = mapping->path,
	};

	if (function->address < mapping->start || function->address >= mapping->end)
		return;
	CHECK(!symbols_open_file(fixture.symbols, &identity, &function->file));
	function->file_offset = function->address - mapping->start + mapping->file_offset;
}

TEST(a_function_that_a_library_exports_is_found_by_its_name)
{
	struct own_function function = { .address = (uint64_t)dlsym(RTLD_DEFAULT, "getaddrinfo") };
	uint64_t file_offset = 0;

	fixture_begin(&fixture);
	CHECK(function.address && !maps_file_read(getpid(), on_own_mapping, &function));
	CHECK(function.file_offset);
	CHECK(!symbols_find_function(fixture.symbols, &function.file, "getaddrinfo", &file_offset));
	CHECK_EQUAL(file_offset, function.file_offset);
	CHECK_EQUAL(symbols_find_function(fixture.symbols, &function.file, "getaddrinfos", &file_offset), -ENOENT);
	CHECK_EQUAL(file_offset, function.file_offset);
	close(function.file.fd);
	fixture_end(&fixture);
}

TEST(names_of_a_process_that_is_gone_and_whose_program_was_replaced)
{
	uint64_t place = input_offset("pie", "place_local"), load;
	uint64_t data = input_address("pie", "sink");
	char command[1024], path[256];
	pid_t pid;

	strcpy(path, input("replaced"));
	snprintf(command, sizeof(command), "cp %s %s", input("pie"), path);
	run(command);
	fixture_begin(&fixture);
	pid = start(NULL, path);
	load = load_address(pid, path);
	CHECK(!symbols_add_process(fixture.symbols, pid));
	CHECK(!unlink(path));
	snprintf(command, sizeof(command), "cp %s %s", input("names"), path);
	run(command);
	stop(pid);
	resolve_at(pid, load + place);
	CHECK(is_function("local_function"));
	CHECK_EQUAL(fixture.frames[0].line, input_line("local"));
	CHECK_STRING(fixture.frames[0].module, "replaced");
	CHECK(is_variable(pid, load + data, "sink"));
	fixture_end(&fixture);
}

TEST(a_program_that_was_deleted_before_is_read_through_its_mapping)
{
	uint64_t place = input_offset("pie", "place_local"), load;
	char command[1024], path[256];
	pid_t pid;

	if (getuid())
		skip();
	strcpy(path, input("deleted"));
	snprintf(command, sizeof(command), "cp %s %s", input("pie"), path);
	run(command);
	fixture_begin(&fixture);
	pid = start(NULL, path);
	load = load_address(pid, path);
	CHECK(!unlink(path));
	CHECK(!symbols_add_process(fixture.symbols, pid));
	resolve_at(pid, load + place);
	CHECK(is_function("local_function"));
	CHECK_STRING(fixture.frames[0].module, "deleted");
	stop(pid);
	fixture_end(&fixture);
}

TEST(a_file_that_took_the_place_of_the_mapped_one_is_not_read)
{
	uint64_t place = input_offset("pie", "place_local");
	struct stat status;

	CHECK(!stat(input("pie"), &status));
	fixture_begin(&fixture);
	push_map_of_inode(&fixture, 10, status.st_dev, status.st_ino + 1000000, input("pie"));
	resolve(&fixture, place);
	CHECK_EQUAL(fixture.count, 1);
	CHECK(!fixture.frames[0].function);
	CHECK(has_note(&fixture, "cannot read", "/pie"));
	push_map_of_inode(&fixture, 20, status.st_dev, status.st_ino, input("pie"));
	resolve(&fixture, place);
	CHECK(is_function("local_function"));
	fixture_end(&fixture);
}

TEST(a_file_that_is_gone_gives_offsets_and_a_note)
{
	fixture_begin(&fixture);
	resolve_in(&fixture, "no_such_file", "pie", "place_local");
	CHECK_EQUAL(fixture.count, 1);
	CHECK(!fixture.frames[0].function);
	CHECK_STRING(fixture.frames[0].module, "no_such_file");
	CHECK(has_note(&fixture, "cannot read", "no_such_file"));
	fixture_end(&fixture);
}

/* A free port: the kernel's choice. */
static int free_port(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t size_bytes = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	CHECK(!bind(fd, (struct sockaddr *)&address, sizeof(address)));
	CHECK(!getsockname(fd, (struct sockaddr *)&address, &size_bytes));
	close(fd);
	return ntohs(address.sin_port);
}

static bool is_listening(int port)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	bool is_open = !connect(fd, (struct sockaddr *)&address, sizeof(address));

	close(fd);
	return is_open;
}

TEST(a_debug_file_comes_from_the_server_that_the_user_named)
{
	uint64_t place = input_offset("served_full", "place_inlined");
	char port_text[16], folder[256], url[64];
	int port = free_port();
	pid_t pid;

	if (!dlopen("libdebuginfod.so.1", RTLD_NOW) || system("python3 -V >/dev/null 2>&1"))
		skip();
	snprintf(port_text, sizeof(port_text), "%d", port);
	snprintf(url, sizeof(url), "http://127.0.0.1:%d", port);
	strcpy(folder, input("server"));
	pid = fork();
	if (!pid) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		execlp("python3", "python3", "-m", "http.server", port_text, "--bind", "127.0.0.1", "--directory",
		       folder, NULL);
		_exit(1);
	}
	for (int i = 0; i < 500 && !is_listening(port); i++)
		usleep(20000);
	setenv("DEBUGINFOD_URLS", url, 1);
	setenv("DEBUGINFOD_CACHE_PATH", input("cache"), 1);
	fixture_begin(&fixture);
	push_map(&fixture, 10, NOBODY, MAP_START, MAP_BYTES, 0, input("served"));
	resolve(&fixture, place);
	stop(pid);
	unsetenv("DEBUGINFOD_URLS");
	CHECK_EQUAL(fixture.count, 3);
	CHECK_STRING(fixture.frames[2].function, "outer");
	CHECK_EQUAL(fixture.frames[0].line, input_line("asm"));
	fixture_end(&fixture);
}

TEST(a_containers_debug_file_is_found_in_its_own_tree)
{
	uint64_t place = input_offset("fixed", "place_inlined");
	char root[256], command[1024];
	pid_t pid;

	if (getuid())
		skip();
	strcpy(root, input("root"));
	snprintf(command, sizeof(command),
		 "cd %s && for f in $(ldd program | grep -o '/[^ ]*'); "
		 "do mkdir -p .$(dirname $f) && cp -L $f .$f; done",
		 root);
	run(command);
	fixture_begin(&fixture);
	pid = start(root, "/program");
	CHECK(!symbols_add_process(fixture.symbols, pid));
	resolve_at(pid, 0x400000 + place);
	stop(pid);
	CHECK_EQUAL(fixture.count, 3);
	CHECK_STRING(fixture.frames[2].function, "outer");
	CHECK_EQUAL(fixture.frames[2].line, input_line("outer"));
	CHECK(is_variable(pid, input_address("fixed", "sink"), "sink"));
	fixture_end(&fixture);
}

/* The code of a function in this process is what is there. */
static void check_code(uint64_t function)
{
	uint8_t code[64];
	uint64_t start;
	size_t count = symbols_read_code(fixture.symbols, getpid(), 1000, function, code, sizeof(code), &start);

	CHECK_THAT(count, >, 0);
	CHECK_EQUAL(start, function);
	CHECK(!memcmp(code, (void *)start, count));
}

TEST(the_vdso_has_functions)
{
	uint64_t vdso = getauxval(AT_SYSINFO_EHDR);
	struct elf_file file;
	Elf_Scn *scn = NULL;
	bool is_checked = false;
	void *bytes;

	if (!vdso || vdso_open(&file, &bytes))
		skip();
	fixture_begin(&fixture);
	CHECK(!symbols_add_process(fixture.symbols, getpid()));
	while ((scn = elf_nextscn(file.elf, scn))) {
		GElf_Shdr header;
		GElf_Sym symbol;

		if (!gelf_getshdr(scn, &header) || header.sh_type != SHT_DYNSYM)
			continue;
		for (int i = 1; gelf_getsym(elf_getdata(scn, NULL), i, &symbol); i++) {
			const char *name = elf_strptr(file.elf, header.sh_link, symbol.st_name);

			if (strcmp(name, "__vdso_gettimeofday"))
				continue;
			resolve_at(getpid(), vdso + symbol.st_value);
			CHECK_EQUAL(fixture.count, 1);
			CHECK(fixture.frames[0].function);
			CHECK(strstr(fixture.frames[0].function, "gettimeofday"));
			CHECK_STRING(fixture.frames[0].module, "[vdso]");
			check_code(vdso + symbol.st_value);
			is_checked = true;
		}
	}
	CHECK(is_checked);
	elf_file_close(&file);
	free(bytes);
	fixture_end(&fixture);
}

TEST(code_of_a_jit_compiler_has_the_names_of_its_symbol_file)
{
	void *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint32_t module[2];
	uint64_t place[2];
	char path[64];
	FILE *file;

	CHECK_THAT(code, !=, MAP_FAILED);
	fixture_begin(&fixture);
	CHECK(!symbols_add_process(fixture.symbols, getpid()));
	resolve_at(getpid(), (uint64_t)code);
	CHECK_EQUAL(fixture.count, 1);
	CHECK(!fixture.frames[0].function);
	CHECK_STRING(fixture.frames[0].module, "[jit]");
	CHECK_EQUAL(fixture.frames[0].offset, (uint64_t)code);

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	file = fopen(path, "w");
	CHECK(file);
	fprintf(file, "%lx 100 LazyCompile:~work app.js:12\n", (unsigned long)code);
	fclose(file);
	push_map(&fixture, 1000, getpid(), (uint64_t)code, 4096, 0, "//anon");
	symbols_settle(fixture.symbols, 60000000000ull);
	CHECK(!unlink(path));
	resolve_at(getpid(), (uint64_t)code + 0x20);
	CHECK(is_function("LazyCompile:~work app.js:12"));
	CHECK(!symbols_place(fixture.symbols, getpid(), 1000, (uint64_t)code + 0x20, true, &module[0], &place[0]));
	CHECK(!symbols_place(fixture.symbols, getpid(), 1000, (uint64_t)code + 0x30, true, &module[1], &place[1]));
	CHECK_EQUAL(module[0], module[1]);
	CHECK_EQUAL(place[0], place[1]);
	CHECK_EQUAL(place[0], (uint64_t)code);

	/* A child that was forked, and never compiled anything itself, runs the same code. */
	push_fork(&fixture, 500, NOBODY, getpid());
	resolve_at(NOBODY, (uint64_t)code + 0x20);
	CHECK(is_function("LazyCompile:~work app.js:12"));
	fixture_end(&fixture);
	munmap(code, 4096);
}

static size_t note_count(const char *text)
{
	const char *const *notes;
	size_t count = symbols_notes(fixture.symbols, &notes), found = 0;

	for (size_t i = 0; i < count; i++)
		found += strstr(notes[i], text) != NULL;
	return found;
}

TEST(code_without_a_name_is_noted_once_for_each_runtime)
{
	static const char *const files[] = { "/lib/libc.so", "/a/libjvm.so", "/b/libjvm.so" };

	fixture_begin(&fixture);
	for (uint32_t i = 0; i < 3; i++) {
		push_map(&fixture, 10, NOBODY - i, MAP_START, MAP_BYTES, 0, "//anon");
		push_map(&fixture, 10, NOBODY - i, MAP_START + MAP_BYTES, MAP_BYTES, 0, files[i]);
	}
	CHECK(!note_count("no names"));
	resolve_at(NOBODY, MAP_START + 0x10);
	resolve_at(NOBODY, MAP_START + 0x20);
	CHECK_EQUAL(note_count("no names"), 1);
	CHECK_EQUAL(note_count("jitdump"), 1);
	resolve_at(NOBODY - 1, MAP_START + 0x10);
	resolve_at(NOBODY - 2, MAP_START + 0x10);
	resolve_at(NOBODY, MAP_START + 0x10);
	CHECK_EQUAL(note_count("no names"), 2);
	CHECK_EQUAL(note_count("Compiler.perfmap"), 1);
	fixture_end(&fixture);
}

/* What a child of this process does until asked to end. */
static void *child_code(pid_t *child, int *end)
{
	void *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int ends[2];

	CHECK_THAT(code, !=, MAP_FAILED);
	CHECK(!pipe(ends));
	*child = fork();
	if (!*child) {
		close(ends[1]);
		_exit(read(ends[0], ends, 1));
	}
	close(ends[0]);
	*end = ends[1];
	return code;
}

TEST(names_that_a_process_writes_at_its_end_are_found)
{
	char path[64];
	pid_t child;
	FILE *file;
	int end;
	void *code = child_code(&child, &end);

	fixture_begin(&fixture);
	push_map(&fixture, 10, child, (uint64_t)code, 4096, 0, "//anon");
	/* Where the file would be is looked for while the process lives. */
	symbols_settle(fixture.symbols, 60000000000ull);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", child);
	file = fopen(path, "w");
	CHECK(file);
	fprintf(file, "%lx 100 written at the end\n", (unsigned long)code);
	fclose(file);
	close(end);
	CHECK_EQUAL(waitpid(child, NULL, 0), child);
	resolve_at(child, (uint64_t)code + 0x20);
	CHECK(is_function("written at the end") && !note_count("no names"));
	unlink(path);
	fixture_end(&fixture);
	munmap(code, 4096);
}

TEST(a_mapping_that_no_event_reported_is_found_in_the_living_process)
{
	fixture_begin(&fixture);
	resolve_at(getpid(), (uint64_t)&input_line);
	CHECK(is_function("input_line"));
	fixture_end(&fixture);
	fixture_begin(&fixture);
	symbols_set_offline(fixture.symbols, true);
	resolve_at(getpid(), (uint64_t)&input_line);
	CHECK_STRING(fixture.frames[0].module, "[anon]");
	fixture_end(&fixture);
}

TEST(without_anybody_to_ask_a_kernel_address_has_no_name_and_a_note_says_so)
{
	struct symbol_frame frame;

	fixture_begin(&fixture);
	symbols_resolve_kernel(fixture.symbols, 0xffffffff81001000, &frame);
	CHECK(frame.is_kernel && frame.module);
	CHECK(frame.offset == 0xffffffff81001000 && has_note(&fixture, "kernel", "recording"));
	fixture_end(&fixture);
}

TEST(a_file_that_shrinks_while_it_is_mapped_costs_only_its_own_names)
{
	uint64_t place = input_offset("pie", "place_inlined");
	char command[1024], path[256];

	strcpy(path, input("shrinking"));
	snprintf(command, sizeof(command), "cp %s %s", input("pie"), path);
	run(command);
	fixture_begin(&fixture);
	push_map(&fixture, 10, NOBODY, MAP_START, MAP_BYTES, 0, path);
	push_map(&fixture, 10, NOBODY + 1, MAP_START, MAP_BYTES, 0, input("dwarf4"));
	resolve(&fixture, place);
	CHECK_EQUAL(fixture.count, 3);
	CHECK(!truncate(path, 0));
	resolve(&fixture, input_offset("pie", "place_local"));
	CHECK_EQUAL(fixture.count, 1);
	CHECK_STRING(fixture.frames[0].module, "shrinking");
	resolve_at(NOBODY + 1, MAP_START + input_offset("dwarf4", "place_local"));
	CHECK(is_function("local_function"));
	CHECK_EQUAL(fixture.frames[0].line, input_line("local"));
	fixture_end(&fixture);
}

TEST(what_is_prepared_of_a_file_that_fails_costs_only_its_own_names)
{
	enum { REQUESTS = 200, CODE = 64 };
	uint64_t good = input_offset("dwarf4", "place_local"), begin;
	struct symbol_request requests[REQUESTS];
	uint8_t code[2][CODE];
	char command[1024], path[256];
	size_t bytes;

	strcpy(path, input("shrunk"));
	snprintf(command, sizeof(command), "cp %s %s", input("pie"), path);
	run(command);
	fixture_begin(&fixture);
	push_map(&fixture, 10, NOBODY, MAP_START, MAP_BYTES, 0, path);
	push_map(&fixture, 10, NOBODY + 1, MAP_START, MAP_BYTES, 0, input("dwarf4"));
	resolve(&fixture, input_offset("pie", "place_inlined"));
	CHECK_EQUAL(fixture.count, 3);
	CHECK(!truncate(path, 0));
	for (size_t i = 0; i < REQUESTS; i++)
		requests[i] = (struct symbol_request){
			.pid = NOBODY + (i & 1),
			.time_ns = 20,
			.address = MAP_START + good + i / 2 * (i & 1 ? 1 : 16),
		};
	symbols_prepare(fixture.symbols, requests, REQUESTS);
	symbols_prepare_code(fixture.symbols, requests, REQUESTS, CODE);
	for (size_t i = 0; i < REQUESTS; i++) {
		resolve_at(requests[i].pid, requests[i].address);
		CHECK_THAT(fixture.count, >=, 1);
		CHECK(fixture.frames[0].module);
	}
	resolve_at(NOBODY + 1, MAP_START + good);
	CHECK(is_function("local_function"));
	CHECK_EQUAL(fixture.frames[0].line, input_line("local"));
	bytes = symbols_read_code(fixture.symbols, NOBODY + 1, 20, MAP_START + good, code[0], CODE, &begin);
	CHECK(bytes);
	/* The same without what was prepared, which the next preparation forgets. */
	symbols_prepare(fixture.symbols, requests, 2);
	CHECK_EQUAL(symbols_read_code(fixture.symbols, NOBODY + 1, 20, MAP_START + good, code[1], CODE, &begin), bytes);
	CHECK(!memcmp(code[0], code[1], bytes));
	fixture_end(&fixture);
}

TEST(files_with_changed_bytes_do_no_harm)
{
	uint64_t place = input_offset("pie", "place_inlined");
	unsigned int seed = 7;
	uint8_t *bytes, *copy;
	struct stat status;
	int fd = open(input("pie"), O_RDONLY);

	CHECK_THAT(fd, >=, 0);
	CHECK(!fstat(fd, &status));
	bytes = malloc(status.st_size);
	copy = malloc(status.st_size);
	CHECK_EQUAL(read(fd, bytes, status.st_size), status.st_size);
	close(fd);
	fixture_begin(&fixture);
	for (int i = 0; i < 300; i++) {
		char name[32], path[256];

		memcpy(copy, bytes, status.st_size);
		for (int flips = 1 << rand_r(&seed) % 8; flips; flips--)
			copy[rand_r(&seed) % status.st_size] = rand_r(&seed);
		snprintf(name, sizeof(name), "flipped%d", i);
		strcpy(path, input(name));
		fd = open(path, O_CREAT | O_WRONLY, 0600);
		CHECK_THAT(fd, >=, 0);
		CHECK_EQUAL(write(fd, copy, status.st_size), status.st_size);
		close(fd);
		push_map(&fixture, 100 + i, NOBODY, MAP_START, MAP_BYTES, 0, path);
		resolve(&fixture, place);
		CHECK_THAT(fixture.count, >=, 1);
		CHECK(fixture.frames[0].module);
		unlink(path);
	}
	/* Other files still have their names. */
	resolve_in(&fixture, "dwarf4", "dwarf4", "place_inlined");
	CHECK_EQUAL(fixture.count, 3);
	fixture_end(&fixture);
	free(bytes);
	free(copy);
}
