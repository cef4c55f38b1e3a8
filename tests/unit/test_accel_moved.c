// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * daemon/accel/accelerator: reports of moved hosts to a leon-accel that is slow to read, and a new
 * MAC address of the interface. A new leon-accel gets empty queues, and a connection without a
 * descriptor waits. Other modules of the daemon are replaced.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/loop.h"
#include "daemon/accel/leon_accel.h"
#include "daemon/states.h"
#include "io/tap.h"
#include "ipc/accel_queue.h"
#include "proto/view.h"
#include "state/conf/conf.h"
#include "state/tables/nodedb.h"
#include "state/tables/snap.h"

#define NODE 7

struct lab {
	struct leond d;
	struct states states;
	struct conf conf;
	struct node node;
	char directory[32];
	int accel;    /* end of leon-accel */
	unsigned got; /* reported moves, in order */
};

static struct {
	bool ready;
	bool drained, handed_drained; /* the queues; before leon-accel got them */
	loop_fd_fn on_event, on_connect;
	int leond, listener; /* the last and the first descriptor of the loop */
	uint32_t awaited;    /* events of the listener */
} world;

int __wrap_loop_fd_add(struct loop *l, int fd, uint32_t events, loop_fd_fn fn, void *arg);
int __wrap_loop_fd_add(struct loop *l, int fd, uint32_t events, loop_fd_fn fn, void *arg)
{
	(void)l;
	(void)events;
	(void)arg;
	world.on_event = fn;
	world.leond = fd;
	if (!world.on_connect) {
		world.on_connect = fn;
		world.listener = fd;
	}
	return 0;
}
int __wrap_loop_fd_mod(struct loop *l, int fd, uint32_t events);
int __wrap_loop_fd_mod(struct loop *l, int fd, uint32_t events)
{
	(void)l;
	assert_int_equal(fd, world.listener);
	world.awaited = events;
	return 0;
}
void __wrap_loop_fd_del(struct loop *l, int fd);
void __wrap_loop_fd_del(struct loop *l, int fd)
{
	(void)l;
	(void)fd;
}

void __wrap_overlay_set_accelerates(struct overlay *o, bool accelerates);
void __wrap_overlay_set_accelerates(struct overlay *o, bool accelerates)
{
	(void)o;
	(void)accelerates;
}

const struct nodedb *__wrap_overlay_nodes(const struct overlay *o);
const struct nodedb *__wrap_overlay_nodes(const struct overlay *o)
{
	(void)o;
	return NULL;
}

uint16_t __wrap_nodedb_slots(const struct nodedb *db);
uint16_t __wrap_nodedb_slots(const struct nodedb *db)
{
	(void)db;
	return 0;
}

const struct snap *__wrap_fwd_snap(const struct fwd *f);
const struct snap *__wrap_fwd_snap(const struct fwd *f)
{
	static const struct snap s = { .accelerator = true };

	(void)f;
	return &s;
}

unsigned __wrap_accel_queues_count(const struct leond *d);
unsigned __wrap_accel_queues_count(const struct leond *d)
{
	(void)d;
	return 1;
}

const int *__wrap_accel_queues_accel_ends(const struct leond *d);
const int *__wrap_accel_queues_accel_ends(const struct leond *d)
{
	(void)d;
	world.handed_drained = world.drained;
	return &world.leond;
}

void __wrap_accel_queues_drain(struct leond *d);
void __wrap_accel_queues_drain(struct leond *d)
{
	(void)d;
	world.drained = true;
}

void __wrap_accel_queues_set_ready(struct leond *d, bool ready);
void __wrap_accel_queues_set_ready(struct leond *d, bool ready)
{
	(void)d;
	world.ready = ready;
}

bool __wrap_accel_queues_are_ready(const struct leond *d);
bool __wrap_accel_queues_are_ready(const struct leond *d)
{
	(void)d;
	return world.ready;
}

bool __wrap_accel_queues_track(const struct leond *d, uint16_t slot);
bool __wrap_accel_queues_track(const struct leond *d, uint16_t slot)
{
	(void)d;
	(void)slot;
	return false;
}

void __wrap_accel_reports_here(struct leond *d);
void __wrap_accel_reports_here(struct leond *d)
{
	(void)d;
}

bool __wrap_accel_reports_second(struct leond *d);
bool __wrap_accel_reports_second(struct leond *d)
{
	(void)d;
	return true;
}

const struct accel_totals *__wrap_accel_reports_totals(const struct leond *d);
const struct accel_totals *__wrap_accel_reports_totals(const struct leond *d)
{
	(void)d;
	return NULL;
}

static void open_lab(struct lab *l)
{
	struct accel_notify_frame here = { .what = ACCEL_NOTIFY_HERE,
					   .version = ACCEL_NOTIFY_VERSION };
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	uint8_t buf[ACCEL_NOTIFY_MAX];
	size_t len = accel_notify_encode(&here, buf);

	memset(l, 0, sizeof(*l));
	memset(&world, 0, sizeof(world));
	snprintf(l->directory, sizeof(l->directory), "/tmp/leon-moved-XXXXXX");
	assert_non_null(mkdtemp(l->directory));
	l->d = (struct leond){ .loop = loop_sim_new(), .conf = &l->conf, .states = &l->states };
	l->node = (struct node){ .id = NODE, .slot = 1 };
	l->conf.acceleration = true;
	snprintf(l->conf.control_socket, sizeof(l->conf.control_socket), "%s/a.sock", l->directory);
	snprintf(to.sun_path, sizeof(to.sun_path), "%s/a.accel", l->directory);
	accelerator_start(&l->d);
	l->accel = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0);
	assert_int_equal(connect(l->accel, (struct sockaddr *)&to, sizeof(to)), 0);
	world.on_event(&l->d, world.leond, EPOLLIN);
	assert_int_equal(send(l->accel, buf, len, 0), len);
	world.on_event(&l->d, world.leond, EPOLLIN);
	assert_true(world.ready);
}

