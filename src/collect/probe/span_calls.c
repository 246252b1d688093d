/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/probe/span_calls.h"

#include <bpf/libbpf.h>

#include "collect/probe/span_spec.h"
#include "symbol/symbol.h"
#include "shared.h"
#include "pinch.skel.h"

static struct span_rule rule_of(const struct span_spec *spec, bool is_end)
{
	const struct span_side *side = &spec->sides[is_end];

	return (struct span_rule){
		.fd = side->fd,
		.file_kind = side->file_kind,
		.is_by_fd = spec->sides[1].is_same_fd,
		.least = span_call_least(side->syscall),
		.makes_fd = !is_end && span_call_makes_fd(side->syscall),
	};
}

void spans_choose(struct pinch_bpf *bpf, const struct span_specs *specs)
{
	bool has_calls = specs && span_specs_have(specs, SPAN_OF_CALLS);
	bool has_functions = specs && span_specs_have(specs, SPAN_OF_FUNCTION);

	bpf_program__set_autoload(bpf->progs.span_call_begin, has_calls);
	bpf_program__set_autoload(bpf->progs.span_call_end, has_calls);
	bpf_program__set_autoload(bpf->progs.span_function_begin, has_functions);
	bpf_program__set_autoload(bpf->progs.span_function_end, has_functions);
	for (size_t i = 0; specs && i < specs->count; i++) {
		const struct span_spec *spec = &specs->list[i];

		if (spec->kind != SPAN_OF_CALLS)
			continue;
		bpf->rodata->span_calls[spec->sides[0].syscall].begins |= 1 << i;
		bpf->rodata->span_calls[spec->sides[1].syscall].ends |= 1 << i;
		bpf->rodata->span_rules[2 * i] = rule_of(spec, false);
		bpf->rodata->span_rules[2 * i + 1] = rule_of(spec, true);
	}
}

struct bpf_link *spans_attach_function(struct pinch_bpf *bpf, const char *path, const struct function_place *place,
				       uint32_t span)
{
	LIBBPF_OPTS(bpf_uprobe_opts, options, .bpf_cookie = span);

	if (place->kind == FUNCTION_JUMPS)
		options.bpf_cookie |= SPAN_PROBE_JUMPS;
	return bpf_program__attach_uprobe_opts(place->kind == FUNCTION_BEGINS ? bpf->progs.span_function_begin
									      : bpf->progs.span_function_end,
					       -1, path, place->file_offset, &options);
}
