// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What a file or a socket is called. Only reads that may fail: another thread may be closing it.
 */
#include "emit.bpf.h"
#include "file.bpf.h"
#include "hash.bpf.h"

enum {
	FILE_KIND_MASK = 0170000,
	FILE_KIND_SOCKET = 0140000,
	FILE_KIND_REGULAR = 0100000,
	AREA_SHARED = 8, /* VM_SHARED */
	FILE_KIND_SHIFT = 12,
	NAME_KIND_SHIFT = 1, /* where a file's name has its kind */
	NAME_KIND_MASK = 0xf << NAME_KIND_SHIFT,
	PROCESSES_MAGIC = 0x50494446, /* processes' own descriptors since Linux 6.9, without names */
	ANONYMOUS_MAGIC = 0x09041934, /* what has no file at all: [eventpoll] and the like */
	FAMILY_UNIX = 1,
	FAMILY_IPV4 = 2,
	FAMILY_IPV6 = 10,
	DEVICE_MINOR_BITS = 20,
};

static const char process_name[] = "[pidfd]";
static const char epoll_name[] = "[eventpoll]";

/* Notes a name behind those before; false when there is no space or nothing to read. */
static __always_inline bool name_add(struct file_scratch *s, const void *name)
{
	__u32 at = s->bytes;
	long bytes;

	if (at >= NAMES_BYTES)
		return false;
	bytes = bpf_probe_read_kernel_str(s->names + (at & (NAMES_BYTES - 1)), NAME_BYTES, name);
	if (bytes <= 0 || bytes > NAME_BYTES)
		return false;
	s->bytes = at + bytes;
	return true;
}

/* One step from the file to the root of all mounts. A callback of bpf_loop(). */
static long path_step(__u32 index __attribute__((unused)), void *data)
{
	struct file_scratch *s = bpf_map_lookup_elem(&file_scratch, data);
	struct dentry *dentry, *parent;
	struct mount *mount, *above;

	if (!s)
		return 1;
	dentry = (struct dentry *)s->dentry;
	mount = (struct mount *)s->mount;
	if (dentry == BPF_CORE_READ(mount, mnt.mnt_root)) {
		above = BPF_CORE_READ(mount, mnt_parent);
		if (above == mount || !above) {
			name_add(s, "/");
			return 1;
		}
		s->dentry = (__u64)BPF_CORE_READ(mount, mnt_mountpoint);
		s->mount = (__u64)above;
		return 0;
	}
	parent = BPF_CORE_READ(dentry, d_parent);
	if (!name_add(s, BPF_CORE_READ(dentry, d_name.name)) || parent == dentry || !parent)
		return 1;
	s->dentry = (__u64)parent;
	return 0;
}

/* Sends the last bytes of the event's fixed part and the names; repeated when that fails. */
static __always_inline void file_send(struct file_scratch *s, __u32 fixed_bytes, __u64 file)
{
	__u32 bytes = s->bytes;
	void *ring = ring_here();
	__u8 seen = 1;

	barrier_var(bytes);
	if (!ring || bytes > NAMES_BYTES + NAME_BYTES)
		return;
	if (!gap_is_reported() || bpf_ringbuf_output(ring, (char *)s->event + sizeof(s->event) - fixed_bytes,
						     fixed_bytes + bytes, BPF_RB_NO_WAKEUP))
		event_lost();
	else
		remember(&files_known, &file, &seen);
}

/* What a file is must be known even to who has no space to remember its name. */
static __always_inline __u64 name_of_kind(__u64 hash, __u32 mode)
{
	__u64 kind = (mode & FILE_KIND_MASK) >> FILE_KIND_SHIFT;

	return (hash & ~(__u64)NAME_KIND_MASK) | kind << NAME_KIND_SHIFT | 1;
}

enum { MOUNTS_MAX = 8 };

