/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <gelf.h>
#include <libgen.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "spin/spin_loop.h"
#include "spin/spin_step.h"
#include "single_step.h"

static const char *const kind_names[] = {
	[SPIN_BY_PAUSE] = "pause",
	[SPIN_BY_YIELD] = "yield",
	[SPIN_BY_ATOMIC] = "atomic",
	[SPIN_BY_LOAD] = "load",
};

enum { STEPS_MAX = 500, ADDRESSES_MAX = 1000 };

/* --- Inputs ---------------------------------------------------------------------------------- */

static char inputs[] = "/tmp/pinch-spin-XXXXXX";

static void remove_inputs(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", inputs);
	if (system(command))
		perror(inputs);
}

/* The folder with what spin_inputs/build.sh makes. */
static const char *inputs_path(void)
{
	char folder[] = __FILE__, command[4096];
	static bool is_built;

	if (is_built)
		return inputs;
	if (!mkdtemp(inputs))
		abort();
	atexit(remove_inputs);
	snprintf(command, sizeof(command), "sh %s/spin_inputs/build.sh %s", dirname(folder), inputs);
	if (system(command))
		abort();
	is_built = true;
	return inputs;
}

struct function {
	const char *path, *name;
	const uint8_t *bytes;
	size_t size;
	uint64_t address; /* as the file has it */
};

typedef void on_function(void *data, const struct function *function);

static void each_symbol(Elf *elf, Elf_Scn *symbols, const char *path, on_function *on_function, void *data)
{
	Elf_Data *list = elf_getdata(symbols, NULL);
	GElf_Shdr header, code_header;
	GElf_Sym symbol;

	gelf_getshdr(symbols, &header);
	for (int i = 0; gelf_getsym(list, i, &symbol); i++) {
		Elf_Scn *section = elf_getscn(elf, symbol.st_shndx);
		struct function function = {
			.path = path,
			.name = elf_strptr(elf, header.sh_link, symbol.st_name),
			.size = symbol.st_size,
			.address = symbol.st_value,
		};
		Elf_Data *code;

		if (GELF_ST_TYPE(symbol.st_info) != STT_FUNC || !symbol.st_size || !section ||
		    symbol.st_shndx >= SHN_LORESERVE)
			continue;
		code = elf_getdata(section, NULL);
		gelf_getshdr(section, &code_header);
		function.bytes = code->d_buf;
		function.bytes += symbol.st_value - code_header.sh_addr;
		on_function(data, &function);
	}
}

/* The functions in a symbol table of the file: SHT_SYMTAB or SHT_DYNSYM. */
static void each_function(const char *path, uint32_t table, on_function *on_function, void *data)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf_Scn *section = NULL;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	CHECK(elf);
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;

		if (gelf_getshdr(section, &header) && header.sh_type == table)
			each_symbol(elf, section, path, on_function, data);
	}
	elf_end(elf);
	close(fd);
}

/* Calls on_path for the files of the inputs whose name begins with prefix. */
static void each_input(const char *prefix, void (*on_path)(const char *path))
{
	DIR *folder = opendir(inputs_path());
	struct dirent *entry;
	char path[512];

	CHECK(folder);
	while ((entry = readdir(folder))) {
		snprintf(path, sizeof(path), "%s/%s", inputs, entry->d_name);
		if (!strncmp(entry->d_name, prefix, strlen(prefix)))
			on_path(path);
	}
	closedir(folder);
}

/* --- Asking ---------------------------------------------------------------------------------- */

static bool yields_always(void *data, uint64_t target)
{
	(void)data;
	(void)target;
	return true;
}

static struct spin_finder *new_finder(spin_yields *yields)
{
	struct spin_finder *finder = spin_finder_new(yields, NULL);

	CHECK(finder);
	return finder;
}

static bool finds_in(const struct function *function, uint64_t ip, struct spin_loop *loop)
{
	struct spin_finder *finder = new_finder(NULL);
	bool is_found = spin_loop_find(finder, function->bytes, function->size, function->address, ip, loop);

	spin_finder_free(finder);
	return is_found;
}

#define CODE(...) (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ })

/* Asks about the instruction at an offset of some bytes that lie at 0x1000. */
static bool finds(const uint8_t *bytes, size_t size, size_t offset, struct spin_loop *loop)
{
	const struct function function = { .bytes = bytes, .size = size, .address = 0x1000 };

	return finds_in(&function, 0x1000 + offset, loop);
}

