// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A server that records its requests, and clients that ask it:
 *
 *	plecoc --header -o app_events.h app.pleco
 *	c++ -o server server.cpp $(pkg-config --cflags --libs libpinchtrace) -pthread
 *	pinch record -o t.pinch -- ./server
 *	pinch spans --span 'request:BEGIN..END[key=argument]' t.pinch
 *
 * Two connections, each with a thread that answers three requests.
 */
#include <arpa/inet.h>
#include <cstdint>
#include <cstdio>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <pinchtrace.h>

#include "app_events.h"

namespace
{

constexpr uint32_t connections = 2, requests = 3, parts = 2;

// The length of a request, from its beginning to its end, whatever way it leaves.
class Request
{
      public:
	explicit Request(uint32_t number) : number_(number)
	{
		trace_event(TRACE_SUBSYS_REQUEST, TRACE_EVENT_REQUEST_BEGIN, number_);
	}
	~Request()
	{
		trace_event(TRACE_SUBSYS_REQUEST, TRACE_EVENT_REQUEST_END, number_);
	}
	Request(const Request &) = delete;
	Request &operator=(const Request &) = delete;

	void part(uint32_t part)
	{
		ev_request_part done = {};

		done.bytes = 1000 * number_ + part;
		done.part = part;
		trace_event_fields(TRACE_SUBSYS_REQUEST, TRACE_EVENT_REQUEST_PART, number_, &done);
	}

      private:
	uint32_t number_;
};

void serve(int connection)
{
	uint32_t number;

	while (read(connection, &number, sizeof(number)) == sizeof(number)) {
		Request request(number);

		for (uint32_t part = 0; part < parts; part++)
			request.part(part);
		if (write(connection, &number, sizeof(number)) != sizeof(number))
			break;
	}
	close(connection);
}

// Whether each request was answered.
bool ask(const sockaddr_in &address, uint32_t first)
{
	int connection = socket(AF_INET, SOCK_STREAM, 0);
	bool is_answered = !connect(connection, reinterpret_cast<const sockaddr *>(&address), sizeof(address));

	for (uint32_t i = 0; is_answered && i < requests; i++) {
		uint32_t number = first + i, answer = 0;

		is_answered = write(connection, &number, sizeof(number)) == sizeof(number) &&
			      read(connection, &answer, sizeof(answer)) == sizeof(answer) && answer == number;
	}
	close(connection);
	return is_answered;
}

} // namespace

int main()
{
	sockaddr_in address = {};
	socklen_t size = sizeof(address);
	std::vector<std::thread> threads;
	int door = socket(AF_INET, SOCK_STREAM, 0);
	bool is_answered = true;

	address.sin_family = AF_INET;
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (trace_register(TRACE_DEFS_JSON))
		std::fprintf(stderr, "readers will not know the events' names\n");
	if (bind(door, reinterpret_cast<sockaddr *>(&address), size) || listen(door, connections) ||
	    getsockname(door, reinterpret_cast<sockaddr *>(&address), &size))
		return 1;
	trace_event(TRACE_SUBSYS_APP, TRACE_EVENT_APP_START, 0);
	for (uint32_t i = 0; i < connections; i++) {
		std::thread client([&, i] { is_answered &= ask(address, i * requests); });

		threads.emplace_back(serve, accept(door, nullptr, nullptr));
		client.join();
	}
	for (auto &thread : threads)
		thread.join();
	trace_event(TRACE_SUBSYS_APP, TRACE_EVENT_APP_STOP, 0);
	close(door);
	return is_answered ? 0 : 1;
}