/* The first mount of a file system that is in a namespace. */
static __always_inline struct mount *find_mount(struct super_block *super, struct mnt_namespace *namespace)
{
	struct mount *mount = BPF_CORE_READ(super, s_mounts);

	for (int i = 0; i < MOUNTS_MAX && mount; i++) {
		if (BPF_CORE_READ(mount, mnt_ns) == namespace)
			return mount;
		mount = BPF_CORE_READ(mount, mnt_next_for_sb);
	}
	return NULL;
}

/* The same where they are in a list, whose end leads nowhere that is in the namespace. */
static __always_inline struct mount *find_listed_mount(struct super_block *super, struct mnt_namespace *namespace)
{
	struct list_head *next = BPF_CORE_READ((struct super_block___before_6_18 *)super, s_mounts.next);

	for (int i = 0; i < MOUNTS_MAX && next; i++) {
		struct mount *mount = (void *)next - bpf_core_field_offset(struct mount___before_6_18, mnt_instance);

		if (BPF_CORE_READ(mount, mnt_ns) == namespace)
			return mount;
		next = BPF_CORE_READ(next, next);
	}
	return NULL;
}

/*
 * A mount of a file system through which the current thread may have come to it: its directory's, or else the first
 * one that its process sees. NULL: none is at hand.
 */
static __always_inline struct vfsmount *mount_of(struct super_block *super)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct nsproxy *spaces = BPF_CORE_READ(current, nsproxy);
	struct mnt_namespace *namespace = BPF_CORE_READ(spaces, mnt_ns);
	struct fs_struct *fs = BPF_CORE_READ(current, fs);
	struct vfsmount *here = BPF_CORE_READ(fs, pwd.mnt);
	struct mount *mount = NULL;

	if (here && BPF_CORE_READ(here, mnt_sb) == super)
		return here;
	if (!namespace)
		return NULL;
	if (bpf_core_field_exists(mount->mnt_next_for_sb))
		mount = find_mount(super, namespace);
	else
		mount = find_listed_mount(super, namespace);
	return mount ? (void *)mount + bpf_core_field_offset(struct mount, mnt) : NULL;
}

/* mount: NULL, it is still to be found. owner_file: whose name it is, if it is not of all that have this inode; 0: of all. */
static __always_inline __u64 path_name(struct file_scratch *s, struct dentry *dentry, struct vfsmount *mount,
				       struct inode *inode, __u32 mode, __u64 owner_file)
{
	struct ev_file_path *e = (void *)s->event + sizeof(s->event) - sizeof(*e);
	struct super_block *super = BPF_CORE_READ(inode, i_sb);
	__u32 device = BPF_CORE_READ(super, s_dev), owner = s->owner;
	__u64 number = BPF_CORE_READ(inode, i_ino);
	__u32 links = BPF_CORE_READ(inode, i_nlink);
	__u64 hash;

	hash = hash_mix(device | (__u64)!links << 32, number);
	hash = hash_mix(hash, BPF_CORE_READ(dentry, d_name.hash_len));
	hash = hash_mix(hash, (__u64)BPF_CORE_READ(dentry, d_parent));
	if (BPF_CORE_READ(super, s_magic) == ANONYMOUS_MAGIC)
		hash = hash_mix(hash, owner_file);
	hash = name_of_kind(hash, mode);
	if (bpf_map_lookup_elem(&files_known, &hash))
		return hash;
	header_fill(&e->header, EV_FILE_PATH, 0);
	e->file = hash;
	e->inode = number;
	e->major = device >> DEVICE_MINOR_BITS;
	e->minor = device & ((1 << DEVICE_MINOR_BITS) - 1);
	e->mode = mode;
	e->links = links;
	s->bytes = 0;
	s->dentry = (__u64)dentry;
	if (!mount)
		mount = mount_of(super);
	s->mount = mount ? (__u64)mount - bpf_core_field_offset(struct mount, mnt) : 0;
	if (BPF_CORE_READ(super, s_magic) == PROCESSES_MAGIC) {
		/* As before. */
		__builtin_memcpy(s->names, process_name, sizeof(process_name));
		s->bytes = sizeof(process_name);
	} else {
		bpf_loop(PATH_NAMES_MAX, path_step, &owner, 0);
	}
	if (!s->bytes)
		s->names[s->bytes++] = '\0';
	e->name_bytes = s->bytes;
	e->reserved = 0;
	file_send(s, sizeof(*e), hash);
	return hash;
}

