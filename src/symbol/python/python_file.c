/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An interpreter exports what extension modules link to, stripped or not: the state of its runtime,
 * the function that evaluates, and from 3.11 on its version.
 */
#include "symbol/python/python_file.h"

#include <string.h>

#include "symbol/elf/elf_file.h"
#include "symbol/python/python_layout.h"

enum {
	VERSION_SHIFT = 16, /* Py_Version: 0x030b02f0 */
	SYMBOLS_MAX = 1 << 20,
	/* _Py_DebugOffsets, at the beginning of _PyRuntime in 3.13, in words. */
	OFFSETS_FREE_THREADED = 2,
	OFFSETS_INTERPRETERS = 5,
	OFFSETS_INTERPRETER_NEXT = 8,
	OFFSETS_INTERPRETER_THREADS = 9,
	OFFSETS_THREAD_NEXT = 21,
	OFFSETS_THREAD_FRAME = 23,
	OFFSETS_THREAD_ID = 24,
	OFFSETS_WORDS = 25,
};

struct interpreter {
	uint64_t runtime, evaluate, version, none; /* addresses; 0: not exported */
};

static void note_symbol(struct interpreter *interpreter, const char *name, uint64_t address)
{
	if (!strcmp(name, "_PyRuntime"))
		interpreter->runtime = address;
	else if (!strcmp(name, "_PyEval_EvalFrameDefault"))
		interpreter->evaluate = address;
	else if (!strcmp(name, "Py_Version"))
		interpreter->version = address;
	else if (!strcmp(name, "_Py_NoneStruct"))
		interpreter->none = address;
}

static void read_symbols(Elf *elf, Elf_Scn *scn, const GElf_Shdr *header, struct interpreter *interpreter)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	size_t symbol_bytes = gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT);
	size_t count = data && data->d_buf && symbol_bytes ? data->d_size / symbol_bytes : 0;

	for (size_t i = 1; i < count && i < SYMBOLS_MAX; i++) {
		const char *name;
		GElf_Sym symbol;

		if (!gelf_getsym(data, i, &symbol) || symbol.st_shndx == SHN_UNDEF)
			continue;
		name = elf_strptr(elf, header->sh_link, symbol.st_name);
		if (name && name[0] && name[0] == (name[1] == 'P' ? '_' : 'P'))
			note_symbol(interpreter, name, symbol.st_value);
	}
}

/* From 3.13 on an interpreter says itself where things are; false: it is none that we can read. */
static bool use_own_offsets(Elf *elf, uint64_t runtime, struct python_layout *layout)
{
	uint64_t words[OFFSETS_WORDS];

	if (!elf_read_at(elf, runtime, words, sizeof(words)) || memcmp(words, "xdebugpy", 8) ||
	    words[OFFSETS_FREE_THREADED] || words[OFFSETS_INTERPRETERS] > UINT16_MAX ||
	    words[OFFSETS_INTERPRETER_NEXT] > UINT16_MAX || words[OFFSETS_INTERPRETER_THREADS] > UINT16_MAX)
		return false;
	for (size_t i = OFFSETS_THREAD_NEXT; i <= OFFSETS_THREAD_ID; i++)
		if (words[i] > PYTHON_THREAD_BYTES - sizeof(*words))
			return false;
	layout->interpreters = words[OFFSETS_INTERPRETERS];
	layout->interpreter_next = words[OFFSETS_INTERPRETER_NEXT];
	layout->interpreter_threads = words[OFFSETS_INTERPRETER_THREADS];
	layout->thread_next = words[OFFSETS_THREAD_NEXT];
	layout->thread_frame = words[OFFSETS_THREAD_FRAME];
	layout->thread_id = words[OFFSETS_THREAD_ID];
	return true;
}

static void put_layout(Elf *elf, const struct interpreter *interpreter, struct unwind_file *file)
{
	const struct python_version *version;
	uint64_t number;

	if (!interpreter->version || !elf_read_at(elf, interpreter->version, &number, sizeof(number)))
		return;
	file->python_version = number >> VERSION_SHIFT & 0xffff;
	version = python_version_find(file->python_version);
	if (!version)
		return;
	file->python.layout = version->frames;
	file->python.runtime = interpreter->runtime;
	file->python.none = interpreter->none;
	if (!version->frames.has_records && !use_own_offsets(elf, interpreter->runtime, &file->python.layout)) {
		file->python.runtime = 0;
		file->python_version = UNWIND_PYTHON_UNKNOWN;
	}
}

void python_file_find(Elf *elf, struct unwind_file *file)
{
	struct interpreter interpreter = { 0 };
	Elf_Scn *scn = NULL;
	GElf_Shdr header;

	while ((scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, &header) && header.sh_type == SHT_DYNSYM)
			read_symbols(elf, scn, &header, &interpreter);
	for (uint32_t i = 0; i < file->segment_count; i++) {
		const struct unwind_segment *segment = &file->segments[i];

		if (!interpreter.runtime || interpreter.evaluate - segment->address >= segment->size_bytes)
			continue;
		file->python.code_begin = segment->address;
		file->python.code_bytes = segment->size_bytes;
		file->python_version = UNWIND_PYTHON_UNKNOWN;
		put_layout(elf, &interpreter, file);
	}
}
