/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/out/out_file.h"
#include "base/out/out_path.h"

enum { SOMEBODY = 4321 };

static char directory[64];

/* A fresh directory, in which the tests run. */
static void begin(void)
{
	snprintf(directory, sizeof(directory), "/tmp/pinch-out-file-XXXXXX");
	CHECK(mkdtemp(directory));
	CHECK(!chdir(directory) && !chmod(".", 0755));
}

static size_t file_count(void)
{
	DIR *list = opendir(".");
	size_t count = 0;

	while (readdir(list))
		count++;
	closedir(list);
	return count - 2;
}

/* Removes the directory, in which there must be nothing but these. */
static void end(const char *const *names)
{
	for (; *names; names++)
		CHECK(!unlink(*names));
	CHECK(!chdir("/") && !rmdir(directory));
}

static void put(const char *path, const char *content)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	CHECK_THAT(fd, >=, 0);
	CHECK_EQUAL(write(fd, content, strlen(content)), (ssize_t)strlen(content));
	close(fd);
}

static bool holds(const char *path, const char *content)
{
	char bytes[256] = { 0 };
	int fd = open(path, O_RDONLY | O_NOFOLLOW);
	ssize_t length = fd < 0 ? -1 : read(fd, bytes, sizeof(bytes) - 1);

	if (fd >= 0)
		close(fd);
	return length >= 0 && !strcmp(bytes, content);
}

static unsigned int mode_of(const char *path)
{
	struct stat status;

	return lstat(path, &status) ? 0 : status.st_mode & 07777;
}

/* Opens, writes and commits. */
static int write_to(const char *path, unsigned int flags)
{
	struct out_file *file;
	int err = out_file_open(path, flags, &file);

	if (err)
		return err;
	err = out_file_begin(file);
	if (!err && write(out_file_fd(file), "new", 3) != 3)
		err = -EIO;
	if (!err)
		err = out_file_commit(file);
	out_file_close(file);
	return err;
}

TEST(nothing_is_seen_before_it_is_committed_or_if_it_never_is)
{
	struct out_file *file;

	begin();
	put("old", "old");
	CHECK(!out_file_open("old", 0, &file) && !out_file_begin(file));
	CHECK_EQUAL(write(out_file_fd(file), "new", 3), 3);
	CHECK(holds("old", "old"));
	CHECK_EQUAL(file_count(), 1);
	out_file_close(file);
	CHECK(holds("old", "old"));
	CHECK_EQUAL(file_count(), 1);
	CHECK(!out_file_open("fresh", 0, &file) && !out_file_begin(file));
	CHECK_EQUAL(file_count(), 1);
	out_file_close(file);
	CHECK_EQUAL(file_count(), 1);
	end((const char *const[]){ "old", NULL });
}

TEST(one_that_is_shown_has_its_name_at_once_and_loses_it_if_it_is_not_committed)
{
	struct out_file *file, *other;

	begin();
	CHECK(!out_file_open("fresh", OUT_FILE_LOCKED | OUT_FILE_SHOWN, &file));
	CHECK(holds("fresh", ""));
	CHECK_EQUAL(mode_of("fresh"), 0600);
	CHECK_EQUAL(out_file_open("fresh", OUT_FILE_LOCKED | OUT_FILE_SHOWN, &other), -EBUSY);
	out_file_close(file);
	CHECK(!file_count());
	CHECK(!write_to("fresh", OUT_FILE_LOCKED | OUT_FILE_SHOWN));
	CHECK(holds("fresh", "new"));
	end((const char *const[]){ "fresh", NULL });
}

TEST(two_that_are_locked_exclude_each_other_before_and_after_they_are_committed)
{
	struct out_file *file, *other;

	begin();
	put("old", "old");
	CHECK(!out_file_open("old", OUT_FILE_LOCKED, &file) && !out_file_begin(file));
	CHECK_EQUAL(out_file_open("old", OUT_FILE_LOCKED, &other), -EBUSY);
	CHECK(!out_file_commit(file) && holds("old", ""));
	CHECK_EQUAL(out_file_open("old", OUT_FILE_LOCKED, &other), -EBUSY);
	out_file_close(file);
	CHECK(!write_to("old", OUT_FILE_LOCKED) && holds("old", "new"));

	/* Neither was there when the other one was opened. */
	CHECK(!out_file_open("fresh", OUT_FILE_LOCKED, &file) && !out_file_begin(file));
	CHECK(!out_file_open("fresh", OUT_FILE_LOCKED, &other) && !out_file_begin(other));
	CHECK(!out_file_commit(file));
	CHECK_EQUAL(out_file_commit(other), -EBUSY);
	out_file_close(other);
	out_file_close(file);
	end((const char *const[]){ "old", "fresh", NULL });
}

