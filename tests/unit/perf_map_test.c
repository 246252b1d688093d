/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "helper/jit_place.h"
#include "symbol/jit/perf_map.h"

/* Of what each test reads. */
static struct perf_map_budget budget = { 1 << 20, 256 << 20 };

static char name[256];
static uint64_t start;

/* A nameless file with that text; the test writes on through *fd. */
static struct perf_map *map_of(const char *text, int *fd)
{
	*fd = open("/tmp", O_TMPFILE | O_RDWR, 0600);
	CHECK_THAT(*fd, >=, 0);
	CHECK_EQUAL(write(*fd, text, strlen(text)), (ssize_t)strlen(text));
	return perf_map_new(dup(*fd), &budget);
}

static bool is_at(struct perf_map *map, uint64_t address, const char *expected)
{
	bool is_found = perf_map_find(map, address, name, sizeof(name), &start);

	return expected ? is_found && !strcmp(name, expected) : !is_found;
}

TEST(names_are_found_within_their_range)
{
	int fd;
	struct perf_map *map = map_of("7f0010 20 first\n0x7f0030 0x8 void Second::run(int) [C2]\n"
				      "7f0000 10 Zeroth\r\n",
				      &fd);

	CHECK(is_at(map, 0x7f0010, "first") && is_at(map, 0x7f002f, "first"));
	CHECK_EQUAL(start, 0x7f0010);
	CHECK(is_at(map, 0x7f0037, "void Second::run(int) [C2]") && is_at(map, 0x7f0038, NULL));
	CHECK(is_at(map, 0x7f0000, "Zeroth") && is_at(map, 0x7effff, NULL));
	perf_map_close(map);
	close(fd);
}

TEST(the_forms_of_java_and_dotnet_are_read)
{
	int fd;
	struct perf_map *map =
		map_of("0x00007fbbad402a40 0x0000000000000230 void Queue.underLock(int)\n"
		       "00007FBBAD403000 1a4 void [System.Private.CoreLib] System.Threading.Monitor::Wait"
		       "(object,int32)[OptimizedTier1]\n",
		       &fd);

	CHECK(is_at(map, 0x7fbbad402a41, "void Queue.underLock(int)"));
	CHECK(is_at(map, 0x7fbbad4031a3,
		    "void [System.Private.CoreLib] "
		    "System.Threading.Monitor::Wait(object,int32)[OptimizedTier1]"));
	CHECK(is_at(map, 0x7fbbad4031a4, NULL));
	perf_map_close(map);
	close(fd);
}

/* As a JVM does each time that it is asked for its map. */
static void write_again(int fd, const char *text)
{
	CHECK(!ftruncate(fd, 0));
	CHECK_EQUAL(pwrite(fd, text, strlen(text), 0), (ssize_t)strlen(text));
}

TEST(a_file_that_is_written_again_never_gives_a_name_of_elsewhere)
{
	int fd;
	struct perf_map *map = map_of("1000 10 first\n2000 10 second\n", &fd);
	uint64_t lines = budget.lines;

	write_again(fd, "0800 10 between\n1000 10 first\n3000 10 third\n");
	CHECK(is_at(map, 0x2000, NULL));
	perf_map_refresh(map);
	CHECK(is_at(map, 0x800, "between") && is_at(map, 0x1000, "first") && is_at(map, 0x3000, "third"));
	CHECK(is_at(map, 0x2000, NULL));
	CHECK_EQUAL(budget.lines, lines - 1);
	/* Its last line is what it was: the one that moved tells. */
	write_again(fd, "0800 10 elsewhere\n1000 8 first\n3000 10 third\n");
	CHECK(is_at(map, 0x1000, NULL));
	perf_map_refresh(map);
	CHECK(is_at(map, 0x1000, "first") && is_at(map, 0x800, "elsewhere"));
	write_again(fd, "");
	CHECK(is_at(map, 0x1000, NULL));
	perf_map_refresh(map);
	CHECK(is_at(map, 0x1000, NULL));
	CHECK_EQUAL(budget.lines, lines + 2);
	perf_map_close(map);
	close(fd);
}

TEST(of_overlapping_lines_the_last_one_counts)
{
	int fd;
	struct perf_map *map = map_of("1000 1000 old\n1100 10 inner\n0800 10000 newest\n"
				      "1104 4 last\n",
				      &fd);

	CHECK(is_at(map, 0x1100, "newest") && is_at(map, 0x1105, "last"));
	CHECK(is_at(map, 0x1108, "newest"));
	perf_map_close(map);
	close(fd);
}

