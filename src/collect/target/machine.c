/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/target/machine.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/text.h"
#include "clocks/cpu_clocks.h"

enum { CHECKS_MAX = 16 };

#define BTF_PATH "/sys/kernel/btf/vmlinux"

struct capability {
	unsigned int number;
	const char *name;
	const char *purpose;
	bool is_of_admin; /* CAP_SYS_ADMIN stands for it, too */
};

/* The least that works, found by trying: tests/attacks/capabilities.py. */
static const struct capability needed[] = {
	{ CAP_BPF, "CAP_BPF", "load BPF programs", true },
	{ CAP_PERFMON, "CAP_PERFMON", "trace the scheduler and sample", true },
};

static const struct capability useful[] = {
	{ CAP_SYS_PTRACE, "CAP_SYS_PTRACE", "read files in containers, and Python and Ruby programs of other users",
	  false },
	{ CAP_DAC_READ_SEARCH, "CAP_DAC_READ_SEARCH", "read programs that you may not read", false },
	{ CAP_CHECKPOINT_RESTORE, "CAP_CHECKPOINT_RESTORE", "read programs that were deleted", true },
	{ CAP_SYS_ADMIN, "CAP_SYS_ADMIN", "probe functions: --span FILE:FUNCTION, --dns", false },
	{ CAP_SYS_NICE, "CAP_SYS_NICE", "run with priority over the traced program", false },
};

static uint64_t capabilities_held(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &header, data))
		return 0;
	return (uint64_t)data[1].effective << 32 | data[0].effective;
}

/* Lists those that are missing; how many there are. */
static size_t put_missing(struct machine_check *check, const struct capability *wanted, size_t count)
{
	uint64_t held = capabilities_held();
	size_t missing = 0;

	for (size_t i = 0; i < count; i++) {
		size_t used = strlen(check->found);

		if (held >> wanted[i].number & 1 || (wanted[i].is_of_admin && held >> CAP_SYS_ADMIN & 1))
			continue;
		snprintf(check->found + used, sizeof(check->found) - used, "%s%s (to %s)",
			 missing++ ? ", " : "missing ", wanted[i].name, wanted[i].purpose);
	}
	check->is_seen = !missing;
	if (!missing)
		snprintf(check->found, sizeof(check->found), "%s", geteuid() ? "the capabilities for it" : "root");
	return missing;
}

static void check_needed(struct machine_check *check)
{
	check->what = "privileges to trace";
	check->is_needed = true;
	put_missing(check, needed, sizeof(needed) / sizeof(*needed));
	snprintf(check->remedy, sizeof(check->remedy),
		 "run as root, or give the binary the capabilities, for a group alone: setcap "
		 "cap_bpf,cap_perfmon,cap_sys_ptrace+ep pinch");
}

static void check_useful(struct machine_check *check)
{
	check->what = "privileges for all features";
	put_missing(check, useful, sizeof(useful) / sizeof(*useful));
	snprintf(check->remedy, sizeof(check->remedy), "run as root, or add the ones that you want to setcap's list");
}

static void check_btf(struct machine_check *check)
{
	struct stat status;

	check->what = "kernel type information (BTF)";
	check->is_needed = true;
	check->is_seen = !access(BTF_PATH, R_OK) && !stat(BTF_PATH, &status);
	if (check->is_seen)
		snprintf(check->found, sizeof(check->found), "%s, %.1f MB", BTF_PATH, status.st_size / 1048576.0);
	else
		snprintf(check->found, sizeof(check->found), "cannot read %s: %s", BTF_PATH, strerror(errno));
	snprintf(check->remedy, sizeof(check->remedy),
		 "boot a kernel built with CONFIG_DEBUG_INFO_BTF=y (Debian's are, from 11 on)");
}

