/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/worker/servers_confine.h"

#include <errno.h>
#include <limits.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "helper/confine.h"
#include "symbol/worker/debuginfod.h"

enum { TREES_MAX = 64, MEMORY_MB_MAX = 1 << 10 };

/* Younger than some libseccomp; the same numbers everywhere. */
enum { FCHMODAT2 = 452, SETXATTRAT = 463, REMOVEXATTRAT = 466, FILE_SETATTR = 469 };

#define DENIED_NUMBER(number)           \
	{                               \
		number,                 \
		{                       \
			{               \
				0, 0, 0 \
			}               \
		}                       \
	}

struct trees {
	struct confined_tree all[TREES_MAX];
	size_t count;
	char urls[8192]; /* the words of DEBUGINFOD_URLS */
};

static void add_tree(struct trees *trees, const char *path, bool may_write)
{
	if (path && path[0] == '/' && trees->count < TREES_MAX)
		trees->all[trees->count++] = (struct confined_tree){ path, may_write };
}

/* Libraries, names of hosts, and whom to trust: as distributions have them. No other file of the user. */
static void add_system(struct trees *trees)
{
	static const char *const paths[] = {
		"/usr",
		"/lib",
		"/lib64",
		"/nix/store",
		"/etc/ld.so.cache",
		"/etc/resolv.conf",
		"/etc/hosts",
		"/etc/host.conf",
		"/etc/nsswitch.conf",
		"/etc/gai.conf",
		"/etc/services",
		"/etc/protocols",
		"/run/systemd/resolve",
		"/run/resolvconf",
		"/etc/ssl",
		"/etc/pki",
		"/etc/ca-certificates",
		"/etc/crypto-policies",
		"/etc/gnutls",
		"/etc/pkcs11",
		"/var/lib/ca-certificates",
		"/etc/localtime",
		"/dev/urandom",
		"/dev/random",
	};
	static const char *const variables[] = { "SSL_CERT_FILE", "SSL_CERT_DIR", "DEBUGINFOD_HEADERS_FILE" };

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++)
		add_tree(trees, paths[i], false);
	for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++)
		add_tree(trees, getenv(variables[i]), false);
}

/* What the user calls a server may be a directory. */
static void add_local_servers(struct trees *trees)
{
	static const char prefix[] = "file://";
	const char *urls = getenv("DEBUGINFOD_URLS");
	char *rest = trees->urls, *url;

	snprintf(trees->urls, sizeof(trees->urls), "%s", urls ? urls : "");
	while ((url = strsep(&rest, " ")))
		if (!strncmp(url, prefix, strlen(prefix)))
			add_tree(trees, url + strlen(prefix), false);
}

/* With all directories above it. */
static void make_directory(const char *path)
{
	char part[PATH_MAX];

	if (snprintf(part, sizeof(part), "%s", path) >= (int)sizeof(part))
		return;
	for (char *at = part + 1; (at = strchr(at, '/')); at++) {
		*at = '\0';
		mkdir(part, 0700);
		*at = '/';
	}
	mkdir(part, 0700);
}

/* Where the library keeps what it was given, by its own rules; it is set, so that it is nowhere else. */
static const char *cache_path(void)
{
	static const char variable[] = "DEBUGINFOD_CACHE_PATH";
	const char *home = getenv("HOME"), *cache = getenv("XDG_CACHE_HOME");
	char path[PATH_MAX];

	if (getenv(variable))
		return getenv(variable);
	snprintf(path, sizeof(path), "%s/.debuginfod_client_cache", home ? home : "");
	if (access(path, F_OK)) {
		if (cache)
			snprintf(path, sizeof(path), "%s/debuginfod_client", cache);
		else
			snprintf(path, sizeof(path), "%s/.cache/debuginfod_client", home ? home : "");
	}
	setenv(variable, path, 1);
	return getenv(variable);
}

