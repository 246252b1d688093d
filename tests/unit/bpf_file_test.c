/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files that threads wait for: what they are called, and when that is recorded. Sockets are in
 * bpf_socket_test.c.
 */
#include "test.h"
#include "file_fixture.h"

static struct super_block disk = { .s_dev = 8 << 20 | 17 }, other_disk = { .s_dev = 9 << 20 | 3 };
static struct super_block anonymous = { .s_magic = 0x09041934 };

/* / and /dir/inner of the first file system. */
static struct mount mount_first = { .mnt_parent = &mount_first };
static struct dentry top, dir, inner;

static struct place {
	struct file file;
	struct inode inode;
	struct dentry dentry;
} first, second;

static void make_dentry(struct dentry *dentry, struct dentry *parent, const char *name)
{
	*dentry = (struct dentry){
		.d_parent = parent ? parent : dentry,
		.d_name = { .hash_len = strlen(name) * 1000003 + name[0], .name = (const unsigned char *)name },
	};
}

static void make_file(struct place *place, struct dentry *parent, const char *name)
{
	static unsigned long inodes;

	make_dentry(&place->dentry, parent, name);
	place->inode = (struct inode){
		.i_mode = 0100640,
		.i_nlink = 1,
		.i_ino = ++inodes,
		.i_sb = &disk,
	};
	place->file = (struct file){
		.f_path = { .mnt = &mount_first.mnt, .dentry = &place->dentry },
		.f_inode = &place->inode,
	};
}

static void begin(void)
{
	files_begin();
	make_dentry(&top, NULL, "/");
	make_dentry(&dir, &top, "dir");
	make_dentry(&inner, &dir, "inner");
	mount_first.mnt_mountpoint = mount_first.mnt.mnt_root = &top;
	make_file(&first, &inner, "first");
	make_file(&second, &inner, "second");
	descriptors[3] = &first.file;
}

/* --- Paths ------------------------------------------------------------------------------------ */

TEST(a_path_is_recorded_from_the_file_to_the_root)
{
	const struct ev_file_path *e;
	uint64_t file;

	begin();
	file = wait_for(3);
	e = path_recorded();
	CHECK(file && e);
	CHECK_EQUAL(e->file, file);
	CHECK(!e->header.thread);
	CHECK_EQUAL(e->inode, first.inode.i_ino);
	CHECK_EQUAL(e->major, 8);
	CHECK_EQUAL(e->minor, 17);
	CHECK_EQUAL(e->mode, 0100640);
	CHECK_EQUAL(e->links, 1);
	CHECK_STRING(names_recorded(), "first|inner|dir|/");
	files_end();
}

TEST(a_path_goes_on_where_its_file_system_is_mounted)
{
	struct dentry root, below;
	struct mount mount = { .mnt_parent = &mount_first, .mnt_mountpoint = &inner, .mnt.mnt_root = &root };

	begin();
	make_dentry(&root, NULL, "/");
	make_dentry(&below, &root, "below");
	make_file(&first, &below, "first");
	first.file.f_path.mnt = &mount.mnt;
	CHECK(wait_for(3));
	CHECK_STRING(names_recorded(), "first|below|inner|dir|/");
	files_end();
}

TEST(file_systems_may_be_mounted_over_each_other)
{
	struct dentry roots[2];
	struct mount mounts[2] = {
		{ .mnt_parent = &mount_first, .mnt_mountpoint = &inner, .mnt.mnt_root = &roots[0] },
		{ .mnt_parent = &mounts[0], .mnt_mountpoint = &roots[0], .mnt.mnt_root = &roots[1] },
	};

	begin();
	make_dentry(&roots[0], NULL, "/");
	make_dentry(&roots[1], NULL, "/");
	make_file(&first, &roots[1], "first");
	first.file.f_path.mnt = &mounts[1].mnt;
	CHECK(wait_for(3));
	CHECK_STRING(names_recorded(), "first|inner|dir|/");
	files_end();
}

/* Only a part of a file system is mounted, or a single file: --bind. */
TEST(what_is_mounted_has_the_name_of_where_it_is)
{
	struct mount mount = { .mnt_parent = &mount_first, .mnt_mountpoint = &inner, .mnt.mnt_root = &second.dentry };

	begin();
	second.file.f_path.mnt = &mount.mnt;
	descriptors[4] = &second.file;
	CHECK(wait_for(4));
	CHECK_STRING(names_recorded(), "inner|dir|/");
	files_end();
}