/* A socket's number among the files, for the other end of a Unix socket. */
static __always_inline __u64 socket_inode(struct sock *sock)
{
	struct socket *socket = BPF_CORE_READ(sock, sk_socket);

	if (!socket)
		return 0;
	return BPF_CORE_READ((struct socket_alloc *)socket, vfs_inode.i_ino);
}

/* The path of a Unix socket, an abstract name with an '@' in place of its NUL. */
static __always_inline bool unix_path(struct file_scratch *s, struct sock *sock)
{
	struct unix_address *address = BPF_CORE_READ((struct unix_sock *)sock, addr);
	__u64 name = (__u64)address + bpf_core_field_offset(struct unix_address, len) + 4 + 2;
	int bytes = BPF_CORE_READ(address, len) - 2;

	if (!address || bytes <= 0)
		return false;
	s->bytes = 0;
	name_add(s, (void *)name);
	if (s->bytes != 1)
		return s->bytes;
	if (!name_add(s, (void *)(name + 1)))
		return false;
	s->names[0] = '@';
	/* An abstract name has no NUL at its end: behind it comes what was in memory before. */
	if (s->bytes > (__u32)bytes + 1) {
		s->names[bytes & (NAMES_BYTES - 1)] = '\0';
		s->bytes = bytes + 1;
	}
	return true;
}

/* The name of the process that has this id. */
static __always_inline bool process_name_add(struct file_scratch *s, struct pid *pid)
{
	struct hlist_node *first = BPF_CORE_READ(pid, tasks[PIDTYPE_TGID].first);
	struct task_struct *task;

	if (!first)
		return false;
	task = (void *)first - bpf_core_field_offset(struct task_struct, pid_links[PIDTYPE_TGID]);
	return name_add(s, (void *)task + bpf_core_field_offset(struct task_struct, comm));
}

static __always_inline void unix_names(struct file_scratch *s, struct ev_file_socket *e, struct sock *sock)
{
	struct sock *peer = BPF_CORE_READ((struct unix_sock *)sock, peer);
	struct pid *pid = BPF_CORE_READ(sock, sk_peer_pid);
	struct upid upid = {};

	if (pid) {
		bpf_probe_read_kernel(&upid.nr, sizeof(upid.nr),
				      (void *)pid + bpf_core_field_offset(struct pid, numbers) +
					      bpf_core_field_offset(struct upid, nr));
		e->peer_pid = upid.nr;
	}
	e->peer_file = peer ? socket_inode(peer) : 0;
	if (!unix_path(s, sock) && peer)
		e->is_peers_path = unix_path(s, peer);
}

static __always_inline void addresses_read(struct ev_file_socket *e, struct sock *sock)
{
	if (e->family == FAMILY_IPV4) {
		BPF_CORE_READ_INTO((__u32 *)e->local, sock, __sk_common.skc_rcv_saddr);
		BPF_CORE_READ_INTO((__u32 *)e->peer, sock, __sk_common.skc_daddr);
	} else if (e->family == FAMILY_IPV6) {
		BPF_CORE_READ_INTO((struct in6_addr *)e->local, sock, __sk_common.skc_v6_rcv_saddr);
		BPF_CORE_READ_INTO((struct in6_addr *)e->peer, sock, __sk_common.skc_v6_daddr);
	} else {
		return;
	}
	e->local_port = BPF_CORE_READ(sock, __sk_common.skc_num);
	e->peer_port = __builtin_bswap16(BPF_CORE_READ(sock, __sk_common.skc_dport));
}

