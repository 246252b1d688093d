// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * After PARSEC's dedup, as GAPP's paper describes it: a compressor in five stages. Fragment reads large pieces,
 * FragmentRefine splits these where a rolling hash of the content says so, Deduplicate finds what was there before,
 * Compress packs what was not, and Reorder writes all of it in its order, in one thread.
 * Known answer: deflate_slow() of Compress leads, and write_file() of Reorder is among the first; who waits for a
 * place in to_compress, or for a chunk in to_reorder, waits for deflate_slow().
 */
#include "stage_queue.h"

enum { SPLIT_FRAGMENT, DIGEST_CHUNK, DEFLATE_SLOW, WRITE_FILE };

static const char *const names[] = { "split_fragment", "digest_chunk", "deflate_slow", "write_file", NULL };

enum {
	STAGE_THREADS = 2,
	FRAGMENT_BYTES = 1 << 17,
	CHUNK_MIN = 8192,
	CHUNK_MAX = 32000,
	WORDS = 96,
	NEW_OF_8 = 6,     /* of 8 pieces of the input so many are new */
	HASHES = 1 << 14, /* of what was there before; the last one of each place is known */
	MATCH_MIN = 4,
	MATCH_MAX = 127,
	CHAIN_MAX = 64, /* earlier places that are tried */
	HEADS = 1 << 12,
	OUTPUT_BYTES = 1 << 24,
};

struct fragment {
	unsigned number, size;
	uint8_t data[FRAGMENT_BYTES];
};

/* Chunks are numbered within their fragments. */
struct chunk {
	struct chunk *next; /* while it is kept until its turn comes */
	unsigned fragment, number, size, packed_size;
	uint64_t digest;
	bool is_last, is_known;
	uint8_t data[CHUNK_MAX], packed[CHUNK_MAX]; /* no longer: a match takes less than what it stands for */
};

static struct stage_queue to_refine = STAGE_QUEUE(1), to_deduplicate = STAGE_QUEUE(STAGE_THREADS),
			  to_compress = STAGE_QUEUE(STAGE_THREADS),
			  to_reorder = STAGE_QUEUE(2 * STAGE_THREADS); /* known chunks are not compressed */
static pthread_mutex_t known_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t known[HASHES]; /* owned by known_lock */

