/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/text.h"
#include "report/report.h"
#include "report_fixture.h"
#include "stacks/fold.h"
#include "test.h"
#include "view/html/html.h"

static int digit_of(char c)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? at - digits : -1;
}

/* Until something comes that is no base64. */
static struct text decode(const char *base64)
{
	struct text out = { 0 };
	unsigned int word = 0, bits = 0;

	for (; digit_of(*base64) >= 0; base64++) {
		word = word << 6 | (unsigned int)digit_of(*base64);
		bits += 6;
		if (bits >= 8) {
			char byte = word >> (bits - 8);

			text_put_bytes(&out, &byte, 1);
			bits -= 8;
		}
	}
	return out;
}

/* What the page has as a part; empty: it has none. */
static struct text part_of(const struct text *page, const char *name)
{
	struct text out = { 0 }, packed;
	char bytes[4096], begin[64];
	z_stream stream = { 0 };
	const char *at;
	int got = Z_OK;

	snprintf(begin, sizeof(begin), "data-part=\"%s\"", name);
	at = strstr(page->bytes, begin);
	if (!at)
		return out;
	packed = decode(strchr(at, '>') + 1);
	inflateInit2(&stream, 15 + 16);
	stream.next_in = (unsigned char *)packed.bytes;
	stream.avail_in = packed.length;
	while (got == Z_OK) {
		stream.next_out = (unsigned char *)bytes;
		stream.avail_out = sizeof(bytes);
		got = inflate(&stream, Z_NO_FLUSH);
		text_put_bytes(&out, bytes, sizeof(bytes) - stream.avail_out);
	}
	CHECK_EQUAL(got, Z_STREAM_END);
	inflateEnd(&stream);
	text_fini(&packed);
	return out;
}

static struct text page_of(const char *json, size_t length)
{
	struct html *html = html_new();
	struct text page = { 0 };

	text_put_bytes(html_part(html, "graph"), json, length);
	html_put(html, &page);
	html_free(html);
	return page;
}

static bool comes_back(const char *json, size_t length)
{
	struct text page = page_of(json, length), part = part_of(&page, "graph");
	bool is_same = part.length == length && !memcmp(part.bytes ? part.bytes : "", json, length);

	text_fini(&page);
	text_fini(&part);
	return is_same;
}

TEST(a_part_of_any_length_comes_back_as_it_was)
{
	enum { LENGTH_MAX = 300000 };
	char *bytes = malloc(LENGTH_MAX);

	for (size_t i = 0; i < LENGTH_MAX; i++)
		bytes[i] = (i * 2654435761u) >> 13; /* hardly to be compressed */
	for (size_t length = 0; length < 70; length++)
		CHECK(comes_back(bytes, length));
	CHECK(comes_back(bytes, 65535));
	CHECK(comes_back(bytes, 65536));
	CHECK(comes_back(bytes, 65537));
	CHECK(comes_back(bytes, LENGTH_MAX));
	free(bytes);
}

TEST(a_part_cannot_end_its_element)
{
	static const char json[] = "{\"name\": \"</script><script>alert(1)</script>\"}";
	struct text page = page_of(json, strlen(json));

	CHECK(!strstr(page.bytes, "alert(1)"));
	CHECK(comes_back(json, strlen(json)));
	text_fini(&page);
}

TEST(the_page_allows_nothing_but_what_it_brings)
{
	struct text page = page_of("{}", 2);

	CHECK(strstr(page.bytes, "default-src 'none'; script-src 'sha256-"));
	CHECK(!strstr(page.bytes, "unsafe-"));
	CHECK(!strstr(page.bytes, "sourceMappingURL"));
	CHECK_THAT(page.length, <, 1 << 20);
	text_fini(&page);
}

TEST(a_report_becomes_its_json_with_the_verdict)
{
	struct report_fixture *fixture = report_fixture_new("lock");
	struct html *html = html_new();
	struct text page = { 0 }, report;

	html_add_report(html, report_fixture_get(fixture), NULL);
	CHECK(html_has_part(html, "report"));
	CHECK(!html_has_part(html, "graph"));
	html_put(html, &page);
	report = part_of(&page, "report");
	CHECK(strstr(report.bytes, "\"work_mutex\""));
	CHECK(strstr(report.bytes, "Main bottleneck (82 % of non-idle thread time; 17 threads): threads wait for"));
	text_fini(&report);
	text_fini(&page);
	html_free(html);
	report_fixture_free(fixture);
}

static size_t count_of(const struct text *text, const char *words)
{
	size_t count = 0;

	for (const char *at = text->bytes; (at = strstr(at, words)); at++)
		count++;
	return count;
}