/* --- What compilers make of loops that wait -------------------------------------------------- */

static const char *base_name(const char *path)
{
	return strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
}

static bool begins_with(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

static size_t occurrences(const uint64_t *addresses, size_t count, uint64_t address)
{
	size_t found = 0;

	for (size_t i = 0; i < count; i++)
		found += addresses[i] == address;
	return found;
}

/* Of the addresses, those that occur in the second half, and not only once. Returns how many. */
static size_t repeated(const uint64_t *addresses, size_t count, uint64_t found[ADDRESSES_MAX])
{
	const uint64_t *second = addresses + count / 2;
	size_t found_count = 0;

	for (size_t i = 0; i < count - count / 2; i++)
		if (!occurrences(found, found_count, second[i]) &&
		    occurrences(second, count - count / 2, second[i]) > 1 && found_count < ADDRESSES_MAX)
			found[found_count++] = second[i];
	return found_count;
}

struct waiting {
	struct spin_finder *finder, *yielding_finder;
	void *handle;
	size_t function_count, instruction_count, missed_count;
};

/* Lets the function wait for ever, and asks about each instruction that it repeats. */
static void check_waiting(void *data, const struct function *function)
{
	static uint64_t steps[STEPS_MAX], addresses[ADDRESSES_MAX];
	struct waiting *waiting = data;
	bool does_yield = begins_with(function->name, "yield_");
	uint8_t *code = dlsym(waiting->handle, function->name);
	uint64_t begin = (uint64_t)code;
	int words[64];
	size_t count;

	if (!does_yield && !begins_with(function->name, "spin_"))
		return;
	for (size_t i = 0; i < 64; i++)
		words[i] = 1;
	count = single_step((void (*)(void *))code, words, begin, begin + function->size, steps, STEPS_MAX);
	CHECK_EQUAL(count, STEPS_MAX);
	count = repeated(steps, count, addresses);
	waiting->function_count++;
	waiting->instruction_count += count;
	for (size_t i = 0; i < count; i++) {
		struct spin_loop loop;

		if (spin_loop_find(does_yield ? waiting->yielding_finder : waiting->finder, code, function->size, begin,
				   addresses[i], &loop) &&
		    loop.begin <= addresses[i] && addresses[i] < loop.end)
			continue;
		waiting->missed_count++;
		printf("# %s: %s: 0x%lx of %zu waits\n", base_name(function->path), function->name,
		       addresses[i] - begin + function->address, count);
	}
}

static void check_waiting_in(const char *path)
{
	struct waiting waiting = {
		.finder = new_finder(NULL),
		.yielding_finder = new_finder(yields_always),
		.handle = dlopen(path, RTLD_NOW | RTLD_LOCAL),
	};

	if (!waiting.handle)
		printf("# %s\n", dlerror());
	CHECK(waiting.handle);
	each_function(path, SHT_DYNSYM, check_waiting, &waiting);
	CHECK_THAT(waiting.function_count, >=, 6);
	CHECK_THAT(waiting.instruction_count, >=, 12);
	CHECK(!waiting.missed_count);
	dlclose(waiting.handle);
	spin_finder_free(waiting.finder);
	spin_finder_free(waiting.yielding_finder);
}

TEST(each_instruction_that_a_waiting_thread_repeats_is_in_a_spin_loop)
{
	each_input("spins-", check_waiting_in);
}

/* --- What they make of loops that work ------------------------------------------------------- */

struct working {
	struct spin_finder *finder;
	size_t function_count, instruction_count, found_count;
};

static void check_working(void *data, const struct function *function)
{
	struct working *working = data;
	struct spin_loop loop;

	if (!begins_with(function->name, "work_"))
		return;
	working->function_count++;
	for (size_t i = 0; i < function->size; i++) {
		if (!spin_loop_find(working->finder, function->bytes, function->size, function->address,
				    function->address + i, &loop))
			continue;
		working->found_count++;
		printf("# %s: %s: 0x%lx: %s, %s\n", base_name(function->path), function->name, function->address + i,
		       kind_names[loop.kind], loop.reads);
	}
}

static void check_working_in(const char *path)
{
	struct working working = { .finder = new_finder(NULL) };

	each_function(path, SHT_DYNSYM, check_working, &working);
	CHECK_THAT(working.function_count, >, 30);
	CHECK(!working.found_count);
	spin_finder_free(working.finder);
}

TEST(no_byte_of_a_function_that_works_is_in_a_spin_loop)
{
	each_input("works-", check_working_in);
}

static void check_instructions(void *data, const struct function *function)
{
	struct spin_decoder *decoder = spin_decoder_new();
	struct working *working = data;
	struct spin_step step;
	struct spin_loop loop;

	working->function_count++;
	for (size_t i = 0; i < function->size; i += step.size) {
		step.size = 1;
		if (!spin_decode(decoder, function->bytes + i, function->size - i, function->address + i, &step)) {
			step.size = 1;
			continue;
		}
		working->instruction_count++;
		if (!spin_loop_find(working->finder, function->bytes, function->size, function->address,
				    function->address + i, &loop))
			continue;
		working->found_count++;
		printf("# %s+0x%zx: %s, %s\n", function->name, i, kind_names[loop.kind], loop.reads);
	}
	spin_decoder_free(decoder);
}

TEST(no_instruction_of_the_c_librarys_string_functions_is_in_a_spin_loop)
{
	struct working working = { .finder = new_finder(NULL) };
	char path[256];

	snprintf(path, sizeof(path), "%s/strings.o", inputs_path());
	if (access(path, R_OK))
		skip();
	each_function(path, SHT_SYMTAB, check_instructions, &working);
	CHECK_THAT(working.function_count, >, 100);
	CHECK_THAT(working.instruction_count, >, 10000);
	CHECK(!working.found_count);
	spin_finder_free(working.finder);
}

/* --- What is installed ----------------------------------------------------------------------- */

/* The function of the C library that has this name; false when its size is unknown. */
static bool find_function(const char *name, struct function *function)
{
	void *code = dlsym(RTLD_DEFAULT, name);
	const ElfW(Sym) * symbol;
	Dl_info info;

	if (!code || !dladdr1(code, &info, (void **)&symbol, RTLD_DL_SYMENT) || !symbol)
		return false;
	*function = (struct function){
		.name = name,
		.bytes = code,
		.size = symbol->st_size,
		.address = (uint64_t)code,
	};
	return symbol->st_size;
}

static void lock_spin(void *data)
{
	pthread_spin_lock(data);
}

static void lock_mutex(void *data)
{
	pthread_mutex_lock(data);
}

/* Runs what must wait, and asks about each instruction of the function that it repeats. */
static void check_library(const char *name, void (*wait)(void *), void *data, size_t max, enum spin_kind kind)
{
	static uint64_t steps[STEPS_MAX], addresses[ADDRESSES_MAX];
	struct function function;
	struct spin_loop loop;
	size_t count;

	if (!find_function(name, &function))
		skip();
	count = single_step(wait, data, function.address, function.address + function.size, steps, max);
	count = repeated(steps, count, addresses);
	CHECK(count);
	for (size_t i = 0; i < count; i++) {
		CHECK(finds_in(&function, addresses[i], &loop));
		CHECK_EQUAL(loop.kind, kind);
		CHECK(loop.reader);
	}
}

TEST(the_c_librarys_spin_lock_is_a_spin_loop)
{
	pthread_spinlock_t lock;

	pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
	pthread_spin_lock(&lock);
	check_library("pthread_spin_lock", lock_spin, (void *)&lock, STEPS_MAX, SPIN_BY_PAUSE);
}

TEST(an_adaptive_mutex_is_a_spin_loop_before_it_waits_in_the_kernel)
{
	pthread_mutexattr_t attributes;
	pthread_mutex_t mutex;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		skip();
#ifdef __SANITIZE_ADDRESS__
	skip(); /* the function of that name is the sanitizer's */
#endif
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ADAPTIVE_NP);
	pthread_mutex_init(&mutex, &attributes);
	pthread_mutex_lock(&mutex);
	check_library("pthread_mutex_lock", lock_mutex, &mutex, 90, SPIN_BY_PAUSE);
}