static int confine_paths_of_user(void)
{
	struct trees trees = { .count = 0 };
	const char *cache = cache_path();
	int err;

	make_directory(cache);
	add_tree(&trees, cache, true);
	add_system(&trees);
	add_local_servers(&trees);
	err = confine_paths(trees.all, trees.count);
	return err == -ENOSYS ? 0 : err;
}

/* Landlock says nothing of what changes a file without opening it, nor of who listens on a path. */
static int confine_calls(void)
{
	/* clang-format off */
	static const struct confined_call denied[] = {
		/* Programs, and other processes. */
		DENIED(execve), DENIED(execveat), DENIED(ptrace), DENIED(process_vm_readv), DENIED(process_vm_writev),
		DENIED(process_madvise), DENIED(pidfd_open), DENIED(pidfd_getfd), DENIED(kcmp), DENIED(userfaultfd),
		DENIED(kill), DENIED(tkill), DENIED(tgkill), DENIED(rt_sigqueueinfo), DENIED(rt_tgsigqueueinfo),
		DENIED(pidfd_send_signal), DENIED(fork), DENIED(vfork), DENIED(prlimit64), DENIED(setpriority),
		DENIED(ioprio_set), DENIED(sched_setaffinity), DENIED(sched_setattr), DENIED(sched_setparam),
		DENIED(sched_setscheduler),
		/* Those of this machine that trust root, and whatever is outside of it. */
		DENIED_IF(socket, 0, CONFINED_INT, AF_UNIX), DENIED_IF(socket, 0, CONFINED_INT, AF_VSOCK),
		DENIED_IF(socket, 0, CONFINED_INT, AF_PACKET), DENIED(bind), DENIED(listen), DENIED(accept),
		DENIED(accept4), DENIED(io_uring_setup), DENIED(io_uring_enter), DENIED(io_uring_register),
		/* Files. */
		DENIED(truncate), DENIED(chmod), DENIED(fchmod), DENIED(fchmodat), DENIED(chown), DENIED(fchown), DENIED(lchown),
		DENIED(fchownat), DENIED(setxattr), DENIED(lsetxattr), DENIED(fsetxattr), DENIED(removexattr),
		DENIED(lremovexattr), DENIED(fremovexattr), DENIED(mknod), DENIED(mknodat), DENIED(open_by_handle_at),
		DENIED_NUMBER(FCHMODAT2), DENIED_NUMBER(SETXATTRAT), DENIED_NUMBER(REMOVEXATTRAT), DENIED_NUMBER(FILE_SETATTR),
		/* File trees and namespaces. */
		DENIED(mount), DENIED(umount2), DENIED(pivot_root), DENIED(chroot), DENIED(open_tree), DENIED(move_mount),
		DENIED(fsopen), DENIED(fsmount), DENIED(mount_setattr), DENIED(unshare), DENIED(setns),
		/* The machine. */
		DENIED(bpf), DENIED(perf_event_open), DENIED(add_key), DENIED(request_key), DENIED(keyctl),
		DENIED(init_module), DENIED(finit_module), DENIED(kexec_load), DENIED(reboot), DENIED(personality),
	};
	/* clang-format on */

	return confine_without_calls(denied, sizeof(denied) / sizeof(*denied));
}

/*
 * It stays the caller's user, for its cache is the caller's: as root, root without capabilities, who owns most
 * files. That is why it matters which of them it can open.
 */
int servers_confine(void)
{
	struct rlimit memory = { (rlim_t)MEMORY_MB_MAX << 20, (rlim_t)MEMORY_MB_MAX << 20 };
	int err = confine_capabilities(NULL, 0);

	if (err)
		return err;
	if (!IS_SANITIZED)
		setrlimit(RLIMIT_DATA, &memory);
	/* Whatever directory the library is in. */
	debuginfod_load();
	err = confine_basics();
	if (!err)
		err = confine_paths_of_user();
	return err ? err : confine_calls();
}