TEST(the_root_is_called_by_its_slash)
{
	begin();
	first.file.f_path.dentry = &top;
	CHECK(wait_for(3));
	CHECK_STRING(names_recorded(), "/");
	files_end();
}

TEST(a_file_out_of_reach_of_the_root_ends_without_a_slash)
{
	struct dentry lost;

	begin();
	make_dentry(&lost, NULL, "lost"); /* as after umount --lazy, or in another tree */
	make_file(&first, &lost, "first");
	CHECK(wait_for(3));
	CHECK_STRING(names_recorded(), "first|lost");
	files_end();
}

TEST(a_deleted_file_has_no_links_and_is_another_one)
{
	uint64_t before;

	begin();
	before = wait_for(3);
	first.inode.i_nlink = 0;
	forget_last_file();
	CHECK_THAT(wait_for(3), !=, before);
	CHECK(path_recorded() && !path_recorded()->links);
	CHECK_STRING(names_recorded(), "first|inner|dir|/");
	files_end();
}

TEST(a_pipe_has_an_empty_name_and_is_recorded_by_its_inode)
{
	uint64_t pipe;

	begin();
	make_file(&first, NULL, "");
	make_file(&second, NULL, "");
	first.inode.i_mode = second.inode.i_mode = 0010600;
	descriptors[4] = &second.file;
	pipe = wait_for(3);
	CHECK(pipe);
	CHECK_EQUAL(path_recorded()->name_bytes, 1);
	CHECK(!path_recorded()->names[0]);
	CHECK_EQUAL(path_recorded()->mode, 0010600);
	CHECK_EQUAL(path_recorded()->inode, first.inode.i_ino);
	CHECK_THAT(wait_for(4), !=, pipe);
	CHECK_EQUAL(path_recorded()->inode, second.inode.i_ino);
	files_end();
}

TEST(a_file_in_memory_has_a_name_and_no_directory)
{
	struct dentry root;
	struct mount shm = { .mnt_parent = &shm, .mnt_mountpoint = &root, .mnt.mnt_root = &root };

	begin();
	make_dentry(&root, NULL, "/");
	make_file(&first, NULL, "memfd:scratch");
	first.inode.i_nlink = 0;
	first.file.f_path.mnt = &shm.mnt;
	CHECK(wait_for(3));
	CHECK_STRING(names_recorded(), "memfd:scratch");
	CHECK(!path_recorded()->links);
	files_end();
}

TEST(two_names_of_one_file_are_two)
{
	uint64_t file;

	begin();
	file = wait_for(3);
	second.inode = first.inode;
	descriptors[4] = &second.file;
	CHECK_THAT(wait_for(4), !=, file);
	CHECK_STRING(names_recorded(), "second|inner|dir|/");
	files_end();
}

/* --- What has no file: an event counter and the like, all on one inode ------------------------ */

static void make_anonymous(struct place *place, const char *name)
{
	make_file(place, NULL, name);
	place->inode = (struct inode){ .i_mode = 0600, .i_nlink = 1, .i_ino = 77, .i_sb = &anonymous };
	place->file.f_inode = &first.inode;
	place->file.private_data = place;
}

TEST(a_process_s_own_descriptor_is_called_so)
{
	static struct super_block processes = { .s_magic = 0x50494446 };

	begin();
	make_file(&first, NULL, "");
	first.inode.i_sb = &processes;
	CHECK(wait_for(3));
	CHECK_STRING(names_recorded(), "[pidfd]");
	files_end();
}

TEST(each_file_without_an_inode_of_its_own_is_one)
{
	uint64_t file;

	begin();
	make_anonymous(&first, "[eventfd]");
	make_anonymous(&second, "[eventfd]");
	descriptors[4] = &second.file;
	file = wait_for(3);
	CHECK(file);
	CHECK_STRING(names_recorded(), "[eventfd]");
	CHECK_THAT(wait_for(4), !=, file);
	CHECK_STRING(names_recorded(), "[eventfd]");
	CHECK_EQUAL(wait_for(3), file);
	CHECK(!path_recorded());
	second.file.f_path.dentry = &first.dentry;
	forget_last_file();
	CHECK_THAT(wait_for(4), !=, file);
	CHECK(path_recorded());
	files_end();
}