static void check_pauses(void *data, const struct function *function)
{
	struct working *working = data;
	struct spin_loop loop;

	for (size_t i = 0; i + 2 <= function->size; i++) {
		if (memcmp(function->bytes + i, "\xf3\x90", 2))
			continue;
		working->found_count++;
		if (finds_in(function, function->address + i, &loop))
			continue;
		working->instruction_count++;
		printf("# %s+0x%zx is missed\n", function->name, i);
	}
}

TEST(openmps_barriers_and_locks_pause_in_spin_loops)
{
	struct working working = { 0 };
	char path[256];

	snprintf(path, sizeof(path), "%s/gomp.o", inputs_path());
	if (access(path, R_OK))
		skip();
	each_function(path, SHT_SYMTAB, check_pauses, &working);
	CHECK_THAT(working.found_count, >=, 5);
	CHECK(!working.instruction_count);
}

/* --- By hand --------------------------------------------------------------------------------- */

TEST(gos_runtime_pauses_by_number)
{
	struct spin_loop loop;

	/* runtime.procyield: mov 0x8(%rsp),%eax; again: pause; sub $1,%eax; jne again; ret */
	const uint8_t code[] = {
		0x8b, 0x44, 0x24, 0x08, 0xf3, 0x90, 0x83, 0xe8, 0x01, 0x75, 0xf9, 0xc3,
	};

	CHECK(!finds(code, sizeof(code), 0, &loop));
	for (size_t i = 4; i < 11; i += i == 4 ? 2 : 3) {
		CHECK(finds(code, sizeof(code), i, &loop));
		CHECK_EQUAL(loop.kind, SPIN_BY_PAUSE);
		CHECK_EQUAL(loop.begin, 0x1004);
		CHECK_EQUAL(loop.end, 0x100b);
		CHECK(!loop.reader && !*loop.reads && !loop.has_word);
	}
	CHECK(!finds(code, sizeof(code), 11, &loop));
}

