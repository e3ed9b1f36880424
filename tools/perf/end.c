/* SPDX-License-Identifier: BSD-3-Clause */
#include "end.h"

#include "fail.h"

#include <stdlib.h>
#include <sys/mman.h>

#define LINE 64 /* buffers begin at a cache line */

/*
 * So many receives and completions, at least: the ends of a short queue are in one cache line,
 * which then goes from processor to processor.  Large messages would take too much memory, and a
 * line more does not matter.
 */
#define SPACED 16
#define SPACED_SIZE (64u << 10)
#define QUEUE_MIN 64

static void *
end_alloc(size_t n, size_t size)
{
	void *memory = calloc(n, size);

	if (!memory)
		fail("no memory for %zu x %zu bytes", n, size);
	return memory;
}

static void
endpoint_open(struct end *end, uint32_t number)
{
	struct endpoint *endpoint = &end->endpoints[number];
	const struct load *load = end->load;

	endpoint->end = end;
	endpoint->number = number;
	endpoint->quota = load_share(load, load->messages, number);
	endpoint->warm_up = load_share(load, load->warm_up, number);
	if (endpoint->quota)
		endpoint->quota += endpoint->warm_up;
	endpoint->memory =
	    end->region.memory + number * endpoint_notice_at(endpoint, end->receives);
	endpoint->posted = end_alloc(end->receives, sizeof *endpoint->posted);
	endpoint->stamps = end_alloc(load->depth, sizeof *endpoint->stamps);
	endpoint->latencies = end_alloc(1, sizeof *endpoint->latencies);
	pthread_mutex_init(&endpoint->lock, NULL);
	for (uint32_t i = 0; i < end->receives; i++)
		endpoint->posted[i] = NOT_POSTED;
}

static uint32_t
end_queue_length(const struct end *end)
{
	const uint32_t length = end->receives + end->load->depth;

	return (length > QUEUE_MIN ? length : QUEUE_MIN) * end->load->endpoints;
}

void
end_open(struct end *end)
{
	const struct load *load = end->load;

	end->stride = (load->size + LINE - 1) / LINE * LINE;
	/* A stream has a confirmation for each half of the window, and one at its end. */
	end->receives = load->depth + 3;
	if (end->receives < SPACED && load->size <= SPACED_SIZE)
		end->receives = SPACED;
	end->region.length =
	    load->endpoints * (end->stride * (end->receives + 2 * (size_t)load->depth) +
				  (size_t)NOTICE_STRIDE * end->receives);
	end->region.memory = mmap(
	    NULL, end->region.length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (end->region.memory == MAP_FAILED)
		fail("no memory for %zu bytes of messages: lower --size, --depth or --endpoints",
		    end->region.length);
	end->engine->enrol(end->adapter, &end->region);
	end->endpoints = end_alloc(load->endpoints, sizeof *end->endpoints);
	for (uint32_t i = 0; i < load->endpoints; i++)
		endpoint_open(end, i);
	end->locked = load->rate > 0 || (load->consumer >= CONSUMER_UPCALL_SINGLE &&
					    load->consumer <= CONSUMER_UPCALL_ARRAY);
	end->left = load->endpoints;
	atomic_flag_clear(&end->begun);
	cpu_init(&end->cpu);
	sem_init(&end->done, 0, 0);
	sem_init(&end->handled, 0, 0);
	sem_init(&end->sender_done, 0, 0);
	end->queue = end->engine->queue(end->adapter, end, end_queue_length(end));
}

/* After the adapter was closed: its threads use the memory. */
void
end_close(struct end *end)
{
	for (uint32_t i = 0; i < end->load->endpoints; i++) {
		free(end->endpoints[i].posted);
		free(end->endpoints[i].stamps);
		free(end->endpoints[i].latencies);
		pthread_mutex_destroy(&end->endpoints[i].lock);
	}
	free(end->endpoints);
	munmap(end->region.memory, end->region.length);
	sem_destroy(&end->done);
	sem_destroy(&end->handled);
	sem_destroy(&end->sender_done);
}

struct wiring
end_wiring(const struct end *end)
{
	const struct load *load = end->load;

	return (struct wiring){
		.queue = end->queue,
		.requests = load->operation == OPERATION_READ,
		.receives = end->receives,
		/* A write may have a notice. */
		.sends = 2 * load->depth + QUEUE_MIN,
		.size = load->size,
	};
}

void
end_post_receives(struct endpoint *endpoint)
{
	struct end *end = endpoint->end;
	struct piece piece = { .length = end->load->size, .key = end->region.key };

	if (end->load->operation == OPERATION_READ)
		return;
	for (uint32_t i = 0; i < end->receives; i++) {
		piece.bytes = endpoint->memory + endpoint_receive_at(endpoint, i);
		endpoint->posted[i] = endpoint->next_receive++;
		end->engine->receive(endpoint->wire, &piece, (uint64_t)endpoint->number << 32 | i);
	}
}

void
end_begin(struct end *end, uint64_t now)
{
	if (atomic_flag_test_and_set(&end->begun))
		return;
	end->until = end->load->duration ? now + end->load->duration : 0;
	cpu_begin(&end->cpu);
	end->began = now;
}

void
end_leave(struct end *end, uint64_t now)
{
	if (atomic_fetch_sub(&end->left, 1) > 1)
		return;
	end->ended = now;
	cpu_end(&end->cpu);
	atomic_store_explicit(&end->over, true, memory_order_release);
	sem_post(&end->done);
	sem_post(&end->handled);
	sem_post(&end->sender_done);
}

uint64_t
end_measured(const struct end *end)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < end->load->endpoints; i++)
		sum += atomic_load_explicit(&end->endpoints[i].measured, memory_order_relaxed);
	return sum;
}

uint64_t
end_handled(const struct end *end)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < end->load->endpoints; i++)
		sum += atomic_load_explicit(&end->endpoints[i].handled, memory_order_relaxed);
	return sum;
}

void
end_merge(const struct end *end, struct histogram *all)
{
	histogram_clear(all);
	for (uint32_t i = 0; i < end->load->endpoints; i++)
		histogram_merge(all, end->endpoints[i].latencies);
}
