/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/probe/programs.h"

#include <bpf/btf.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory.h"
#include "collect/probe/kernel_btf.h"
#include "shared.h"
#include "pinch.skel.h"

enum { SHARES_MAX = 4, PATH_BYTES = 32 };

struct programs;

/* What one thread loads. */
struct share {
	struct programs *programs;
	unsigned int number;
	struct bpf_object *object;
	pthread_t thread;
	bool has_thread;
	int err;
};

struct programs {
	struct pinch_bpf *bpf;
	struct btf *types;
	int types_fd;
	uint32_t task_type;          /* the kernel's number of it; 0: unknown */
	char types_path[PATH_BYTES]; /* empty: libbpf is to read all types */
	bool *is_chosen;             /* by program */
	struct share shares[SHARES_MAX];
	unsigned int share_count;
};

/*
 * Those that take long, so that a quarter of the time, and of two shares a half, is spent on each. All others are in the last
 * one.
 */
static const struct {
	const char *name;
	unsigned int share;
} long_programs[] = {
	{ "sched_switch", 0 }, { "klock_begin", 1 },  { "klock_end", 1 },
	{ "sched_waking", 2 }, { "sched_wakeup", 2 }, { "sched_process_exit", 2 },
};

static unsigned int share_of(const struct programs *programs, const char *name)
{
	for (size_t i = 0; i < sizeof(long_programs) / sizeof(*long_programs); i++)
		if (!strcmp(long_programs[i].name, name))
			return long_programs[i].share % programs->share_count;
	return (SHARES_MAX - 1) % programs->share_count;
}

static unsigned int count_shares(void)
{
	cpu_set_t cpus;
	int count = sched_getaffinity(0, sizeof(cpus), &cpus) ? SHARES_MAX : CPU_COUNT(&cpus);

	return count < SHARES_MAX ? count : SHARES_MAX;
}

/* What has types with these names may be in a module, whose type information libbpf finds. */
static bool may_lack_types(const struct btf *types)
{
	return btf__find_by_name_kind(types, "unix_sock", BTF_KIND_STRUCT) < 0;
}

static struct pinch_bpf *open_skeleton(const char *types_path)
{
	LIBBPF_OPTS(bpf_object_open_opts, options, .btf_custom_path = *types_path ? types_path : NULL);

	return pinch_bpf__open_opts(&options);
}

/* Of those that the skeleton has, and of others that are asked for. They have to be there when it is loaded. */
static bool make_types(struct programs *programs)
{
	static const char *const others[] = {
		".data..percpu",
		"runqueues",
		"__preempt_count",
		"pcpu_hot",
		"hrtimer_bases",
		"tick_cpu_sched",
		"__irq_regs",
		"exit_signals",
		"btf_trace_sched_process_exit",
		"btf_trace_page_fault_user",
		"btf_trace_sk_data_ready",
		"btf_trace_posix_lock_inode",
		"btf_trace_flock_lock_inode",
	};
	const void *bytes;
	uint32_t size_bytes;

	programs->types = kernel_btf_new(bpf_object__btf(programs->bpf->obj), others, sizeof(others) / sizeof(*others),
					 &programs->task_type);
	if (!programs->types || may_lack_types(programs->types))
		return false;
	bytes = btf__raw_data(programs->types, &size_bytes);
	return write(programs->types_fd, bytes, size_bytes) == (ssize_t)size_bytes;
}

struct programs *programs_open(struct pinch_bpf **bpf)
{
	struct programs *programs = xcalloc(1, sizeof(*programs));

	programs->types_fd = memfd_create("pinch-types", MFD_CLOEXEC);
	if (programs->types_fd >= 0)
		snprintf(programs->types_path, sizeof(programs->types_path), "/proc/self/fd/%d", programs->types_fd);
	programs->bpf = open_skeleton(programs->types_path);
	if (programs->bpf && !make_types(programs)) {
		pinch_bpf__destroy(programs->bpf);
		*programs->types_path = '\0';
		programs->bpf = open_skeleton(programs->types_path);
	}
	if (!programs->bpf) {
		programs_free(programs);
		return NULL;
	}
	programs->is_chosen = xcalloc(programs->bpf->skeleton->prog_cnt, sizeof(*programs->is_chosen));
	programs->bpf->rodata->task_type = programs->task_type;
	*bpf = programs->bpf;
	return programs;
}

