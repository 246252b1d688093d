/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who else used the disks that threads wait for. */
#pragma once

struct findings;
struct report_finding;
struct report_storage_user;

/*
 * In a sentence, for a finding about waits for files: for whom the disk worked, if requests were recorded; or which
 * processes moved more than the program, on whatever disk. It lives in the arena of the findings. NULL: not known, or
 * nobody did.
 */
const char *verdict_disk_words(struct findings *findings, const struct report_finding *finding);

/* The process that moved most, if those beside the program moved more than that; NULL: not known, or not so. */
const struct report_storage_user *verdict_disk_neighbour(const struct findings *findings,
							 const struct report_finding *finding);
