/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "live/privileges.h"

#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <seccomp.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/out/out_path.h"
#include "helper/confine.h"
#include "options/settings.h"

enum { KEPT_MAX = 16 };

/* To write where others' files are, as root can. */
static const int writing[] = { CAP_DAC_OVERRIDE, CAP_FOWNER, CAP_CHOWN };
enum { WRITING = sizeof(writing) / sizeof(*writing) };

struct kept {
	int capabilities[KEPT_MAX];
	size_t count;
};

static void keep(struct kept *kept, int capability)
{
	kept->capabilities[kept->count++] = capability;
}

/* As it is now, and will be when the file is put in place: it is found by its path again. */
static bool may_write(const char *path)
{
	struct out_path place;
	bool may = !out_path_find(path, &place);

	if (may && place.directory >= 0) {
		may = !faccessat(place.directory, ".", W_OK | X_OK, AT_EACCESS);
		/* Its mode and group are to stay. */
		if (may && place.file >= 0)
			may = place.status.st_uid == geteuid() && place.status.st_gid == getegid();
	}
	out_path_fini(&place);
	return may;
}

static bool may_write_all(const struct settings *settings)
{
	const char *const paths[] = {
		settings->trace_path, settings->text_path,   settings->json_path,
		settings->html_path,  settings->folded_path, settings->csv_path,
	};

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++)
		if (paths[i] && !may_write(paths[i]))
			return false;
	return true;
}

/* Into programs: probes are set as files are seen. */
static bool sets_probes(const struct settings *settings)
{
	return settings->kernel.follows_hosts || span_specs_have(&settings->spans, SPAN_OF_FUNCTION) ||
	       settings->usdt.count;
}

static int choose(const struct settings *settings, bool signals_command, struct kept *kept)
{
	int err;

	keep(kept, CAP_BPF); /* for maps of unwind tables */
	keep(kept, CAP_SYS_NICE);
	if (sets_probes(settings)) {
		keep(kept, CAP_PERFMON);
		keep(kept, CAP_SYS_ADMIN);
	}
	/* Areas of others' are opened anew, to write into them. */
	if (settings->own_trigger.longer_ns)
		keep(kept, CAP_DAC_OVERRIDE);
	if (signals_command)
		keep(kept, CAP_KILL);
	err = confine_suspend(writing, WRITING);
	if (!may_write_all(settings))
		for (size_t i = 0; i < WRITING; i++)
			keep(kept, writing[i]);
	return err;
}

#define DENIED_BPF(command) DENIED_IF(bpf, 0, CONFINED_INT, command)

/*
 * Programs for the kernel, and what others have loaded. Its own may be attached again, to where they belong: event
 * loops are watched so.
 */
static const struct confined_call loading[] = {
	DENIED_BPF(BPF_PROG_LOAD),         DENIED_BPF(BPF_PROG_ATTACH),      DENIED_BPF(BPF_LINK_CREATE),
	DENIED_BPF(BPF_PROG_GET_FD_BY_ID), DENIED_BPF(BPF_MAP_GET_FD_BY_ID), DENIED_BPF(BPF_LINK_GET_FD_BY_ID),
	DENIED(perf_event_open),
};

/* clang-format off */
static const struct confined_call never_needed[] = {
	/* Programs, and other processes. */
	DENIED(execve), DENIED(execveat), DENIED(fork), DENIED(vfork), DENIED(clone), DENIED(clone3),
	DENIED(ptrace), DENIED(process_vm_readv), DENIED(process_vm_writev), DENIED(process_madvise),
	DENIED(pidfd_open), DENIED(pidfd_getfd), DENIED(kcmp), DENIED(userfaultfd),
	/* Networks. */
	DENIED(socket), DENIED(socketpair), DENIED(connect), DENIED(bind), DENIED(listen), DENIED(accept),
	/* File trees and namespaces. */
	DENIED(mount), DENIED(umount2), DENIED(pivot_root), DENIED(chroot), DENIED(open_tree), DENIED(move_mount),
	DENIED(fsopen), DENIED(fsmount), DENIED(mount_setattr), DENIED(unshare), DENIED(setns), DENIED(mknod),
	DENIED(mknodat), DENIED(open_by_handle_at), DENIED(fanotify_init), DENIED(quotactl),
	DENIED_BPF(BPF_OBJ_PIN), DENIED_BPF(BPF_OBJ_GET),
	/* Other users. */
	DENIED(setuid), DENIED(setgid), DENIED(setreuid), DENIED(setregid), DENIED(setresuid), DENIED(setresgid),
	DENIED(setgroups), DENIED(setfsuid), DENIED(setfsgid), DENIED(add_key), DENIED(request_key), DENIED(keyctl),
	/* The machine. */
	DENIED(init_module), DENIED(finit_module), DENIED(delete_module), DENIED(kexec_load),
	DENIED(kexec_file_load), DENIED(reboot), DENIED(iopl), DENIED(ioperm), DENIED(syslog), DENIED(swapon),
	DENIED(swapoff), DENIED(sethostname), DENIED(setdomainname), DENIED(acct), DENIED(settimeofday),
	DENIED(clock_settime), DENIED(adjtimex), DENIED(clock_adjtime), DENIED(personality),
	DENIED(io_uring_setup), DENIED(io_uring_enter), DENIED(io_uring_register),
};
/* clang-format on */

void privileges_give_up(const struct settings *settings, bool signals_command)
{
	struct kept kept = { 0 };
	int err = choose(settings, signals_command, &kept), next;

	/* Each is worth having without the others. */
	next = confine_capabilities(kept.capabilities, kept.count);
	err = err ? err : next;
	next = sets_probes(settings) ? 0 : confine_without_calls(loading, sizeof(loading) / sizeof(*loading));
	err = err ? err : next;
	next = confine_without_calls(never_needed, sizeof(never_needed) / sizeof(*never_needed));
	err = err ? err : next;
	if (err)
		warn("pinch could not drop the privileges that tracing does not need (%s), and keeps them",
		     strerror(-err));
}