TEST(a_file_that_takes_the_memory_of_another_is_not_taken_for_it)
{
	struct place other;
	uint64_t file;

	begin();
	make_anonymous(&first, "[eventfd]");
	file = wait_for(3);
	/* Closed; and where its struct file was, there is a timer's. The inode is the same. */
	make_dentry(&other.dentry, NULL, "[timerfd]");
	first.file.f_path.dentry = &other.dentry;
	first.file.private_data = &other;
	CHECK_THAT(wait_for(3), !=, file);
	CHECK(path_recorded());
	CHECK_STRING(names_recorded(), "[timerfd]");
	files_end();
}

/* --- Descriptors ------------------------------------------------------------------------------ */

TEST(a_descriptor_that_is_used_again_gives_another_name)
{
	uint64_t file;

	begin();
	file = wait_for(3);
	descriptors[3] = &second.file;
	CHECK_THAT(wait_for(3), !=, file);
	CHECK_STRING(names_recorded(), "second|inner|dir|/");
	descriptors[3] = &first.file;
	CHECK_EQUAL(wait_for(3), file);
	CHECK(!path_recorded());
	files_end();
}

TEST(memory_that_is_used_again_for_another_inode_gives_another_name)
{
	uint64_t file;

	begin();
	file = wait_for(3);
	first.inode.i_ino = 4711;
	CHECK_THAT(wait_for(3), !=, file);
	CHECK(path_recorded());
	CHECK_EQUAL(path_recorded()->inode, 4711);
	/* The same number on another file system. */
	file = wait_for(3);
	second.inode = first.inode;
	second.inode.i_sb = &other_disk;
	first.file.f_inode = &second.inode;
	CHECK_THAT(wait_for(3), !=, file);
	CHECK(path_recorded());
	CHECK_EQUAL(path_recorded()->inode, 4711);
	CHECK_EQUAL(path_recorded()->major, 9);
	CHECK_EQUAL(path_recorded()->minor, 3);
	files_end();
}

TEST(one_file_has_one_name_whatever_its_descriptor)
{
	uint64_t file;

	begin();
	file = wait_for(3);
	descriptors[5] = descriptors[0] = &first.file;
	CHECK_EQUAL(wait_for(5), file);
	CHECK(!path_recorded());
	CHECK_EQUAL(wait_for(0), file);
	CHECK(!path_recorded());
	files_end();
}

TEST(a_descriptor_that_is_being_closed_keeps_its_name)
{
	uint64_t file;

	begin();
	file = wait_for(3);
	descriptors[3] = NULL; /* close() takes it away first, and waits then */
	CHECK_EQUAL(wait_for(3), file);
	CHECK(!path_recorded());
	CHECK(!wait_for(4) && !wait_for(0) && !path_recorded());
	CHECK_EQUAL(wait_for(3), file);
	files_end();
}

TEST(what_is_no_descriptor_is_no_file)
{
	static const uint64_t numbers[] = { DESCRIPTORS, 1 << 20, UINT32_MAX, INT32_MAX };

	begin();
	CHECK(wait_for(3));
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		CHECK(!wait_for(numbers[i]) && !path_recorded());
	files_end();
}

TEST(the_upper_half_of_a_descriptor_s_register_does_not_matter)
{
	uint64_t file;

	begin();
	file = wait_for(3);
	CHECK_EQUAL(wait_for(0xdead00000003), file);
	files_end();
}

TEST(who_has_no_files_any_more_waits_for_none)
{
	begin();
	CHECK(wait_for(3));
	reader->task.files = NULL;
	CHECK(!wait_for(3) && !path_recorded());
	files_end();
}

TEST(a_file_that_is_gone_while_it_is_looked_at_has_no_name)
{
	begin();
	first.file.f_inode = NULL;
	CHECK(!wait_for(3) && !path_recorded());
	first.file.f_inode = (struct inode *)8;
	CHECK(!wait_for(3) && !path_recorded());
	descriptors[3] = (struct file *)16;
	CHECK(!wait_for(3) && !path_recorded());
	files_end();
}

