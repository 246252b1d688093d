/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <string.h>

#include "waits/journal.h"

TEST(what_was_saved_first_comes_back)
{
	struct journal *journal = journal_new();
	char bytes[] = "before";

	for (int i = 0; i < 3; i++) {
		journal_save(journal, bytes, sizeof(bytes));
		memcpy(bytes, "during", sizeof(bytes));
		journal_save(journal, bytes, sizeof(bytes));
		memcpy(bytes, "after?", sizeof(bytes));
		journal_undo(journal);
		CHECK_STRING(bytes, "before");
	}
	journal_undo(journal);
	journal_free(journal);
}

TEST(memory_of_a_trial_is_zeroed_and_goes_with_it)
{
	struct journal *journal = journal_new();
	char *bytes = journal_alloc(journal, 64);

	for (size_t i = 0; i < 64; i++)
		CHECK(!bytes[i]);
	memset(bytes, 1, 64);
	journal_free(journal);
}