TEST(only_a_file_of_ours_that_nobody_can_have_put_there_keeps_its_mode)
{
	begin();
	put("old", "old");
	chmod("old", 0640);
	CHECK(!write_to("old", 0));
	CHECK_EQUAL(mode_of("old"), 0640);
	chmod("old", 0644);
	CHECK(!link("old", "other"));
	CHECK(!write_to("old", 0));
	CHECK_EQUAL(mode_of("old"), 0600);
	CHECK_EQUAL(mode_of("other"), 0644);
	chmod("old", 0644);
	chmod(".", 0777);
	CHECK(!write_to("old", 0));
	CHECK_EQUAL(mode_of("old"), 0600);
	chmod("old", 0644);
	chmod(".", 01777);
	CHECK(!write_to("old", 0));
	CHECK_EQUAL(mode_of("old"), 0644);
	end((const char *const[]){ "old", "other", NULL });
}

TEST(what_is_kept_is_not_replaced_under_any_of_its_names)
{
	struct out_file *file;

	begin();
	put("trace", "trace");
	CHECK(!link("trace", "other") && !symlink("trace", "link"));
	CHECK(!out_file_open("late", 0, &file) && !out_file_begin(file));
	out_file_keep("link");
	CHECK_EQUAL(write_to("trace", 0), -EEXIST);
	CHECK_EQUAL(write_to("other", 0), -EEXIST);
	CHECK_EQUAL(write_to("link", 0), -EEXIST);
	/* It was another file when the output was opened. */
	CHECK(!link("trace", "late"));
	CHECK_EQUAL(out_file_commit(file), -EEXIST);
	out_file_close(file);
	CHECK(holds("trace", "trace"));
	end((const char *const[]){ "trace", "other", "link", "late", NULL });
}

TEST(own_links_lead_to_files_and_directories_and_a_ring_of_them_is_an_error)
{
	begin();
	CHECK(!mkdir("real", 0755) && !symlink("real", "directory") && !symlink("directory/../real/file", "link"));
	CHECK(!write_to("link", 0) && holds("real/file", "new"));
	CHECK(!write_to("directory/file", 0));
	CHECK_EQUAL(mode_of("link"), 0777);
	CHECK_EQUAL(mode_of("directory"), 0777);
	CHECK(!symlink("round", "about") && !symlink("about", "round"));
	CHECK_EQUAL(write_to("round", 0), -ELOOP);
	CHECK_EQUAL(write_to("round/file", 0), -ELOOP);
	CHECK_EQUAL(write_to("real/", 0), -EISDIR);
	CHECK_EQUAL(write_to("real/.", 0), -EISDIR);
	CHECK_EQUAL(write_to("", 0), -ENOENT);
	CHECK(!unlink("real/file") && !rmdir("real"));
	end((const char *const[]){ "directory", "link", "about", "round", NULL });
}

TEST(only_our_own_descriptors_are_written_by_their_names)
{
	char path[64];
	int ends[2];

	CHECK(!pipe(ends));
	snprintf(path, sizeof(path), "/dev/fd/%d", ends[1]);
	CHECK(!write_to(path, 0));
	CHECK_EQUAL(read(ends[0], path, sizeof(path)), 3);
	CHECK(!memcmp(path, "new", 3));
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getppid(), STDERR_FILENO);
	CHECK_THAT(write_to(path, 0), <, 0);
	CHECK_EQUAL(write_to("/proc/self/cwd/file", 0), -ELOOP);
	CHECK_EQUAL(write_to("/proc/self/exe", 0), -ELOOP);
	snprintf(path, sizeof(path), "/dev/fd/%d", ends[0]);
	CHECK_EQUAL(write_to(path, 0), -EBADF);
	close(ends[0]);
	close(ends[1]);
}

TEST(a_locked_fifo_does_not_wait_for_its_reader)
{
	int fd;

	begin();
	CHECK(!mkfifo("fifo", 0600));
	CHECK_EQUAL(write_to("fifo", OUT_FILE_LOCKED), -ENXIO);
	fd = open("fifo", O_RDONLY | O_NONBLOCK);
	CHECK(!write_to("fifo", OUT_FILE_LOCKED));
	close(fd);
	end((const char *const[]){ "fifo", NULL });
}

/* --- Where files need names ------------------------------------------------------------------ */

