/* SPDX-License-Identifier: GPL-2.0-or-later
 * Proving legs between two nodes: two network namespaces joined by two cables (veth pairs). */
#include "file.h"
#include "net_path.h"
#include "netlink.h"
#include "workload_peer.h"

#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { TCP_PORT = 7790 };

/* What a side found, where both can see it. */
struct side {
	struct net_path paths[2];
	bool shared; /* what one leg sends comes in on the other */
	long long tcp_bytes[2];
	long long met_ns, done_ns; /* when this side was through, and when it was done with TCP */
	int result;
};

static struct side *sides; /* two */
static unsigned int mtu_bytes[2] = {9000, 9000};
static bool crossed, silent, one_switch, tcp;

static void sh(const char *format, ...)
{
	char command[512];
	va_list args;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	if (system(command))
		fail_msg("%s", command);
}

/* Node INDEX with its NICs "nINDEXl1" and "nINDEXl2"; crossed: node 1 takes them the other way round. */
static void prepare(struct side *side, unsigned int index)
{
	for (unsigned int leg = 1; leg <= 2; leg++) {
		struct net_path *path = &side->paths[leg - 1];

		*path = (struct net_path){.mtu_bytes = mtu_bytes[index], .leg = leg};
		snprintf(path->device, sizeof(path->device), "n%ul%u", index,
		         crossed && index ? 3 - leg : leg);
		net_path_leg_address(leg, index, path->address, sizeof(path->address));
		net_path_leg_address(leg, 1 - index, path->peer, sizeof(path->peer));
		net_path_own_arp(path->device);
		side->result = link_set_mtu(path->device, mtu_bytes[index]);
		side->result |= link_set_up(path->device, true);
		if (!(silent && index && leg == 2))
			side->result |= address_add(path->device, path->address, 24);
	}
}

/* TCP both ways; node 1 is late. The service must be there before the peer knows of us. */
static int run_tcp(struct side *side, unsigned int index)
{
	struct failure why;
	int r;

	if (index)
		nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
	r = net_path_tcp(side->paths, 2, TCP_PORT, "self", "peer", &why);
	if (r)
		print_error("%s\n", why.message);
	for (unsigned int leg = 0; leg < 2 && !r; leg++)
		side->tcp_bytes[leg] = json_integer_value(json_object_get(side->paths[leg].tcp, "bytes"));
	side->done_ns = now_ns();
	if (!r)
		r = net_path_meet(side->paths, 2, now_ns() + 10000000000LL, NULL, NULL);
	side->met_ns = now_ns();
	net_path_clear(side->paths, 2);
	return r;
}

/* As the node does: what is proven, then who else has the address. */
static void run_side(unsigned int index, long timeout_ms)
{
	struct side *side = &sides[index];
	struct failure why;
	pid_t service = 0;

	prepare(side, index);
	if (!side->result && tcp)
		side->result = peer_service_start("0.0.0.0", TCP_PORT, &service, &why);
	if (!side->result)
		side->result =
		    net_path_probe(side->paths, 2, true, now_ns() + timeout_ms * 1000000LL, NULL, NULL);
	if (!side->result && tcp)
		side->result = run_tcp(side, index);
	peer_service_stop(&service);
	if (!side->result)
		side->result = net_path_duplicates(side->paths, 2, index ? "10.99.0.2" : "10.99.0.1",
		                                   &side->shared, &(struct failure){0});
}

/* A cable, or two to a switch that both legs have in common. */
static void join(unsigned int leg, pid_t pid)
{
	if (!one_switch) {
		sh("ip link add n0l%u type veth peer name n1l%u netns %d", leg, leg, pid);
		return;
	}
	if (leg == 1)
		sh("ip link add switch type bridge && ip link set switch up");
	sh("ip link add n0l%u type veth peer name p0l%u && ip link set p0l%u mtu 9000 master switch up", leg,
	   leg, leg);
	sh("ip link add p1l%u type veth peer name n1l%u netns %d && ip link set p1l%u mtu 9000 master switch "
	   "up",
	   leg, leg, pid, leg);
}

