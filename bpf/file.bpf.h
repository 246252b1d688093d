/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Files and sockets that threads wait for. Resolved when they wait, so that a descriptor that is
 * used again for something else confuses nobody. A file is recorded once, by a file.PATH or file.SOCKET;
 * then its name is enough.
 */
#pragma once

#include "read.bpf.h"

enum { CURRENT_DIRECTORY = -100 }; /* AT_FDCWD */

/* The name of what lies at these addresses in the kernel, recorded if it is new. 0: it is gone. */
__u64 file_name(__u64 file, __u64 inode, __u32 owner);

/* The same of an inode that no file is at hand of. 0: it has no name. */
__u64 inode_name(__u64 inode, __u32 owner);

/* Where the kernel has the file that processes share at an address of the current thread; 0: none. */
__u64 shared_file(__u64 address, __u32 owner);

/* The name of that address, in the file that has the name whole, recorded if it is new. 0: whole is 0. */
__u64 place_name(__u64 whole, __u32 owner);

/* The name of a directory of the current thread, by its descriptor, of which the lower half counts; 0: there is none. */
__u64 directory_name(__u64 descriptor, __u32 owner);

/*
 * The name of what the current thread's path at an address leads to, recorded if it is new. directory: where it begins, if it
 * is no absolute one. 0: it cannot be read, or is empty.
 */
__u64 called_name(__u64 directory, __u64 address, __u32 owner);

/* Whether it is an epoll. */
int file_is_epoll(__u64 file);

/* The name of a file that a thread waits for; the last one is in its state. */
static __always_inline __u64 file_known(struct thread_state *thread, __u64 file, enum scratch_owner owner)
{
	__u64 inode = KERNEL_WORD(struct file, file, f_inode);
	__u64 number = KERNEL_WORD(struct inode, inode, i_ino);
	/* What has no inode of its own may lie where another one was that had none either. */
	__u64 private = KERNEL_WORD(struct file, file, private_data);
	__u64 name;

	if (thread->file_struct != file || thread->file_inode != inode || thread->file_inode_number != number ||
	    thread->file_private != private) {
		name = file_name(file, inode, owner);
		thread->file = name;
		/* Looked up again if there was no space to tell it. */
		thread->file_struct = bpf_map_lookup_elem(&files_known, &name) ? file : 0;
		thread->file_inode = inode;
		thread->file_inode_number = number;
		thread->file_private = private;
		thread->file_polls = file_is_epoll(file);
	}
	return thread->file;
}

/*
 * Where the kernel has the file behind a descriptor of a thread; 0 while it is being closed. False: there is none. It has no pointer
 * whose type would take the verifier long.
 */
static __always_inline bool file_find(struct task_struct *task, __u32 descriptor, __u64 *file)
{
	struct files_struct *files = BPF_CORE_READ(task, files);
	struct fdtable *table;

	*file = 0;
	if (!files)
		return false;
	table = BPF_CORE_READ(files, fdt);
	if (descriptor >= BPF_CORE_READ(table, max_fds))
		return false;
	bpf_probe_read_kernel(file, sizeof(*file), BPF_CORE_READ(table, fd) + descriptor);
	return true;
}

/* No address of a file: the current thread has none behind that descriptor. */
#define FILE_NONE 1ull

/* The same of the current thread: the file, 0 or FILE_NONE. Faster; verified once, for each pointer's type takes the verifier long. */
__u64 file_find_here(__u32 descriptor);

/* The file behind a descriptor of a thread, the current one if it is for switches. 0: there is none. */
static __always_inline __u64 file_of(struct task_struct *task, struct thread_state *thread, __u32 descriptor,
				     enum scratch_owner owner)
{
	__u64 file;

	if (owner == SCRATCH_OF_SWITCHES)
		file = file_find_here(descriptor);
	else if (!file_find(task, descriptor, &file))
		file = FILE_NONE;
	if (file == FILE_NONE)
		return 0;
	if (!file)
		return thread->file_descriptor == descriptor ? thread->file : 0;
	thread->file_descriptor = descriptor;
	return file_known(thread, file, owner);
}