static void close_types(struct programs *programs)
{
	btf__free(programs->types);
	programs->types = NULL;
	if (programs->types_fd >= 0)
		close(programs->types_fd);
	programs->types_fd = -1;
}

void programs_free(struct programs *programs)
{
	if (!programs)
		return;
	programs_end(programs);
	pinch_bpf__destroy(programs->bpf);
	for (unsigned int i = 0; i < programs->share_count; i++)
		bpf_object__close(programs->shares[i].object);
	free(programs->is_chosen);
	free(programs);
}

const struct btf *programs_types(const struct programs *programs)
{
	return programs->types;
}

int programs_make_maps(struct programs *programs)
{
	const struct bpf_object_skeleton *skeleton = programs->bpf->skeleton;

	for (int i = 0; i < skeleton->prog_cnt; i++) {
		struct bpf_program *program = *skeleton->progs[i].prog;

		programs->is_chosen[i] = bpf_program__autoload(program);
		bpf_program__set_autoload(program, false);
	}
	return pinch_bpf__load(programs->bpf);
}

static int take_maps(struct share *share)
{
	struct bpf_map *map;
	int err = 0;

	bpf_object__for_each_map(map, share->object)
	{
		const struct bpf_map *made =
			bpf_object__find_map_by_name(share->programs->bpf->obj, bpf_map__name(map));
		int fd = made ? bpf_map__fd(made) : -1;

		err = fd < 0 ? bpf_map__set_autocreate(map, false) : bpf_map__reuse_fd(map, fd);
		if (err)
			break;
	}
	return err;
}

static void choose_programs(struct share *share)
{
	const struct programs *programs = share->programs;
	const struct bpf_object_skeleton *skeleton = programs->bpf->skeleton;

	for (int i = 0; i < skeleton->prog_cnt; i++) {
		const char *name = skeleton->progs[i].name;
		bool is_here = programs->is_chosen[i] && share_of(programs, name) == share->number;

		bpf_program__set_autoload(bpf_object__find_program_by_name(share->object, name), is_here);
	}
}

static void *load_share(void *data)
{
	struct share *share = data;
	const struct programs *programs = share->programs;
	const struct bpf_object_skeleton *skeleton = programs->bpf->skeleton;
	LIBBPF_OPTS(bpf_object_open_opts, options, .object_name = skeleton->name,
		    .btf_custom_path = *programs->types_path ? programs->types_path : NULL);

	share->object = bpf_object__open_mem(skeleton->data, skeleton->data_sz, &options);
	if (!share->object) {
		share->err = -errno;
		return NULL;
	}
	choose_programs(share);
	share->err = take_maps(share);
	if (!share->err)
		share->err = bpf_object__load(share->object);
	return NULL;
}

void programs_begin(struct programs *programs)
{
	programs->share_count = count_shares();
	for (unsigned int i = 0; i < programs->share_count; i++) {
		struct share *share = &programs->shares[i];

		share->programs = programs;
		share->number = i;
		share->has_thread = !pthread_create(&share->thread, NULL, load_share, share);
		if (!share->has_thread)
			load_share(share);
	}
}

/* What attaches and asks programs finds them in the skeleton. */
static void show_programs(struct programs *programs)
{
	const struct bpf_object_skeleton *skeleton = programs->bpf->skeleton;

	for (int i = 0; i < skeleton->prog_cnt; i++) {
		const struct share *share = &programs->shares[share_of(programs, skeleton->progs[i].name)];

		*skeleton->progs[i].prog = bpf_object__find_program_by_name(share->object, skeleton->progs[i].name);
	}
}

int programs_end(struct programs *programs)
{
	int err = 0;

	for (unsigned int i = 0; i < programs->share_count; i++) {
		struct share *share = &programs->shares[i];

		if (share->has_thread)
			pthread_join(share->thread, NULL);
		share->has_thread = false;
		if (share->err)
			err = share->err;
	}
	close_types(programs);
	if (!err && programs->share_count)
		show_programs(programs);
	return err;
}
