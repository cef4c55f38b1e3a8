// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Machines that redeem an invitation at a member (protocol 8.2): the uses, repeated and replayed
 * requests, the end, and strangers. An answer is never longer than its request.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "crypto/invitation.h"
#include "hostile.h"
#include "state/invitations.h"

#define HOUR_S 3600

/* Answers to addresses outside of the overlay. */
struct outside {
	unsigned n;
	uint8_t data[1500];
	size_t len;
	struct endpoint to;
};

static bool catch (void *arg, unsigned from, const struct endpoint *to, const uint8_t *data,
		   size_t len)
{
	struct outside *out = arg;

	(void)from;
	if (to->ip.b[0] != 203)
		return true;
	out->n++;
	out->to = *to;
	out->len = len;
	memcpy(out->data, data, len);
	return false;
}

struct lab {
	struct sim *s;
	struct outside out;
	struct token token;
};

static uint32_t wall_s(struct lab *l)
{
	struct overlay *o = l->s->node[0].o;

	return (uint32_t)(o->ops.wall_us(o->arg) / 1000000);
}

/* Node 0 issues an invitation. */
static void begin(struct lab *l, uint32_t seconds, unsigned uses)
{
	*l = (struct lab){ .s = sim_new(2, 1), .token = { .one_time = true } };
	l->s->tap = catch;
	l->s->tap_arg = &l->out;
	sim_boot_all(l->s);
	assert_true(sim_until(l->s, sim_converged, NULL, 20000) >= 0);
	l->token.vni = l->s->node[0].conf->vni;
	random_bytes(l->token.value, sizeof(l->token.value));
	assert_non_null(invitations_add(overlay_invitations(l->s->node[0].o), l->token.value,
					seconds ? wall_s(l) + seconds : 0, uses));
}

static const struct overlay_counters *count(const struct lab *l)
{
	return overlay_counters(l->s->node[0].o);
}

/* Returns the number of answers. */
static unsigned send(struct lab *l, const struct invitation_request *r, unsigned from)
{
	unsigned before = l->out.n;
	struct endpoint ep = mallory(from);

	sim_inject(l->s, &ep, 0, r->datagram, sizeof(r->datagram));
	sim_run(l->s, 200);
	if (l->out.n > before) {
		assert_true(endpoint_equal(&l->out.to, &ep));
		assert_true(l->out.len <= sizeof(r->datagram));
	}
	return l->out.n - before;
}

static enum invitation_status redeem(struct lab *l, struct invitation_request *r, unsigned from)
{
	struct invitation_text text;

	assert_int_equal(send(l, r, from), 1);
	assert_int_equal(invitation_open_answer(r, l->out.data, l->out.len, &text), 0);
	if (text.status == INVITATION_GRANTED)
		assert_string_equal(text.secret, SIM_SECRET);
	else
		assert_string_equal(text.secret, "");
	return text.status;
}

static void each_use_once(void **state)
{
	struct invitation_request first, second, third;
	struct lab l;
	(void)state;

	begin(&l, HOUR_S, 2);
	invitation_request(&first, &l.token);
	invitation_request(&second, &l.token);
	invitation_request(&third, &l.token);
	assert_int_equal(redeem(&l, &first, 1), INVITATION_GRANTED);
	assert_int_equal(redeem(&l, &second, 2), INVITATION_GRANTED);
	assert_int_equal(redeem(&l, &third, 3), INVITATION_USED_UP);
	assert_int_equal(count(&l)->rx_invitation_refused, 1);
	assert_int_equal(l.s->node[0].n_events[EV_INVITATION_CLAIMED], 2);
	assert_int_equal(l.s->node[0].n_events[EV_INVITATION_REFUSED], 1);
	sim_free(l.s);
}

/* The first answer was lost. The machine repeats its request, perhaps from another address. */
static void a_lost_answer(void **state)
{
	struct invitation_request r, other;
	struct lab l;
	(void)state;

	begin(&l, HOUR_S, 1);
	invitation_request(&r, &l.token);
	assert_int_equal(send(&l, &r, 1), 1);
	assert_int_equal(redeem(&l, &r, 2), INVITATION_GRANTED);
	assert_int_equal(l.s->node[0].n_events[EV_INVITATION_CLAIMED], 1);
	invitation_request(&other, &l.token);
	assert_int_equal(redeem(&l, &other, 1), INVITATION_USED_UP);
	sim_free(l.s);
}

/* An observer replays the request. The answer opens with the key of the machine only, and a flood
 * gets at most the budget of answers. */
