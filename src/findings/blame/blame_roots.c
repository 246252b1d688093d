/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which cause is which: waits for one disk are one, for one peer, and code on one call path. */
#include <string.h>

#include "base/table.h"
#include "findings/blame/blame_internal.h"
#include "findings/parts/code_path_key.h"
#include "findings/parts/findings_waits.h"

static uint64_t mix(uint64_t key, uint64_t value)
{
	return hash_u64(key ^ hash_u64(value));
}

static struct blame_root *get_root(struct findings *findings, uint64_t key, enum root_kind kind)
{
	struct blame *blame = findings->blame;
	struct blame_root *root = table_find(blame->roots, key);

	if (root)
		return root;
	root = arena_alloc(findings->arena, sizeof(*root));
	root->row.kind = kind;
	root->row.cause = CAUSE_UNKNOWN;
	root->row.key = key;
	table_put(blame->roots, key, root);
	*blame->last = root;
	blame->last = &root->next;
	return root;
}

static struct blame_detail *get_detail(struct findings *findings, struct blame_root *root, uint64_t object_key,
				       uint64_t place_key)
{
	uint64_t key = mix(mix(root->row.key, object_key), place_key);
	struct blame_detail *detail = table_find(findings->blame->details, key);

	if (detail)
		return detail;
	detail = arena_alloc(findings->arena, sizeof(*detail));
	detail->cause = CAUSE_UNKNOWN;
	detail->object_key = object_key;
	detail->place_key = place_key;
	detail->next = root->details;
	root->details = detail;
	table_put(findings->blame->details, key, detail);
	return detail;
}

struct blame_root *blame_root_of_kind(struct findings *findings, enum root_kind kind)
{
	return get_root(findings, mix(1, kind), kind);
}

static uint64_t place_key(const struct findings *findings, const struct report_frame *frames, size_t count)
{
	size_t frame;

	return count ? findings_code_path_key(findings, frames, count, &frame) : 0;
}

static uint64_t code_key(uint64_t place)
{
	return mix(mix(1, ROOT_CODE), place);
}

const struct report_root *blame_find_code(struct findings *findings, const struct report_frame *frames, size_t count)
{
	const struct blame_root *root =
		count && findings->blame
			? table_find(findings->blame->roots, code_key(place_key(findings, frames, count)))
			: NULL;

	return root && root->ns > 0 ? &root->row : NULL;
}

struct blame_root *blame_root_of_code(struct findings *findings, const struct report_frame *frames, size_t count,
				      struct blame_detail **detail)
{
	uint64_t place = place_key(findings, frames, count);
	struct blame_root *root = get_root(findings, code_key(place), ROOT_CODE);
	size_t own = 0;

	*detail = get_detail(findings, root, 0, place);
	if (!(*detail)->frames && count) {
		findings_code_path_key(findings, frames, count, &own);
		(*detail)->frames = frames + own;
		(*detail)->frame_count = count - own;
	}
	return root;
}

/* Of the file system of that path, as struct blame_root has it. */
static uint32_t device_of(const struct report *report, const char *path)
{
	enum { MINOR_BITS = 20 };

	for (size_t i = 0; path && i < report->file_count; i++)
		if (!strcmp(report->files[i].path, path))
			return report->files[i].device.major << MINOR_BITS | report->files[i].device.minor;
	return 0;
}

/* Waits of several causes may be for the same. */
static enum wait_cause kin_of(enum wait_cause cause)
{
	return cause == CAUSE_POLL ? CAUSE_SOCKET : cause;
}

struct blame_root *blame_root_of_wait(struct findings *findings, const struct report_blocked_wait *wait,
				      struct blame_ending ending, struct blame_detail **detail)
{
	uint64_t object = wait->object ? hash_string(1, wait->object) : 0;
	uint64_t place = place_key(findings, wait->frames, wait->frame_count);
	uint64_t key = mix(mix(1, ROOT_WAIT), wait->cause);
	uint32_t device = wait->cause == CAUSE_FILE ? device_of(&findings->report, wait->object) : 0;
	struct blame_root *root;

	if (wait->cause == CAUSE_FILE)
		key = mix(key, device);
	else if (wait->object)
		key = mix(mix(mix(1, ROOT_WAIT), kin_of(wait->cause)), object);
	else
		key = mix(key, place);
	root = get_root(findings, key, ROOT_WAIT);
	root->device = device;
	*detail = get_detail(findings, root, object, place);
	if ((*detail)->cause == CAUSE_UNKNOWN) {
		(*detail)->cause = wait->cause;
		(*detail)->syscall = wait->syscall;
		(*detail)->object = wait->object;
		(*detail)->ending = ending;
		(*detail)->frames = wait->frames;
		(*detail)->frame_count = wait->frame_count;
	}
	return root;
}
