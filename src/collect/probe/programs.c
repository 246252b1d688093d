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
#include <sys/resource.h>
#include <unistd.h>

#include "base/memory.h"
#include "collect/probe/kernel_btf.h"
#include "shared.h"
#include "pinch.skel.h"

enum { SHARES_MAX = 4, PATH_BYTES = 32, FILES_MIN = 512 };

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

enum maps_state { MAPS_AWAITED, MAPS_MADE, MAPS_MISSING };

struct programs {
	struct pinch_bpf *bpf;
	pthread_mutex_t mutex;
	pthread_cond_t are_maps_known;
	enum maps_state maps; /* guarded by mutex */
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
	{ "sched_switch", 0 }, { "klock_begin", 1 },        { "klock_end", 1 },  { "sched_waking", 2 },
	{ "sched_wakeup", 2 }, { "sched_process_exit", 2 }, { "list_waits", 2 },
};

static unsigned int share_of(const struct programs *programs, const char *name)
{
	for (size_t i = 0; i < sizeof(long_programs) / sizeof(*long_programs); i++)
		if (!strcmp(long_programs[i].name, name))
			return long_programs[i].share % programs->share_count;
	return (SHARES_MAX - 1) % programs->share_count;
}

/* 0: the skeleton loads all programs. */
static unsigned int count_shares(void)
{
	cpu_set_t cpus;
	struct rlimit files;
	int count = sched_getaffinity(0, sizeof(cpus), &cpus) ? 1 : CPU_COUNT(&cpus);

	/* Each has a descriptor of each map. */
	if (count < 2 || getrlimit(RLIMIT_NOFILE, &files) || files.rlim_cur < FILES_MIN)
		return 0;
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
		"btf_trace_sys_enter",
		/* Of these, kernel locks are members. */
		"mm_struct",
		"files_struct",
		"sighand_struct",
		"signal_struct",
		"task_struct",
		"inode",
		"file",
		"pipe_inode_info",
		"sock",
		"unix_sock",
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

static void tell_of_maps(struct programs *programs, enum maps_state state)
{
	pthread_mutex_lock(&programs->mutex);
	programs->maps = state;
	pthread_cond_broadcast(&programs->are_maps_known);
	pthread_mutex_unlock(&programs->mutex);
}

static bool await_maps(struct programs *programs)
{
	bool are_made;

	pthread_mutex_lock(&programs->mutex);
	while (programs->maps == MAPS_AWAITED)
		pthread_cond_wait(&programs->are_maps_known, &programs->mutex);
	are_made = programs->maps == MAPS_MADE;
	pthread_mutex_unlock(&programs->mutex);
	return are_made;
}

struct programs *programs_open(struct pinch_bpf **bpf)
{
	struct programs *programs = xcalloc(1, sizeof(*programs));

	pthread_mutex_init(&programs->mutex, NULL);
	pthread_cond_init(&programs->are_maps_known, NULL);
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
	if (programs->types_fd >= 0)
		close(programs->types_fd);
	programs->types_fd = -1;
}

void programs_free(struct programs *programs)
{
	if (!programs)
		return;
	programs_end(programs);
	btf__free(programs->types);
	pinch_bpf__destroy(programs->bpf);
	for (unsigned int i = 0; i < programs->share_count; i++)
		bpf_object__close(programs->shares[i].object);
	pthread_cond_destroy(&programs->are_maps_known);
	pthread_mutex_destroy(&programs->mutex);
	free(programs->is_chosen);
	free(programs);
}

const struct btf *programs_types(const struct programs *programs)
{
	return programs->types;
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

/* All types of the kernel, which libbpf needs for where programs are attached, are read while the maps are made. */
static void read_types(struct share *share)
{
	static const char name[] = "sched_process_exit";

	bpf_program__set_attach_target(bpf_object__find_program_by_name(share->object, name), 0, name);
}

static int load(struct share *share)
{
	const struct programs *programs = share->programs;
	const struct bpf_object_skeleton *skeleton = programs->bpf->skeleton;
	LIBBPF_OPTS(bpf_object_open_opts, options, .object_name = skeleton->name,
		    .btf_custom_path = *programs->types_path ? programs->types_path : NULL);
	int err;

	share->object = bpf_object__open_mem(skeleton->data, skeleton->data_sz, &options);
	if (!share->object)
		return -errno;
	choose_programs(share);
	read_types(share);
	if (!await_maps(share->programs))
		return -ECANCELED;
	err = take_maps(share);
	return err ? err : bpf_object__load(share->object);
}

static void *load_share(void *data)
{
	struct share *share = data;

	share->err = load(share);
	return NULL;
}

/* Leaves all programs to the shares. */
static void begin_shares(struct programs *programs)
{
	const struct bpf_object_skeleton *skeleton = programs->bpf->skeleton;

	for (int i = 0; i < skeleton->prog_cnt; i++) {
		programs->is_chosen[i] = bpf_program__autoload(*skeleton->progs[i].prog);
		bpf_program__set_autoload(*skeleton->progs[i].prog, false);
	}
	for (unsigned int i = 0; i < programs->share_count; i++) {
		struct share *share = &programs->shares[i];

		share->programs = programs;
		share->number = i;
		share->err = -pthread_create(&share->thread, NULL, load_share, share);
		share->has_thread = !share->err;
	}
}

int programs_begin(struct programs *programs)
{
	int err;

	programs->share_count = count_shares();
	if (programs->share_count)
		begin_shares(programs);
	err = pinch_bpf__load(programs->bpf);
	tell_of_maps(programs, err ? MAPS_MISSING : MAPS_MADE);
	return err;
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
