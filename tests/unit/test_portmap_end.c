// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * daemon/transport/portmap: a reload without `port-mapping` ends leon-portmap without a wait, and a
 * public address ends it too. The linker replaces netlink, poll() and the start of the program
 * (meson.build).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/loop.h"
#include "daemon/states.h"
#include "daemon/transport/transport.h"
#include "io/netlink/netlink.h"
#include "io/tcp_socket.h"
#include "io/udp.h"
#include "ipc/stream_control.h"
#include "state/conf/conf.h"

static struct states states;
static struct udp udp = { .port = 4000 };
static struct leond d;

/* --- replaced functions --- */

static unsigned waits;
static int far_end; /* the program's end of its socket */
static pid_t program;
static unsigned starts;
static struct ip_addr source; /* of the route to the Internet */

#define REPLACED(type, name, ...)                                                                  \
	extern type __wrap_##name(__VA_ARGS__);                                                    \
	type __wrap_##name(__VA_ARGS__)

REPLACED(int, poll, struct pollfd *f, nfds_t n, int ms)
{
	(void)f;
	(void)n;
	waits += ms != 0;
	return 0;
}

REPLACED(int, nl_next_hop, struct nl *nl, const struct nl_flow *flow, struct nl_next_hop *out)
{
	(void)nl;
	(void)flow;
	*out = (struct nl_next_hop){ .gateway = { 4, { 192, 168, 1, 1 } }, .source = source };
	return 0;
}

REPLACED(int, udp_connect, const struct tcp_config *c, const struct endpoint *to)
{
	(void)c;
	(void)to;
	return open("/dev/null", O_RDWR | O_CLOEXEC);
}

/* The program hangs. */
REPLACED(int, child_start, struct child *c, struct loop *l, const struct child_program *p)
{
	int pair[2];

	(void)p;
	assert_int_equal(
		socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair), 0);
	program = fork();
	if (program == 0)
		for (;;)
			pause();
	c->control = pair[0];
	c->pid = program;
	c->start_at = mono_add_ms(loop_now(l), 60000);
	far_end = pair[1];
	starts++;
	return 0;
}

/* --- one node --- */

static int setup(void **state)
{
	(void)state;
	states = (struct states){ 0 };
	d = (struct leond){ .loop = loop_sim_new(),
			    .conf = calloc(1, sizeof(struct conf)),
			    .states = &states,
			    .udp = &udp };
	d.conf->port_mapping = true;
	waits = starts = 0;
	far_end = -1;
	source = (struct ip_addr){ 4, { 192, 168, 1, 2 } };
	portmap_apply_conf(&d);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	portmap_stop(&d);
	loop_free(d.loop);
	free(d.conf);
	close(far_end);
	return 0;
}

static void pass(unsigned seconds)
{
	for (unsigned i = 0; i < seconds; i++) {
		loop_sim_run_until(d.loop, mono_add_ms(loop_now(d.loop), 1000));
		portmap_second(&d, loop_now(d.loop));
	}
}

/* Returns the order of the next command. */
static unsigned order(void)
{
	struct portmap_command c;
	int fd;

	assert_int_equal(stream_receive(far_end, &c, sizeof(c), &fd), 0);
	if (fd >= 0)
		close(fd);
	return c.order;
}

static bool is_shown(void)
{
	return portmap_view(&d) != NULL;
}

static void delete_key(void)
{
	assert_int_equal(order(), PORTMAP_SETUP);
	assert_true(is_shown());
	d.conf->port_mapping = false;
	portmap_apply_conf(&d);
	assert_false(is_shown());
	assert_int_equal(order(), PORTMAP_REMOVE);
}

static void wait_for_death(void)
{
	siginfo_t info;

	assert_int_equal(waitid(P_PID, (id_t)program, &info, WEXITED | WNOWAIT), 0);
}

static bool is_collected(void)
{
	return waitpid(program, NULL, WNOHANG) < 0 && errno == ECHILD;
}

static void a_reload_does_not_wait(void **state)
{
	(void)state;
	delete_key();
	assert_int_equal(waits, 0);
	/* Another reload, while the program removes the mapping. */
	portmap_apply_conf(&d);
	pass(1);
	assert_int_equal(starts, 1);
	kill(program, SIGKILL);
	wait_for_death();
	pass(1);
	assert_true(is_collected());
	assert_null(states.portmap);
}

static void a_program_that_hangs_is_killed(void **state)
{
	(void)state;
	delete_key();
	pass(4);
	wait_for_death();
	pass(1);
	assert_true(is_collected());
	assert_null(states.portmap);
	pass(100);
	assert_int_equal(starts, 1);
}

static void the_key_returns_meanwhile(void **state)
{
	(void)state;
	delete_key();
	close(far_end);
	d.conf->port_mapping = true;
	portmap_apply_conf(&d);
	assert_true(is_shown());
	assert_int_equal(starts, 2);
	assert_int_equal(order(), PORTMAP_SETUP);
}

/* The removal may take a moment at the end of leond. */
static void the_end_of_leond_waits(void **state)
{
	(void)state;
	portmap_stop(&d);
	assert_int_equal(waits, 1);
	assert_true(is_collected());
}

/* Without its socket, the program only has to be collected. */
static void the_end_of_leond_after_the_removal(void **state)
{
	(void)state;
	delete_key();
	pass(1);
	portmap_stop(&d);
	assert_int_equal(waits, 0);
	assert_true(is_collected());
}

/* The former gateway would pass datagrams to this node for ever. */
static void a_public_address_needs_no_program(void **state)
{
	const struct ip_addr private = source;

	(void)state;
	assert_int_equal(order(), PORTMAP_SETUP);
	source = (struct ip_addr){ 4, { 8, 8, 8, 8 } };
	pass(1);
	assert_int_equal(order(), PORTMAP_REMOVE);
	kill(program, SIGKILL);
	wait_for_death();
	pass(3);
	assert_true(is_collected());
	assert_int_equal(starts, 1);
	close(far_end);
	source = private;
	pass(1);
	assert_int_equal(starts, 2);
	assert_int_equal(order(), PORTMAP_SETUP);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(a_reload_does_not_wait),
		T(a_program_that_hangs_is_killed),
		T(the_key_returns_meanwhile),
		T(the_end_of_leond_waits),
		T(the_end_of_leond_after_the_removal),
		T(a_public_address_needs_no_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