static void close_lab(struct lab *l)
{
	accelerator_free(&l->d);
	close(l->accel);
	rmdir(l->directory);
	loop_free(l->d.loop);
}

static void move(struct lab *l, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		accelerator_moved(&l->d, 0, mac_from_u64(0x020000000000 + i), &l->node);
}

/* leon-accel reads all messages, in the order of the moves. */
static unsigned read_all(struct lab *l)
{
	uint8_t buf[ACCEL_NOTIFY_MAX];
	struct accel_notify_frame f;
	ssize_t n;

	while ((n = recv(l->accel, buf, sizeof(buf), 0)) > 0) {
		assert_int_equal(accel_notify_decode(buf, (size_t)n, &f), 0);
		if (f.what != ACCEL_NOTIFY_MOVED)
			continue;
		assert_int_equal(mac_to_u64(f.moved.mac), 0x020000000000 + l->got);
		l->got++;
	}
	return l->got;
}

/* A whole LAN moves while leon-accel is busy. */
static void a_burst_fits(void **state)
{
	struct lab l;

	(void)state;
	if (geteuid() != 0)
		skip(); /* the limit of the system applies */
	open_lab(&l);
	move(&l, 1000);
	assert_int_equal(read_all(&l), 1000);
	close_lab(&l);
}

static void a_full_socket_loses_nothing(void **state)
{
	struct lab l;
	int small = 1;

	(void)state;
	open_lab(&l);
	assert_int_equal(setsockopt(world.leond, SOL_SOCKET, SO_SNDBUF, &small, sizeof(small)), 0);
	move(&l, 1000);
	assert_true(read_all(&l) < 1000);
	for (unsigned i = 0; i < 1000 && l.got < 1000; i++) {
		accelerator_second(&l.d, loop_now(l.d.loop));
		read_all(&l);
	}
	assert_int_equal(l.got, 1000);
	close_lab(&l);
}

/* Returns the number of SETUP messages, and the address of the last one. */
static unsigned read_setups(struct lab *l, struct mac *device)
{
	uint8_t buf[ACCEL_NOTIFY_MAX];
	struct accel_notify_frame f;
	unsigned n_setups = 0;
	ssize_t n;

	while ((n = recv(l->accel, buf, sizeof(buf), 0)) > 0) {
		assert_int_equal(accel_notify_decode(buf, (size_t)n, &f), 0);
		if (f.what != ACCEL_NOTIFY_SETUP)
			continue;
		*device = f.setup.device;
		n_setups++;
	}
	return n_setups;
}

static void a_new_mac_address_is_reported_once(void **state)
{
	struct mac device;
	struct lab l;

	(void)state;
	open_lab(&l);
	assert_int_equal(read_setups(&l, &device), 1);
	l.d.device.mac = mac_from_u64(0x020000000077);
	for (unsigned i = 0; i < 3; i++)
		accelerator_second(&l.d, loop_now(l.d.loop));
	assert_int_equal(read_setups(&l, &device), 1);
	assert_int_equal(mac_to_u64(device), 0x020000000077);
	close_lab(&l);
}

/* A worker may have added frames after the end of the previous leon-accel. */
static void a_new_leon_accel_gets_empty_queues(void **state)
{
	struct lab l;

	(void)state;
	open_lab(&l);
	assert_true(world.handed_drained);
	close_lab(&l);
}

/* The listener would wake the control thread for ever. */
static void a_connection_without_a_descriptor_waits(void **state)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	struct rlimit before, none;
	struct lab l;
	int other;

	(void)state;
	open_lab(&l);
	other = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	snprintf(to.sun_path, sizeof(to.sun_path), "%s/a.accel", l.directory);
	assert_int_equal(connect(other, (struct sockaddr *)&to, sizeof(to)), 0);
	getrlimit(RLIMIT_NOFILE, &before);
	none = (struct rlimit){ 0, before.rlim_max };
	world.awaited = EPOLLIN;
	setrlimit(RLIMIT_NOFILE, &none);
	world.on_connect(&l.d, world.listener, EPOLLIN);
	setrlimit(RLIMIT_NOFILE, &before);
	assert_int_equal(world.awaited, 0);
	assert_true(world.ready);
	accelerator_second(&l.d, loop_now(l.d.loop));
	assert_int_equal(world.awaited, EPOLLIN);
	close(other);
	close_lab(&l);
}

/* Removed nodes keep their slots for a while, so the slots exceed the number of nodes. */
static void nodes_of_all_slots_are_bypassed(void **state)
{
	const uint16_t last = NODEDB_SLOTS(CONF_NODES_LIMIT) - 1;
	struct states states = { 0 };
	struct tap tap = { 0 };
	struct leond d = { .loop = loop_sim_new(), .states = &states, .tap = &tap };

	(void)state;
	assert_int_equal(accel_queues_open(&d), 0);
	accel_queues_update(&d, last, true, mono_add_ms(loop_now(d.loop), 60000));
	assert_true(accel_queues_bypassed(&d, last));
	accel_queues_free(&d);
	loop_free(d.loop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_burst_fits),
		cmocka_unit_test(a_full_socket_loses_nothing),
		cmocka_unit_test(a_new_mac_address_is_reported_once),
		cmocka_unit_test(a_new_leon_accel_gets_empty_queues),
		cmocka_unit_test(a_connection_without_a_descriptor_waits),
		cmocka_unit_test(nodes_of_all_slots_are_bypassed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
