/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that take kernel locks: those that are built in, and what a user's file says. */
#include "test.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#undef fail /* a macro of cmocka's */
#include "base/fail.h"
#include "collect/probe/klock_spec.h"
#include "values.h"

static char path[] = "/tmp/klock_spec_XXXXXX";
static char said[512];

static void note_line(const char *line)
{
	snprintf(said, sizeof(said), "%s", line);
}

static int add(struct klock_spec *spec, const char *text)
{
	FILE *file;
	int err;

	strcpy(path + strlen(path) - 6, "XXXXXX");
	file = fdopen(mkstemp(path), "w");
	fputs(text, file);
	fclose(file);
	fail_set_sink(note_line);
	said[0] = '\0';
	err = klock_spec_add_file(spec, path);
	fail_set_sink(NULL);
	unlink(path);
	return err;
}

static const struct klock_function *find(const struct klock_spec *spec, const char *symbol)
{
	for (size_t i = 0; i < spec->count; i++)
		if (!strcmp(spec->functions[i].symbol, symbol))
			return &spec->functions[i];
	return NULL;
}

TEST(what_is_built_in_is_good)
{
	struct klock_spec *spec = klock_spec_new();
	const struct klock_function *function = find(spec, "mutex_lock");

	CHECK_THAT(spec->count, >, 20);
	CHECK_EQUAL(spec->kind_count, KLOCK_KINDS);
	CHECK(function);
	CHECK_EQUAL(function->kind, KLOCK_MUTEX);
	CHECK_EQUAL(function->step, KLOCK_TAKES);
	CHECK(!function->argument);
	function = find(spec, "down_write_trylock");
	CHECK(function);
	CHECK_EQUAL(function->kind, KLOCK_RWSEM_WRITE);
	CHECK_EQUAL(function->step, KLOCK_TRIES);
	function = find(spec, "downgrade_write");
	CHECK(function);
	CHECK_EQUAL(function->kind, KLOCK_RWSEM_READ);
	CHECK_EQUAL(function->step, KLOCK_CHANGES);
	/* Whatever is taken in one way is released in that way. */
	for (size_t i = 0; i < spec->count; i++) {
		size_t k = 0;

		while (k < spec->count &&
		       (spec->functions[k].kind != spec->functions[i].kind || spec->functions[k].step != KLOCK_LETS_GO))
			k++;
		CHECK_THAT(k, <, spec->count);
	}
	klock_spec_free(spec);
}

TEST(a_file_adds_functions_and_kinds_and_says_otherwise)
{
	struct klock_spec *spec = klock_spec_new();
	size_t count = spec->count;

	CHECK(!add(spec, "{\"functions\": ["
			 "{\"symbol\": \"mutex_lock\", \"kind\": \"my mutex\", \"does\": \"acquire\"},"
			 "{\"symbol\": \"f.isra.0\", \"kind\": \"my mutex\", \"does\": \"acquire\", \"argument\": 6,"
			 " \"succeeds\": \"zero\"}]}"));
	CHECK_EQUAL(spec->count, count + 1);
	CHECK_EQUAL(spec->kind_count, KLOCK_KINDS + 1);
	CHECK_STRING(spec->kinds[KLOCK_KINDS].name, "my mutex");
	CHECK_EQUAL(find(spec, "mutex_lock")->kind, KLOCK_KINDS);
	CHECK_EQUAL(find(spec, "f.isra.0")->argument, 5);
	CHECK_EQUAL(find(spec, "f.isra.0")->step, KLOCK_TRIES_FOR_ZERO);
	klock_spec_free(spec);
}

