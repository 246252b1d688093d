/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The numbers are what offsetof() gives for the headers of CPython 3.11.2, 3.11.7, 3.12.1, 3.12.11
 * and 3.13.0 on x86-64: pycore_runtime.h (_PyRuntimeState), pycore_interp.h (PyInterpreterState),
 * cpython/pystate.h (PyThreadState, _PyCFrame), pycore_frame.h (_PyInterpreterFrame),
 * cpython/code.h (PyCodeObject), cpython/unicodeobject.h.
 */
#include "symbol/python/python_layout.h"

#include <stddef.h>

static const struct python_version versions[] = {
	{
		.number = 0x030b,
		.frames = {
			.interpreters = 40, .interpreter_next = 0, .interpreter_threads = 16,
			.thread_next = 8, .thread_id = 152, .thread_frame = 56,
			.has_records = 1, .record_frame = 8, .record_previous = 16,
			.frame_code = 32, .frame_previous = 48, .frame_instruction = 56,
			.frame_entry = 68, .frame_owner = 69, .code_instructions = 184,
		},
		.code = {
			.first_line = 72, .file_name = 112, .qualified_name = 128,
			.line_table = 136, .bytes = 144, .ascii_text = 48, .text = 72,
		},
	},
	{
		.number = 0x030c,
		.frames = {
			.interpreters = 40, .interpreter_next = 0, .interpreter_threads = 72,
			.thread_next = 8, .thread_id = 136, .thread_frame = 56,
			.has_records = 1, .record_frame = 0, .record_previous = 8,
			.frame_code = 0, .frame_previous = 8, .frame_instruction = 56,
			.frame_owner = 70, .frame_function = 16, .code_instructions = 192,
		},
		.code = {
			.first_line = 68, .file_name = 112, .qualified_name = 128,
			.line_table = 136, .bytes = 144, .ascii_text = 40, .text = 56,
		},
	},
	{
		.number = 0x030d,
		.frames = {
			.interpreters = 632, .interpreter_next = 7264,
			.interpreter_threads = 7344,
			.thread_next = 8, .thread_id = 152, .thread_frame = 72,
			.frame_code = 0, .frame_previous = 8, .frame_instruction = 56,
			.frame_owner = 70, .frame_function = 16, .code_instructions = 200,
		},
		.code = {
			.first_line = 68, .file_name = 112, .qualified_name = 128,
			.line_table = 136, .bytes = 144, .ascii_text = 40, .text = 56,
		},
	},
};

const struct python_version *python_version_find(uint32_t number)
{
	for (size_t i = 0; i < sizeof(versions) / sizeof(*versions); i++)
		if (versions[i].number == number)
			return &versions[i];
	return NULL;
}
