/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Giving up privileges, each for good. A process that reads what others wrote keeps only what its work
 * takes: doc/security.md. All return 0 or a negative errno, in silence. What only root can give up, and what a
 * kernel has or has not, is distinguished from what should have worked: after that, nobody may go on.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* What an address sanitizer does not bear: it reserves terabytes that it never uses, opens files, makes threads. */
#ifdef __SANITIZE_ADDRESS__
enum { IS_SANITIZED = true };
#else
enum { IS_SANITIZED = false };
#endif

/* No program that the process starts can have any but these. Without CAP_SETPCAP nothing is changed: 0. */
int confine_bounds(const int *kept, size_t count);

/*
 * Keeps those of these capabilities (CAP_*) that the process has, and no other one: not in the bounding
 * set either, if it may change that, so that no program that it starts can have them.
 */
int confine_capabilities(const int *kept, size_t count);

/* Does without these until confine_capabilities() is called, so that it can be tried what takes them. */
int confine_suspend(const int *suspended, size_t count);

/* Whether confine_user() must succeed: not for whom it would have to be root, of the machine, to do. */
bool confine_can_change_user(void);

/* Becomes the user nobody, in no group but nobody's. */
int confine_user(void);

/*
 * The process sees no file, no network, no other process's System V objects. -EPERM: only root can;
 * then confine_paths() is what there is.
 */
int confine_namespaces(void);

/* A file, or a directory and all below it. */
struct confined_tree {
	const char *path;
	bool may_write; /* make, change and remove files and directories, too */
};

/*
 * Nothing else can be opened any more but these, as far as they are there now (Landlock), and nothing executed.
 * -ENOSYS: the kernel has no such thing, or it must not be used here.
 */
int confine_paths(const struct confined_tree *trees, size_t count);

/* No execve() gives privileges back; no core dump; no tracing by others of the same user. */
int confine_basics(void);

/* An argument of a system call is like this if (argument & mask) == value; no mask: whatever it is. */
struct confined_argument {
	unsigned int index;
	unsigned long mask, value;
};

enum { CONFINED_ARGUMENTS = 2 };

/* A system call, as libseccomp's SCMP_SYS() has it, and what its arguments must be like, each another one. */
struct confined_call {
	int number;
	struct confined_argument arguments[CONFINED_ARGUMENTS];
};

#define CONFINED_INT 0xffffffff /* the mask of an int: the kernel does not look at what is above */

/* One with any arguments, or if one of them is like this. */
#define ALLOWED(name)                   \
	{                               \
		SCMP_SYS(name),         \
		{                       \
			{               \
				0, 0, 0 \
			}               \
		}                       \
	}
#define ALLOWED_IF(name, index, mask, value)       \
	{                                          \
		SCMP_SYS(name),                    \
		{                                  \
			{                          \
				index, mask, value \
			}                          \
		}                                  \
	}
#define DENIED(name) ALLOWED(name)
#define DENIED_IF(name, index, mask, value) ALLOWED_IF(name, index, mask, value)

/* These calls, and no other ones: these fail with EPERM. */
int confine_to_calls(const struct confined_call *allowed, size_t count);

/* All calls but these, which fail with EPERM; "allowed" above reads "denied" here. */
int confine_without_calls(const struct confined_call *denied, size_t count);
