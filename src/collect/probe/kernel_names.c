/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/probe/kernel_names.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdio.h>

#include "shared.h"
#include "pinch.skel.h"

int kernel_names_ask(void *data, uint64_t address, char *text, uint32_t capacity_bytes)
{
	LIBBPF_OPTS(bpf_test_run_opts, options);
	struct pinch_bpf *bpf = data;
	int err;

	bpf->bss->kernel_name.address = address;
	err = bpf_prog_test_run_opts(bpf_program__fd(bpf->progs.name_address), &options);
	if (!err)
		snprintf(text, capacity_bytes, "%s", bpf->bss->kernel_name.text);
	return err;
}