TEST(rusts_spin_loop_hint_is_a_pause)
{
	struct spin_loop loop;

	/* while !flag.load(Acquire) { spin_loop() }: movzbl (%rdi),%eax; test; jne 1f; 0: pause;
	 * movzbl (%rdi),%eax; test; je 0b; 1: ret */
	const uint8_t code[] = {
		0x0f, 0xb6, 0x07, 0x84, 0xc0, 0x75, 0x09, 0xf3, 0x90, 0x0f, 0xb6, 0x07, 0x84, 0xc0, 0x74, 0xf7, 0xc3,
	};

	CHECK(!finds(code, sizeof(code), 0, &loop));
	CHECK(finds(code, sizeof(code), 7, &loop));
	CHECK_EQUAL(loop.kind, SPIN_BY_PAUSE);
	CHECK_EQUAL(loop.reader, 0x1009);
	CHECK_STRING(loop.reads, "movzx byte ptr [rdi]");
}

TEST(a_word_with_a_constant_address_is_named)
{
	struct spin_loop loop;

	/* cmpl $0,0x10(%rip); je -9 */
	CHECK(finds(CODE(0x83, 0x3d, 0x10, 0, 0, 0, 0, 0x74, 0xf7), 0, &loop));
	CHECK_EQUAL(loop.kind, SPIN_BY_LOAD);
	CHECK(loop.has_word);
	CHECK_EQUAL(loop.word, 0x1017);
	/* mov 0x404028,%eax; test %eax,%eax; jne -11 */
	CHECK(finds(CODE(0x8b, 0x04, 0x25, 0x28, 0x40, 0x40, 0, 0x85, 0xc0, 0x75, 0xf5), 7, &loop));
	CHECK(loop.has_word);
	CHECK_EQUAL(loop.word, 0x404028);
	CHECK_EQUAL(loop.reader, 0x1000);
	/* lea 0x10(%rip),%rdx; mov 4(%rdx),%eax; test %eax,%eax; je -14 */
	CHECK(finds(CODE(0x48, 0x8d, 0x15, 0x10, 0, 0, 0, 0x8b, 0x42, 0x04, 0x85, 0xc0, 0x74, 0xf2), 0, &loop));
	CHECK(loop.has_word);
	CHECK_EQUAL(loop.word, 0x101b);
	/* cmpl $0,%fs:0x10; je -11: another one for each thread */
	CHECK(finds(CODE(0x64, 0x83, 0x3c, 0x25, 0x10, 0, 0, 0, 0, 0x74, 0xf5), 0, &loop));
	CHECK(!loop.has_word);
}

