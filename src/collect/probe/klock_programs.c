/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/probe/klock_programs.h"

#include <bpf/libbpf.h>
#include <errno.h>

#include "base/fail.h"
#include "collect/probe/iterator.h"
#include "collect/probe/program.h"
#include "shared.h"
#include "pinch.skel.h"

int klocks_prepare(struct pinch_bpf *bpf)
{
	struct bpf_link *iterator = bpf_program__attach_iter(bpf->progs.list_queues, NULL);
	int err;

	if (!iterator)
		return fail(-errno, "cannot find the kernel's run queues");
	err = iterator_run(iterator, "the kernel's threads");
	bpf_link__destroy(iterator);
	return err;
}

uint64_t klocks_lost(const struct pinch_bpf *bpf)
{
	return program_not_entered(bpf->progs.klock_begin) + program_not_entered(bpf->progs.klock_end);
}
