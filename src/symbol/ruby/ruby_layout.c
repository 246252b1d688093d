/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From Ruby's vm_core.h (rb_control_frame_t, struct rb_iseq_constant_body, rb_iseq_location_t), iseq.h (struct
 * iseq_insn_info_entry) and internal/class.h on x86-64. Those of 3.1 were compared with the memory of an interpreter.
 */
#include "symbol/ruby/ruby_layout.h"

#include <stddef.h>

static const struct ruby_version versions[] = {
	{
		.number = 0x0300,
		.frame_bytes = 56,
		.lines = 120,
		.line_bytes = 8,
		.has_fixnum_line = true,
		.has_variable_names = true,
	},
	{
		.number = 0x0301,
		.frame_bytes = 64,
		.lines = 120,
		.line_bytes = 12,
		.has_fixnum_line = true,
		.has_variable_names = true,
	},
	{
		.number = 0x0302,
		.frame_bytes = 64,
		.lines = 112,
		.line_bytes = 12,
		.has_embedded_length = true,
	},
	{
		.number = 0x0303,
		.frame_bytes = 56,
		.lines = 112,
		.line_bytes = 12,
		.has_embedded_length = true,
	},
};

const struct ruby_version *ruby_version_find(uint32_t number)
{
	for (size_t i = 0; i < sizeof(versions) / sizeof(*versions); i++)
		if (versions[i].number == number)
			return &versions[i];
	return NULL;
}
