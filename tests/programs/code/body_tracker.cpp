// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * After PARSEC's bodytrack, as GAPP's paper and its extension describe it: the main thread sends commands to workers,
 * which follow a body through the frames of four cameras; between two frames it draws the result and saves it.
 * Known answer: TrackingModel::OutputBMP() leads, for the workers wait in WorkerGroup::RecvCmd() meanwhile.
 */
#include "code_log.h"

#include <cmath>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

enum { CREATE_EDGE_MAP, IMAGE_ERROR_EDGE, RESAMPLE, OUTPUT_BMP };

static const char *const names[] = { "ParticleFilter::CreateEdgeMap", "TrackingModel::ImageErrorEdge",
				     "ParticleFilter::Resample", "TrackingModel::OutputBMP", nullptr };

static constexpr int worker_count = 2, camera_count = 4, width = 320, height = 240, part_count = 10, sample_count = 16,
		     particle_count = 256, layer_count = 5, file_count = 8;

using Pose = std::vector<float>;
using Image = std::vector<uint8_t>;

namespace threads
{

enum class Command { EDGE_MAP, WEIGHTS, NEW_PARTICLES, EXIT };

/* Runs part of a command. */
struct Workload {
	virtual ~Workload() = default;
	virtual void Exec(Command command, int number) = 0;
};

class Condition
{
      public:
	void Wait(std::unique_lock<std::mutex> &guard)
	{
		condition.wait(guard);
	}

	void NotifyAll()
	{
		condition.notify_all();
	}

      private:
	std::condition_variable condition;
};

/* Threads that carry out one command at a time, all of them together. */
class WorkerGroup
{
      public:
	explicit WorkerGroup(Workload &workload) : workload(workload)
	{
		for (int i = 0; i < worker_count; i++)
			workers.emplace_back([this, i] { Run(i); });
	}

	~WorkerGroup()
	{
		SendInternalCmd(Command::EXIT);
		for (auto &worker : workers)
			worker.join();
	}

	/* Returns when it is done. */
	OWN_FRAME void SendCmd(Command command)
	{
		SendInternalCmd(command);
		std::unique_lock<std::mutex> guard(mutex);
		while (busy_count)
			done.Wait(guard);
	}

      private:
	OWN_FRAME void SendInternalCmd(Command next)
	{
		std::lock_guard<std::mutex> guard(mutex);
		command = next;
		turn++;
		busy_count = worker_count;
		sent.NotifyAll();
	}

	OWN_FRAME Command RecvCmd(unsigned &seen)
	{
		std::unique_lock<std::mutex> guard(mutex);
		while (turn == seen)
			sent.Wait(guard);
		seen = turn;
		return command;
	}

	void Acknowledge()
	{
		std::lock_guard<std::mutex> guard(mutex);
		if (!--busy_count)
			done.NotifyAll();
	}

	void Run(int number)
	{
		unsigned seen = 0;

		for (Command next; (next = RecvCmd(seen)) != Command::EXIT;) {
			workload.Exec(next, number);
			Acknowledge();
		}
	}

	Workload &workload;
	std::mutex mutex; /* of all that follows, but for the workers */
	Condition sent, done;
	Command command = Command::EXIT;
	unsigned turn = 0;
	int busy_count = 0;
	std::vector<std::thread> workers;
};

} // namespace threads

class TrackingModel
{
      public:
	TrackingModel() : images(camera_count, Image(width * height)), edges(images)
	{
	}

	void ReadFrame(unsigned frame)
	{
		for (int camera = 0; camera < camera_count; camera++)
			for (int i = 0; i < width * height; i += 8)
				images[camera][i] = (i + frame * 7 + camera * 31) & 0xff;
	}

	void GaussianBlurRow(int camera, int row)
	{
		const uint8_t *from = &images[camera][row * width];
		uint8_t *to = &edges[camera][row * width];

		for (int i = 2; i < width - 2; i++)
			to[i] = (from[i - 2] + 4 * from[i - 1] + 6 * from[i] + 4 * from[i + 1] + from[i + 2]) / 16;
	}

	/* How far the edges of the body's parts are from those in the images, if it stands like that. */
	OWN_FRAME float ImageErrorEdge(const Pose &pose) const
	{
		float error = 0;

		log_enter(IMAGE_ERROR_EDGE);
		for (int camera = 0; camera < camera_count; camera++)
			for (int part = 0; part < part_count; part++)
				for (int sample = 0; sample < sample_count; sample++)
					error += SampleEdgePoint(camera, pose[3 * part], pose[3 * part + 1],
								 pose[3 * part + 2], sample);
		log_leave();
		return error / (camera_count * part_count * sample_count);
	}

	/* The images of all cameras, with the body in them: drawn, and saved. */
	OWN_FRAME void OutputBMP(const Pose &pose, unsigned frame) const
	{
		log_enter(OUTPUT_BMP);
		for (int camera = 0; camera < camera_count; camera++) {
			Image picture(width * height * 3);

			DrawBody(picture, camera, pose);
			FlexSaveBMP("Result" + std::to_string(frame % file_count) + "." + std::to_string(camera) +
					    ".bmp",
				    picture);
		}
		log_leave();
	}

