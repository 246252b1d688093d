/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/json.h"
#include "report/report.h"
#include "view/json/json_parts.h"

static void put_rivals(struct json *json, const struct report *report)
{
	json_key(json, "ran_instead");
	json_begin_array(json);
	for (size_t i = 0; i < report->balance.rival_count; i++) {
		const struct report_rival *rival = &report->balance.rivals[i];

		json_on_one_line(json);
		json_begin_object(json);
		json_put_string(json, "kind", rival->kind);
		json_put_string(json, "name", rival->name);
		json_put_uint(json, "pid", rival->pid);
		json_put_uint(json, "wait_ns", rival->wait_ns);
		json_end_object(json);
	}
	json_end_array(json);
}

static void put_balance(struct json *json, const struct report *report)
{
	json_key(json, "balance");
	json_begin_object(json);
	json_key(json, "wall");
	json_begin_object(json);
	json_put_uint(json, "wall_ns", report->target.wall_ns);
	json_put_uint(json, "useful_ns", report->balance.wall_useful_ns);
	json_put_uint(json, "spinning_ns", report->balance.wall_spinning_ns);
	json_put_uint(json, "stalled_ns", report->balance.wall_stalled_ns);
	json_end_object(json);
	json_key(json, "threads");
	json_begin_object(json);
	json_put_uint(json, "total_ns", report->balance.thread_ns);
	json_put_uint(json, "busy_ns", report->balance.busy_ns);
	json_put_uint(json, "running_ns", report->balance.running_ns);
	json_put_uint(json, "spinning_ns", report->balance.spinning_ns);
	json_put_uint(json, "runqueue_ns", report->balance.runqueue_ns);
	json_key(json, "causes");
	json_begin_array(json);
	for (size_t i = 0; i < report->balance.cause_count; i++) {
		const struct report_cause *cause = &report->balance.causes[i];

		json_on_one_line(json);
		json_begin_object(json);
		json_put_string(json, "cause", cause->cause);
		json_put_string(json, "group", cause->group);
		json_put_uint(json, "lost_ns", cause->lost_ns);
		json_put_uint(json, "idle_ns", cause->idle_ns);
		json_put_uint(json, "count", cause->count);
		json_end_object(json);
	}
	json_end_array(json);
	put_rivals(json, report);
	json_key(json, "closure_error_ns");
	json_int(json, report->balance.closure_error_ns);
	json_put_uint(json, "hidden_waits", report->balance.hidden_waits);
	json_put_uint(json, "lost_waits", report->balance.lost_waits);
	json_put_uint(json, "odd_waits", report->balance.odd_waits);
	json_end_object(json);
	json_key(json, "samples");
	json_on_one_line(json);
	json_begin_object(json);
	json_put_uint(json, "running", report->balance.samples);
	json_put_uint(json, "spinning", report->balance.samples_spinning);
	json_end_object(json);
	json_end_object(json);
}

static void put_waker(struct json *json, const struct report_waker *waker)
{
	json_begin_object(json);
	json_put_double(json, "share", waker->share);
	json_put_uint(json, "lost_ns", waker->lost_ns);
	json_put_uint(json, "count", waker->count);
	json_put_string(json, "context", waker->context);
	json_put_string(json, "name", waker->name);
	json_put_string(json, "names", waker->names);
	json_put_uint(json, "cmetric_ns", waker->cmetric_ns);
	json_put_stack(json, waker->frames, waker->frame_count);
	json_end_object(json);
}

static void put_wait(struct json *json, const struct report_wait *wait)
{
	json_begin_object(json);
	json_put_string(json, "cause", wait->cause);
	json_put_string(json, "group", wait->group);
	json_put_string(json, "object", wait->object);
	json_put_string(json, "kind", wait->kind);
	json_put_uint(json, "lost_ns", wait->lost_ns);
	json_put_uint(json, "idle_ns", wait->idle_ns);
	json_put_uint(json, "count", wait->count);
	json_put_uint(json, "max_ns", wait->max_ns);
	json_put_uint(json, "cmetric_ns", wait->cmetric_ns);
	json_put_bool(json, "is_estimated", wait->is_estimated);
	json_put_stack(json, wait->frames, wait->frame_count);
	json_put_stack_end(json, wait->stack_end);
	json_key(json, "wakers");
	json_begin_array(json);
	for (size_t i = 0; i < wait->waker_count; i++)
		put_waker(json, &wait->wakers[i]);
	json_end_array(json);
	json_end_object(json);
}

