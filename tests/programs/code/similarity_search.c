// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * After PARSEC's ferret, as GAPP's paper describes it: a search for similar images in six stages, of which the first
 * and the last are serial and the four between them have as many threads each: segmentation, extraction of features,
 * look-up of candidates, ranking. The earth mover's distance of the query to each candidate is the core of ranking.
 * Known answer: dist_L2_float(), called by emd(), leads; the stages before wait for a place in to_rank, the last one
 * for what comes from there.
 */
#include "stage_queue.h"

#include <math.h>

enum { SEGMENT_IMAGE, EXTRACT_FEATURES, QUERY_TABLE, RANK_CANDIDATES, WRITE_RESULT };

static const char *const names[] = {
	"segment_image", "extract_features", "query_table", "rank_candidates", "write_result", NULL,
};

enum { STAGE_THREADS = 2, SIDE = 64, PIXELS = SIDE * SIDE, REGIONS = 16, DIMS = 14, IMAGES = 2000, CANDIDATES = 200 };

/* Parts of an image: how large each is, of 1, and what it looks like. */
struct signature {
	float weights[REGIONS], features[REGIONS][DIMS];
};

struct query {
	unsigned number, candidates[CANDIDATES], best;
	uint8_t pixels[PIXELS], regions[PIXELS];
	struct signature signature;
	float best_distance;
};

static struct signature images[IMAGES]; /* written before threads start */
static struct stage_queue to_segment = STAGE_QUEUE(1), to_extract = STAGE_QUEUE(STAGE_THREADS),
			  to_index = STAGE_QUEUE(STAGE_THREADS), to_rank = STAGE_QUEUE(STAGE_THREADS),
			  to_write = STAGE_QUEUE(STAGE_THREADS);