      private:
	float SampleEdgePoint(int camera, float x, float y, float angle, int sample) const
	{
		float along = sample * 2 - sample_count, turned = angle + camera * 1.57f;
		int column = x + along * std::cos(turned), row = y + along * std::sin(turned);

		if (column < 0 || column >= width || row < 0 || row >= height)
			return 1;
		return 1 - edges[camera][row * width + column] / 256.0f;
	}

	/* Each pixel: grey, and the darker the nearer to a part of the body. */
	void DrawBody(Image &picture, int camera, const Pose &pose) const
	{
		for (int row = 0; row < height; row++)
			for (int column = 0; column < width; column++) {
				float nearest = width * width;

				for (int part = 0; part < part_count; part++) {
					float x = column - pose[3 * part], y = row - pose[3 * part + 1];

					if (x * x + y * y < nearest)
						nearest = x * x + y * y;
				}
				for (int color = 0; color < 3; color++)
					picture[(row * width + column) * 3 + color] =
						images[camera][row * width + column] / (1 + nearest / 4096);
			}
	}

	static void Put(FILE *file, unsigned value, int bytes)
	{
		for (; bytes; bytes--, value >>= 8)
			fputc(value & 0xff, file);
	}

	static OWN_FRAME void FlexSaveBMP(const std::string &name, const Image &picture)
	{
		FILE *file = fopen(name.c_str(), "wbe");

		if (!file)
			die(name.c_str());
		Put(file, 0x4d42, 2);
		Put(file, 54 + picture.size(), 4);
		Put(file, 0, 4);
		Put(file, 54, 4);
		Put(file, 40, 4);
		Put(file, width, 4);
		Put(file, height, 4);
		Put(file, 1, 2);
		Put(file, 24, 2);
		for (int i = 0; i < 6; i++)
			Put(file, 0, 4);
		if (fwrite(picture.data(), 1, picture.size(), file) != picture.size() || fclose(file))
			die(name.c_str());
	}

	std::vector<Image> images, edges;
};

/* Guesses of how the body stands, which are weighed against the images and drawn anew, layer by layer. */
class ParticleFilter : threads::Workload
{
      public:
	explicit ParticleFilter(TrackingModel &model)
	    : model(model), particles(particle_count, Pose(3 * part_count, 100)), drawn(particles),
	      weights(particle_count, 1), workers(*this)
	{
	}

	void Update(unsigned frame)
	{
		model.ReadFrame(frame);
		workers.SendCmd(threads::Command::EDGE_MAP);
		for (int layer = 0; layer < layer_count; layer++) {
			Resample();
			workers.SendCmd(threads::Command::NEW_PARTICLES);
			workers.SendCmd(threads::Command::WEIGHTS);
		}
	}

	const Pose &Estimate() const
	{
		size_t best = 0;

		for (size_t i = 0; i < weights.size(); i++)
			if (weights[i] > weights[best])
				best = i;
		return particles[best];
	}

	void Exec(threads::Command command, int number) override
	{
		if (command == threads::Command::EDGE_MAP)
			CreateEdgeMap(number);
		else if (command == threads::Command::WEIGHTS)
			CalcWeights(number);
		else
			GenerateNewParticles(number);
	}

      private:
	OWN_FRAME void CreateEdgeMap(int number)
	{
		log_enter(CREATE_EDGE_MAP);
		for (int row = number; row < camera_count * height; row += worker_count)
			model.GaussianBlurRow(row / height, row % height);
		log_leave();
		__asm__ volatile("" : : : "memory");
	}

	OWN_FRAME void CalcWeights(int number)
	{
		for (int i = number; i < particle_count; i += worker_count)
			weights[i] = std::exp(-model.ImageErrorEdge(particles[i]));
	}

	/* Those that were drawn, each a little moved. */
	OWN_FRAME void GenerateNewParticles(int number)
	{
		for (int i = number; i < particle_count; i += worker_count) {
			unsigned state = i;

			particles[i] = drawn[i];
			for (float &value : particles[i]) {
				state = state * 1664525 + 1013904223;
				value += (state >> 8) % 100 / 50.0f - 1;
			}
		}
	}

	/* In proportion to the weights. Serial, as it is in the program that this one is like. */
	OWN_FRAME void Resample()
	{
		float sum = 0, sum_to = 0;
		int at = 0;

		log_enter(RESAMPLE);
		for (float weight : weights)
			sum += weight;
		for (int i = 0; i < particle_count; i++) {
			while (at < particle_count - 1 && sum_to + weights[at] < sum * (i + 0.5f) / particle_count)
				sum_to += weights[at++];
			drawn[i] = particles[at];
		}
		log_leave();
		__asm__ volatile("" : : : "memory");
	}

	TrackingModel &model;
	std::vector<Pose> particles, drawn;
	std::vector<float> weights;
	threads::WorkerGroup workers; /* the last member: they begin at once */
};

static OWN_FRAME void mainPthreads()
{
	TrackingModel model;
	ParticleFilter filter(model);

	for (unsigned frame = 0; log_is_time(); frame++) {
		filter.Update(frame);
		model.OutputBMP(filter.Estimate(), frame);
	}
}

int main(int argc, char **argv)
{
	log_open(argc, argv, names);
	mainPthreads();
	return 0;
}