/* The tracepoint's arguments, the leading context pointer included; 0 when it is not there. */
static unsigned int tracepoint_arguments(const struct btf *btf, const char *name)
{
	const struct btf_type *type;
	char symbol[80];
	int id;

	snprintf(symbol, sizeof(symbol), "btf_trace_%s", name);
	id = btf__find_by_name_kind(btf, symbol, BTF_KIND_TYPEDEF);
	if (id < 0)
		return 0;
	type = btf__type_by_id(btf, btf__type_by_id(btf, id)->type); /* pointer */
	type = btf__type_by_id(btf, type->type);                     /* function */
	return btf_is_func_proto(type) ? btf_vlen(type) : 0;
}

/* The tracepoint was moved by the change that gave it its second argument. */
bool machine_exit_is_late(const struct btf *btf)
{
	return tracepoint_arguments(btf, "sched_process_exit") == 2 &&
	       btf__find_by_name_kind(btf, "exit_signals", BTF_KIND_FUNC) > 0;
}

bool machine_has_fault_events(const struct btf *btf)
{
	return tracepoint_arguments(btf, "page_fault_user") == 4;
}

bool machine_has_ready_events(const struct btf *btf)
{
	return tracepoint_arguments(btf, "sk_data_ready") == 2;
}

bool machine_has_call_events(const struct btf *btf)
{
	return tracepoint_arguments(btf, "sys_enter") == 3;
}

bool machine_has_lock_events(const struct btf *btf)
{
	return tracepoint_arguments(btf, "posix_lock_inode") == 4 && tracepoint_arguments(btf, "flock_lock_inode") == 4;
}

static void check_tracepoints(struct machine_check *check)
{
	static const struct {
		const char *name;
		unsigned int arguments;
	} tracepoints[] = {
		{ "sched_switch", 5 }, /* the last one is the state, since 5.18 */
		{ "sched_waking", 2 },       { "sched_wakeup", 2 },       { "sched_process_fork", 3 },
		{ "sched_process_exec", 4 }, { "sched_process_exit", 2 }, { "task_rename", 3 },
	};
	struct btf *btf;

	check->what = "scheduler tracepoints";
	check->is_needed = true;
	check->is_seen = true;
	snprintf(check->found, sizeof(check->found), "sched_switch, sched_waking and the others");
	snprintf(check->remedy, sizeof(check->remedy), "pinch needs Linux 5.19 or newer, with its tracepoints");
	btf = btf__load_vmlinux_btf();
	if (!btf) {
		check->is_seen = false;
		snprintf(check->found, sizeof(check->found), "unknown without BTF");
		return;
	}
	for (size_t i = 0; i < sizeof(tracepoints) / sizeof(*tracepoints) && check->is_seen; i++) {
		if (tracepoint_arguments(btf, tracepoints[i].name) >= tracepoints[i].arguments)
			continue;
		check->is_seen = false;
		snprintf(check->found, sizeof(check->found), "%s is missing, or lacks an argument that pinch needs",
			 tracepoints[i].name);
	}
	btf__free(btf);
}

static void check_ring(struct machine_check *check)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "pinch_check", 0, 0, sysconf(_SC_PAGESIZE), NULL);

	check->what = "BPF ring buffers";
	check->is_needed = true;
	check->is_seen = fd >= 0;
	snprintf(check->found, sizeof(check->found), "%s", fd >= 0 ? "yes" : strerror(errno));
	snprintf(check->remedy, sizeof(check->remedy),
		 "CONFIG_BPF_SYSCALL=y, and no policy (lockdown=confidentiality, a container's "
		 "seccomp filter) that forbids bpf(); memory for BPF may be limited by the cgroup");
	if (fd >= 0)
		close(fd);
}

static void check_sampling(struct machine_check *check)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 1000000000,
	};
	int fd = syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);

	check->what = "perf events (sampling, mappings)";
	check->is_needed = true;
	check->is_seen = fd >= 0;
	snprintf(check->found, sizeof(check->found), "%s", fd >= 0 ? "yes" : strerror(errno));
	snprintf(check->remedy, sizeof(check->remedy),
		 "CONFIG_PERF_EVENTS=y, and no policy that forbids perf_event_open()");
	if (fd >= 0)
		close(fd);
}

