/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdbool.h>
#include <string.h>

#include "findings/names/klock_words.h"
#include "report/report_frame.h"
#include "test.h"

enum { FRAMES_MAX = 8 };

/* Of a call path in the kernel, innermost first, which a function of the program ends. */
static bool is_recorded(const char *const *functions, const char *where, const char *name)
{
	struct report_frame frames[FRAMES_MAX + 1] = { 0 };
	struct klock_words *words = klock_words_new();
	const struct report_frame *wanting;
	const char *recorded_where, *recorded_name;
	size_t count = 0;
	bool is_so;

	for (; functions[count]; count++)
		frames[count] = (struct report_frame){ .function = functions[count], .is_kernel = true };
	frames[count++].function = "do_exit"; /* the program's own: no function of the kernel */
	wanting = klock_words_wanting(words, frames, count);
	recorded_where = wanting ? wanting->function : NULL;
	recorded_name = klock_words_name(words, frames, count);
	is_so = (where ? recorded_where && !strcmp(recorded_where, where) : !recorded_where) &&
		(name ? recorded_name && !strcmp(recorded_name, name) : !recorded_name);
	klock_words_free(words);
	return is_so;
}

TEST(who_wants_a_lock_is_behind_what_takes_it)
{
	const char *const path[] = { "rwsem_down_write_slowpath", "down_write", "ext4_buffered_write_iter", "vfs_write",
				     NULL };

	CHECK(is_recorded(path, "ext4_buffered_write_iter", NULL));
}

TEST(a_copy_of_a_function_that_takes_locks_is_one_too)
{
	const char *const path[] = { "__mutex_lock [clone .constprop.0]", "anon_pipe_read", NULL };

	CHECK(is_recorded(path, "anon_pipe_read", NULL));
}

TEST(a_function_that_waits_for_one_lock_only_names_it)
{
	const char *const path[] = { "__pv_queued_spin_lock_slowpath", "_raw_spin_lock", "futex_wait_setup",
				     "__futex_wait", NULL };

	CHECK(is_recorded(path, "futex_wait_setup", "futex hash bucket"));
}

TEST(locks_of_file_systems_are_named_by_who_waits_for_them)
{
	static const struct {
		const char *taker, *function, *name;
	} rules[] = {
		{ "mutex_lock", "lock_rename", "s_vfs_rename_mutex" },
		{ "_raw_spin_lock", "new_inode", "s_inode_list_lock" },
		{ "_raw_spin_lock", "__find_get_block", "i_private_lock of a block device" },
		{ "_raw_spin_lock_irq", "folio_wait_bit_common", "folio wait queue" },
		{ "lockref_get_not_dead", "__legitimize_path", "d_lock of a dentry" },
	};

	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++) {
		const char *const path[] = { "native_queued_spin_lock_slowpath", rules[i].taker, rules[i].function,
					     NULL };

		CHECK(is_recorded(path, rules[i].function, rules[i].name));
	}
}

TEST(a_path_of_nothing_but_what_takes_locks_reports_nothing)
{
	const char *const path[] = { "__pv_queued_spin_lock_slowpath", "_raw_spin_lock", NULL };

	CHECK(is_recorded(path, NULL, NULL));
}
