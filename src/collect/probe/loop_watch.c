/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/probe/loop_watch.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "session/syscalls.h"
#include "shared.h"
#include "pinch.skel.h"

/* Longer than twice the age that tells a long turn from a short one: findings/code/findings_loops.c. */
static const uint64_t WATCH_NS = 64 * 1000 * 1000;
enum { PAUSES_MAX = 16 };

struct loop_watch {
	struct pinch_bpf *bpf;
	int fd; /* of the link; -1: nothing is watched */
	bool is_over;
	uint64_t end_ns;     /* of the watch */
	uint64_t due_ns;     /* the next one may begin then */
	unsigned int pauses; /* times WATCH_NS from one to the next */
};

void loop_watch_choose(struct pinch_bpf *bpf, bool is_wanted)
{
	bpf_program__set_autoload(bpf->progs.poll_begin, is_wanted);
	for (uint32_t number = 0; number < SYSCALLS_MAX; number++)
		bpf->rodata->poll_kinds[number] = syscall_poll(number);
}

struct loop_watch *loop_watch_new(struct pinch_bpf *bpf)
{
	struct loop_watch *watch = xcalloc(1, sizeof(*watch));

	watch->bpf = bpf;
	watch->fd = -1;
	watch->pauses = 1;
	watch->is_over = !bpf_program__autoload(bpf->progs.poll_begin);
	return watch;
}

void loop_watch_free(struct loop_watch *watch)
{
	if (!watch)
		return;
	loop_watch_stop(watch);
	free(watch);
}

/* From when on the kernel side knows of each poll: once its program is there. */
void loop_watch_begin(struct loop_watch *watch, uint64_t now_ns)
{
	if (watch->is_over || watch->fd >= 0 || now_ns < watch->due_ns)
		return;
	watch->fd = bpf_raw_tracepoint_open(NULL, bpf_program__fd(watch->bpf->progs.poll_begin));
	watch->is_over = watch->fd < 0;
	watch->end_ns = now_ns + WATCH_NS;
	if (!watch->is_over)
		watch->bpf->bss->loops_watched_ns = clock_ns();
}

/* The kernel side must not count on it any more before its program goes. */
static void end(struct loop_watch *watch, uint64_t now_ns)
{
	watch->bpf->bss->loops_watched_ns = 0;
	close(watch->fd);
	watch->fd = -1;
	watch->due_ns = now_ns + watch->pauses * WATCH_NS;
	if (watch->pauses < PAUSES_MAX)
		watch->pauses *= 2;
}

void loop_watch_step(struct loop_watch *watch, uint64_t now_ns)
{
	if (!watch || watch->is_over)
		return;
	if (watch->fd >= 0 && now_ns >= watch->end_ns)
		end(watch, now_ns);
	else if (watch->fd < 0 && now_ns >= watch->due_ns)
		watch->bpf->bss->loops_may_ring = true;
}

uint64_t loop_watch_due_ns(const struct loop_watch *watch)
{
	return !watch || watch->fd < 0 ? UINT64_MAX : watch->end_ns;
}

void loop_watch_stop(struct loop_watch *watch)
{
	if (watch->fd >= 0)
		end(watch, 0);
	watch->is_over = true;
}
