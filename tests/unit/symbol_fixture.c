/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol_fixture.h"

#include <fcntl.h>
#include <libgen.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/memory.h"
#include "symbol/elf/elf_file.h"

static char inputs[64] = "/tmp/pinch-symbol-XXXXXX";

const char *inputs_script = "build.sh";

/* Tests fork: only the process that made the folder removes it. */
static pid_t inputs_owner;

static void remove_inputs(void)
{
	char command[128];

	if (getpid() != inputs_owner)
		return;
	snprintf(command, sizeof(command), "rm -rf %s", inputs);
	if (system(command))
		perror(inputs);
}

const char *inputs_path(void)
{
	char folder[] = __FILE__, command[4096];

	if (inputs_owner)
		return inputs;
	if (!mkdtemp(inputs))
		abort();
	inputs_owner = getpid();
	atexit(remove_inputs);
	snprintf(command, sizeof(command), "sh %s/symbol_inputs/%s %s", dirname(folder), inputs_script, inputs);
	if (system(command))
		abort();
	return inputs;
}

const char *input(const char *name)
{
	static char paths[4][256];
	static unsigned int next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", inputs_path(), name);
	return path;
}

struct symbol_search {
	const char *wanted;
	uint64_t address;
	bool is_found;
	void (*on_variable)(void *data, uint64_t address);
	void *data;
};

static void each_symbol(Elf *elf, struct symbol_search *search)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(elf, scn))) {
		Elf_Data *data = elf_getdata(scn, NULL);
		GElf_Shdr header;
		GElf_Sym symbol;

		if (!gelf_getshdr(scn, &header) || header.sh_type != SHT_SYMTAB)
			continue;
		for (int i = 0; gelf_getsym(data, i, &symbol); i++) {
			const char *name = elf_strptr(elf, header.sh_link, symbol.st_name);

			if (search->wanted && !search->is_found && !strcmp(name, search->wanted)) {
				search->address = symbol.st_value;
				search->is_found = true;
			}
			if (search->on_variable && symbol.st_size && GELF_ST_TYPE(symbol.st_info) == STT_OBJECT)
				search->on_variable(search->data, symbol.st_value);
		}
	}
}

static uint64_t find_symbol(Elf *elf, const char *wanted)
{
	struct symbol_search search = { .wanted = wanted };

	each_symbol(elf, &search);
	if (!search.is_found)
		abort();
	return search.address;
}

static void open_input(const char *name, struct elf_file *file)
{
	if (elf_file_open(open(input(name), O_RDONLY), file))
		abort();
}

uint64_t input_address(const char *name, const char *symbol)
{
	struct elf_file file;
	uint64_t address;

	open_input(name, &file);
	address = find_symbol(file.elf, symbol);
	elf_file_close(&file);
	return address;
}

void each_input_variable(const char *name, void (*on_variable)(void *data, uint64_t address), void *data)
{
	struct symbol_search search = { .on_variable = on_variable, .data = data };
	struct elf_file file;

	open_input(name, &file);
	each_symbol(file.elf, &search);
	elf_file_close(&file);
}

uint64_t input_offset(const char *name, const char *symbol)
{
	struct elf_file file;
	uint64_t offset;

	open_input(name, &file);
	if (!elf_offset_at(file.elf, find_symbol(file.elf, symbol), &offset))
		abort();
	elf_file_close(&file);
	return offset;
}

uint32_t input_line(const char *name)
{
	char folder[] = __FILE__, path[4096], line[512], mark[64];
	uint32_t number = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/symbol_inputs/inlined.c", dirname(folder));
	snprintf(mark, sizeof(mark), "LINE %s ", name);
	file = fopen(path, "r");
	if (!file)
		abort();
	do {
		number++;
		if (!fgets(line, sizeof(line), file))
			abort();
	} while (!strstr(line, mark));
	fclose(file);
	return number;
}

void fixture_begin(struct fixture *fixture)
{
	*fixture = (struct fixture){ 0 };
	fixture->session = session_new(1, 1 << 22);
	fixture->symbols = symbols_new(fixture->session);
	symbols_begin(fixture->symbols);
}

void fixture_end(struct fixture *fixture)
{
	symbols_free(fixture->symbols);
	session_free(fixture->session);
}