TEST(the_evidence_is_the_instruction_that_reads)
{
	struct spin_loop loop;

	/* xor %eax,%eax; lock cmpxchg %edx,(%rdi); jne -8 */
	CHECK(finds(CODE(0x31, 0xc0, 0xf0, 0x0f, 0xb1, 0x17, 0x75, 0xf8), 0, &loop));
	CHECK_EQUAL(loop.kind, SPIN_BY_ATOMIC);
	CHECK_STRING(loop.reads, "lock cmpxchg dword ptr [rdi]");
	CHECK_EQUAL(loop.reader, 0x1002);
	/* lock btsl $0,(%rdi); jb -7 */
	CHECK(finds(CODE(0xf0, 0x0f, 0xba, 0x2f, 0x00, 0x72, 0xf9), 0, &loop));
	CHECK_EQUAL(loop.kind, SPIN_BY_ATOMIC);
	CHECK_STRING(loop.reads, "lock bts dword ptr [rdi]");
}

TEST(registers_that_no_turn_changes_are_kept)
{
	enum { RAX = 1 << 0, RCX = 1 << 1, RDX = 1 << 2, RBX = 1 << 3, ALL = 0xffff };
	struct spin_loop loop;

	/* mov %ecx,%eax; lock cmpxchg %edx,(%rdi); jne -8 */
	CHECK(finds(CODE(0x89, 0xc8, 0xf0, 0x0f, 0xb1, 0x17, 0x75, 0xf8), 0, &loop));
	CHECK_EQUAL(loop.kept, ALL & ~RAX);
	/* mov $1,%edx; xchg %edx,(%rdi); test %edx,%edx; jne -11 */
	CHECK(finds(CODE(0xba, 1, 0, 0, 0, 0x87, 0x17, 0x85, 0xd2, 0x75, 0xf5), 0, &loop));
	CHECK_EQUAL(loop.kept, ALL & ~RDX);
	/* dec %ebx; je 6; mov (%rdi),%ecx; test %ecx,%ecx; je -10: a limit */
	CHECK(finds(CODE(0xff, 0xcb, 0x74, 0x06, 0x8b, 0x0f, 0x85, 0xc9, 0x74, 0xf6), 4, &loop));
	CHECK_EQUAL(loop.kept, ALL & ~(RCX | RBX));
}

TEST(the_rest_of_a_loop_may_lie_far_away)
{
	/* 0: lock cmpxchg %edx,(%rdi); jne 0x400 ... 0x400: pause; xor %eax,%eax; jmp 0 */
	static uint8_t code[0x410] = { 0xf0, 0x0f, 0xb1, 0x17, 0x0f, 0x85, 0xf6, 0x03, 0, 0, 0xc3 };
	static const uint8_t rest[] = { 0xf3, 0x90, 0x31, 0xc0, 0xe9, 0xf7, 0xfb, 0xff, 0xff };
	struct spin_loop loop;

	memcpy(code + 0x400, rest, sizeof(rest));
	CHECK(finds(code, sizeof(code), 0, &loop));
	CHECK_EQUAL(loop.begin, 0x1000);
	CHECK_EQUAL(loop.end, 0x1409);
	CHECK(finds(code, sizeof(code), 0x402, &loop));
	CHECK_STRING(loop.reads, "lock cmpxchg dword ptr [rdi]");
	CHECK(!finds(code, sizeof(code), 10, &loop));
	/* When the function is cut, it is not a loop. */
	CHECK(!finds(code, 0x400, 0, &loop));
}

TEST(instructions_that_wait_are_pauses_too)
{
	struct spin_loop loop;

	/* tpause %ecx; mov (%rdi),%eax; test %eax,%eax; je -10 */
	CHECK(finds(CODE(0x66, 0x0f, 0xae, 0xf1, 0x8b, 0x07, 0x85, 0xc0, 0x74, 0xf6), 4, &loop));
	CHECK_EQUAL(loop.kind, SPIN_BY_PAUSE);
	/* umonitor %rdi; mov (%rdi),%eax; test; jne +6; umwait %ecx; jmp -16 */
	CHECK(finds(
		CODE(0xf3, 0x0f, 0xae, 0xf7, 0x8b, 0x07, 0x85, 0xc0, 0x75, 0x06, 0xf2, 0x0f, 0xae, 0xf1, 0xeb, 0xf0),
		10, &loop));
	CHECK_EQUAL(loop.kind, SPIN_BY_PAUSE);
}