static unsigned draw_number(unsigned *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

static void draw_signature(struct signature *signature, unsigned state)
{
	for (int i = 0; i < REGIONS; i++) {
		signature->weights[i] = 1.0f / REGIONS;
		for (int k = 0; k < DIMS; k++)
			signature->features[i][k] = draw_number(&state) % 1000 / 1000.0f;
	}
}

/* --- What the stages do ------------------------------------------------------------------------ */

static void load_image(struct query *query)
{
	unsigned state = query->number;

	for (int i = 0; i < PIXELS; i++)
		query->pixels[i] = (i % SIDE + i / SIDE + draw_number(&state) % 32) & 0xff;
}

/* Regions of like brightness, each pixel by the mean of itself and its neighbours. */
static OWN_FRAME void segment_image(struct query *query)
{
	log_enter(SEGMENT_IMAGE);
	for (int i = 0; i < PIXELS; i++) {
		int left = query->pixels[i ? i - 1 : 0], right = query->pixels[i + 1 < PIXELS ? i + 1 : i];
		int above = query->pixels[i >= SIDE ? i - SIDE : i];
		int below = query->pixels[i + SIDE < PIXELS ? i + SIDE : i];

		query->regions[i] = (left + right + above + below + 4 * query->pixels[i]) / 8 * REGIONS / 256;
	}
	log_leave();
	__asm__ volatile("" : : : "memory");
}

static OWN_FRAME void extract_features(struct query *query)
{
	struct signature *signature = &query->signature;

	log_enter(EXTRACT_FEATURES);
	memset(signature, 0, sizeof(*signature));
	for (int i = 0; i < PIXELS; i++) {
		float *features = signature->features[query->regions[i]], value = query->pixels[i] / 256.0f;

		signature->weights[query->regions[i]] += 1.0f / PIXELS;
		features[0] += value;
		features[1] += value * value;
		features[2 + i % SIDE / 16] += value;
		features[6 + i / SIDE / 8] += value;
	}
	for (int i = 0; i < REGIONS; i++)
		for (int k = 0; k < DIMS; k++)
			signature->features[i][k] /= 1 + signature->weights[i] * PIXELS;
	log_leave();
	__asm__ volatile("" : : : "memory");
}

/* Images by a hash of what each region looks like. */
static OWN_FRAME void query_table(struct query *query)
{
	unsigned state = query->number;

	log_enter(QUERY_TABLE);
	for (int i = 0; i < CANDIDATES; i++) {
		for (int k = 0; k < DIMS; k++)
			state = (state ^ (unsigned)(query->signature.features[i % REGIONS][k] * 64)) * 16777619;
		query->candidates[i] = state % IMAGES;
	}
	log_leave();
	__asm__ volatile("" : : : "memory");
}

static float dist_L2_float(const float *a, const float *b, int dims)
{
	float sum = 0;

	for (int i = 0; i < dims; i++)
		sum += (a[i] - b[i]) * (a[i] - b[i]);
	return sqrtf(sum);
}

typedef float distance_function(const float *a, const float *b, int dims);

/* The earth mover's distance, from below: each region goes to the nearest one, however much that has taken. */
static float emd(const struct signature *from, const struct signature *to, distance_function *distance)
{
	float moved = 0;

	for (int i = 0; i < REGIONS; i++) {
		float nearest = INFINITY;

		for (int k = 0; k < REGIONS; k++) {
			float cost = distance(from->features[i], to->features[k], DIMS);

			if (to->weights[k] > 0 && cost < nearest)
				nearest = cost;
		}
		moved += from->weights[i] * nearest;
	}
	return moved;
}

static OWN_FRAME void rank_candidates(struct query *query, distance_function *distance)
{
	log_enter(RANK_CANDIDATES);
	query->best_distance = INFINITY;
	for (int i = 0; i < CANDIDATES; i++) {
		float candidate = emd(&query->signature, &images[query->candidates[i]], distance);

		if (candidate < query->best_distance) {
			query->best_distance = candidate;
			query->best = query->candidates[i];
		}
	}
	log_leave();
	__asm__ volatile("" : : : "memory");
}

static OWN_FRAME void write_result(FILE *file, const struct query *query)
{
	log_enter(WRITE_RESULT);
	fprintf(file, "%u %u %f\n", query->number, query->best, query->best_distance);
	log_leave();
	__asm__ volatile("" : : : "memory");
}

/* --- Stages ------------------------------------------------------------------------------------ */

static void *t_load(void *data)
{
	for (unsigned i = 0; log_is_time(); i++) {
		struct query *query = (struct query *)malloc(sizeof(*query));

		if (!query)
			die("malloc");
		query->number = i;
		load_image(query);
		enqueue(&to_segment, query);
	}
	end_queue(&to_segment);
	return data;
}

static void *t_seg(void *data)
{
	struct query *query;

	while ((query = (struct query *)dequeue(&to_segment))) {
		segment_image(query);
		enqueue(&to_extract, query);
	}
	end_queue(&to_extract);
	return data;
}

static void *t_extract(void *data)
{
	struct query *query;

	while ((query = (struct query *)dequeue(&to_extract))) {
		extract_features(query);
		enqueue(&to_index, query);
	}
	end_queue(&to_index);
	return data;
}

static void *t_vec(void *data)
{
	struct query *query;

	while ((query = (struct query *)dequeue(&to_index))) {
		query_table(query);
		enqueue(&to_rank, query);
	}
	end_queue(&to_rank);
	return data;
}

static void *t_rank(void *data)
{
	struct query *query;

	while ((query = (struct query *)dequeue(&to_rank))) {
		rank_candidates(query, dist_L2_float);
		enqueue(&to_write, query);
	}
	end_queue(&to_write);
	return data;
}

static void *t_out(void *data)
{
	FILE *file = fopen("/dev/null", "we");
	struct query *query;

	if (!file)
		die("/dev/null");
	while ((query = (struct query *)dequeue(&to_write))) {
		write_result(file, query);
		free(query);
	}
	fclose(file);
	return data;
}

int main(int argc, char **argv)
{
	static void *(*const parallel[])(void *) = { t_seg, t_extract, t_vec, t_rank };
	enum { PARALLEL = sizeof(parallel) / sizeof(*parallel), THREADS = PARALLEL * STAGE_THREADS + 2 };
	pthread_t threads[THREADS];

	log_open(argc, argv, names);
	for (int i = 0; i < IMAGES; i++)
		draw_signature(&images[i], i);
	start_stage(&threads[0], 1, t_load);
	for (int i = 0; i < PARALLEL; i++)
		start_stage(&threads[1 + i * STAGE_THREADS], STAGE_THREADS, parallel[i]);
	start_stage(&threads[THREADS - 1], 1, t_out);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