TEST(what_is_added_later_is_read_later)
{
	int fd;
	struct perf_map *map = map_of("1000 10 one\n2000 10 tw", &fd);

	CHECK(is_at(map, 0x1000, "one") && is_at(map, 0x2000, NULL));
	CHECK_EQUAL(write(fd, "o\n3000 10 three\n", 16), 16);
	perf_map_refresh(map);
	CHECK(is_at(map, 0x1000, "one") && is_at(map, 0x2000, "two"));
	CHECK(is_at(map, 0x3000, "three"));
	perf_map_close(map);
	close(fd);
}

TEST(lines_that_make_no_sense_are_passed_over)
{
	int fd;
	struct perf_map *map = map_of("\n\n \nxyz 10 a\n1000 b\n1000 10\n1000 10 \n1000  10 c\n"
				      "11112222333344445 10 d\nffffffffffffffff 10 e\n1000 0 f\n"
				      "0x 10 g\n5000 10 good\n",
				      &fd);

	CHECK(is_at(map, 0x1000, NULL) && is_at(map, 0x5000, "good"));
	CHECK(is_at(map, UINT64_MAX, NULL));
	perf_map_close(map);
	close(fd);
}

TEST(a_line_without_end_does_not_stop_the_reader)
{
	size_t size_bytes = 300000;
	char *text = malloc(size_bytes + 32);
	struct perf_map *map;
	int fd;

	memset(text, 'a', size_bytes);
	strcpy(text + size_bytes, "\n5000 10 good\n");
	map = map_of(text, &fd);
	CHECK(is_at(map, 0x5000, "good"));
	perf_map_close(map);
	close(fd);
	free(text);
}

TEST(lines_beyond_the_bound_are_counted)
{
	FILE *file = tmpfile();
	struct perf_map *map;

	for (unsigned int i = 0; i < 300000; i++)
		fprintf(file, "%x 10 f%u\n", 0x1000 + 16 * i, i);
	fflush(file);
	map = perf_map_new(dup(fileno(file)), &budget);
	CHECK(is_at(map, 0x1000 + 16 * 1234, "f1234"));
	CHECK_EQUAL(perf_map_dropped(map), 300000 - (1 << 18));
	perf_map_close(map);
	fclose(file);
}

/* What jit_place_open() says of this process's own file when prepare() has made it. */
static int open_own(void (*prepare)(const char *path))
{
	struct jit_place place = { 0 };
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	prepare(path);
	CHECK(!jit_place_find(getpid(), &place));
	fd = jit_place_open(&place);
	if (fd >= 0)
		close(fd);
	jit_place_close(&place);
	unlink(path);
	return fd < 0 ? fd : 0;
}

TEST(a_place_outlives_its_process)
{
	struct jit_place place = { 0 };
	struct perf_map *map;
	char path[64];
	int ends[2], fd, own_fd;
	pid_t child;

	CHECK(!pipe(ends));
	child = fork();
	if (!child) {
		close(ends[1]);
		_exit(read(ends[0], path, 1));
	}
	close(ends[0]);
	CHECK(!jit_place_find(child, &place));
	CHECK_EQUAL(place.pid, (uint32_t)child);
	close(ends[1]);
	CHECK_EQUAL(waitpid(child, NULL, 0), child);
	CHECK_THAT(jit_place_find(child, &place), <, 0);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", child);
	CHECK_EQUAL(jit_place_open(&place), -ENOENT);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	CHECK_THAT(fd, >=, 0);
	CHECK_EQUAL(write(fd, "1000 10 late\n", 13), 13);
	own_fd = jit_place_open(&place);
	CHECK_THAT(own_fd, >=, 0);
	map = perf_map_new(own_fd, &budget);
	CHECK(is_at(map, 0x1008, "late"));
	perf_map_close(map);
	jit_place_close(&place);
	CHECK_EQUAL(jit_place_open(&place), -ENOENT);
	close(fd);
	unlink(path);
}

static void prepare_file(const char *path)
{
	FILE *file = fopen(path, "w");

	fputs("1000 10 f\n", file);
	fclose(file);
	CHECK(!chmod(path, 0644));
}

static void prepare_link(const char *path)
{
	CHECK(!symlink("/etc/passwd", path));
}

static void prepare_fifo(const char *path)
{
	CHECK(!mkfifo(path, 0600));
}

