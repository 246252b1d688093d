/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reports for the tests of the views: what a tracer might find, put together by hand. */
#pragma once

#include <stdbool.h>

struct report;
struct report_fixture;

/* One of report_fixture_names; valid until report_fixture_free(). */
struct report_fixture *report_fixture_new(const char *name);
void report_fixture_free(struct report_fixture *fixture);
const struct report *report_fixture_get(const struct report_fixture *fixture);

/* Ends with NULL. */
extern const char *const report_fixture_names[];

/*
 * True when actual is what tests/golden/view/<name> holds; else says so and shows where they
 * part. With UPDATE set in the environment it writes the file instead.
 */
bool golden_view_matches(const char *name, const char *actual);