static __always_inline __u64 socket_name(struct file_scratch *s, struct file *file, struct inode *inode)
{
	struct socket *socket = BPF_CORE_READ(file, private_data);
	struct sock *sock = BPF_CORE_READ(socket, sk);
	struct ev_file_socket *e = (void *)s->event;
	__u64 hash;

	__builtin_memset(s->event, 0, sizeof(s->event));
	e->inode = BPF_CORE_READ(inode, i_ino);
	e->family = BPF_CORE_READ(sock, __sk_common.skc_family);
	e->type = BPF_CORE_READ(sock, sk_type);
	e->state = BPF_CORE_READ(sock, __sk_common.skc_state);
	addresses_read(e, sock);
	s->bytes = 0;
	if (e->family == FAMILY_UNIX)
		unix_names(s, e, sock);
	if (!s->bytes)
		s->names[s->bytes++] = '\0';
	hash = hash_mix(hash_mix(e->inode, e->family), (__u64)e->peer_port << 16 | e->local_port);
	hash = name_of_kind(hash_mix(hash_mix(hash, *(__u64 *)e->peer), e->peer_file), FILE_KIND_SOCKET);
	e->file = hash;
	if (bpf_map_lookup_elem(&files_known, &hash))
		return hash;
	if (e->peer_pid)
		e->has_process = process_name_add(s, BPF_CORE_READ(sock, sk_peer_pid));
	header_fill(&e->header, EV_FILE_SOCKET, 0);
	file_send(s, sizeof(*e), hash);
	return hash;
}

__noinline __u64 file_find_here(__u32 descriptor)
{
	struct files_struct *files = bpf_get_current_task_btf()->files;
	struct fdtable *table;

	if (!files)
		return FILE_NONE;
	table = files->fdt;
	if (descriptor >= table->max_fds)
		return FILE_NONE;
	return kernel_word(unfollowed(counts_here(), (__u64)table->fd) + descriptor * sizeof(*table->fd));
}

__noinline int file_is_epoll(__u64 file)
{
	struct dentry *dentry = BPF_CORE_READ((struct file *)file, f_path.dentry);
	__u64 found[2] = {}, epoll[2] = {};

	__builtin_memcpy(epoll, epoll_name, sizeof(epoll_name));
	bpf_probe_read_kernel(found, sizeof(epoll_name), BPF_CORE_READ(dentry, d_name.name));
	return found[0] == epoll[0] && found[1] == epoll[1];
}

__noinline __u64 file_name(__u64 file, __u64 inode, __u32 owner)
{
	__u32 mode = BPF_CORE_READ((struct inode *)inode, i_mode);
	struct file_scratch *s = bpf_map_lookup_elem(&file_scratch, &owner);

	if (!s || !BPF_CORE_READ((struct inode *)inode, i_sb))
		return 0;
	s->owner = owner;
	if ((mode & FILE_KIND_MASK) == FILE_KIND_SOCKET)
		return socket_name(s, (struct file *)file, (struct inode *)inode);
	return path_name(s, BPF_CORE_READ((struct file *)file, f_path.dentry),
			 BPF_CORE_READ((struct file *)file, f_path.mnt), (struct inode *)inode, mode, file);
}

__noinline __u64 inode_name(__u64 inode, __u32 owner)
{
	__u64 name = (__u64)BPF_CORE_READ((struct inode *)inode, i_dentry.first);
	__u32 mode = BPF_CORE_READ((struct inode *)inode, i_mode);
	struct file_scratch *s = bpf_map_lookup_elem(&file_scratch, &owner);

	if (!s || !name)
		return 0;
	s->owner = owner;
	return path_name(s, (void *)name - bpf_core_field_offset(struct dentry, d_u.d_alias), NULL,
			 (struct inode *)inode, mode, 0);
}

/* What is mapped at an address, if processes share it. */
struct shared_area {
	__u64 file, begin, first_page;
};