static struct ev_header header_of(enum event_id id, uint64_t time_ns)
{
	return (struct ev_header){
		.time_ns = time_ns,
		.subsys = id >> 16,
		.event = id & 0xffff,
	};
}

static void push(struct fixture *fixture, const void *event, size_t size_bytes)
{
	const struct ev_header *header = event;

	if (session_push(fixture->session, 0, event, size_bytes))
		abort();
	session_advance(fixture->session, header->time_ns + 1);
}

static void push_any_map(struct fixture *fixture, const struct ev_space_map *map, const char *path)
{
	size_t bytes = (sizeof(*map) + strlen(path) + 1 + 7) / 8 * 8;
	struct ev_space_map *e = xcalloc(1, bytes);

	*e = *map;
	strcpy(e->path, path);
	push(fixture, e, bytes);
	free(e);
}

void push_map(struct fixture *fixture, uint64_t time_ns, uint32_t pid, uint64_t start, uint64_t size_bytes,
	      uint64_t file_offset, const char *path)
{
	struct ev_space_map e = {
		.header = header_of(EV_SPACE_MAP, time_ns),
		.pid = pid,
		.start = start,
		.size = size_bytes,
		.file_offset = file_offset,
	};

	push_any_map(fixture, &e, path);
}

void push_code(struct fixture *fixture, uint64_t time_ns, uint32_t pid, uint64_t base, const char *name)
{
	struct elf_file file;
	size_t count;

	open_input(name, &file);
	if (elf_getphdrnum(file.elf, &count))
		abort();
	for (size_t i = 0; i < count; i++) {
		uint64_t before;
		GElf_Phdr header;

		if (!gelf_getphdr(file.elf, i, &header) || header.p_type != PT_LOAD || !(header.p_flags & PF_X))
			continue;
		before = header.p_vaddr & 4095;
		push_map(fixture, time_ns, pid, base + header.p_vaddr - before,
			 (before + header.p_filesz + 4095) & ~4095ull, header.p_offset - before, input(name));
	}
	elf_file_close(&file);
}

void push_map_of_inode(struct fixture *fixture, uint64_t time_ns, uint64_t device, uint64_t inode, const char *path)
{
	struct ev_space_map e = {
		.header = header_of(EV_SPACE_MAP, time_ns),
		.pid = NOBODY,
		.start = MAP_START,
		.size = MAP_BYTES,
		.major = major(device),
		.minor = minor(device),
		.inode = inode,
	};

	push_any_map(fixture, &e, path);
}

void push_exec(struct fixture *fixture, uint64_t time_ns, uint32_t pid)
{
	struct ev_space_exec e = { .header = header_of(EV_SPACE_EXEC, time_ns), .pid = pid };

	push(fixture, &e, sizeof(e));
}

void push_fork(struct fixture *fixture, uint64_t time_ns, uint32_t pid, uint32_t parent_pid)
{
	struct ev_space_fork e = {
		.header = header_of(EV_SPACE_FORK, time_ns),
		.pid = pid,
		.parent_pid = parent_pid,
	};

	push(fixture, &e, sizeof(e));
}

void push_exit(struct fixture *fixture, uint64_t time_ns, uint32_t pid)
{
	struct ev_space_exit e = { .header = header_of(EV_SPACE_EXIT, time_ns), .pid = pid };

	push(fixture, &e, sizeof(e));
}

void resolve(struct fixture *fixture, uint64_t offset)
{
	fixture->count = symbols_resolve(fixture->symbols, NOBODY, UINT64_MAX, MAP_START + offset, false,
					 fixture->frames, SYMBOL_INLINE_MAX);
}

void resolve_in(struct fixture *fixture, const char *name, const char *twin, const char *symbol)
{
	uint64_t offset = input_offset(twin, symbol);

	push_map(fixture, session_time_ns(fixture->session) + 10, NOBODY, MAP_START, MAP_BYTES, 0, input(name));
	resolve(fixture, offset);
}

int has_note(const struct fixture *fixture, const char *text, const char *text2)
{
	const char *const *notes;
	size_t count = symbols_notes(fixture->symbols, &notes);

	for (size_t i = 0; i < count; i++)
		if (strstr(notes[i], text) && strstr(notes[i], text2))
			return 1;
	return 0;
}