TEST(a_call_ends_a_wait_unless_it_yields)
{
	/* 0: mov (%rbx),%eax; test %eax,%eax; jne +7; call 0x2000; jmp 0 */
	static const uint8_t code[] = {
		0x8b, 0x03, 0x85, 0xc0, 0x75, 0x07, 0xe8, 0xf5, 0x0f, 0, 0, 0xeb, 0xf3, 0xc3,
	};
	struct spin_finder *finder = new_finder(yields_always);
	struct spin_loop loop;

	CHECK(!finds(code, sizeof(code), 0, &loop));
	CHECK(!finds(code, sizeof(code), 11, &loop));
	CHECK(spin_loop_find(finder, code, sizeof(code), 0x1000, 0x100b, &loop));
	CHECK_EQUAL(loop.kind, SPIN_BY_YIELD);
	CHECK_EQUAL(loop.reader, 0x1000);
	spin_finder_free(finder);
}

TEST(a_retry_is_no_wait_unless_it_pauses)
{
	struct spin_loop loop;

	/* mov (%rdi),%eax; 2: lea 1(%rax),%edx; lock cmpxchg %edx,(%rdi); jne 2 */
	CHECK(!finds(CODE(0x8b, 0x07, 0x8d, 0x50, 0x01, 0xf0, 0x0f, 0xb1, 0x17, 0x75, 0xf7), 5, &loop));
	/* 0: pause; mov (%rdi),%eax; lea 1(%rax),%edx; lock cmpxchg %edx,(%rdi); jne 0 */
	CHECK(finds(CODE(0xf3, 0x90, 0x8b, 0x07, 0x8d, 0x50, 0x01, 0xf0, 0x0f, 0xb1, 0x17, 0x75, 0xf3), 4, &loop));
	/* mov (%rdi),%rax; 3: mov %rax,(%rsi); lock cmpxchg %rsi,(%rdi); jne 3: a push */
	CHECK(!finds(CODE(0x48, 0x8b, 0x07, 0x48, 0x89, 0x06, 0xf0, 0x48, 0x0f, 0xb1, 0x37, 0x75, 0xf6), 6, &loop));
}

TEST(a_retry_with_a_limit_is_no_wait)
{
	struct spin_loop loop;

	/* 0: lea 1(%rax),%edx; lock cmpxchg %edx,(%rcx); sete %dl; cmp $99,%eax; setbe %bl;
	 * xor $1,%edx; and %dl,%bl; jne 0 */
	CHECK(!finds(CODE(0x8d, 0x50, 0x01, 0xf0, 0x0f, 0xb1, 0x11, 0x0f, 0x94, 0xc2, 0x83, 0xf8, 0x63, 0x0f, 0x96,
			  0xc3, 0x83, 0xf2, 0x01, 0x20, 0xd3, 0x75, 0xe9),
		     3, &loop));
	/* 0: lea 1(%rax),%edx; lock cmpxchg %edx,(%rcx); sete %sil; mov %eax,%edx;
	 * and $0x60,%edx; or %edx,%esi; je 0 */
	CHECK(!finds(CODE(0x8d, 0x50, 0x01, 0xf0, 0x0f, 0xb1, 0x11, 0x40, 0x0f, 0x94, 0xc6, 0x89, 0xc2, 0x83, 0xe2,
			  0x60, 0x09, 0xd6, 0x74, 0xec),
		     3, &loop));
}

TEST(a_loop_that_only_counts_waits_for_nobody)
{
	struct spin_loop loop;

	/* sub $1,%eax; jne -5 */
	CHECK(!finds(CODE(0x83, 0xe8, 0x01, 0x75, 0xfb), 0, &loop));
	/* loop -2 */
	CHECK(!finds(CODE(0xe2, 0xfe), 0, &loop));
	/* jmp -2 */
	CHECK(!finds(CODE(0xeb, 0xfe), 0, &loop));
	/* rdtsc; cmp %rcx,%rax; jb -7 */
	CHECK(!finds(CODE(0x0f, 0x31, 0x48, 0x39, 0xc8, 0x72, 0xf9), 0, &loop));
}

TEST(nothing_is_found_where_there_is_no_code)
{
	static const uint8_t code[] = { 0xf3, 0x90, 0xeb, 0xfc };
	struct spin_loop loop;

	CHECK(finds(code, sizeof(code), 0, &loop));
	CHECK(!finds(code, sizeof(code), 4, &loop));
	CHECK(!finds(code, sizeof(code), -1, &loop));
	CHECK(!finds(code, 0, 0, &loop));
	CHECK(!finds(code, 3, 0, &loop));
	CHECK(!finds(CODE(0x06, 0x06), 0, &loop));
}
