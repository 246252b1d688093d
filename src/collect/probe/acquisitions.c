/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/probe/acquisitions.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/memory.h"
#include "base/text.h"
#include "collect/probe/iterator.h"
#include "collect/probe/klock_spec.h"
#include "collect/probe/program.h"
#include "shared.h"
#include "pinch.skel.h"

enum {
	LOCKS_MAX = 65536, /* in all ways in which they are taken */
	OWN_HOLDS = 1000,
};

struct acquisitions {
	struct pinch_bpf *bpf;
	struct bpf_link *iterator;
	struct bpf_link *links[2 * KLOCK_FUNCTIONS_MAX];
	size_t link_count, function_count;
	struct text missing; /* functions that the kernel does not have */
	struct text refused; /* and those that it does not let be probed */
};

/* --- Before loading --------------------------------------------------------------------------- */

void acquisitions_choose(struct pinch_bpf *bpf, const struct klock_spec *spec)
{
	bpf_program__set_autoload(bpf->progs.acquire_call, spec);
	bpf_program__set_autoload(bpf->progs.acquire_return, spec);
	bpf_program__set_autoload(bpf->progs.list_holds, spec);
	bpf->rodata->counts_acquisitions = spec;
	if (!spec)
		return;
	memcpy((void *)bpf->rodata->klock_kind_names, spec->kinds, sizeof(spec->kinds));
	bpf_map__set_max_entries(bpf->maps.klocks_held, LOCKS_MAX);
}

/* --- Attaching -------------------------------------------------------------------------------- */

static int attach(struct acquisitions *acquisitions, const struct klock_function *function,
		  const struct bpf_program *program, bool is_return)
{
	LIBBPF_OPTS(bpf_kprobe_opts, options, .retprobe = is_return,
		    .bpf_cookie = KLOCK_PROBE(function->step, function->kind, function->argument));
	struct bpf_link *link = bpf_program__attach_kprobe_opts(program, function->symbol, &options);

	if (!link)
		return -errno;
	acquisitions->links[acquisitions->link_count++] = link;
	return 0;
}

static void note_failure(struct acquisitions *acquisitions, const struct klock_function *function, int err)
{
	struct text *names = err == -ENOENT ? &acquisitions->missing : &acquisitions->refused;

	text_put(names, names->length ? ", " : "");
	text_put(names, function->symbol);
	if (err != -ENOENT)
		text_printf(names, " (%s)", strerror(-err));
}

/* The probe that came last sees a call first: before the other one hides who calls. */
static void attach_function(struct acquisitions *acquisitions, const struct klock_function *function)
{
	bool takes = function->step != KLOCK_LETS_GO && function->step != KLOCK_CHANGES;
	int err = takes ? attach(acquisitions, function, acquisitions->bpf->progs.acquire_return, true) : 0;

	if (!err)
		err = attach(acquisitions, function, acquisitions->bpf->progs.acquire_call, false);
	if (err)
		note_failure(acquisitions, function, err);
	else
		acquisitions->function_count++;
}

/* Whoever reads from an empty pipe without waiting takes its lock for a look. */
static int take_own_locks(void)
{
	int fds[2], err = 0;
	char byte;

	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK))
		return fail(-errno, "cannot make a pipe");
	for (int i = 0; i < OWN_HOLDS && !err; i++)
		if (read(fds[0], &byte, 1) >= 0 || errno != EAGAIN)
			err = fail(-EIO, "a read from an empty pipe did not block");
	close(fds[0]);
	close(fds[1]);
	return err;
}

int acquisitions_start(struct pinch_bpf *bpf, const struct klock_spec *spec, struct acquisitions **out)
{
	struct acquisitions *acquisitions = xcalloc(1, sizeof(*acquisitions));
	union bpf_iter_link_info info = { .map.map_fd = bpf_map__fd(bpf->maps.klocks_held) };
	LIBBPF_OPTS(bpf_iter_attach_opts, options, .link_info = &info, .link_info_len = sizeof(info));
	int err = 0;

	acquisitions->bpf = bpf;
	for (size_t i = 0; i < spec->count; i++)
		attach_function(acquisitions, &spec->functions[i]);
	acquisitions->iterator = bpf_program__attach_iter(bpf->progs.list_holds, &options);
	if (!acquisitions->iterator)
		err = fail(-errno, "cannot list the kernel locks that are held");
	else if (!acquisitions->function_count)
		err = fail_plain(-ENOENT, "--acquisitions: the kernel allows no probe on any of the functions that "
					  "take locks");
	if (!err)
		err = take_own_locks();
	if (err)
		acquisitions_free(acquisitions);
	else
		*out = acquisitions;
	return err;
}

void acquisitions_detach(struct acquisitions *acquisitions)
{
	while (acquisitions && acquisitions->link_count)
		bpf_link__destroy(acquisitions->links[--acquisitions->link_count]);
}

void acquisitions_free(struct acquisitions *acquisitions)
{
	if (!acquisitions)
		return;
	acquisitions_detach(acquisitions);
	bpf_link__destroy(acquisitions->iterator);
	text_fini(&acquisitions->missing);
	text_fini(&acquisitions->refused);
	free(acquisitions);
}

/* --- Telling ---------------------------------------------------------------------------------- */

int acquisitions_list(struct acquisitions *acquisitions)
{
	struct pinch_bpf *bpf = acquisitions->bpf;
	int err;

	bpf->bss->holds_left = 0;
	err = iterator_run(acquisitions->iterator, "the kernel locks that are held");
	return err ? err : (int)bpf->bss->holds_left;
}

static uint64_t not_entered(const struct pinch_bpf *bpf)
{
	return program_not_entered(bpf->progs.acquire_call) + program_not_entered(bpf->progs.acquire_return);
}

void acquisitions_put_notes(const struct acquisitions *acquisitions, struct text *notes)
{
	const struct pinch_bpf *bpf = acquisitions->bpf;
	uint64_t missed = not_entered(bpf), lost = bpf->bss->holds_lost;

	if (acquisitions->missing.length) {
		text_printf(notes, "acquisitions: this kernel has no function %s: skipped",
			    acquisitions->missing.bytes);
		text_put_bytes(notes, "", 1);
	}
	if (acquisitions->refused.length) {
		text_printf(notes, "acquisitions: the kernel allows no probe on: %s", acquisitions->refused.bytes);
		text_put_bytes(notes, "", 1);
	}
	if (lost) {
		text_printf(notes, "acquisitions: %llu are not counted: there were more than %d locks",
			    (unsigned long long)lost, LOCKS_MAX);
		text_put_bytes(notes, "", 1);
	}
	if (missed) {
		text_printf(notes, "acquisitions: %llu steps were missed because of interrupts",
			    (unsigned long long)missed);
		text_put_bytes(notes, "", 1);
	}
}