static void a_replay(void **state)
{
	struct invitation_request r, observer;
	struct invitation_text text;
	struct lab l;
	(void)state;

	begin(&l, HOUR_S, 1);
	invitation_request(&r, &l.token);
	assert_int_equal(redeem(&l, &r, 1), INVITATION_GRANTED);
	assert_int_equal(send(&l, &r, 9), 1);
	observer = r;
	random_bytes(&observer.own, sizeof(observer.own));
	noise_begin(&observer.noise, DH_X25519, l.token.value, r.datagram, INVITATION_AT_NOISE);
	assert_true(invitation_open_answer(&observer, l.out.data, l.out.len, &text) < 0);
	l.out.n = 0;
	for (unsigned i = 0; i < 500; i++)
		sim_inject(l.s, &(struct endpoint){ .ip = mallory(8).ip, .port = 7 }, 0, r.datagram,
			   sizeof(r.datagram));
	sim_run(l.s, 1000);
	assert_in_range(l.out.n, 1, 40);
	sim_free(l.s);
}

static void after_the_end(void **state)
{
	struct invitation_request r;
	struct lab l;
	(void)state;

	begin(&l, HOUR_S, 1);
	invitation_request(&r, &l.token);
	l.s->node[0].wall_shift_us += (HOUR_S + 60) * 1000000LL;
	assert_int_equal(send(&l, &r, 1), 0);
	assert_int_equal(count(&l)->rx_invitation_refused, 1);
	l.s->node[0].wall_shift_us = 0;
	assert_int_equal(redeem(&l, &r, 1), INVITATION_GRANTED);
	sim_free(l.s);
}

/* Neither an unknown value nor a known id without the value causes an answer or X25519. */
static void strangers(void **state)
{
	struct invitation_request r, forged;
	uint64_t exchanges;
	struct token wrong;
	struct lab l;
	(void)state;

	begin(&l, HOUR_S, 1);
	exchanges = count(&l)->key_exchanges;
	wrong = l.token;
	wrong.value[31] ^= 1;
	invitation_request(&forged, &wrong);
	assert_int_equal(send(&l, &forged, 1), 0);
	assert_int_equal(count(&l)->rx_invitation_refused, 1);
	invitation_request(&r, &l.token);
	memcpy(forged.datagram + INVITATION_AT_ID, r.datagram + INVITATION_AT_ID,
	       INVITATION_ID_LEN);
	assert_int_equal(send(&l, &forged, 1), 0);
	assert_int_equal(count(&l)->rx_not_authentic, 1);
	assert_int_equal(count(&l)->key_exchanges, exchanges);
	/* Too short, with a relay, of another member. */
	sim_inject(l.s, &(struct endpoint){ .ip = mallory(1).ip, .port = 7 }, 0, r.datagram,
		   INVITATION_LEN - 1);
	sim_inject(l.s, &(struct endpoint){ .ip = mallory(1).ip, .port = 7 }, 1, r.datagram,
		   INVITATION_LEN);
	sim_run(l.s, 200);
	assert_int_equal(l.out.n, 0);
	assert_int_equal(redeem(&l, &r, 1), INVITATION_GRANTED);
	sim_free(l.s);
}

/* Many datagrams without the value cost a bounded number of AES passes. */
static void a_flood(void **state)
{
	struct invitation_request r;
	struct lab l;
	(void)state;

	begin(&l, HOUR_S, 1);
	invitation_request(&r, &l.token);
	r.datagram[INVITATION_LEN - 1] ^= 1;
	for (unsigned i = 0; i < 3000; i++)
		sim_inject(l.s, &(struct endpoint){ .ip = mallory(1).ip, .port = 7 }, 0, r.datagram,
			   sizeof(r.datagram));
	sim_run(l.s, 200);
	assert_true(count(&l)->rx_rate_limited > 2000);
	assert_true(count(&l)->rx_not_authentic < 1000);
	assert_int_equal(l.out.n, 0);
	sim_free(l.s);
}

/* An answer that no machine requested. */
static void unexpected(void **state)
{
	struct invitation_request r;
	uint8_t answer[INVITATION_LEN];
	struct invitation_text text = { .secret = SIM_SECRET };
	struct noise n;
	struct lab l;
	(void)state;

	begin(&l, HOUR_S, 1);
	invitation_request(&r, &l.token);
	assert_int_equal(invitation_open_request(&n, DH_X25519, l.token.value, r.datagram), 0);
	assert_int_equal(invitation_answer(&n, l.s->node[1].id, r.datagram, &text, answer), 0);
	memcpy(r.datagram, answer, sizeof(answer));
	assert_int_equal(send(&l, &r, 1), 0);
	sim_free(l.s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_use_once), cmocka_unit_test(a_lost_answer),
		cmocka_unit_test(a_replay),	 cmocka_unit_test(after_the_end),
		cmocka_unit_test(strangers),	 cmocka_unit_test(a_flood),
		cmocka_unit_test(unexpected),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