static unsigned draw_number(unsigned *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

/* --- What the stages do ------------------------------------------------------------------------ */

/* Words of a small language. Of 8 pieces of text, some are the same in all fragments. */
static void make_fragment(struct fragment *fragment)
{
	unsigned piece = FRAGMENT_BYTES / 8, state = 0, text = 0;

	for (unsigned i = 0; i < FRAGMENT_BYTES; i++) {
		if (i % piece == 0)
			state = i / piece < NEW_OF_8 ? fragment->number * 8 + i / piece : i;
		if (i % 4 == 0)
			text = draw_number(&state) % WORDS * 2654435761u;
		fragment->data[i] = 'a' + (text >> (i % 4 * 8) & 15);
	}
	fragment->size = FRAGMENT_BYTES;
}

/* Where the chunk ends that begins there: a hash of the last 32 bytes decides. */
static unsigned chunk_end(const struct fragment *fragment, unsigned begin)
{
	unsigned i = begin, hash = 0;

	while (i < fragment->size && i - begin < CHUNK_MAX) {
		hash = (hash << 1) + fragment->data[i++] * 2654435761u;
		if (i - begin >= CHUNK_MIN && hash >> 18 == 7)
			break;
	}
	return i;
}

static OWN_FRAME unsigned split_fragment(const struct fragment *fragment, unsigned *ends)
{
	unsigned count = 0, at = 0;

	log_enter(SPLIT_FRAGMENT);
	while (at < fragment->size)
		at = ends[count++] = chunk_end(fragment, at);
	log_leave();
	__asm__ volatile("" : : : "memory");
	return count;
}

static OWN_FRAME void digest_chunk(struct chunk *chunk)
{
	uint64_t digest = 14695981039346656037u;

	log_enter(DIGEST_CHUNK);
	for (unsigned i = 0; i < chunk->size; i++)
		digest = (digest ^ chunk->data[i]) * 1099511628211u;
	chunk->digest = digest;
	log_leave();
	__asm__ volatile("" : : : "memory");
}

static unsigned hash_at(const uint8_t *data)
{
	unsigned value;

	memcpy(&value, data, sizeof(value));
	return value * 2654435761u >> 20;
}

struct match {
	unsigned from, length;
};

/* The longest earlier place that goes on as this one, along the chain of those with the same hash. */
static struct match longest_match(const struct chunk *chunk, const int16_t *previous, int candidate, unsigned at)
{
	struct match best = { 0, 0 };
	unsigned most = chunk->size - at < MATCH_MAX ? chunk->size - at : MATCH_MAX;

	for (int tries = CHAIN_MAX; candidate >= 0 && tries; candidate = previous[candidate], tries--) {
		unsigned length = 0;

		while (length < most && chunk->data[candidate + length] == chunk->data[at + length])
			length++;
		if (length > best.length)
			best = (struct match){ candidate, length };
	}
	return best;
}

static uint8_t *put_match(uint8_t *out, struct match match, unsigned at)
{
	*out++ = 0x80 | match.length; /* letters are smaller */
	*out++ = (at - match.from) & 0xff;
	*out++ = (at - match.from) >> 8;
	return out;
}

/* As deflate does at its slow levels: a match is taken unless the next byte begins a longer one. */
static OWN_FRAME void deflate_slow(struct chunk *chunk)
{
	int16_t heads[HEADS], previous[CHUNK_MAX];
	struct match match, last = { 0, 0 };
	unsigned covered = 0;    /* what is before it is packed, but for what is pending */
	bool is_pending = false; /* the byte before, or the match that begins there */
	uint8_t *out = chunk->packed;

	log_enter(DEFLATE_SLOW);
	memset(heads, -1, sizeof(heads));
	for (unsigned i = 0; i < chunk->size; i++) {
		bool is_covered = i < covered;

		match = (struct match){ 0, 0 };
		if (i + MATCH_MIN <= chunk->size) {
			unsigned hash = hash_at(&chunk->data[i]);

			if (!is_covered)
				match = longest_match(chunk, previous, heads[hash], i);
			previous[i] = heads[hash];
			heads[hash] = i;
		}
		if (is_covered)
			continue;
		if (is_pending && last.length >= MATCH_MIN && match.length <= last.length) {
			out = put_match(out, last, i - 1);
			covered = i - 1 + last.length;
			is_pending = false;
			continue;
		}
		if (is_pending)
			*out++ = chunk->data[i - 1];
		is_pending = true;
		last = match;
	}
	if (is_pending)
		*out++ = chunk->data[chunk->size - 1];
	chunk->packed_size = out - chunk->packed;
	log_leave();
	__asm__ volatile("" : : : "memory");
}

/* What comes last is a check of all that was written. */
static unsigned add_to_check(unsigned check, const uint8_t *data, unsigned size)
{
	for (unsigned i = 0; i < size; i++) {
		check ^= data[i];
		for (int k = 0; k < 8; k++)
			check = check >> 1 ^ (0xedb88320u & -(check & 1));
	}
	return check;
}

static OWN_FRAME void write_file(int fd, const struct chunk *chunk, unsigned *check)
{
	log_enter(WRITE_FILE);
	if (chunk->is_known) {
		*check = add_to_check(*check, (const uint8_t *)&chunk->digest, sizeof(chunk->digest));
		if (write(fd, &chunk->digest, sizeof(chunk->digest)) < 0)
			die("write");
	} else {
		*check = add_to_check(*check, chunk->packed, chunk->packed_size);
		if (write(fd, chunk->packed, chunk->packed_size) < 0)
			die("write");
	}
	if (lseek(fd, 0, SEEK_CUR) > OUTPUT_BYTES && lseek(fd, 0, SEEK_SET))
		die("lseek");
	log_leave();
	__asm__ volatile("" : : : "memory");
}

/* --- Stages ------------------------------------------------------------------------------------ */

static void *allocate(size_t size)
{
	void *memory = malloc(size);

	if (!memory)
		die("malloc");
	return memory;
}

static void *Fragment(void *data)
{
	for (unsigned i = 0; log_is_time(); i++) {
		struct fragment *fragment = (struct fragment *)allocate(sizeof(*fragment));

		fragment->number = i;
		make_fragment(fragment);
		enqueue(&to_refine, fragment);
	}
	end_queue(&to_refine);
	return data;
}

static void *FragmentRefine(void *data)
{
	unsigned ends[FRAGMENT_BYTES / CHUNK_MIN + 1];
	struct fragment *fragment;

	while ((fragment = (struct fragment *)dequeue(&to_refine))) {
		unsigned count = split_fragment(fragment, ends);

		for (unsigned i = 0, begin = 0; i < count; begin = ends[i++]) {
			struct chunk *chunk = (struct chunk *)allocate(sizeof(*chunk));

			chunk->fragment = fragment->number;
			chunk->number = i;
			chunk->is_last = i == count - 1;
			chunk->size = ends[i] - begin;
			memcpy(chunk->data, &fragment->data[begin], chunk->size);
			enqueue(&to_deduplicate, chunk);
		}
		free(fragment);
	}
	end_queue(&to_deduplicate);
	return data;
}

static bool was_known(uint64_t digest)
{
	bool is_known;

	pthread_mutex_lock(&known_lock);
	is_known = known[digest % HASHES] == digest;
	known[digest % HASHES] = digest;
	pthread_mutex_unlock(&known_lock);
	return is_known;
}

static void *Deduplicate(void *data)
{
	struct chunk *chunk;

	while ((chunk = (struct chunk *)dequeue(&to_deduplicate))) {
		digest_chunk(chunk);
		chunk->is_known = was_known(chunk->digest);
		enqueue(chunk->is_known ? &to_reorder : &to_compress, chunk);
	}
	end_queue(&to_compress);
	end_queue(&to_reorder);
	return data;
}

static void *Compress(void *data)
{
	struct chunk *chunk;

	while ((chunk = (struct chunk *)dequeue(&to_compress))) {
		deflate_slow(chunk);
		enqueue(&to_reorder, chunk);
	}
	end_queue(&to_reorder);
	return data;
}

static bool is_before(const struct chunk *a, const struct chunk *b)
{
	return a->fragment != b->fragment ? a->fragment < b->fragment : a->number < b->number;
}

/* Those that have come before their turn are kept in their order. */
static void *Reorder(void *data)
{
	int fd = open("output.dedup", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	unsigned fragment = 0, number = 0, check = ~0u;
	struct chunk *kept = NULL, *chunk;

	if (fd < 0)
		die("output.dedup");
	while ((chunk = (struct chunk *)dequeue(&to_reorder))) {
		struct chunk **place = &kept;

		while (*place && is_before(*place, chunk))
			place = &(*place)->next;
		chunk->next = *place;
		*place = chunk;
		while ((chunk = kept) && chunk->fragment == fragment && chunk->number == number) {
			write_file(fd, chunk, &check);
			number = chunk->is_last ? 0 : number + 1;
			fragment += chunk->is_last;
			kept = chunk->next;
			free(chunk);
		}
	}
	if (kept || write(fd, &check, sizeof(check)) != sizeof(check))
		die("output.dedup");
	close(fd);
	return data;
}

int main(int argc, char **argv)
{
	static void *(*const parallel[])(void *) = { FragmentRefine, Deduplicate, Compress };
	enum { PARALLEL = sizeof(parallel) / sizeof(*parallel), THREADS = PARALLEL * STAGE_THREADS + 2 };
	pthread_t threads[THREADS];

	log_open(argc, argv, names);
	start_stage(&threads[0], 1, Fragment);
	for (int i = 0; i < PARALLEL; i++)
		start_stage(&threads[1 + i * STAGE_THREADS], STAGE_THREADS, parallel[i]);
	start_stage(&threads[THREADS - 1], 1, Reorder);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