TEST(a_path_that_is_gone_while_it_is_looked_at_is_recorded_as_far_as_it_goes)
{
	begin();
	inner.d_parent = (struct dentry *)8;
	CHECK(wait_for(3));
	CHECK_STRING(names_recorded(), "first|inner");
	make_file(&second, &inner, "second");
	inner.d_name.name = NULL;
	descriptors[3] = &second.file;
	CHECK(wait_for(3));
	CHECK_STRING(names_recorded(), "second");
	files_end();
}

/* --- Bounds ----------------------------------------------------------------------------------- */

/* Directories in each other, all called the same, above the first file. */
static void nest(struct dentry *dentries, uint32_t count, const char *name)
{
	for (uint32_t i = 0; i < count; i++)
		make_dentry(&dentries[i], i ? &dentries[i - 1] : &top, name);
	make_file(&first, &dentries[count - 1], "f");
}

static void check_names(uint32_t count, const char *name, bool is_whole)
{
	const struct ev_file_path *e = path_recorded();
	size_t length = strlen(name) + 1;

	CHECK(e);
	CHECK_STRING(e->names, "f");
	CHECK_EQUAL(e->name_bytes, 2 + count * length + (is_whole ? 2 : 0));
	for (uint32_t i = 0; i < count; i++)
		CHECK(!memcmp(e->names + 2 + i * length, name, length));
	if (is_whole)
		CHECK(!memcmp(e->names + 2 + count * length, "/", 2));
}

TEST(a_path_of_too_many_names_ends_somewhere)
{
	static struct dentry dentries[PATH_NAMES_MAX + 10];

	begin();
	nest(dentries, PATH_NAMES_MAX - 2, "d");
	CHECK(wait_for(3));
	check_names(PATH_NAMES_MAX - 2, "d", true);
	nest(dentries, PATH_NAMES_MAX + 10, "d");
	CHECK(wait_for(3));
	check_names(PATH_NAMES_MAX - 1, "d", false);
	files_end();
}

TEST(names_that_are_longer_than_the_space_end_somewhere_and_overwrite_nothing)
{
	static struct dentry dentries[40];
	char name[NAME_BYTES];

	for (uint32_t length = 100; length < NAME_BYTES; length++) {
		/* The first name takes two bytes, and there is one that begins in the space. */
		uint32_t fit = (NAMES_BYTES - 2 + length) / (length + 1);

		begin();
		memset(name, 'a' + length % 26, length);
		name[length] = '\0';
		nest(dentries, 40, name);
		CHECK(wait_for(3));
		check_names(fit < 40 ? fit : 40, name, fit > 40);
		files_end();
	}
}

TEST(a_name_without_an_end_is_cut)
{
	static char endless[2 * NAME_BYTES];
	const struct ev_file_path *e;

	begin();
	memset(endless, 'x', sizeof(endless) - 1);
	make_file(&first, &top, endless);
	CHECK(wait_for(3));
	e = path_recorded();
	CHECK(e);
	CHECK_EQUAL(e->name_bytes, NAME_BYTES + 2);
	CHECK_EQUAL(strlen(e->names), NAME_BYTES - 1);
	CHECK_STRING(e->names + NAME_BYTES, "/");
	files_end();
}

TEST(directories_that_lead_to_themselves_come_to_an_end)
{
	begin();
	dir.d_parent = &inner;
	CHECK(wait_for(3));
	CHECK_THAT(path_recorded()->name_bytes, >, 100);
	CHECK(!strncmp(names_recorded(), "first|inner|dir|inner|dir|inner|", 32));
	CHECK_THAT(path_recorded()->names[path_recorded()->name_bytes - 2], !=, '/');
	files_end();
}

TEST(mounts_that_lead_to_themselves_come_to_an_end)
{
	struct dentry roots[2];
	struct mount mounts[2] = {
		{ .mnt_parent = &mounts[1], .mnt_mountpoint = &roots[1], .mnt.mnt_root = &roots[0] },
		{ .mnt_parent = &mounts[0], .mnt_mountpoint = &roots[0], .mnt.mnt_root = &roots[1] },
	};

	begin();
	make_dentry(&roots[0], NULL, "/");
	make_dentry(&roots[1], NULL, "/");
	first.file.f_path = (struct path){ .mnt = &mounts[0].mnt, .dentry = &roots[0] };
	CHECK(wait_for(3));
	CHECK_EQUAL(path_recorded()->name_bytes, 1);
	CHECK(!path_recorded()->names[0]);
	files_end();
}

