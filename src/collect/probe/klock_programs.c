/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/probe/klock_programs.h"

#include <bpf/libbpf.h>
#include <errno.h>

#include "base/fail.h"
#include "collect/probe/iterator.h"
#include "collect/probe/program.h"
#include "shared.h"
#include "pinch.skel.h"

void klocks_choose(struct pinch_bpf *bpf, bool knows_contexts)
{
	bpf_program__set_autoload(bpf->progs.nested_begin, knows_contexts);
	bpf_program__set_autoload(bpf->progs.nested_end, knows_contexts);
}

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

static int attach(const struct bpf_program *program, struct bpf_link **link)
{
	if (!bpf_program__autoload(program))
		return 0;
	*link = bpf_program__attach(program);
	return *link ? 0 : -errno;
}

int klocks_attach_nested(struct pinch_bpf *bpf)
{
	int err = attach(bpf->progs.nested_begin, &bpf->links.nested_begin);

	return err ? err : attach(bpf->progs.nested_end, &bpf->links.nested_end);
}

void klocks_detach_nested(struct pinch_bpf *bpf)
{
	bpf_link__destroy(bpf->links.nested_begin);
	bpf_link__destroy(bpf->links.nested_end);
	bpf->links.nested_begin = bpf->links.nested_end = NULL;
}

uint64_t klocks_lost(const struct pinch_bpf *bpf, unsigned int cpu_count)
{
	uint64_t nested = 0, missed;

	/* First: while the programs run, an event is missed before it is found to be nested. */
	for (unsigned int i = 0; i < cpu_count; i++)
		nested += bpf->bss->cpu_counts[i].klocks_nested;
	missed = program_not_entered(bpf->progs.klock_begin) + program_not_entered(bpf->progs.klock_end);
	return missed > nested ? missed - nested : 0;
}
