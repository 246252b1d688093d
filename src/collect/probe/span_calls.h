/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel side of spans: what is recorded where tasks begin and end. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct bpf_link;
struct function_place;
struct pinch_bpf;
struct span_specs;

/* Before loading: programs that no span needs are left out. specs NULL: there are none. */
void spans_choose(struct pinch_bpf *bpf, const struct span_specs *specs);

/* Attaches to an instruction of a function of the span. NULL and errno when that cannot be. */
struct bpf_link *spans_attach_function(struct pinch_bpf *bpf, const char *path, const struct function_place *place,
				       uint32_t span);
