/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/runner.h"

#include "iser/histogram.h"

#include <stdlib.h>

#define VALUES 20000

static struct histogram histogram, other;

static uint64_t
random64(void)
{
	return (uint64_t)rand() << 42 ^ (uint64_t)rand() << 21 ^ (uint64_t)rand();
}

static int
compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The value with the smallest rank that reaches the percentage: the textbook's definition. */
static uint64_t
sorted_percentile(const uint64_t *sorted, size_t count, double percent)
{
	size_t rank = (size_t)(percent / 100 * (double)count);

	if ((double)rank < percent / 100 * (double)count || rank == 0)
		rank++;
	return sorted[rank - 1];
}

CASE("iser-histogram:histogram");

TEST_LOOP(percentile__of_random_values__is_within_a_64th_above_the_sorted_one, 10)
{
	static const double percents[] = { 0.01, 1, 10, 50, 75, 90, 99, 99.9, 99.99, 100 };
	static uint64_t values[VALUES];

	srand((unsigned int)_i + 1);
	histogram_clear(&histogram);
	for (int i = 0; i < VALUES; i++) {
		/* From a narrow band to the whole range of exponents. */
		values[i] = random64() >> (_i == 0 ? rand() % 64 : 64 - 6 * _i);
		histogram_add(&histogram, values[i]);
	}
	qsort(values, VALUES, sizeof values[0], compare);
	for (size_t i = 0; i < sizeof percents / sizeof percents[0]; i++) {
		uint64_t exact = sorted_percentile(values, VALUES, percents[i]);
		uint64_t found = histogram_percentile(&histogram, percents[i]);

		ck_assert_uint_ge(found, exact);
		ck_assert_uint_le(found - exact, exact / 64);
	}
	ck_assert_uint_eq(histogram.min, values[0]);
	ck_assert_uint_eq(histogram.max, values[VALUES - 1]);
	ck_assert_uint_eq(histogram_percentile(&histogram, 100), values[VALUES - 1]);
	ck_assert_uint_eq(histogram_percentile(&histogram, 0), values[0]);
}

TEST(percentile__values_below_128__is_exact)
{
	histogram_clear(&histogram);
	for (uint64_t value = 0; value < 128; value++)
		histogram_add(&histogram, value);
	for (int i = 1; i <= 128; i++)
		ck_assert_uint_eq(
		    histogram_percentile(&histogram, 100.0 * i / 128), (uint64_t)i - 1);
}

TEST(percentile__of_nothing__is_0)
{
	histogram_clear(&histogram);
	ck_assert_uint_eq(histogram_percentile(&histogram, 50), 0);
	ck_assert_uint_eq(histogram_percentile(&histogram, 100), 0);
}

TEST(percentile__never_exceeds_the_maximum)
{
	histogram_clear(&histogram);
	histogram_add(&histogram, 1000000);
	ck_assert_uint_eq(histogram_percentile(&histogram, 50), 1000000);
	histogram_add(&histogram, UINT64_MAX);
	ck_assert_uint_eq(histogram_percentile(&histogram, 99.9), UINT64_MAX);
}

TEST(add__largest_values__stay_inside_the_table)
{
	histogram_clear(&histogram);
	for (int shift = 0; shift < 64; shift++) {
		histogram_add(&histogram, UINT64_MAX >> shift);
		histogram_add(&histogram, UINT64_C(1) << shift);
	}
	ck_assert_uint_eq(histogram.count, 128);
	ck_assert_uint_eq(histogram.max, UINT64_MAX);
	ck_assert_uint_eq(histogram.min, 1);
}

TEST(merge__two_halves__equal_the_whole)
{
	static struct histogram whole;

	srand(3);
	histogram_clear(&histogram);
	histogram_clear(&other);
	histogram_clear(&whole);
	histogram_merge(&histogram, &other);
	ck_assert_uint_eq(histogram.count, 0);
	for (int i = 0; i < VALUES; i++) {
		uint64_t value = random64() >> (rand() % 64);

		histogram_add(i % 3 ? &histogram : &other, value);
		histogram_add(&whole, value);
	}
	histogram_merge(&histogram, &other);
	ck_assert_mem_eq(&histogram, &whole, sizeof whole);
}