bool machine_has_kprobes(void)
{
	return !access("/sys/bus/event_source/devices/kprobe/type", F_OK);
}

static void check_kprobes(struct machine_check *check)
{
	check->what = "kprobes (pinch klock --acquisitions)";
	check->is_seen = machine_has_kprobes();
	snprintf(check->found, sizeof(check->found), "%s", check->is_seen ? "yes" : "this kernel has none");
	snprintf(check->remedy, sizeof(check->remedy),
		 "boot a kernel built with CONFIG_KPROBE_EVENTS=y (Debian's are); without it, only kernel locks that "
		 "threads wait for are shown");
}

static void put_shift(struct machine_check *check, int64_t shift_ns)
{
	struct text text = { 0 };

	text_put(&text, "its clock is ");
	text_put_duration(&text, shift_ns < 0 ? -(uint64_t)shift_ns : (uint64_t)shift_ns);
	text_put(&text, shift_ns < 0 ? " behind" : " ahead of");
	text_put(&text, " the kernel's; pinch has the kernel's");
	snprintf(check->found, sizeof(check->found), "%s", text.bytes);
	text_fini(&text);
}

static void check_time_namespace(struct machine_check *check)
{
	check->what = "time namespace";
	check->is_needed = true;
	check->is_seen = !clock_begin();
	if (!check->is_seen)
		snprintf(check->found, sizeof(check->found), "it is not known how far its clock is from the kernel's");
	else if (clock_shift_ns())
		put_shift(check, clock_shift_ns());
	else
		snprintf(check->found, sizeof(check->found), "its clock is the kernel's");
	snprintf(check->remedy, sizeof(check->remedy), "start pinch from a shell in it, or outside of it");
}

static void put_clocks(struct machine_check *check, const struct cpu_clocks *clocks)
{
	struct text text = { 0 };

	text_put(&text, check->is_seen ? "they agree within " : "they differ by at least ");
	text_put_duration(&text, check->is_seen ? clocks->apart_ns : clocks->surplus_ns);
	snprintf(check->found, sizeof(check->found), "%s", text.bytes);
	text_fini(&text);
}

static void check_clocks(struct machine_check *check)
{
	struct cpu_clocks clocks;
	int err = cpu_clocks_measure(&clocks);

	check->what = "clocks of CPUs";
	check->is_seen = err ? err == -ENOENT : clocks.cpu_count && !clocks.surplus_ns;
	snprintf(
		check->remedy, sizeof(check->remedy),
		"boot with clocksource=hpet or another one that all CPUs share; else the order of events on different CPUs "
		"may be wrong");
	if (err == -ENOENT)
		snprintf(check->found, sizeof(check->found), "there is only one");
	else if (err || !clocks.cpu_count)
		snprintf(check->found, sizeof(check->found), "cannot be compared: %s",
			 err ? strerror(-err) : "other CPUs are busy");
	else
		put_clocks(check, &clocks);
}

size_t machine_check(struct machine_check *checks, size_t max)
{
	static void (*const all[])(struct machine_check *) = {
		check_needed,  check_useful,         check_btf,    check_tracepoints, check_ring, check_sampling,
		check_kprobes, check_time_namespace, check_clocks,
	};
	size_t count = sizeof(all) / sizeof(*all);

	if (count > max)
		count = max;
	for (size_t i = 0; i < count; i++) {
		checks[i] = (struct machine_check){ 0 };
		all[i](&checks[i]);
	}
	return count;
}

int machine_explain_missing(void)
{
	static void (*const checks[])(struct machine_check *) = {
		check_needed,
		check_btf,
		check_tracepoints,
	};

	for (size_t i = 0; i < sizeof(checks) / sizeof(*checks); i++) {
		struct machine_check check = { 0 };

		checks[i](&check);
		if (!check.is_seen)
			return fail_plain(i ? -EOPNOTSUPP : -EPERM, "cannot trace: %s: %s; %s", check.what, check.found,
					  check.remedy);
	}
	return 0;
}