/* --- When it is recorded ---------------------------------------------------------------------- */

TEST(a_file_is_recorded_once_and_again_when_it_is_forgotten)
{
	uint64_t file;

	begin();
	file = wait_for(3);
	CHECK(path_recorded());
	CHECK_EQUAL(wait_for(3), file);
	CHECK(!path_recorded());
	forget_last_file();
	CHECK_EQUAL(wait_for(3), file);
	CHECK(!path_recorded());
	shim_forget(&files_known);
	forget_last_file();
	CHECK_EQUAL(wait_for(3), file);
	CHECK(path_recorded());
	CHECK_EQUAL(path_recorded()->file, file);
	CHECK_EQUAL(wait_for(3), file);
	CHECK(!path_recorded());
	files_end();
}

TEST(a_file_for_which_the_ring_had_no_space_is_recorded_the_next_time)
{
	uint64_t file;

	begin();
	shim_make_ring(&rings, 0, 64);
	file = wait_for(3);
	CHECK(file && !path_recorded() && cpu_counts[0].lost);
	shim_make_ring(&rings, 0, 1 << 16);
	CHECK_EQUAL(wait_for(3), file);
	CHECK(path_recorded());
	CHECK_EQUAL(path_recorded()->file, file);
	CHECK_EQUAL(wait_for(3), file);
	CHECK(!path_recorded());
	files_end();
}

TEST(who_is_found_waiting_for_a_file_reports_it)
{
	const struct ev_thread_found *found;
	const struct ev_file_path *path;
	uint64_t file;

	begin();
	block_on(3);
	file = ((const struct ev_sched_switch *)shim_read(&rings, 0, NULL))->object;
	while (shim_read(&rings, 0, NULL))
		;
	shim_forget(&files_known);
	list_threads(&(struct bpf_iter__task){ .task = &reader->task });
	found = (const struct ev_thread_found *)shim_read(&rings, 0, NULL);
	CHECK_EQUAL(found->phase, PHASE_BLOCKED);
	CHECK_EQUAL(found->object, file);
	CHECK_EQUAL(found->value, 3);
	path = (const struct ev_file_path *)shim_read(&rings, 0, NULL);
	CHECK(path);
	CHECK_EQUAL(path->header.subsys, TRACE_SUBSYS_FILE);
	CHECK_EQUAL(path->file, file);
	files_end();
}

/* The iterator may be interrupted anywhere, by a switch that records another file. */
static int points_left;
static struct world_task *interrupting;

static void interrupt(void)
{
	if (points_left--)
		return;
	shim_at_point = NULL;
	interrupting->registers = reader->registers;
	interrupting->registers.di = 4;
	interrupting->task.__state = 1;
	shim_current = &interrupting->task;
	sched_switch(NULL, false, &interrupting->task, &world.idle[0].task, 1);
}

TEST(a_switch_does_not_write_over_the_names_that_the_iterator_gathers)
{
	bool was_interrupted = true;

	for (int point = 0; was_interrupted; point++) {
		const struct ev_header *header;
		uint32_t recorded = 0;

		begin();
		interrupting = add_reader();
		descriptors[4] = &second.file;
		block_on(3);
		while (shim_read(&rings, 0, NULL))
			;
		shim_forget(&files_known);
		points_left = point;
		shim_at_point = interrupt;
		list_threads(&(struct bpf_iter__task){ .task = &reader->task });
		was_interrupted = !shim_at_point;
		shim_at_point = NULL;
		while ((header = shim_read(&rings, 0, NULL))) {
			const struct ev_file_path *e = (const struct ev_file_path *)header;
			const struct place *place = &first;

			if (header->subsys != TRACE_SUBSYS_FILE)
				continue;
			recorded++;
			if (e->inode == second.inode.i_ino)
				place = &second;
			CHECK_EQUAL(e->inode, place->inode.i_ino);
			CHECK_STRING(e->names, (const char *)place->dentry.d_name.name);
			CHECK_EQUAL(e->name_bytes, strlen(e->names) + sizeof("|inner|dir|/"));
		}
		CHECK_EQUAL(recorded, (was_interrupted ? 2u : 1u));
		files_end();
		CHECK_THAT(point, <, 1000);
	}
}
