/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "test.h"
#include "view/output.h"
#include "view/status.h"

static char directory[64];

/* A fresh directory, and a file in it with this text unless it is NULL. */
static const char *file_new(const char *content)
{
	static char path[128];
	FILE *file;

	snprintf(directory, sizeof(directory), "/tmp/pinch-output-XXXXXX");
	if (!mkdtemp(directory))
		return NULL;
	snprintf(path, sizeof(path), "%s/report", directory);
	if (content) {
		file = fopen(path, "w");
		if (!file)
			return NULL;
		fputs(content, file);
		fclose(file);
	}
	return path;
}

static bool holds(const char *path, const char *content)
{
	char bytes[4096] = { 0 };
	FILE *file = fopen(path, "r");

	if (!file)
		return false;
	bytes[fread(bytes, 1, sizeof(bytes) - 1, file)] = '\0';
	fclose(file);
	return !strcmp(bytes, content);
}

/* Removes the directory; false when more than the report was left in it. */
static bool directory_end(const char *path)
{
	unlink(path);
	return !rmdir(directory);
}

static int write_string(const char *path, const char *string)
{
	struct text text = { 0 };
	int err;

	text_put(&text, string);
	err = output_write(path, &text);
	text_fini(&text);
	return err;
}

TEST(a_new_file_gets_the_report_which_nobody_else_can_read)
{
	const char *path = file_new(NULL);
	mode_t old = umask(022);
	struct stat status;

	CHECK(!output_check(path));
	CHECK(access(path, F_OK));
	CHECK(!write_string(path, "report\n"));
	CHECK(holds(path, "report\n"));
	CHECK(!stat(path, &status));
	CHECK_EQUAL(status.st_mode & 0777, 0600);
	umask(old);
	CHECK(directory_end(path));
}

TEST(an_old_file_is_replaced_and_keeps_its_mode)
{
	const char *path = file_new("old and longer than the report\n");
	struct stat status;

	chmod(path, 0604);
	CHECK(!output_check(path));
	CHECK(holds(path, "old and longer than the report\n"));
	CHECK(!write_string(path, "report\n"));
	CHECK(holds(path, "report\n"));
	CHECK(!stat(path, &status));
	CHECK_EQUAL(status.st_mode & 0777, 0604);
	CHECK(directory_end(path));
}

TEST(a_symbolic_link_stays_one)
{
	const char *path = file_new("old\n");
	char link[160];
	struct stat status;

	snprintf(link, sizeof(link), "%s-link", directory);
	CHECK(!symlink(path, link));
	CHECK(!output_check(link));
	CHECK(!write_string(link, "report\n"));
	CHECK(!lstat(link, &status) && S_ISLNK(status.st_mode));
	CHECK(holds(path, "report\n"));
	unlink(link);
	CHECK(directory_end(path));
}

/* As on a full disk: the write fails in the middle. */
TEST(an_old_file_survives_a_full_disk)
{
	const char *path = file_new("old\n");
	struct rlimit limit, small;
	char *report = calloc(1, 100001);

	memset(report, 'x', 100000);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &limit);
	small = limit;
	small.rlim_cur = 4096;
	setrlimit(RLIMIT_FSIZE, &small);
	CHECK_EQUAL(write_string(path, report), -EFBIG);
	setrlimit(RLIMIT_FSIZE, &limit);
	CHECK(holds(path, "old\n"));
	CHECK(directory_end(path));
	free(report);
}

TEST(a_full_device_is_an_error)
{
	CHECK(!output_check("/dev/full"));
	CHECK_EQUAL(write_string("/dev/full", "report\n"), -ENOSPC);
	CHECK(!write_string("/dev/null", "report\n"));
}

TEST(places_that_cannot_be_written_are_found_before_tracing)
{
	CHECK_EQUAL(output_check("/nonexistent/report"), -ENOENT);
	CHECK_EQUAL(output_check("/tmp"), -EISDIR);
	CHECK_EQUAL(output_check("/proc/version/report"), -ENOTDIR);
	CHECK(output_check("/proc/pinch-report"));
}

TEST(a_fifo_is_written_in_place)
{
	const char *path = file_new(NULL);
	char bytes[64] = { 0 };
	pid_t child;
	int fd;

	CHECK(!mkfifo(path, 0600));
	CHECK(!output_check(path));
	child = fork();
	if (!child)
		_exit(write_string(path, "report\n") ? 1 : 0);
	fd = open(path, O_RDONLY);
	CHECK_EQUAL(read(fd, bytes, sizeof(bytes) - 1), 7);
	CHECK_STRING(bytes, "report\n");
	close(fd);
	waitpid(child, NULL, 0);
	CHECK(directory_end(path));
}

/* "pinch -o /dev/stdout >file": the shell's file must not be replaced by another. */
TEST(dev_stdout_is_the_file_that_the_shell_opened)
{
	const char *path = file_new("");
	int fd = open(path, O_WRONLY), saved = dup(STDOUT_FILENO);
	struct stat before, after;

	fflush(stdout);
	dup2(fd, STDOUT_FILENO);
	fstat(fd, &before);
	CHECK(!output_check("/dev/stdout"));
	CHECK(!write_string("/dev/stdout", "one\n"));
	CHECK(!write_string("-", "two\n"));
	fflush(stdout);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	close(fd);
	CHECK(!stat(path, &after));
	CHECK_EQUAL(after.st_ino, before.st_ino);
	CHECK(holds(path, "one\ntwo\n"));
	CHECK(directory_end(path));
}

TEST(a_reader_that_went_away_is_an_error_without_a_message)
{
	int ends[2], saved = dup(STDOUT_FILENO);

	signal(SIGPIPE, SIG_IGN);
	CHECK(!pipe(ends));
	close(ends[0]);
	fflush(stdout);
	dup2(ends[1], STDOUT_FILENO);
	CHECK_EQUAL(write_string("-", "report\n"), -EPIPE);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	close(ends[1]);
}

TEST(the_status_line_is_cut_to_the_terminal)
{
	struct status_counts counts = {
		.time_ns = 12300000000,
		.threads = 16,
		.parallelism = 1.84,
		.events = 1234567,
	};
	struct text text = { 0 };

	status_format(&counts, 200, &text);
	CHECK_STRING(text.bytes, "pinch: 12.3 s  16 threads  parallelism 1.8  1,234,567 events"
				 "  0 lost");
	text_fini(&text);
	status_format(&counts, 20, &text);
	CHECK_STRING(text.bytes, "pinch: 12.3 s  16 th");
	text_fini(&text);
}