/* Both nodes at once; *WHY is what node 0 says of it. */
static void run_both(long timeout_ms, struct failure *why)
{
	int ready[2], go[2], status;
	char c = 0;
	pid_t pid;

	memset(sides, 0, 2 * sizeof(*sides));
	memset(why, 0, sizeof(*why));
	assert_int_equal(pipe(ready) | pipe(go), 0);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (unshare(CLONE_NEWNET) || write(ready[1], "r", 1) != 1 || read(go[0], &c, 1) != 1)
			_exit(1);
		run_side(1, timeout_ms);
		/* The namespace, with its ends of the cables, lives as long as this. */
		_exit(read(go[0], &c, 1) != 1);
	}
	assert_int_equal(read(ready[0], &c, 1), 1);
	for (unsigned int leg = 1; leg <= 2; leg++)
		join(leg, pid);
	assert_int_equal(write(go[1], "g", 1), 1);
	run_side(0, timeout_ms);
	if (sides[0].result == -ETIMEDOUT)
		net_path_failure(sides[0].paths, 2, "alpha", "beta", why);
	assert_int_equal(write(go[1], "g", 1), 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	for (unsigned int leg = 1; leg <= 2; leg++)
		sh("ip link del n0l%u 2>/dev/null || ! ip link show n0l%u >/dev/null 2>&1", leg, leg);
	for (int i = 0; i < 2; i++) {
		close(ready[i]);
		close(go[i]);
	}
	if (one_switch)
		sh("ip link del switch");
	crossed = silent = one_switch = tcp = false;
	mtu_bytes[0] = mtu_bytes[1] = 9000;
}

static void test_straight(void **state)
{
	struct failure why;

	(void)state;
	run_both(20000, &why);
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(sides[i].result, 0);
		for (unsigned int leg = 0; leg < 2; leg++) {
			assert_true(sides[i].paths[leg].full_passed && sides[i].paths[leg].peer_done);
			assert_int_equal(sides[i].paths[leg].wrong_leg, 0);
			assert_int_equal(sides[i].paths[leg].mtu_in_bytes, 9000);
		}
	}
}

/* Legs in one network are not crossed, though each node hears the other's ARP on both. The switch is an
 * interface of node 0 as well: it must not answer for node 0's addresses with a MAC of its own. */
static void test_one_switch(void **state)
{
	struct failure why;

	(void)state;
	one_switch = true;
	run_both(20000, &why);
	assert_int_equal(sides[0].result, 0);
	assert_int_equal(sides[1].result, 0);
	for (unsigned int leg = 0; leg < 2; leg++) {
		assert_int_equal(sides[0].paths[leg].wrong_leg, 0);
		assert_true(sides[0].shared && sides[1].shared);
	}
	run_both(20000, &why);
	assert_int_equal(sides[0].result, 0);
	assert_false(sides[0].shared || sides[1].shared);
}

/* Each node's TCP in its own direction; neither is through before the other is done. */
static void test_tcp(void **state)
{
	struct failure why;

	(void)state;
	tcp = true;
	run_both(20000, &why);
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(sides[i].result, 0);
		assert_true(sides[i].tcp_bytes[0] > 100000 && sides[i].tcp_bytes[1] > 100000);
		assert_true(sides[i].met_ns > sides[1 - i].done_ns);
	}
}

static void test_crossed(void **state)
{
	long long start_ns = now_ns();
	struct failure why;

	(void)state;
	crossed = true;
	run_both(20000, &why);
	assert_int_equal(sides[0].result, -ETIMEDOUT);
	assert_int_equal(sides[1].result, -ETIMEDOUT);
	assert_non_null(strstr(why.message,
	                       "Legs are crossed: NIC n0l1 of node alpha is leg 1 here, but what beta "
	                       "sends on its leg 2 comes in"));
	assert_true(now_ns() - start_ns < 15000000000LL);
}

static void test_black_hole(void **state)
{
	long long start_ns = now_ns();
	struct failure why;

	(void)state;
	mtu_bytes[1] = 1500;
	run_both(30000, &why);
	assert_int_equal(sides[0].result, -ETIMEDOUT);
	assert_true(sides[0].paths[0].small_passed && !sides[0].paths[0].full_passed);
	/* The other direction passes, and its node knows that ours does not. */
	assert_true(sides[1].paths[0].full_passed && !sides[1].paths[0].peer_done);
	assert_non_null(strstr(why.message, "Black hole on leg 1, NIC n0l1 of node alpha"));
	/* A virtual cable takes a VLAN tag's 4 bytes over the MTU of its end; the peer sends no more than
	 * 1500. */
	assert_int_equal(sides[0].paths[0].mtu_out_bytes, 1504);
	assert_int_equal(sides[1].paths[0].mtu_in_bytes, 1504);
	assert_non_null(strstr(why.message, "up to 1504 bytes pass from alpha to beta, and 1500 back"));
	assert_true(now_ns() - start_ns < 20000000000LL); /* known long before the time is over */
}