/* A callback of bpf_find_vma(). */
static long area_read(struct task_struct *task __attribute__((unused)), struct vm_area_struct *area, void *data)
{
	struct shared_area *shared = data;

	if (!(BPF_CORE_READ(area, vm_flags) & AREA_SHARED))
		return 0;
	/* As a number: the verifier would not let a pointer to a file into file_name(). */
	BPF_CORE_READ_INTO(&shared->file, area, vm_file);
	shared->begin = BPF_CORE_READ(area, vm_start);
	shared->first_page = BPF_CORE_READ(area, vm_pgoff);
	return 0;
}

__noinline __u64 shared_file(__u64 address, __u32 owner)
{
	struct file_scratch *s = bpf_map_lookup_elem(&file_scratch, &owner);
	struct shared_area area = {};

	if (!s)
		return 0;
	bpf_find_vma(bpf_get_current_task_btf(), address, area_read, &area, 0);
	s->offset = area.first_page * PAGE_BYTES + (address - area.begin);
	return area.file;
}

__noinline __u64 place_name(__u64 whole, __u32 owner)
{
	struct file_scratch *s = bpf_map_lookup_elem(&file_scratch, &owner);
	struct ev_file_place *e;
	__u8 seen = 1;
	__u64 hash;

	if (!s || !whole)
		return 0;
	hash = name_of_kind(hash_mix(whole, s->offset), FILE_KIND_REGULAR);
	if (bpf_map_lookup_elem(&files_known, &hash))
		return hash;
	e = event_reserve(EV_FILE_PLACE, 0, sizeof(*e));
	if (!e)
		return hash;
	e->file = hash;
	e->whole = whole;
	e->offset = s->offset;
	event_submit(e);
	remember(&files_known, &hash, &seen);
	return hash;
}

__noinline __u64 directory_name(__u64 descriptor, __u32 owner)
{
	struct file_scratch *s = bpf_map_lookup_elem(&file_scratch, &owner);
	struct task_struct *task = bpf_get_current_task_btf();
	struct vfsmount *mount;
	struct dentry *dentry;
	struct fs_struct *fs;
	struct inode *inode;
	__u64 file = 0;

	if (!s)
		return 0;
	s->owner = owner;
	if ((int)descriptor == CURRENT_DIRECTORY) {
		fs = BPF_CORE_READ(task, fs);
		dentry = BPF_CORE_READ(fs, pwd.dentry);
		mount = BPF_CORE_READ(fs, pwd.mnt);
	} else {
		file = file_find_here(descriptor);
		if (file <= FILE_NONE)
			return 0;
		dentry = BPF_CORE_READ((struct file *)file, f_path.dentry);
		mount = BPF_CORE_READ((struct file *)file, f_path.mnt);
	}
	inode = BPF_CORE_READ(dentry, d_inode);
	if (!inode || !BPF_CORE_READ(inode, i_sb))
		return 0;
	return path_name(s, dentry, mount, inode, BPF_CORE_READ(inode, i_mode), file);
}

__noinline __u64 called_name(__u64 directory, __u64 address, __u32 owner)
{
	struct file_scratch *s = bpf_map_lookup_elem(&file_scratch, &owner);
	struct ev_file_called *e;
	__u64 hash = directory, *words;
	long bytes;

	if (!s)
		return 0;
	__builtin_memset(s->names, 0, NAME_BYTES);
	bytes = bpf_probe_read_user_str(s->names, NAME_BYTES, (void *)address);
	if (bytes <= 1 || bytes > NAME_BYTES)
		return 0;
	s->bytes = bytes;
	words = (__u64 *)s->names;
	for (unsigned int i = 0; i < NAME_BYTES / sizeof(*words); i++)
		hash = hash_mix(hash, words[i]);
	hash = name_of_kind(hash, FILE_KIND_REGULAR);
	if (bpf_map_lookup_elem(&files_known, &hash))
		return hash;
	e = (void *)s->event + sizeof(s->event) - sizeof(*e);
	header_fill(&e->header, EV_FILE_CALLED, 0);
	e->file = hash;
	e->directory = directory;
	file_send(s, sizeof(*e), hash);
	return hash;
}
