/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "findings/names/go_names.h"

#include "report/report_frame.h"
#include "test.h"

static struct report_frame frame_of(const char *function)
{
	return (struct report_frame){ .function = function, .file = "/src/a.go", .module = "shop" };
}

TEST(functions_of_the_standard_library_are_told_by_their_import_path)
{
	static const struct {
		const char *function;
		bool is_library;
	} cases[] = {
		{ "main.serve", false },
		{ "main.serve.func1", false },
		{ "runtime.findRunnable", true },
		{ "compress/flate.(*Writer).Write", true },
		{ "net/http.(*persistConn).roundTrip", true },
		{ "sync.(*Mutex).Lock", true },
		{ "type:.eq.main.key", true },
		{ "example.org/shop/net/http.Serve", false },
		{ "shop/cart.(*Cart).Add", false },
		{ "network.Dial", false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct report_frame frame = frame_of(cases[i].function);

		CHECK_EQUAL(go_is_library(&frame), cases[i].is_library);
		frame.file = "net/http.c";
		CHECK(!go_is_library(&frame));
		frame.file = NULL;
		CHECK(!go_is_library(&frame));
	}
}

TEST(the_innermost_own_function_is_no_closure_if_there_is_another)
{
	struct report_frame frames[] = {
		frame_of("compress/flate.(*compressor).deflate"),
		frame_of("main.packAll.func1.2"),
		frame_of("sync.(*Once).doSlow"),
		frame_of("main.packAll"),
		frame_of("main.functional"),
	};

	CHECK_STRING(go_find_own(frames, 5)->function, "main.packAll");
	CHECK_STRING(go_find_own(frames, 3)->function, "main.packAll.func1.2");
	CHECK_STRING(go_find_own(frames + 4, 1)->function, "main.functional");
	CHECK(!go_find_own(frames, 1));
	CHECK(!go_find_own(frames, 0));
}
