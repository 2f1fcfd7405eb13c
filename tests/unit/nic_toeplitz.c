/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Microsoft's published vectors, "Verifying the RSS Hash Calculation". */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <arpa/inet.h>
#include <cmocka.h>
#include "toeplitz.h"

static const uint8_t key[TOEPLITZ_KEY_BYTES] = {
    0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3,
    0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3,
    0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
};

static const struct {
	int family;
	const char *to;
	int to_port;
	const char *from;
	int from_port;
	uint32_t addresses, ports; /* hash without and with ports */
} vectors[] = {
    {AF_INET, "161.142.100.80", 1766, "66.9.149.187", 2794, 0x323e8fc2, 0x51ccc178},
    {AF_INET, "65.69.140.83", 4739, "199.92.111.2", 14230, 0xd718262a, 0xc626b0ea},
    {AF_INET, "12.22.207.184", 38024, "24.19.198.95", 12898, 0xd2d0a5de, 0x5c2b394a},
    {AF_INET, "209.142.163.6", 2217, "38.27.205.30", 48228, 0x82989176, 0xafc7327f},
    {AF_INET, "202.188.127.2", 1303, "153.39.163.191", 44251, 0x5d1809c5, 0x10e828a2},
    {AF_INET6, "3ffe:2501:200:3::1", 1766, "3ffe:2501:200:1fff::7", 2794, 0x2cc18cd5, 0x40207d3d},
    {AF_INET6, "ff02::1", 4739, "3ffe:501:8::260:97ff:fe40:efab", 14230, 0x0f0c461c, 0xdde51bbf},
    {AF_INET6, "fe80::200:f8ff:fe21:67cf", 38024, "3ffe:1900:4545:3:200:f8ff:fe21:67cf", 44251, 0x4b61e985,
     0x02d1feef},
};

static void published_vectors(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
		size_t bytes = vectors[i].family == AF_INET ? 4 : 16;
		uint8_t input[36];

		assert_int_equal(inet_pton(vectors[i].family, vectors[i].from, input), 1);
		assert_int_equal(inet_pton(vectors[i].family, vectors[i].to, input + bytes), 1);
		assert_int_equal(toeplitz(key, input, 2 * bytes), vectors[i].addresses);
		input[2 * bytes] = (uint8_t)(vectors[i].from_port >> 8);
		input[2 * bytes + 1] = (uint8_t)vectors[i].from_port;
		input[2 * bytes + 2] = (uint8_t)(vectors[i].to_port >> 8);
		input[2 * bytes + 3] = (uint8_t)vectors[i].to_port;
		assert_int_equal(toeplitz(key, input, 2 * bytes + 4), vectors[i].ports);
	}
}

static void nothing_hashes_to_zero(void **state)
{
	static const uint8_t zeros[36];

	(void)state;
	assert_int_equal(toeplitz(key, zeros, 0), 0);
	assert_int_equal(toeplitz(key, zeros, sizeof(zeros)), 0);
}

/* The first bit of the input selects the first 32 bits of the key, the last of 36 bytes its very last ones.
 */
static void ends_of_the_key(void **state)
{
	uint8_t input[36] = {0x80};

	(void)state;
	assert_int_equal(toeplitz(key, input, sizeof(input)), 0x6d5a56da);
	memset(input, 0, sizeof(input));
	input[35] = 1;
	assert_int_equal(toeplitz(key, input, sizeof(input)), (uint32_t)((0x3bbeac01faull << 7) >> 8));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(published_vectors),
	    cmocka_unit_test(nothing_hashes_to_zero),
	    cmocka_unit_test(ends_of_the_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
