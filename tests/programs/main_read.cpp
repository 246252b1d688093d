// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * main_read [DIRECTORY]
 * Planted bottleneck: eight threads, four times over, read four files of 20 MiB that are not in the
 * page cache, page by page and without read-ahead, as a lookup in a large index would.
 * Known answer: the heaviest wait is `file`, in pread() called from big_work(int), on
 * DIRECTORY/hello1.txt to hello4.txt, each file with a similar share. No other bottleneck.
 * The files are made when absent and are left for the next run. On a tmpfs nothing can block.
 */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

static constexpr int rounds = 4, reader_count = 8, file_count = 4;
static constexpr off_t page_size = 4096, file_size = 20 << 20;
static std::string directory = ".";

static std::string file_name(int index)
{
	return directory + "/hello" + std::to_string(index + 1) + ".txt";
}

static int must_open(const std::string &name, int flags)
{
	int fd = open(name.c_str(), flags, 0644);

	if (fd < 0) {
		perror(name.c_str());
		exit(1);
	}
	return fd;
}

static void make_file(const std::string &name)
{
	std::vector<uint64_t> block(page_size / sizeof(uint64_t));
	int fd = must_open(name, O_WRONLY | O_CREAT | O_TRUNC);
	uint64_t state = 1;

	for (off_t offset = 0; offset < file_size; offset += page_size) {
		for (auto &word : block)
			word = state = state * 6364136223846793005u + 1442695040888963407u;
		if (pwrite(fd, block.data(), page_size, offset) != page_size) {
			perror(name.c_str());
			exit(1);
		}
	}
	close(fd);
}

/* Only clean pages can be dropped, hence the fsync. */
static void drop_from_cache(const std::string &name)
{
	int fd = must_open(name, O_RDONLY);

	fsync(fd);
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	close(fd);
}

static void __attribute__((noinline)) big_work(int id)
{
	std::vector<char> buffer(page_size);
	int fd = must_open(file_name(id % file_count), O_RDONLY);

	posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
	for (off_t offset = 0; offset < file_size; offset += page_size)
		if (pread(fd, buffer.data(), page_size, offset) != page_size) {
			perror("pread");
			exit(1);
		}
	close(fd);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		directory = argv[1];
	for (int i = 0; i < file_count; i++) {
		struct stat info;

		if (stat(file_name(i).c_str(), &info) || info.st_size != file_size)
			make_file(file_name(i));
	}
	for (int round = 0; round < rounds; round++) {
		std::vector<std::thread> threads;

		for (int i = 0; i < file_count; i++)
			drop_from_cache(file_name(i));
		for (int id = 0; id < reader_count; id++)
			threads.emplace_back(big_work, id);
		for (auto &thread : threads)
			thread.join();
	}
	return 0;
}