static void test_silent_leg(void **state)
{
	struct failure why;

	(void)state;
	silent = true;
	run_both(1500, &why);
	assert_int_equal(sides[0].result, -ETIMEDOUT);
	assert_non_null(strstr(why.message, "No answer on leg 2: NIC n0l2 of node alpha has link, but beta "
	                                    "(169.254.2.2) answers no ping; other legs work"));
}

/* What the paths look like with one answerer: the kernel of the other end. */
static void run_alone(struct net_path *path, const char *foreign, struct failure *why, int *duplicates)
{
	*path = (struct net_path){.device = "one", .address = "169.254.1.1", .peer = "169.254.1.2", .leg = 1};
	sh("ip link add one type veth peer name two");
	sh("ip link set one up");
	if (foreign)
		sh("ip link add br0 type bridge && ip link set two master br0 up && ip link set br0 up && "
		   "ip addr add %s/24 dev br0",
		   foreign);
	memset(why, 0, sizeof(*why));
	*duplicates = net_path_duplicates(path, 1, NULL, NULL, why);
}

static void test_duplicate(void **state)
{
	struct net_path path;
	struct failure why;
	int r;

	(void)state;
	run_alone(&path, "169.254.1.1", &why, &r);
	assert_int_equal(r, -EADDRINUSE);
	assert_int_equal(why.scope, FAILURE_RUN);
	assert_non_null(
	    strstr(why.message,
	           "The same address twice: 169.254.1.1, which is to be ours on leg 1 (NIC one)"));
	assert_int_equal(net_path_duplicates(&path, 1, "169.254.1.9", NULL, &why), 0);
	sh("ip link del one && ip link del br0");
	run_alone(&path, NULL, &why, &r);
	assert_int_equal(r, 0);
	sh("ip link del one");
}

static void test_rtt(void **state)
{
	struct net_path path = {.device = "lo", .peer = "127.0.0.1"};
	struct net_path nobody = {.device = "lo", .peer = "192.0.2.1"};

	(void)state;
	sh("ip link set lo up");
	assert_int_equal(net_path_rtt(&path, 1, 50), 0);
	assert_int_equal(path.rtt.sent, 50);
	assert_true(path.rtt.answered > 0 && path.rtt.answered <= 50);
	assert_true(path.rtt.min_ns > 0 && path.rtt.min_ns <= path.rtt.median_ns);
	assert_true(path.rtt.median_ns <= path.rtt.p99_ns && path.rtt.p99_ns <= path.rtt.max_ns);
	assert_int_equal(net_path_rtt(&nobody, 1, 2), 0);
	assert_int_equal(nobody.rtt.answered, 0);
}

/* What was answered at full size went there and came back, though nobody said yet what he heard. */
static void test_answer_is_enough(void **state)
{
	struct net_path path = {
	    .device = "lo", .address = "127.0.0.1", .peer = "127.0.0.1", .mtu_bytes = 1500, .leg = 1};

	(void)state;
	sh("ip link set lo up");
	assert_int_equal(net_path_probe(&path, 1, false, now_ns() + 5000000000LL, NULL, NULL), 0);
	assert_int_equal(path.mtu_out_bytes, 1500);
	assert_int_equal(path.mtu_in_bytes, 1500);
}

/* Own namespaces, so that any user may do it. */
static int enter(void **state)
{
	uid_t uid = getuid();
	gid_t gid = getgid();

	(void)state;
	if (unshare(CLONE_NEWUSER | CLONE_NEWNET))
		return -1;
	if (create_file("/proc/self/setgroups", "deny") ||
	    create_file("/proc/self/uid_map", "0 %d 1", (int)uid) ||
	    create_file("/proc/self/gid_map", "0 %d 1", (int)gid))
		return -1;
	sides = mmap(NULL, 2 * sizeof(*sides), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return sides == MAP_FAILED;
}

static int leave(void **state)
{
	(void)state;
	return munmap(sides, 2 * sizeof(*sides));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_straight),   cmocka_unit_test(test_one_switch),
	    cmocka_unit_test(test_crossed),    cmocka_unit_test(test_black_hole),
	    cmocka_unit_test(test_silent_leg), cmocka_unit_test(test_duplicate),
	    cmocka_unit_test(test_rtt),        cmocka_unit_test(test_answer_is_enough),
	    cmocka_unit_test(test_tcp),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
