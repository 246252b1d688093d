// SPDX-License-Identifier: GPL-2.0-or-later
// hang_fuse [-o REQUEST]... SOURCE MOUNTPOINT COMMAND...
//
// Shows the files of a directory by FUSE, in a mount namespace of its own, and runs a command there.
// The command gets answers. Whoever else of what its parent has started asks gets none: to nothing, or not
// to the requests of -o, such as "read". It says "held REQUEST TID" of each of these. They wait until this
// program ends, and most of them are deaf to SIGKILL meanwhile. The rest of the machine is left alone.
//
// A file that is called any.map is there under all names that end so.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fuse.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FILES_MAX = 64, REQUEST_BYTES = 1 << 18, SECONDS_MAX = 120 };

struct file {
	char name[NAME_MAX + 1];
	char *bytes;
	size_t size_bytes;
	mode_t mode;
};

/* clang-format off */
static const struct {
	uint32_t number;
	const char *name;
} requests[] = {
	{ FUSE_LOOKUP, "lookup" }, { FUSE_GETATTR, "getattr" },
	{ FUSE_OPEN, "open" }, { FUSE_READ, "read" }, { FUSE_FLUSH, "flush" },
	{ FUSE_STATFS, "statfs" }, { FUSE_GETXATTR, "getxattr" }, { FUSE_ACCESS, "access" },
	{ FUSE_OPENDIR, "opendir" }, { FUSE_READDIR, "readdir" }, { FUSE_READLINK, "readlink" },
};
/* clang-format on */

static struct file files[FILES_MAX];
static size_t file_count;
static bool is_held[256];
static pid_t command;
static int fuse_fd;

static void die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, ": %s\n", strerror(errno));
	exit(1);
}

static const char *name_of(uint32_t number)
{
	for (size_t i = 0; i < sizeof(requests) / sizeof(*requests); i++)
		if (requests[i].number == number)
			return requests[i].name;
	return NULL;
}

// NULL: all that have a name.
static void hold(const char *name)
{
	bool is_known = !name;

	for (size_t i = 0; i < sizeof(requests) / sizeof(*requests); i++)
		if (!name || !strcmp(requests[i].name, name))
			is_held[requests[i].number] = is_known = true;
	if (!is_known) {
		errno = EINVAL;
		die("%s", name);
	}
}