TEST(what_is_wrong_is_said_in_one_line)
{
	static const struct {
		const char *text, *about;
	} wrong[] = {
		{ "", ":1:" },
		{ "{\"functions\": [\n]\n", ":" },
		{ "[]", "not {\"functions\": [...]}" },
		{ "{\"functions\": {}}", "not {\"functions\": [...]}" },
		{ "{\"functions\": [], \"more\": 1}", "not {\"functions\": [...]}" },
		{ "{\"functions\": [1]}", "function 1:" },
		{ "{\"functions\": [{\"symbol\": \"f\", \"kind\": \"k\"}]}", "function 1:" },
		{ "{\"functions\": [{\"symbol\": \"f\", \"kind\": 1, \"does\": \"release\"}]}", "function 1:" },
		{ "{\"functions\": [{\"symbol\": \"\", \"kind\": \"k\", \"does\": \"release\"}]}", "\"symbol\"" },
		{ "{\"functions\": [{\"symbol\": \"a b\", \"kind\": \"k\", \"does\": \"release\"}]}", "\"symbol\"" },
		{ "{\"functions\": [{\"symbol\": \"f\", \"kind\": \"\", \"does\": \"release\"}]}", "\"kind\"" },
		{ "{\"functions\": [{\"symbol\": \"f\", \"kind\": \"of twenty-four letters..\", \"does\": \"release\"}]}",
		  "\"kind\"" },
		{ "{\"functions\": [{\"symbol\": \"f\", \"kind\": \"k\", \"does\": \"take\"}]}", "\"does\"" },
		{ "{\"functions\": [{\"symbol\": \"f\", \"kind\": \"k\", \"does\": \"acquire\", \"succeeds\": \"1\"}]}",
		  "\"succeeds\"" },
		{ "{\"functions\": [{\"symbol\": \"f\", \"kind\": \"k\", \"does\": \"release\", \"argument\": 0}]}",
		  "\"argument\"" },
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct klock_spec *spec = klock_spec_new();

		if (add(spec, wrong[i].text) != -EINVAL || !strstr(said, wrong[i].about))
			print_message("%s: %s\n", wrong[i].text, said);
		CHECK(strstr(said, wrong[i].about));
		CHECK_EQUAL(strchr(said, '\n'), said + strlen(said) - 1);
		klock_spec_free(spec);
	}
}

TEST(does_not_fit_any_number_of_functions_and_kinds)
{
	struct klock_spec *spec = klock_spec_new();
	char text[256];
	int err = 0, i;

	for (i = 0; i < 1000 && !err; i++) {
		snprintf(text, sizeof(text),
			 "{\"functions\": [{\"symbol\": \"f%d\", \"kind\": \"mutex\", "
			 "\"does\": \"release\"}]}",
			 i);
		err = add(spec, text);
	}
	CHECK_EQUAL(err, -E2BIG);
	CHECK_EQUAL(spec->count, KLOCK_FUNCTIONS_MAX);
	CHECK(strstr(said, "more than 256 functions"));
	klock_spec_free(spec);
	spec = klock_spec_new();
	for (i = 0, err = 0; i < 1000 && !err; i++) {
		snprintf(text, sizeof(text),
			 "{\"functions\": [{\"symbol\": \"f\", \"kind\": \"k%d\", "
			 "\"does\": \"release\"}]}",
			 i);
		err = add(spec, text);
	}
	CHECK_EQUAL(err, -EINVAL);
	CHECK_EQUAL(spec->kind_count, KLOCK_KINDS_MAX);
	CHECK(strstr(said, "there are 32 at most"));
	klock_spec_free(spec);
}

TEST(a_file_that_cannot_be_read_is_said)
{
	struct klock_spec *spec = klock_spec_new();

	setenv("PINCH_KLOCK_FUNCTIONS", "/nonexistent/klock.json", 1);
	fail_set_sink(note_line);
	CHECK_EQUAL(klock_spec_add_user(spec), -ENOENT);
	CHECK(strstr(said, "/nonexistent/klock.json"));
	fail_set_sink(NULL);
	setenv("PINCH_KLOCK_FUNCTIONS", "", 1);
	setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
	CHECK(!klock_spec_add_user(spec));
	klock_spec_free(spec);
}
