// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dlopen_plugin PLUGIN.SO [delete]
 * Edge: the thread `plugin` loads PLUGIN.SO, runs its plugin_hot() for 1 s and unloads it; then
 * the file is deleted, when asked; then the program goes on for half a second in after_unload().
 * Known answer: plugin_hot, at plugin.cpp, leads by two to one over after_unload(), though the
 * library is gone from memory, and from the disk, when the report is made.
 * PLUGIN.SO needs a slash, as dlopen() wants; when deleting, give a copy.
 */
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <pthread.h>
#include <thread>
#include <unistd.h>

static volatile uint64_t sink;

static void __attribute__((noinline)) after_unload()
{
	auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);

	while (std::chrono::steady_clock::now() < end)
		for (int i = 0; i < 5000; i++)
			sink = sink * 6364136223846793005u + 1442695040888963407u;
}

static void run(const char *path, bool is_deleted)
{
	void *library = dlopen(path, RTLD_NOW);

	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	auto plugin_hot = reinterpret_cast<uint64_t (*)(unsigned)>(dlsym(library, "plugin_hot"));
	if (!plugin_hot) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	sink = plugin_hot(1000);
	dlclose(library);
	if (is_deleted && unlink(path)) {
		perror(path);
		exit(1);
	}
	after_unload();
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		fprintf(stderr, "usage: dlopen_plugin PLUGIN.SO [delete]\n");
		return 2;
	}
	std::thread thread(run, argv[1], argc > 2 && !strcmp(argv[2], "delete"));
	pthread_setname_np(thread.native_handle(), "plugin");
	thread.join();
	return 0;
}