static void load(const char *source)
{
	DIR *directory = opendir(source);
	struct dirent *entry;

	if (!directory)
		die("%s", source);
	while ((entry = readdir(directory)) && file_count < FILES_MAX) {
		struct file *file = &files[file_count];
		int fd = openat(dirfd(directory), entry->d_name, O_RDONLY | O_CLOEXEC);
		struct stat status;

		if (fd < 0 || fstat(fd, &status))
			die("%s", entry->d_name);
		if (S_ISREG(status.st_mode)) {
			snprintf(file->name, sizeof(file->name), "%s", entry->d_name);
			file->size_bytes = status.st_size;
			file->mode = status.st_mode;
			file->bytes = mmap(NULL, status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
			if (file->bytes == MAP_FAILED)
				die("%s", entry->d_name);
			file_count++;
		}
		close(fd);
	}
	closedir(directory);
}

static void reply(uint64_t unique, int error, const void *bytes, size_t size_bytes)
{
	struct fuse_out_header header = {
		.len = sizeof(header) + size_bytes,
		.error = error,
		.unique = unique,
	};
	struct iovec parts[2] = { { &header, sizeof(header) }, { (void *)bytes, size_bytes } };

	// Who asked may be gone.
	if (writev(fuse_fd, parts, size_bytes ? 2 : 1) < 0 && errno != ENOENT)
		die("writing to /dev/fuse");
}

// Node 1 is the directory, the files follow.
static struct fuse_attr attributes_of(uint64_t node)
{
	const struct file *file = node > 1 && node - 2 < file_count ? &files[node - 2] : NULL;

	return (struct fuse_attr){
		.ino = node,
		.size = file ? file->size_bytes : 0,
		.blksize = 4096,
		.blocks = file ? (file->size_bytes + 511) / 512 : 0,
		.mode = file ? file->mode : S_IFDIR | 0755,
		.nlink = 1,
	};
}

static bool is_name_of(const struct file *file, const char *name)
{
	size_t length = strlen(name);

	return !strcmp(file->name, name) ||
	       (!strcmp(file->name, "any.map") && length > 4 && !strcmp(name + length - 4, ".map"));
}

static void look_up(uint64_t unique, const char *name)
{
	for (size_t i = 0; i < file_count; i++)
		if (is_name_of(&files[i], name)) {
			struct fuse_entry_out out = { .nodeid = i + 2, .attr = attributes_of(i + 2) };

			reply(unique, 0, &out, sizeof(out));
			return;
		}
	reply(unique, -ENOENT, NULL, 0);
}

static void read_file(uint64_t unique, uint64_t node, const struct fuse_read_in *in)
{
	const struct file *file = node > 1 && node - 2 < file_count ? &files[node - 2] : NULL;
	uint64_t left;

	if (!file) {
		reply(unique, -EIO, NULL, 0);
		return;
	}
	left = in->offset < file->size_bytes ? file->size_bytes - in->offset : 0;
	reply(unique, 0, file->bytes + in->offset, left < in->size ? left : in->size);
}

static void initialise(uint64_t unique, const struct fuse_init_in *in)
{
	struct fuse_init_out out = {
		.major = FUSE_KERNEL_VERSION,
		.minor = in->minor < FUSE_KERNEL_MINOR_VERSION ? in->minor : FUSE_KERNEL_MINOR_VERSION,
		.max_readahead = in->max_readahead,
		.max_write = 4096,
		.time_gran = 1,
	};

	reply(unique, 0, &out, sizeof(out));
}

static void answer(const struct fuse_in_header *in, const void *body)
{
	struct fuse_attr_out attr = { .attr = attributes_of(in->nodeid) };
	struct fuse_open_out open = { 0 };
	struct fuse_statfs_out statfs = { .st = { .bsize = 4096, .namelen = NAME_MAX } };

	switch (in->opcode) {
	case FUSE_INIT:
		initialise(in->unique, body);
		break;
	case FUSE_LOOKUP:
		look_up(in->unique, body);
		break;
	case FUSE_GETATTR:
		reply(in->unique, 0, &attr, sizeof(attr));
		break;
	case FUSE_OPEN:
	case FUSE_OPENDIR:
		reply(in->unique, 0, &open, sizeof(open));
		break;
	case FUSE_READ:
		read_file(in->unique, in->nodeid, body);
		break;
	case FUSE_STATFS:
		reply(in->unique, 0, &statfs, sizeof(statfs));
		break;
	case FUSE_READDIR:
	case FUSE_FLUSH:
	case FUSE_RELEASE:
	case FUSE_RELEASEDIR:
		reply(in->unique, 0, NULL, 0);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
	case FUSE_DESTROY:
		break;
	default:
		reply(in->unique, -ENOSYS, NULL, 0);
	}
}

// Of a process or a thread; 0 when there is none.
static pid_t parent_of(pid_t pid)
{
	char path[32], line[512];
	const char *after_name;
	pid_t parent = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	if (fgets(line, sizeof(line), file)) {
		after_name = strrchr(line, ')');
		if (!after_name || sscanf(after_name, ") %*c %d", &parent) != 1)
			parent = 0;
	}
	fclose(file);
	return parent;
}

static bool is_victim(pid_t pid)
{
	pid_t starter = getppid();

	if (!pid || pid == getpid() || getsid(pid) == command)
		return false;
	while (pid > 1 && pid != starter)
		pid = parent_of(pid);
	return pid == starter;
}

static void serve(void)
{
	static char buffer[REQUEST_BYTES] __attribute__((aligned(8)));
	const struct fuse_in_header *in = (void *)buffer;
	ssize_t n = read(fuse_fd, buffer, sizeof(buffer));

	// The one who asked does not wait any more, or the file system was aborted.
	if (n < 0 && (errno == ENOENT || errno == EINTR || errno == EAGAIN))
		return;
	if (n < (ssize_t)sizeof(*in))
		exit(0);
	if (in->opcode < sizeof(is_held) && is_held[in->opcode] && is_victim(in->pid))
		dprintf(STDOUT_FILENO, "held %s %u\n", name_of(in->opcode), in->pid);
	else
		answer(in, buffer + sizeof(*in));
}

static void mount_at(const char *place)
{
	char options[128];

	fuse_fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (fuse_fd < 0)
		die("/dev/fuse");
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		die("a mount namespace");
	snprintf(options, sizeof(options), "fd=%d,rootmode=40755,user_id=0,group_id=0,allow_other", fuse_fd);
	if (mount("hang_fuse", place, "fuse", MS_NOSUID | MS_NODEV, options))
		die("mounting at %s", place);
}

static void start(char **arguments)
{
	command = fork();
	if (command < 0)
		die("fork");
	if (command)
		return;
	// No answer comes after the server's end: neither shall the command be there.
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setsid();
	execv(arguments[0], arguments);
	die("%s", arguments[0]);
}

int main(int argc, char **argv)
{
	struct pollfd poll_fd;
	bool is_some = false;
	int option;

	while ((option = getopt(argc, argv, "+o:")) == 'o') {
		hold(optarg);
		is_some = true;
	}
	if (option != -1 || argc - optind < 3) {
		fprintf(stderr, "usage: hang_fuse [-o REQUEST]... SOURCE MOUNTPOINT COMMAND...\n");
		return 2;
	}
	if (!is_some)
		hold(NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(SECONDS_MAX);
	load(argv[optind]);
	mount_at(argv[optind + 1]);
	start(argv + optind + 2);
	poll_fd = (struct pollfd){ .fd = fuse_fd, .events = POLLIN };
	while (waitpid(command, NULL, WNOHANG) == 0)
		if (poll(&poll_fd, 1, 100) > 0)
			serve();
	return 0;
}
