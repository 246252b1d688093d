/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdbool.h>
#include <string.h>

#include "base/text.h"
#include "report/report.h"
#include "test.h"
#include "view/page.h"
#include "view/text/klock_name.h"
#include "view/view.h"

/* As on a page where so many columns are left. */
static struct text named(const struct report_klock *lock, uint32_t columns)
{
	struct view_style style = { .width = 100 };
	struct text text = { 0 };
	struct page page;

	page_init(&page, &style, &text);
	page_pad_to(&page, 100 - columns);
	klock_put_name(&page, lock);
	page_fini(&page);
	return text;
}

static bool is_called(const struct report_klock *lock, uint32_t columns, const char *name)
{
	struct text text = named(lock, columns);
	const char *begin = text.bytes + strspn(text.bytes, " ");
	bool is_same = !strcmp(begin, name);

	if (!is_same)
		fprintf(stderr, "%s, not %s\n", begin, name);
	text_fini(&text);
	return is_same;
}

TEST(a_lock_is_called_what_is_known_of_it)
{
	struct report_klock lock = {
		.name = "i_rwsem of /srv/x",
		.kind = "rwsem write",
		.address = "0x1",
		.cache = "inode_cache",
		.where = "vfs_write",
	};

	CHECK(is_called(&lock, 90, "i_rwsem of /srv/x  rwsem write"));
	lock.name = NULL;
	CHECK(is_called(&lock, 90, "a lock in inode_cache memory  rwsem write in vfs_write"));
	lock.cache = NULL;
	CHECK(is_called(&lock, 90, "0x1  rwsem write in vfs_write"));
	CHECK(is_called(&lock, 24, "0x1  rwsem write"));
	lock.address = "others";
	lock.where = NULL;
	CHECK(is_called(&lock, 90, "locks beyond the limit  rwsem write"));
	lock.kind = "my\033lock";
	CHECK(is_called(&lock, 90, "locks beyond the limit  my\\x1block"));
}

TEST(a_lock_keeps_to_the_space_that_is_left)
{
	static const struct report_klock locks[] = {
		{ .name = "i_rwsem of /a/path/that/is/rather/long/\033[31mred",
		  .kind = "percpu-rwsem write",
		  .address = "0x1" },
		{ .cache = "a_cache_with_a_long_long_long_name",
		  .kind = "percpu-rwsem write",
		  .address = "0x1",
		  .where = "a_function_with_a_long_long_long_name" },
		{ .kind = "mutex", .address = "0xffff888104a3c118", .where = "a_function_with_a_long_long_long_name" },
	};

	for (uint32_t columns = 40; columns < 100; columns++) {
		for (size_t i = 0; i < sizeof(locks) / sizeof(*locks); i++) {
			struct text text = named(&locks[i], columns);

			CHECK_THAT(text_columns(text.bytes), <=, 100);
			CHECK(strstr(text.bytes, locks[i].kind));
			CHECK(!strchr(text.bytes, '\033'));
			text_fini(&text);
		}
	}
}