static void put_lock(struct json *json, const struct report_lock *lock)
{
	json_begin_object(json);
	json_put_string(json, "name", lock->name);
	json_put_string(json, "address", lock->object);
	json_put_string(json, "kind", lock->kind);
	json_put_string(json, "class", lock->where);
	json_put_uint(json, "waits", lock->waits);
	json_put_uint(json, "wait_ns", lock->wait_ns);
	json_put_uint(json, "idle_ns", lock->idle_ns);
	json_put_uint(json, "p50_ns", lock->p50_ns);
	json_put_uint(json, "p99_ns", lock->p99_ns);
	json_put_uint(json, "max_ns", lock->max_ns);
	json_put_uint(json, "queue_max", lock->queue_max);
	json_put_uint(json, "hold_ns", lock->hold_ns);
	json_put_uint(json, "holds", lock->holds);
	json_put_string(json, "holder", lock->holder);
	json_put_string(json, "ender", lock->ender);
	json_put_double(json, "ender_share", lock->ender_share);
	json_put_uint(json, "vain_waits", lock->vain_count);
	json_key(json, "unlockers");
	json_begin_array(json);
	for (size_t i = 0; i < lock->unlocker_count; i++)
		put_waker(json, &lock->unlockers[i]);
	json_end_array(json);
	json_end_object(json);
}

static void put_transfer(struct json *json, const struct report_transfer *transfer)
{
	json_put_uint(json, "read_ns", transfer->read_ns);
	json_put_uint(json, "write_ns", transfer->write_ns);
	json_put_uint(json, "asked_bytes", transfer->asked_bytes);
	json_put_uint(json, "asked_count", transfer->asked_count);
}

static void put_other_end(struct json *json, const struct report_peer *peer)
{
	json_put_string(json, "peer_name", peer->process);
	json_put_string(json, "peer_thread", peer->thread);
	json_key(json, "peer_pid");
	if (peer->pid)
		json_uint(json, peer->pid);
	else
		json_null(json);
	json_put_double(json, "peer_share", peer->share);
}

static void put_file(struct json *json, const struct report_file *file)
{
	json_on_one_line(json);
	json_begin_object(json);
	json_put_string(json, "path", file->path);
	json_put_uint(json, "inode", file->inode);
	json_key(json, "device");
	json_begin_array(json);
	json_uint(json, file->major);
	json_uint(json, file->minor);
	json_end_array(json);
	json_put_bool(json, "deleted", file->is_deleted);
	json_put_string(json, "cause", file->cause);
	json_put_uint(json, "wait_ns", file->wait_ns);
	json_put_uint(json, "idle_ns", file->idle_ns);
	json_put_uint(json, "count", file->count);
	json_put_uint(json, "max_ns", file->max_ns);
	json_put_uint(json, "cmetric_ns", file->cmetric_ns);
	put_transfer(json, &file->transfer);
	put_other_end(json, &file->other_end);
	json_end_object(json);
}

static void put_socket(struct json *json, const struct report_socket *socket)
{
	json_on_one_line(json);
	json_begin_object(json);
	json_put_string(json, "family", socket->family);
	json_put_string(json, "local", socket->local);
	json_put_string(json, "peer", socket->peer);
	json_put_string(json, "host", socket->host);
	json_put_uint(json, "wait_ns", socket->wait_ns);
	json_put_uint(json, "idle_ns", socket->idle_ns);
	json_put_uint(json, "count", socket->count);
	json_put_uint(json, "max_ns", socket->max_ns);
	json_put_uint(json, "cmetric_ns", socket->cmetric_ns);
	put_transfer(json, &socket->transfer);
	put_other_end(json, &socket->other_end);
	json_end_object(json);
}

static void put_rank(struct json *json, const char *key, uint32_t rank)
{
	json_key(json, key);
	if (rank)
		json_uint(json, rank);
	else
		json_null(json);
}

static void put_finding(struct json *json, const struct report_finding *finding)
{
	json_begin_object(json);
	json_put_string(json, "title", finding->title);
	json_put_string(json, "pattern", finding->pattern);
	json_put_string(json, "cause", finding->cause);
	json_put_double(json, "share", finding->share);
	json_key(json, "evidence");
	json_begin_array(json);
	for (size_t i = 0; i < finding->evidence_count; i++)
		json_string(json, finding->evidence[i]);
	json_end_array(json);
	put_rank(json, "wait", finding->wait_rank);
	put_rank(json, "path", finding->path_rank);
	json_end_object(json);
}

void json_put_waits(struct json *json, const struct report *report)
{
	put_balance(json, report);
	json_key(json, "findings");
	json_begin_array(json);
	for (size_t i = 0; i < report->finding_count; i++)
		put_finding(json, &report->findings[i]);
	json_end_array(json);
	json_key(json, "waits");
	json_begin_array(json);
	for (size_t i = 0; i < report->wait_count; i++)
		put_wait(json, &report->waits[i]);
	json_end_array(json);
	json_key(json, "locks");
	json_begin_array(json);
	for (size_t i = 0; i < report->lock_count; i++)
		put_lock(json, &report->locks[i]);
	json_end_array(json);
	json_key(json, "files");
	json_begin_array(json);
	for (size_t i = 0; i < report->file_count; i++)
		put_file(json, &report->files[i]);
	json_end_array(json);
	json_key(json, "sockets");
	json_begin_array(json);
	for (size_t i = 0; i < report->socket_count; i++)
		put_socket(json, &report->sockets[i]);
	json_end_array(json);
}
