// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * C++: a pool of threads calls virtual functions, templates and lambdas, and catches what they throw.
 * Known answer: Mesh::draw() leads, before blend<double>() and blend<float>(), which are distinguished.
 */
#include "code_log.h"

#include <functional>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

namespace
{

enum { DRAW_MESH, DRAW_CIRCLE, BLEND_FLOAT, BLEND_DOUBLE };

const char *const names[] = { "Mesh::draw", "Circle::draw", "blend<float>", "blend<double>", nullptr };

struct Shape {
	virtual ~Shape() = default;
	virtual void draw() = 0;
};

template <typename T> OWN_FRAME void blend(T us)
{
	log_enter(sizeof(T) == sizeof(float) ? BLEND_FLOAT : BLEND_DOUBLE);
	BURN_US(us);
	log_leave();
	if (us > 0)
		throw std::runtime_error("blended");
}

struct Mesh : Shape {
	OWN_FRAME void draw() override
	{
		log_enter(DRAW_MESH);
		BURN_US(1500);
		log_leave();
		__asm__ volatile("" : : : "memory");
	}
};

struct Circle : Shape {
	OWN_FRAME void draw() override
	{
		log_enter(DRAW_CIRCLE);
		BURN_US(300);
		log_leave();
		__asm__ volatile("" : : : "memory");
	}
};

void attempt(const std::function<void()> &task)
{
	try {
		task();
	} catch (const std::runtime_error &) {
		return;
	}
}

void run(int number)
{
	std::vector<std::unique_ptr<Shape>> shapes;

	shapes.push_back(std::make_unique<Circle>());
	if (number == 0)
		shapes.push_back(std::make_unique<Mesh>());
	while (log_is_time()) {
		for (auto &shape : shapes)
			shape->draw();
		attempt([] { blend<double>(700); });
		attempt([] { blend<float>(200); });
		if (number)
			pause_us(1000);
	}
}

} // namespace

int main(int argc, char **argv)
{
	std::vector<std::thread> threads;

	log_open(argc, argv, names);
	for (int i = 0; i < 2; i++)
		threads.emplace_back(run, i);
	for (auto &thread : threads)
		thread.join();
	return 0;
}