static void prepare_foreign(const char *path)
{
	prepare_file(path);
	CHECK(!chown(path, 12345, 12345));
}

static void prepare_writable(const char *path, mode_t mode, gid_t group)
{
	prepare_file(path);
	CHECK(!chown(path, -1, group) && !chmod(path, mode));
}

static void prepare_for_all(const char *path)
{
	prepare_writable(path, 0666, getegid());
}

static void prepare_for_own_group(const char *path)
{
	prepare_writable(path, 0664, getegid());
}

static void prepare_for_other_group(const char *path)
{
	prepare_writable(path, 0664, 12345);
}

static void prepare_nothing(const char *path)
{
	(void)path;
}

TEST(only_a_regular_file_of_the_right_owner_is_trusted)
{
	CHECK_EQUAL(open_own(prepare_file), 0);
	CHECK_EQUAL(open_own(prepare_link), -EPERM);
	CHECK_EQUAL(open_own(prepare_fifo), -EPERM);
	CHECK_EQUAL(open_own(prepare_nothing), -ENOENT);
	CHECK_EQUAL(open_own(prepare_for_all), -EKEYREJECTED);
	CHECK_EQUAL(open_own(prepare_for_own_group), 0);
	if (getuid())
		skip();
	CHECK_EQUAL(open_own(prepare_foreign), -EPERM);
	CHECK_EQUAL(open_own(prepare_for_other_group), -EKEYREJECTED);
}

/* --- jitdump ---------------------------------------------------------------------------------- */

static void write_record(int fd, uint32_t kind, uint64_t begin, uint64_t size_bytes, const char *function)
{
	struct {
		uint32_t kind, total_bytes;
		uint64_t timestamp;
		uint32_t pid, tid;
		uint64_t address, start, size_bytes, index;
	} record = { .kind = kind, .start = begin, .size_bytes = size_bytes };
	uint32_t name_bytes = strlen(function) + 1;

	record.total_bytes = sizeof(record) + name_bytes + 4;
	CHECK_EQUAL(write(fd, &record, sizeof(record)), sizeof(record));
	CHECK_EQUAL(write(fd, function, name_bytes), name_bytes);
	CHECK_EQUAL(write(fd, "code", 4), 4);
}

static const uint32_t header[10] = { 0x4a695444, 1, sizeof(header), 62 };

TEST(a_jitdump_may_be_empty_when_it_is_opened)
{
	int fd = open("/tmp", O_TMPFILE | O_RDWR, 0600);
	struct perf_map *map = perf_map_new(dup(fd), &budget);

	CHECK_EQUAL(write(fd, header, 20), 20);
	perf_map_refresh(map);
	CHECK_EQUAL(write(fd, &header[5], 20), 20);
	write_record(fd, 0, 0x7f0010, 0x20, "work");
	perf_map_refresh(map);
	CHECK(is_at(map, 0x7f0018, "work"));
	perf_map_close(map);
	close(fd);
}

TEST(a_jitdump_is_read_as_far_as_it_is_written)
{
	int fd = open("/tmp", O_TMPFILE | O_RDWR, 0600);
	struct perf_map *map;
	uint32_t half[4] = { 0, 100 };

	CHECK_THAT(fd, >=, 0);
	CHECK_EQUAL(write(fd, header, sizeof(header)), sizeof(header));
	write_record(fd, 0, 0x7f0010, 0x20, "int Main.work(int)");
	write_record(fd, 2, 0x7f0010, 0x20, "debug information");
	write_record(fd, 0, 0x7f0040, 0x10, "other");
	map = perf_map_new(dup(fd), &budget);
	CHECK(is_at(map, 0x7f0018, "int Main.work(int)"));
	CHECK_EQUAL(start, 0x7f0010);
	CHECK(is_at(map, 0x7f004f, "other") && is_at(map, 0x7f0050, NULL));
	write_record(fd, 0, 0x7f0010, 0x8, "compiled anew");
	CHECK_EQUAL(write(fd, half, sizeof(half)), sizeof(half));
	perf_map_refresh(map);
	CHECK(is_at(map, 0x7f0010, "compiled anew") && is_at(map, 0x7f0018, "int Main.work(int)"));
	perf_map_refresh(map);
	CHECK(is_at(map, 0x7f0010, "compiled anew") && !perf_map_dropped(map));
	perf_map_close(map);
	close(fd);
}