TEST(a_page_has_the_first_1000_waits_and_reports_the_others_by_cause)
{
	enum { WAITS = 1500 };
	static struct report_wait waits[WAITS];
	static struct report_waker wakers[20];
	static const struct report_cause causes[] = { { .cause = CAUSE_LOCK },
						      { .cause = CAUSE_FILE },
						      { .cause = CAUSE_PIPE } };
	struct report_fixture *fixture = report_fixture_new("lock");
	struct report many = *report_fixture_get(fixture);
	struct html *html = html_new();
	struct text page = { 0 }, report, left_out;

	for (size_t i = 0; i < WAITS; i++)
		waits[i] = (struct report_wait){
			.cause = i % 3 ? CAUSE_LOCK : CAUSE_FILE,
			.group = GROUP_SYNCHRONISATION,
			.wait_ns = 7,
			.idle_ns = 2,
			.wakers = wakers,
			.waker_count = i % 21,
		};
	many.waits = waits;
	many.wait_count = WAITS;
	many.balance.threads.causes = causes;
	many.balance.threads.cause_count = 3;
	many.lock_count = 0;
	html_add_report(html, &many, NULL);
	html_put(html, &page);
	report = part_of(&page, "report");
	left_out = part_of(&page, "left_out");
	CHECK_EQUAL(count_of(&report, "\"wakers\""), 1000);
	CHECK_EQUAL(count_of(&report, "\"context\""), 1000 * 8 - 48 * (8 + 7 + 6 + 5 + 4 + 3 + 2 + 1));
	CHECK(strstr(left_out.bytes, "\"cause\": \"lock\""));
	CHECK(strstr(left_out.bytes, "\"waits\": 334,"));
	CHECK(strstr(left_out.bytes, "\"wait_ns\": 1670"));
	CHECK(strstr(left_out.bytes, "\"waits\": 166,"));
	CHECK(!strstr(left_out.bytes, "pipe"));
	text_fini(&report);
	text_fini(&left_out);
	text_fini(&page);
	html_free(html);
	report_fixture_free(fixture);
}

TEST(a_page_has_all_locks_and_of_the_first_1000_who_released_them)
{
	enum { LOCKS = 1200 };
	static struct report_lock locks[LOCKS];
	static struct report_waker unlockers[20];
	struct report_fixture *fixture = report_fixture_new("lock");
	struct report many = *report_fixture_get(fixture);
	struct html *html = html_new();
	struct text page = { 0 }, report, left_out;

	for (size_t i = 0; i < LOCKS; i++)
		locks[i] = (struct report_lock){
			.address = "0x1000",
			.kind = "mutex",
			.unlockers = unlockers,
			.unlocker_count = 20,
		};
	many.locks = locks;
	many.lock_count = LOCKS;
	many.wait_count = 0;
	html_add_report(html, &many, NULL);
	html_put(html, &page);
	report = part_of(&page, "report");
	left_out = part_of(&page, "left_out");
	CHECK_EQUAL(count_of(&report, "\"0x1000\""), LOCKS);
	CHECK_EQUAL(count_of(&report, "\"context\""), 1000 * 8);
	CHECK(strstr(left_out.bytes, "\"locks_with_unlockers\": 1000"));
	text_fini(&report);
	text_fini(&left_out);
	text_fini(&page);
	html_free(html);
	report_fixture_free(fixture);
}

TEST(a_page_has_nothing_to_say_of_what_is_left_out_when_nothing_is)
{
	struct report_fixture *fixture = report_fixture_new("lock");
	struct html *html = html_new();

	html_add_report(html, report_fixture_get(fixture), NULL);
	CHECK(!html_has_part(html, "left_out"));
	html_free(html);
	report_fixture_free(fixture);
}

TEST(a_page_has_once_what_the_rules_say_of_each_frame)
{
	static const struct report_frame frames[] = {
		{ .function = "work", .module = "app", .file = "app.c" },
		{ .function = "pthread_mutex_lock", .module = "libc.so.6" },
		{ .function = "start_thread", .module = "libc.so.6" },
		{ .module = "app", .offset = 0x40 },
		{ .function = "futex_wait", .module = "[kernel]", .is_kernel = true },
	};
	static const struct report_path path = { .frames = frames, .frame_count = 5 };
	static const struct report_waker waker = { .frames = frames + 1, .frame_count = 2 };
	static const struct report_wait wait = {
		.frames = frames, .frame_count = 4, .wakers = &waker, .waker_count = 1
	};
	struct report report = { .paths = &path, .path_count = 1, .waits = &wait, .wait_count = 1 };
	struct fold_rules *rules = fold_rules_new();
	struct html *html = html_new();
	struct text page = { 0 }, folds;

	html_add_report(html, &report, rules);
	html_put(html, &page);
	folds = part_of(&page, "folds");
	CHECK_EQUAL(count_of(&folds, "[\"start_thread\", \"libc.so.6\", \"thread start\"]"), 1);
	CHECK_EQUAL(count_of(&folds, "[\"pthread_mutex_lock\", \"libc.so.6\", \"-\"]"), 1);
	CHECK(!strstr(folds.bytes, "work") && !strstr(folds.bytes, "app") && !strstr(folds.bytes, "futex_wait"));
	text_fini(&folds);
	text_fini(&page);
	html_free(html);
	fold_rules_free(rules);
}