/* From here on this process is on file systems that know no files without names, as NFS is. */
static bool forbid_unnamed(void)
{
	/* clang-format off */
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_TMPFILE & ~O_DIRECTORY, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EOPNOTSUPP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	/* clang-format on */
	struct sock_fprog program = { sizeof(code) / sizeof(*code), code };

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* What a run on such a file system does, and whether it saw what it should. */
static bool write_named(void)
{
	struct out_file *file, *shown;
	int left;

	if (!forbid_unnamed() || open(".", O_TMPFILE | O_RDWR, 0600) >= 0)
		return false;
	/* A run that was killed left this one, and another one is being written. */
	left = open(".pinch-0123456789abcdef", O_WRONLY | O_CREAT, 0600);
	close(left);
	if (out_file_open("old", OUT_FILE_LOCKED, &file) || !holds("old", "old") || out_file_begin(file) ||
	    out_file_open("fresh", OUT_FILE_LOCKED | OUT_FILE_SHOWN, &shown) || !holds("fresh", ""))
		return false;
	if (write_to("third", 0) || file_count() != 4) /* old, its temporary, fresh, third */
		return false;
	if (write(out_file_fd(file), "new", 3) != 3 || out_file_commit(file) || !holds("old", "new"))
		return false;
	out_file_close(file);
	out_file_close(shown);
	return file_count() == 2 && mode_of("third") == 0600;
}

TEST(where_all_files_have_names_nothing_is_left_either)
{
	int status;
	pid_t child;

	begin();
	put("old", "old");
	child = fork();
	if (!child)
		_exit(!write_named());
	CHECK_EQUAL(waitpid(child, &status, 0), child);
	CHECK(!status);
	end((const char *const[]){ "old", "third", NULL });
}

/* --- What others have planted ---------------------------------------------------------------- */

TEST(a_file_of_somebody_else_is_replaced_and_his_links_and_fifos_are_refused)
{
	struct stat status;

	if (geteuid())
		return; /* what others own can only be made by root */
	begin();
	put("victim", "victim");
	CHECK(!mkdir("his", 0755) && !mkdir("sticky", 0777) && !chmod("sticky", 01777));
	CHECK(!symlink("../victim", "sticky/link") && !lchown("sticky/link", SOMEBODY, SOMEBODY));
	CHECK(!mkfifo("sticky/fifo", 0666) && !chown("sticky/fifo", SOMEBODY, SOMEBODY));
	put("sticky/file", "his");
	CHECK(!chown("sticky/file", SOMEBODY, SOMEBODY) && !chmod("sticky/file", 0666));
	CHECK_EQUAL(write_to("sticky/link", 0), -ELOOP);
	CHECK_EQUAL(write_to("sticky/fifo", 0), -EPERM);
	CHECK(!write_to("sticky/file", 0) && holds("sticky/file", "new"));
	CHECK(!stat("sticky/file", &status) && !status.st_uid);
	CHECK_EQUAL(status.st_mode & 07777, 0600);
	/* Of directories, his links lead to what is his. */
	CHECK(!symlink("../his", "sticky/away") && !lchown("sticky/away", SOMEBODY, SOMEBODY));
	CHECK_EQUAL(write_to("sticky/away/file", 0), -ELOOP);
	CHECK(!chown("his", SOMEBODY, SOMEBODY));
	CHECK(!write_to("sticky/away/file", 0) && holds("his/file", "new"));
	CHECK(holds("victim", "victim"));
	CHECK(!unlink("his/file") && !rmdir("his") && !unlink("sticky/link") && !unlink("sticky/fifo") &&
	      !unlink("sticky/file") && !unlink("sticky/away") && !rmdir("sticky"));
	end((const char *const[]){ "victim", NULL });
}

/* A file that is mounted by itself, as containers have them: no other one can take its place. */
TEST(what_can_only_be_overwritten_is_so_when_it_is_committed)
{
	struct out_file *file;

	if (geteuid())
		return; /* only root mounts */
	begin();
	put("old", "old");
	CHECK(!mount("old", "old", NULL, MS_BIND, NULL));
	CHECK(!out_file_open("old", OUT_FILE_LOCKED, &file) && !out_file_begin(file) && out_file_is_staged(file));
	CHECK_EQUAL(pwrite(out_file_fd(file), "new", 3, 0), 3);
	CHECK(holds("old", "old"));
	CHECK(!out_file_commit(file) && !out_file_is_staged(file) && holds("old", "new"));
	CHECK_EQUAL(pwrite(out_file_fd(file), "er", 2, 3), 2);
	CHECK(holds("old", "newer"));
	out_file_close(file);
	CHECK(!umount("old"));
	end((const char *const[]){ "old", NULL });
}
