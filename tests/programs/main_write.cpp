// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * main_write [DIRECTORY]
 * Planted bottleneck: eight threads, four times over, each write a file whose size is proportional
 * to the thread's number, flushing it with fsync as they go and before they close it. From the second
 * time on they write over it, and the files stay: to free a file's blocks may be to wait for the disk, too.
 * Known answer: the heaviest wait is `file`, in fsync() called from big_work(int); of the files,
 * DIRECTORY/7.txt waits most often and 1.txt least; 0.txt is empty and hardly appears.
 * On a tmpfs nothing can block.
 */
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

static constexpr int rounds = 4, writer_count = 8, blocks_per_id = 128;
static constexpr ssize_t block_size = 64 << 10;
static std::string directory = ".";

static std::string file_name(int id)
{
	return directory + "/" + std::to_string(id) + ".txt";
}

static void die(const std::string &name)
{
	perror(name.c_str());
	exit(1);
}

static void __attribute__((noinline)) big_work(int id)
{
	std::string block(block_size, 'H');
	int fd = open(file_name(id).c_str(), O_WRONLY | O_CREAT, 0644);

	if (fd < 0)
		die(file_name(id));
	for (int i = 0; i < id * blocks_per_id; i++)
		if (write(fd, block.data(), block_size) != block_size || fsync(fd))
			die(file_name(id));
	close(fd);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		directory = argv[1];
	for (int round = 0; round < rounds; round++) {
		std::vector<std::thread> threads;

		for (int id = 0; id < writer_count; id++)
			threads.emplace_back(big_work, id);
		for (auto &thread : threads)
			thread.join();
	}
	return 0;
}
