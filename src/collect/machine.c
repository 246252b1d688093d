/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/machine.h"

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

#include "base/fail.h"

enum { CHECKS_MAX = 16 };

#define BTF_PATH "/sys/kernel/btf/vmlinux"

static const struct {
	unsigned int number;
	const char *name;
	const char *purpose;
} capabilities[] = {
	{ 39, "CAP_BPF", "load BPF programs" },
	{ 38, "CAP_PERFMON", "trace the scheduler and sample" },
	{ CAP_SYS_PTRACE, "CAP_SYS_PTRACE", "read what other users' processes map" },
	{ CAP_SYS_ADMIN, "CAP_SYS_ADMIN", "list the kernel's threads" },
};

static uint64_t capabilities_held(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &header, data))
		return 0;
	return (uint64_t)data[1].effective << 32 | data[0].effective;
}

static void check_capabilities(struct machine_check *check)
{
	uint64_t held = capabilities_held();
	size_t missing = 0;

	check->what = "privileges";
	check->is_needed = true;
	for (size_t i = 0; i < sizeof(capabilities) / sizeof(*capabilities); i++) {
		size_t used = strlen(check->found);

		if (held >> capabilities[i].number & 1)
			continue;
		snprintf(check->found + used, sizeof(check->found) - used, "%s%s (to %s)",
			 missing++ ? ", " : "missing ", capabilities[i].name,
			 capabilities[i].purpose);
	}
	check->is_met = !missing;
	if (!missing)
		snprintf(check->found, sizeof(check->found), "%s",
			 geteuid() ? "all capabilities needed" : "root");
	snprintf(check->remedy, sizeof(check->remedy),
		 "run as root, or give the binary the capabilities: setcap "
		 "cap_bpf,cap_perfmon,cap_sys_ptrace,cap_sys_admin+ep pinch");
}

static void check_btf(struct machine_check *check)
{
	struct stat status;

	check->what = "type information of the kernel (BTF)";
	check->is_needed = true;
	check->is_met = !access(BTF_PATH, R_OK) && !stat(BTF_PATH, &status);
	if (check->is_met)
		snprintf(check->found, sizeof(check->found), "%s, %.1f MB", BTF_PATH,
			 status.st_size / 1048576.0);
	else
		snprintf(check->found, sizeof(check->found), "cannot read %s: %s", BTF_PATH,
			 strerror(errno));
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
	type = btf__type_by_id(btf, btf__type_by_id(btf, id)->type);	/* pointer */
	type = btf__type_by_id(btf, type->type);			/* function */
	return btf_is_func_proto(type) ? btf_vlen(type) : 0;
}

/* The tracepoint was moved by the change that gave it its second argument. */
bool machine_exit_is_late(const struct btf *btf)
{
	return tracepoint_arguments(btf, "sched_process_exit") == 2 &&
	       btf__find_by_name_kind(btf, "exit_signals", BTF_KIND_FUNC) > 0;
}

bool machine_tells_faults(const struct btf *btf)
{
	return tracepoint_arguments(btf, "page_fault_user") == 4;
}

static void check_tracepoints(struct machine_check *check)
{
	static const struct {
		const char *name;
		unsigned int arguments;
	} needed[] = {
		{ "sched_switch", 5 },	/* the last one is the state, since 5.18 */
		{ "sched_waking", 2 },
		{ "sched_wakeup", 2 },
		{ "sched_process_fork", 3 },
		{ "sched_process_exec", 4 },
		{ "sched_process_exit", 2 },
		{ "task_rename", 3 },
	};
	struct btf *btf;

	check->what = "scheduler tracepoints";
	check->is_needed = true;
	check->is_met = true;
	snprintf(check->found, sizeof(check->found), "sched_switch, sched_waking and the others");
	snprintf(check->remedy, sizeof(check->remedy),
		 "pinch needs Linux 5.19 or newer, with its tracepoints");
	btf = btf__load_vmlinux_btf();
	if (!btf) {
		check->is_met = false;
		snprintf(check->found, sizeof(check->found), "not known without BTF");
		return;
	}
	for (size_t i = 0; i < sizeof(needed) / sizeof(*needed) && check->is_met; i++) {
		if (tracepoint_arguments(btf, needed[i].name) >= needed[i].arguments)
			continue;
		check->is_met = false;
		snprintf(check->found, sizeof(check->found),
			 "%s is missing, or lacks an argument that pinch needs", needed[i].name);
	}
	btf__free(btf);
}

static void check_ring(struct machine_check *check)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "pinch_check", 0, 0,
				sysconf(_SC_PAGESIZE), NULL);

	check->what = "BPF ring buffers";
	check->is_needed = true;
	check->is_met = fd >= 0;
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
	check->is_met = fd >= 0;
	snprintf(check->found, sizeof(check->found), "%s", fd >= 0 ? "yes" : strerror(errno));
	snprintf(check->remedy, sizeof(check->remedy),
		 "CONFIG_PERF_EVENTS=y, and no policy that forbids perf_event_open()");
	if (fd >= 0)
		close(fd);
}

static void check_kernel_symbols(struct machine_check *check)
{
	unsigned long long address = 0;
	FILE *file = fopen("/proc/kallsyms", "re");

	check->what = "kernel symbols";
	if (file) {
		if (fscanf(file, "%llx", &address) != 1)
			address = 0;
		/* The first symbols of a per-CPU area may be at 0: look a little further. */
		for (int i = 0; i < 2000 && !address; i++)
			if (fscanf(file, "%*[^\n]\n%llx", &address) != 1)
				break;
		fclose(file);
	}
	check->is_met = address != 0;
	snprintf(check->found, sizeof(check->found), "%s",
		 address ? "/proc/kallsyms" : "/proc/kallsyms hides the addresses");
	snprintf(check->remedy, sizeof(check->remedy),
		 "sysctl kernel.kptr_restrict=0; without it kernel frames have no names");
}

bool machine_has_kprobes(void)
{
	return !access("/sys/bus/event_source/devices/kprobe/type", F_OK);
}

static void check_kprobes(struct machine_check *check)
{
	check->what = "kprobes (pinch klock --acquisitions)";
	check->is_met = machine_has_kprobes();
	snprintf(check->found, sizeof(check->found), "%s", check->is_met ? "yes" : "this kernel has none");
	snprintf(check->remedy, sizeof(check->remedy),
		 "boot a kernel built with CONFIG_KPROBE_EVENTS=y (Debian's are); without it, locks of the kernel are "
		 "told when they are waited for");
}

size_t machine_check(struct machine_check *checks, size_t max)
{
	static void (*const all[])(struct machine_check *) = {
		check_capabilities, check_btf, check_tracepoints, check_ring,
		check_sampling, check_kernel_symbols, check_kprobes,
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
	static void (*const needed[])(struct machine_check *) = {
		check_capabilities, check_btf, check_tracepoints,
	};

	for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++) {
		struct machine_check check = { 0 };

		needed[i](&check);
		if (!check.is_met)
			return fail_plain(i ? -EOPNOTSUPP : -EPERM, "cannot trace: %s: %s; %s",
					  check.what, check.found, check.remedy);
	}
	return 0;
}
