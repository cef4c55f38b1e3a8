// SPDX-License-Identifier: GPL-2.0-or-later
/* The configuration: defaults, every key, one refusal for each rule, and differences. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/defs.h"
#include "base/mem.h"
#include "base/text.h"
#include "conf_lab.h"
#include "state/conf/conf.h"

static void defaults(void **state)
{
	struct conf *c = good("");

	(void)state;
	assert_string_equal(c->interface, "leon0");
	assert_false(c->has_mac);
	assert_int_equal(c->mtu, 0);
	assert_int_equal(c->source4.family, 0);
	assert_int_equal(c->source6.family, 0);
	assert_string_equal(c->source_interface, "");
	assert_int_equal(c->port, 5366);
	assert_int_equal(c->vni, 1);
	assert_int_equal(c->node_id, NODE_ID_NONE);
	assert_string_equal(c->node_name, "");
	assert_false(c->transit_disable);
	assert_int_equal(c->n_peers, 0);
	assert_int_equal(c->interval_ms, 1000);
	assert_int_equal(c->fast_interval_ms, 100);
	assert_int_equal(c->dead_multiplier, 3);
	assert_int_equal(c->threshold_percent, 10);
	assert_int_equal(c->threshold_min_us, 2000);
	assert_int_equal(c->hold_time_ms, 10000);
	assert_int_equal(c->maximum_relays, 3);
	assert_int_equal(c->relay_cost_us, 500);
	assert_int_equal(c->fdb_aging_s, 300);
	assert_int_equal(c->fdb_maximum, 16384);
	assert_int_equal(c->storm_broadcast, 1000);
	assert_int_equal(c->storm_multicast, 5000);
	assert_int_equal(c->storm_unknown, 1000);
	assert_false(c->suppress_arp);
	assert_false(c->suppress_nd);
	assert_true(c->mss_clamp);
	assert_true(c->guard);
	assert_int_equal(c->guard_interval_ms, 1000);
	assert_null(c->secret);
	assert_int_equal(c->n_accept, 0);
	assert_int_equal(c->rekey_ms, 3600000);
	assert_int_equal(c->n_overlay, 0);
	assert_false(c->export_next_hop);
	assert_false(c->export_unconditional);
	assert_int_equal(c->export_threshold_percent, 10);
	assert_int_equal(c->export_threshold_min_us, 500);
	assert_int_equal(c->export_interval_ms, 1000);
	assert_int_equal(c->n_prefixes, 0);
	assert_int_equal(c->n_imports, 0);
	assert_int_equal(c->n_import_addresses, 0);
	assert_int_equal(c->nodes_maximum, 1024);
	assert_int_equal(c->forget_ms, 3600000);
	assert_int_equal(c->workers, 0);
	assert_string_equal(c->control_socket, "/run/leon/leon0.sock");
	assert_int_equal(c->log_level, LOG_LVL_INFO);
	conf_free(c);
	conf_free(NULL);
}

#define EVERYTHING                                                                                 \
	"'mac': '02:00:00:00:00:2a', 'mtu': 1400, 'address': ['fd00::7/64', '10.99.0.7/24'],"      \
	"'source-address': ['192.0.2.1', '2001:db8::1'], 'source-interface': 'eth0',"              \
	"'port': 5555, 'vni': 16777215, 'node-id': '192.0.2.9', 'node-name': 'fujisawa',"          \
	"'transit': { 'disable': true },"                                                          \
	"'peer': { 'seoul': { 'address': '198.51.100.7', 'port': 7 },"                             \
	"          'osaka': { 'address': 'osaka.example.net.' },"                                  \
	"          'kobe': { 'address': '2001:db8::7' } },"                                        \
	"'measurement': { 'interval': 2000, 'fast-interval': 50, 'dead-multiplier': 5 },"          \
	"'path': { 'threshold': 20, 'threshold-minimum': 100, 'hold-time': 0,"                     \
	"          'maximum-relays': 1, 'relay-cost': 0 },"                                        \
	"'fdb': { 'aging': 60, 'maximum': 100 },"                                                  \
	"'storm-control': { 'broadcast': 0, 'multicast': 1, 'unknown-unicast': 2 },"               \
	"'suppression': { 'arp': true, 'nd': true }, 'mss-clamp': { 'disable': true },"            \
	"'multicast': { 'snooping': true, 'querier': true },"                                      \
	"'shaper': { 'egress': 47500, 'automatic': true },"                                        \
	"'loop-guard': { 'disable': true, 'interval': 500, 'preference': 7 },"                     \
	"'authentication': { 'pre-shared-secret': 'correct horse',"                                \
	"'accept-secret': ['battery staple', 'twice again'] },"                                    \
	"'encryption': { 'rekey-time': 60 },"                                                      \
	"'overlay-address': ['10.99.0.1', 'fd00::1'],"                                             \
	"'export': { 'next-hop': { 'threshold': 20, 'threshold-minimum': 0, 'interval': 2000 },"   \
	"            'prefix': ['fd00:2::/64', '10.2.0.0/16', '10.1.0.0/16'],"                     \
	"            'unconditional': {} },"                                                       \
	"'import': { 'address': ['10.99.0.0/24'],"                                                 \
	"            'prefix': { '10.4.0.0/16': {},"                                               \
	"                        '10.0.0.0/8': { 'ge': 16, 'node': ["                              \
	"    '0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef', '192.0.2.3'] },"  \
	"                        '10.5.0.0/16': { 'ge': 20, 'le': 24 } } },"                       \
	"'member': { 'maximum': 100, 'forget-time': 60 },"                                         \
	"'system': { 'workers': 2, 'busy-poll': 50, 'control-socket': '/tmp/x.sock', 'log-level': 'debug' }"

static void every_key_is_read(void **state)
{
	struct conf *c = good(EVERYTHING);

	(void)state;
	assert_true(c->has_mac);
	assert_int_equal(mac_to_u64(c->mac), 0x02000000002aULL);
	assert_int_equal(c->mtu, 1400);
	assert_int_equal(c->n_addresses, 2);
	assert_int_equal(c->address[0].ip.family, 4);
	assert_int_equal(c->address[0].len, 24);
	assert_int_equal(c->address[1].len, 64);
	assert_string_equal(c->bridge, "");
	assert_int_equal(c->source4.b[3], 1);
	assert_int_equal(c->source6.family, 6);
	assert_string_equal(c->source_interface, "eth0");
	assert_int_equal(c->port, 5555);
	assert_int_equal(c->vni, 0xffffff);
	assert_int_equal(c->node_id, 0xc0000209);
	assert_string_equal(c->node_name, "fujisawa");
	assert_true(c->transit_disable);
	assert_int_equal(c->interval_ms, 2000);
	assert_int_equal(c->fast_interval_ms, 50);
	assert_int_equal(c->dead_multiplier, 5);
	assert_int_equal(c->threshold_percent, 20);
	assert_int_equal(c->threshold_min_us, 100);
	assert_int_equal(c->hold_time_ms, 0);
	assert_int_equal(c->maximum_relays, 1);
	assert_int_equal(c->relay_cost_us, 0);
	assert_int_equal(c->fdb_aging_s, 60);
	assert_int_equal(c->fdb_maximum, 100);
	assert_int_equal(c->storm_broadcast, 0);
	assert_int_equal(c->storm_multicast, 1);
	assert_int_equal(c->storm_unknown, 2);
	assert_true(c->suppress_arp);
	assert_true(c->suppress_nd);
	assert_true(c->multicast_snooping);
	assert_true(c->multicast_querier);
	assert_false(c->mss_clamp);
	assert_int_equal(c->shaper_egress_kbits, 47500);
	assert_true(c->shaper_automatic);
	assert_false(c->guard);
	assert_int_equal(c->guard_interval_ms, 500);
	assert_string_equal(c->secret, "correct horse");
	assert_int_equal(c->n_accept, 2);
	assert_string_equal(c->accept[1], "twice again");
	assert_int_equal(c->rekey_ms, 60000);
	assert_int_equal(c->n_overlay, 2);
	assert_int_equal(c->overlay[1].family, 6);
	assert_true(c->export_next_hop);
	assert_true(c->export_unconditional);
	assert_int_equal(c->export_threshold_percent, 20);
	assert_int_equal(c->export_threshold_min_us, 0);
	assert_int_equal(c->export_interval_ms, 2000);
	assert_int_equal(c->n_import_addresses, 1);
	assert_int_equal(c->nodes_maximum, 100);
	assert_int_equal(c->forget_ms, 60000);
	assert_int_equal(c->workers, 2);
	assert_string_equal(c->control_socket, "/tmp/x.sock");
	assert_int_equal(c->log_level, LOG_LVL_DEBUG);
	conf_free(c);
}

static void peers_are_sorted_by_name(void **state)
{
	struct conf *c = good(EVERYTHING);

	(void)state;
	assert_int_equal(c->n_peers, 3);
	assert_string_equal(c->peer[0].name, "kobe");
	assert_true(c->peer[0].is_ip);
	assert_int_equal(c->peer[0].ep.ip.family, 6);
	assert_string_equal(c->peer[1].name, "osaka");
	assert_false(c->peer[1].is_ip);
	assert_string_equal(c->peer[1].host, "osaka.example.net.");
	assert_int_equal(c->peer[1].ep.port, 5366);
	assert_string_equal(c->peer[2].name, "seoul");
	assert_int_equal(c->peer[2].ep.port, 7);
	assert_int_equal(c->peer[2].ep.ip.b[3], 7);
	conf_free(c);
}

static void prefixes_and_rules_are_sorted(void **state)
{
	struct conf *c = good(EVERYTHING);
	char text[PREFIX_STRLEN];

	(void)state;
	assert_int_equal(c->n_prefixes, 3);
	assert_string_equal(prefix_format(&c->prefix[0], text, sizeof(text)), "10.1.0.0/16");
	assert_string_equal(prefix_format(&c->prefix[1], text, sizeof(text)), "10.2.0.0/16");
	assert_string_equal(prefix_format(&c->prefix[2], text, sizeof(text)), "fd00:2::/64");
	assert_int_equal(c->n_imports, 3);
	/* ge alone: all prefixes of that length or longer. Without ge and le: this prefix only. */
	assert_string_equal(prefix_format(&c->import[0].prefix, text, sizeof(text)), "10.0.0.0/8");
	assert_int_equal(c->import[0].ge, 16);
	assert_int_equal(c->import[0].le, 32);
	assert_int_equal(c->import[0].n_nodes, 2);
	assert_int_equal(c->import[0].node[0].id, NODE_ID_NONE);
	assert_int_equal(c->import[0].node[0].key[31], 0xef);
	assert_int_equal(c->import[0].node[1].id, 0xc0000203);
	assert_int_equal(c->import[1].ge, 16);
	assert_int_equal(c->import[1].le, 16);
	assert_int_equal(c->import[1].n_nodes, 0);
	assert_int_equal(c->import[2].ge, 20);
	assert_int_equal(c->import[2].le, 24);
	conf_free(c);
	/* The presence of the object enables the export. */
	c = good("'export': { 'next-hop': {} }");
	assert_true(c->export_next_hop);
	conf_free(c);
}

static void limits_themselves_are_accepted(void **state)
{
	static const char *const texts[] = {
		"'mtu': 68",
		"'mtu': 9000",
		"'vni': 0",
		"'port': 65535",
		"'measurement': { 'interval': 100 }",
		"'measurement': { 'interval': 60000, 'fast-interval': 60000 }",
		"'path': { 'threshold': 90, 'threshold-minimum': 10000000, 'hold-time': 3600 }",
		"'fdb': { 'aging': 1000000, 'maximum': 1048576 }",
		"'node-name': '0123456789abcdef0123456789abcdef'",
		"'authentication': { 'pre-shared-secret': '12345678' }",
		"'encryption': { 'cipher': 'auto' }",
		"'encryption': { 'cipher': 'aes256gcm' },"
		"'authentication': { 'pre-shared-secret': '12345678' }",
		"'encryption': { 'cipher': 'chacha20poly1305', 'disable': false },"
		"'authentication': { 'pre-shared-secret': '12345678' }",
		"'encryption': { 'disable': true }",
		"'overlay-address': ['10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4']",
		"'peer': { 'a': { 'address': '3com.example' } }",
		"'peer': {}",
		"'source-address': []",
		"'source-address': ['127.0.0.1']",
	};

	(void)state;
	for (size_t i = 0; i < array_size(texts); i++)
		conf_free(good(texts[i]));
}

#define KEY_TAIL "123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define KEY_A	 "1" KEY_TAIL
#define KEY_B	 "0" KEY_TAIL
#define LISTED(keys)                                                                               \
	"'authentication': { 'pre-shared-secret': '12345678', 'trusted-identity': [" keys "] }"

static void trusted_identities_are_read(void **state)
{
	struct conf *c = good(LISTED("'" KEY_A "', '" KEY_B "'"));
	uint8_t key[MSG_KEY_LEN];

	(void)state;
	assert_int_equal(c->n_trusted, 2);
	assert_int_equal(hex_parse(KEY_A, key, sizeof(key)), 0);
	assert_true(conf_trusts(c, key));
	key[31] ^= 1;
	assert_false(conf_trusts(c, key));
	conf_free(c);
	c = good(LISTED(""));
	assert_int_equal(c->n_trusted, 0);
	assert_true(conf_trusts(c, key));
	conf_free(c);
}

/* The largest permitted number, and the next number. */
static void trusted_identities_are_bounded(void **state)
{
	char *keys = x_calloc(CONF_TRUSTED_MAX + 1, 80), *text = x_calloc(CONF_TRUSTED_MAX + 3, 80);
	char err[ERR_LEN];
	size_t at = 0;

	(void)state;
	for (unsigned i = 1; i <= CONF_TRUSTED_MAX + 1; i++) {
		struct conf *c;

		at += (size_t)snprintf(keys + at, 80, "%s'%064x'", i > 1 ? "," : "", i);
		if (i < CONF_TRUSTED_MAX)
			continue;
		snprintf(text, (CONF_TRUSTED_MAX + 3) * (size_t)80, LISTED("%s"), keys);
		c = parse(text, err);
		assert_true(!c == (i > CONF_TRUSTED_MAX));
		if (!c)
			assert_non_null(strstr(err, "more than 1024"));
		conf_free(c);
	}
	free(keys);
	free(text);
}

/* The pasted text may be the secret half of a key. */
static void no_key_is_printed_back(void **state)
{
	char err[ERR_LEN];

	(void)state;
	assert_null(parse(LISTED("'hush hush'"), err));
	assert_null(strstr(err, "hush"));
}

static void bad_secrets_are_refused(void **state)
{
	static const struct refusal cases[] = {
		{ "'authentication': {}", "authentication", "leonctl generate secret" },
		{ "'authentication': { 'psk': 'correct horse' }", "authentication.psk", "unknown" },
		{ "'authentication': { 'disable': false }", "authentication", "\"disable\": true" },
		{ "'authentication': { 'pre-shared-secret': '12345678', 'disable': true }",
		  "authentication.disable", "beside" },
		{ "'authentication': { 'accept-secret': ['12345678'] }",
		  "authentication.accept-secret", "pre-shared-secret of this node" },
		{ "'authentication': { 'pre-shared-secret': '12345678',"
		  "'accept-secret': ['1234567'] }",
		  "authentication.accept-secret", "8 to 128" },
		{ "'authentication': { 'pre-shared-secret': '12345678',"
		  "'accept-secret': ['PassWord'] }",
		  "authentication.accept-secret", "leonctl generate secret" },
		{ "'authentication': { 'pre-shared-secret': 'replace-this-by-your-own' }",
		  "authentication.pre-shared-secret", "leonctl generate secret" },
		{ "'authentication': { 'pre-shared-secret': 'OUTPUT OF leonctl generate secret' }",
		  "authentication.pre-shared-secret", "placeholder" },
		{ "'authentication': { 'pre-shared-secret': 'ChangeMe' }",
		  "authentication.pre-shared-secret", "obvious" },
		{ "'authentication': { 'pre-shared-secret': '12345678',"
		  "'accept-secret': ['12345678'] }",
		  "authentication.accept-secret", "twice" },
		{ "'authentication': { 'pre-shared-secret': '12345678',"
		  "'accept-secret': ['secret a', 'secret b', 'secret c', 'secret d'] }",
		  "authentication.accept-secret", "more than 3" },
		{ "'authentication': { 'trusted-identity': ['" KEY_A "'] }",
		  "authentication.trusted-identity", "needs a pre-shared-secret" },
		{ LISTED("'0123'"), "authentication.trusted-identity",
		  "entry 1 is not an identity" },
		{ LISTED("'" KEY_A "', '" KEY_A "0'"), "authentication.trusted-identity",
		  "entry 2 is not an identity" },
		{ LISTED("'A" KEY_TAIL "'"), "authentication.trusted-identity", "lower-case" },
		{ LISTED("'0000000000000000000000000000000000000000000000000000000000000000'"),
		  "authentication.trusted-identity", "entry 1" },
		{ LISTED("'" KEY_A "', '" KEY_B "', '" KEY_A "'"),
		  "authentication.trusted-identity", "names " KEY_A " twice" },
		{ LISTED("7"), "authentication.trusted-identity[0]", "a string" },
	};

	(void)state;
	all_are_refused(cases, array_size(cases));
}

static void bad_values_are_refused(void **state)
{
	static const struct refusal cases[] = {
		{ "'colour': 1", "colour", "unknown key" },
		{ "'peers': {}", "peers", "unknown key; did you mean \"peer\"?" },
		{ "'node_name': 'x'", "node_name", "unknown key; did you mean \"node-name\"?" },
		{ "'vnid': 1", "vnid", "unknown key; did you mean \"vni\"?" },
		{ "'mtu': 1400, 'mtu': 1500", "line 1", "the key \"mtu\" is twice in one object" },
		{ "'path': { 'treshold': 1 }", "path.treshold", "unknown key" },
		{ "'version': 2", "version", "" },
		{ "'interface': 'leon0123456789ab'", "interface", "15 characters" },
		{ "'interface': 'le/on'", "interface", "interface name" },
		{ "'interface': '..'", "interface", "interface name" },
		{ "'interface': ''", "interface", "interface name" },
		{ "'mac': '01:00:5e:00:00:01'", "mac", "unicast" },
		{ "'mac': '00:00:00:00:00:00'", "mac", "unicast" },
		{ "'mac': 'x'", "mac", "unicast" },
		{ "'mtu': 67", "mtu", "68 to 9000" },
		{ "'mtu': 9001", "mtu", "68 to 9000" },
		{ "'port': 0", "port", "1 to 65535" },
		{ "'vni': 16777216", "vni", "0 to 16777215" },
		{ "'node-id': '0.0.0.0'", "node-id", "not 0.0.0.0" },
		{ "'node-id': '255.255.255.255'", "node-id", "255.255.255.255" },
		{ "'node-id': 'me'", "node-id", "like an IPv4 address" },
		{ "'node-name': 'two words'", "node-name", "without spaces" },
		{ "'node-name': '0123456789abcdef0123456789abcdefg'", "node-name", "32" },
		{ "'node-name': ''", "node-name", "1 to 32" },
		{ "'node-name': '\xc3\xa9'", "node-name", "ASCII" },
		{ "'source-address': ['10.0.0.1', '10.0.0.2']", "source-address", "two IPv4" },
		{ "'source-address': ['::1', '10.0.0.2', 'fd00::1']", "source-address",
		  "two IPv6" },
		{ "'source-address': ['224.0.0.1']", "source-address", "unicast" },
		{ "'source-address': ['255.255.255.255']", "source-address", "unicast" },
		{ "'source-address': ['ff02::1']", "source-address", "unicast" },
		{ "'source-address': ['host.example']", "source-address", "unicast" },
		{ "'source-address': '10.0.0.1'", "source-address", "a list" },
		{ "'source-interface': 'a b'", "source-interface", "interface name" },
		{ "'peer': { 'a b': { 'address': '10.0.0.1' } }", "peer.a b", "letters" },
		{ "'peer': { '': { 'address': '10.0.0.1' } }", "peer.", "letters" },
		{ "'peer': { 'a': {} }", "peer.a.address", "is missing" },
		{ "'peer': { 'a': { 'address': '10.0.0.256' } }", "peer.a.address", "DNS name" },
		{ "'peer': { 'a': { 'address': '239.1.1.1' } }", "peer.a.address", "unicast" },
		{ "'peer': { 'a': { 'address': 'no..name' } }", "peer.a.address", "DNS name" },
		{ "'peer': { 'a': { 'address': '-x.example' } }", "peer.a.address", "DNS name" },
		{ "'peer': { 'a': { 'address': '' } }", "peer.a.address", "DNS name" },
		{ "'peer': { 'a': { 'address': '.' } }", "peer.a.address", "DNS name" },
		{ "'peer': { 'a': { 'address': 'x.example', 'port': 0 } }", "peer.a.port",
		  "65535" },
		{ "'peer': { 'a': { 'address': '10.0.0.1' }, 'b': { 'address': '10.0.0.1' } }",
		  "peer.b", "peer a" },
		{ "'peer': { 'a': { 'address': '::1' }, 'b': { 'address': '0::1' } }", "peer.b",
		  "peer a" },
		{ "'peer': { 'a': { 'address': 'X.example' }, 'b': { 'address': 'x.example' } }",
		  "peer.b", "peer a" },
		{ "'measurement': { 'interval': 99 }", "measurement.interval", "100 to 60000" },
		{ "'measurement': { 'fast-interval': 19 }", "measurement.fast-interval", "20 to" },
		{ "'measurement': { 'fast-interval': 1001 }", "measurement.fast-interval",
		  "above the interval" },
		{ "'measurement': { 'dead-multiplier': 1 }", "measurement.dead-multiplier",
		  "2 to 20" },
		{ "'path': { 'threshold': 91 }", "path.threshold", "0 to 90" },
		{ "'path': { 'threshold-minimum': 10000001 }", "path.threshold-minimum", "0 to" },
		{ "'path': { 'hold-time': 3601 }", "path.hold-time", "0 to 3600" },
		{ "'path': { 'hold-time': 'x' }", "path.hold-time", "0 to 3600" },
		{ "'path': { 'maximum-relays': 4 }", "path.maximum-relays", "0 to 3" },
		{ "'path': { 'relay-cost': 10000001 }", "path.relay-cost", "0 to" },
		{ "'path': 5", "path", "an object" },
		{ "'fdb': { 'aging': 9 }", "fdb.aging", "10 to" },
		{ "'fdb': { 'maximum': 15 }", "fdb.maximum", "16 to 1048576" },
		{ "'storm-control': { 'broadcast': -1 }", "storm-control.broadcast", "0 to" },
		{ "'shaper': { 'egress': -1 }", "shaper.egress", "0 to" },
		{ "'suppression': { 'arp': 1 }", "suppression.arp", "true or false" },
		{ "'multicast': { 'querier': true }", "multicast.querier", "snooping" },
		{ "'loop-guard': { 'interval': 99 }", "loop-guard.interval", "100 to 60000" },
		{ "'loop-guard': { 'preference': 256 }", "loop-guard.preference", "0 to 255" },
		{ "'encryption': { 'cipher': 'rot13' }", "encryption.cipher", "auto, aes256gcm" },
		{ "'encryption': { 'cipher': 7 }", "encryption.cipher", "string" },
		{ "'encryption': { 'cipher': 'aes256gcm' }", "encryption.cipher",
		  "pre-shared-secret" },
		{ "'authentication': { 'pre-shared-secret': '1234567' }",
		  "authentication.pre-shared-secret", "8 to 128" },
		{ "'identity-file': 'x'", "identity-file", "absolute" },
		{ "'encryption': { 'rekey-time': 0 }", "encryption.rekey-time", "1 to 86400" },
		{ "'overlay-address': ['10.0.0.1', '10.0.0.1']", "overlay-address", "twice" },
		{ "'overlay-address': ['10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4', '10.0.0.5']",
		  "overlay-address", "more than 4" },
		{ "'overlay-address': ['0.0.0.0']", "overlay-address", "unicast" },
		{ "'member': { 'maximum': 1 }", "member.maximum", "2 to 3072" },
		{ "'member': { 'forget-time': 0 }", "member.forget-time", "1 to" },
		{ "'system': { 'workers': 9 }", "system.workers", "0 to 8" },
		{ "'system': { 'control-socket': 'x.sock' }", "system.control-socket", "absolute" },
		{ "'system': { 'log-level': 'loud' }", "system.log-level", "debug" },
	};

	(void)state;
	all_are_refused(cases, array_size(cases));
}

static void bad_routes_are_refused(void **state)
{
	static const struct refusal cases[] = {
		{ "'export': { 'next-hop': { 'interval': 999 } }", "export.next-hop.interval",
		  "1000 to 60000" },
		{ "'export': { 'next-hop': { 'threshold': 91 } }", "export.next-hop.threshold",
		  "0 to 90" },
		{ "'export': { 'prefix': ['10.0.0.0/16'] }", "export.prefix",
		  "IPv4 overlay-address" },
		{ "'overlay-address': ['10.0.0.1'], 'export': { 'prefix': ['fd00::/16'] }",
		  "export.prefix", "IPv6 overlay-address" },
		{ "'export': { 'prefix': ['10.0.0.1/16'] }", "export.prefix", "host bits zero" },
		{ "'overlay-address': ['10.0.0.1'], 'export': { 'prefix': ['10.1.0.0/16', '10.1.0.0/16'] }",
		  "export.prefix", "twice" },
		{ "'import': { 'address': ['10.0.0.0/33'] }", "import.address", "not a prefix" },
		{ "'import': { 'prefix': { '10.0.0.0': { 'le': 31 } } }",
		  "import.prefix.10.0.0.0.le", "32" },
		{ "'import': { 'prefix': { '10.0.0.0/8': { 'ge': 24, 'le': 16 } } }",
		  "import.prefix.10.0.0.0/8.ge", "not be above le 16" },
		{ "'import': { 'prefix': { '10.0.0.0/8': { 'ge': 7 } } }",
		  "import.prefix.10.0.0.0/8.ge", "8 to 32" },
		{ "'import': { 'prefix': { '10.0.0.0/8': { 'node': ['seoul'] } } }",
		  "import.prefix.10.0.0.0/8.node", "names are not accepted" },
		{ "'import': { 'prefix': { '10.0.0.0/8': { 'node': ['0123456789abcdef'] } } }",
		  "import.prefix.10.0.0.0/8.node", "64 hexadecimal digits" },
		{ "'import': { 'prefix': { '10.0.0.0/8': { 'node': ['0.0.0.0'] } } }",
		  "import.prefix.10.0.0.0/8.node", "no node-id" },
		{ "'import': { 'prefix': { 'fd00::/16': {}, 'fd00:0::/16': {} } }", "import.prefix",
		  "twice" },
		{ "'import': { 'prefix': { '10.1.2.3/8': {} } }", "import.prefix.10.1.2.3/8",
		  "host bits zero" },
	};

	(void)state;
	all_are_refused(cases, array_size(cases));
}

static void too_long_values_are_refused(void **state)
{
	char text[1024], err[ERR_LEN], many[300];

	(void)state;
	memset(many, 'a', sizeof(many));
	snprintf(text, sizeof(text), "'authentication': { 'pre-shared-secret': '%.129s' }", many);
	assert_null(parse(text, err));
	assert_non_null(strstr(err, "8 to 128"));
	assert_null(strstr(err, "aaaaaaaa"));
	snprintf(text, sizeof(text), "'peer': { '%.64s': { 'address': '10.0.0.1' } }", many);
	assert_null(parse(text, err));
	snprintf(text, sizeof(text), "'peer': { 'a': { 'address': '%.64s.example' } }", many);
	assert_null(parse(text, err));
	snprintf(text, sizeof(text), "'system': { 'control-socket': '/%.107s' }", many);
	assert_null(parse(text, err));
	assert_non_null(strstr(err, "107"));
	conf_free(good("'system': { 'control-socket': '/a' }"));
}

static void too_many_peers_are_refused(void **state)
{
	size_t size = (CONF_PEERS_MAX + 2) * 64, at;
	char *text = x_calloc(size, 1), err[ERR_LEN];

	(void)state;
	for (int n = CONF_PEERS_MAX; n <= CONF_PEERS_MAX + 1; n++) {
		struct conf *c;

		at = (size_t)snprintf(text, size, "'peer': {");
		for (int i = 0; i < n; i++)
			at += (size_t)snprintf(text + at, size - at,
					       "%s'p%d': { 'address': '10.0.%d.%d' }", i ? "," : "",
					       i, i / 200, 1 + i % 200);
		snprintf(text + at, size - at, "}");
		c = parse(text, err);
		if (n <= CONF_PEERS_MAX) {
			assert_non_null(c);
			assert_int_equal(c->n_peers, n);
		} else {
			assert_null(c);
			assert_non_null(strstr(err, "256"));
		}
		conf_free(c);
	}
	free(text);
}

static void broken_documents_are_refused(void **state)
{
	static const char *const texts[] = { "",
					     "{",
					     "[]",
					     "null",
					     "{}",
					     "{\"version\":1}",
					     "{\"interface\":\"leon0\"}",
					     "{\"version\":1,\"interface\":\"leon0\"}" };
	char err[ERR_LEN];

	(void)state;
	for (size_t i = 0; i < array_size(texts); i++) {
		err[0] = '\0';
		assert_null(conf_parse(texts[i], strlen(texts[i]), err, sizeof(err)));
		assert_true(strlen(err) > 5);
	}
	/* A message that does not fit is truncated. */
	assert_null(conf_parse("{}", 2, err, 5));
	assert_int_equal(strlen(err), 4);
}

static void former_names_are_read(void **state)
{
	struct conf *c = good("'path': { 'noise-margin': 90, 'lasting-threshold': 7 }, "
			      "'measurement': { 'lasting-time': 900 }, "
			      "'acceleration': { 'power': { 'slow': 1 } }");
	static const struct refusal both[] = {
		{ "'path': { 'noise-margin': 90, 'variation-margin': 80 }", "path.noise-margin",
		  "is the former name of \"variation-margin\", which is set too" },
		{ "'path': { 'noise-margin': 1001 }", "path.noise-margin", "1000" },
	};

	(void)state;
	assert_int_equal(c->variation_percent, 90);
	assert_int_equal(c->long_term_percent, 7);
	assert_int_equal(c->long_term_s, 900);
	conf_free(c);
	all_are_refused(both, array_size(both));
}

static void the_cipher_differs(void **state)
{
#define WITH_SECRET "'authentication': { 'pre-shared-secret': '12345678' }"
	struct conf *a = good(WITH_SECRET);
	struct conf *b = good(WITH_SECRET ", 'encryption': { 'cipher': 'aes256gcm' }");

	(void)state;
	assert_int_equal(b->cipher, SEAL_CHOICE_AES_256_GCM);
	assert_int_equal(conf_diff(a, b), CONF_KEYS);
	conf_free(a);
	conf_free(b);
}

static void wrong_type_does_not_print_the_secret(void **state)
{
	char err[ERR_LEN];

	(void)state;
	assert_null(parse("'authentication': { 'pre-shared-secret': 123456789 }", err));
	assert_null(strstr(err, "123456789"));
	assert_null(parse("'authentication': { 'pre-shared-secret': ['hush hush'] }", err));
	assert_null(strstr(err, "hush"));
}

static unsigned diff(const char *a, const char *b, char *keys, size_t len)
{
	struct conf *x = good(a), *y = good(b);
	unsigned d = conf_diff(x, y);

	assert_int_equal(conf_diff(y, x), d);
	conf_restart_keys(x, y, keys, len);
	conf_free(x);
	conf_free(y);
	return d;
}

static void differences_are_notified_apart(void **state)
{
	static const struct {
		const char *a, *b;
		unsigned change;
		const char *keys;
	} cases[] = {
		{ "", "", CONF_SAME, "" },
		{ EVERYTHING, EVERYTHING, CONF_SAME, "" },
		{ "", "'port': 5366, 'path': { 'hold-time': 10 }", CONF_SAME, "" },
		{ "'peer': { 'a': { 'address': '10.0.0.1' }, 'b': { 'address': '10.0.0.2' } }",
		  "'peer': { 'b': { 'address': '10.0.0.2' }, 'a': { 'address': '10.0.0.1' } }",
		  CONF_SAME, "" },
		{ "'peer': { 'a': { 'address': '10.0.0.1' } }",
		  "'peer': { 'a': { 'address': '10.0.0.2' } }", CONF_PEERS, "" },
		{ "'peer': { 'a': { 'address': '10.0.0.1' } }",
		  "'peer': { 'b': { 'address': '10.0.0.1' } }", CONF_PEERS, "" },
		{ "'peer': { 'a': { 'address': '10.0.0.1' } }",
		  "'peer': { 'a': { 'address': '10.0.0.1', 'port': 9 } }", CONF_PEERS, "" },
		{ "", "'peer': { 'b': { 'address': '10.0.0.1' } }", CONF_PEERS, "" },
		{ "", "'measurement': { 'interval': 999 }", CONF_PROBING, "" },
		{ "", "'measurement': { 'fast-interval': 99 }", CONF_PROBING, "" },
		{ "", "'measurement': { 'dead-multiplier': 4 }", CONF_PROBING, "" },
		{ "", "'path': { 'threshold': 11 }", CONF_PATHS, "" },
		{ "", "'path': { 'threshold-minimum': 1 }", CONF_PATHS, "" },
		{ "", "'path': { 'hold-time': 11 }", CONF_PATHS, "" },
		{ "", "'path': { 'maximum-relays': 1 }", CONF_PATHS, "" },
		{ "", "'path': { 'relay-cost': 1 }", CONF_PATHS, "" },
		{ "", "'fdb': { 'aging': 301 }", CONF_FDB, "" },
		{ "", "'fdb': { 'maximum': 301 }", CONF_FDB, "" },
		{ "", "'storm-control': { 'broadcast': 1 }", CONF_FRAMES, "" },
		{ "", "'storm-control': { 'multicast': 1 }", CONF_FRAMES, "" },
		{ "", "'storm-control': { 'unknown-unicast': 1 }", CONF_FRAMES, "" },
		{ "", "'suppression': { 'arp': true }", CONF_FRAMES, "" },
		{ "", "'mss-clamp': { 'disable': true }", CONF_FRAMES, "" },
		{ "", "'suppression': { 'nd': true }", CONF_FRAMES, "" },
		{ "", "'loop-guard': { 'disable': true }", CONF_FRAMES, "" },
		{ "", "'loop-guard': { 'preference': 0 }", CONF_FRAMES, "" },
		{ "", "'mac': '02:00:00:00:00:01'", CONF_DEVICE, "" },
		{ "", "'mtu': 1300", CONF_DEVICE, "" },
		{ "", "'node-name': 'x'", CONF_RECORD, "" },
		{ "", "'transit': { 'disable': true }", CONF_RECORD, "" },
		{ "", "'overlay-address': ['10.0.0.1']", CONF_RECORD | CONF_ROUTES, "" },
		{ "'overlay-address': ['10.0.0.2']", "'overlay-address': ['10.0.0.1']",
		  CONF_RECORD | CONF_ROUTES, "" },
		{ "'overlay-address': ['10.0.0.2']",
		  "'overlay-address': ['10.0.0.2'], 'export': { 'prefix': ['10.1.0.0/16'] }",
		  CONF_RECORD | CONF_ROUTES, "" },
		{ "", "'export': { 'next-hop': {} }", CONF_ROUTES, "" },
		{ "", "'export': { 'unconditional': {} }", CONF_ROUTES, "" },
		{ "'export': { 'next-hop': {} }", "'export': { 'next-hop': { 'threshold': 11 } }",
		  CONF_ROUTES, "" },
		{ "'export': { 'next-hop': {} }",
		  "'export': { 'next-hop': { 'threshold-minimum': 11 } }", CONF_ROUTES, "" },
		{ "'export': { 'next-hop': {} }", "'export': { 'next-hop': { 'interval': 1001 } }",
		  CONF_ROUTES, "" },
		{ "", "'import': { 'address': ['10.0.0.0/8'] }", CONF_ROUTES, "" },
		{ "", "'import': { 'prefix': { '10.0.0.0/8': {} } }", CONF_ROUTES, "" },
		{ "'import': { 'prefix': { '10.0.0.0/8': {} } }",
		  "'import': { 'prefix': { '10.0.0.0/8': { 'le': 9 } } }", CONF_ROUTES, "" },
		{ "'import': { 'prefix': { '::/0': { 'node': ['1.1.1.1'] } } }",
		  "'import': { 'prefix': { '::/0': { 'node': ['1.1.1.2'] } } }", CONF_ROUTES, "" },
		{ "", "'system': { 'log-level': 'debug' }", CONF_LOG, "" },
		{ "", "'member': { 'maximum': 7 }", CONF_MEMBERS, "" },
		{ "", "'member': { 'forget-time': 7 }", CONF_MEMBERS, "" },
		{ "", "'vni': 7", CONF_RESTART, "vni" },
		{ "", "'port': 7", CONF_RESTART, "port" },
		{ "", "'node-id': '1.2.3.4'", CONF_RESTART, "node-id" },
		{ "", "'source-address': ['10.0.0.1']", CONF_RESTART, "source-address" },
		{ "", "'source-interface': 'eth0'", CONF_RESTART, "source-interface" },
		{ "", "'system': { 'busy-poll': 20 }", CONF_FRAMES, "" },
		{ "", "'system': { 'workers': 1 }", CONF_RESTART, "system.workers" },
		{ "", "'system': { 'control-socket': '/x' }", CONF_RESTART,
		  "system.control-socket" },
		{ "", "'encryption': { 'disable': true }", CONF_KEYS, "" },
		{ "'authentication': { 'pre-shared-secret': '12345678' }",
		  "'authentication': { 'pre-shared-secret': '12345679' }", CONF_KEYS, "" },
		{ "'authentication': { 'pre-shared-secret': '12345678' }",
		  "'authentication': { 'pre-shared-secret': '12345678',"
		  "'accept-secret': ['abcdefgh'] }",
		  CONF_KEYS, "" },
		{ "", "'encryption': { 'rekey-time': 7 }", CONF_KEYS, "" },
		{ "", "'identity-file': '/x'", CONF_RESTART, "identity-file" },
		{ "'authentication': { 'pre-shared-secret': '12345679' }", "",
		  CONF_RESTART | CONF_KEYS, "authentication.pre-shared-secret" },
		{ "", "'authentication': { 'pre-shared-secret': '12345679' }",
		  CONF_RESTART | CONF_KEYS, "authentication.pre-shared-secret" },
		{ "", "'vni': 7, 'port': 7, 'mtu': 1300", CONF_RESTART | CONF_DEVICE, "port, vni" },
	};

	(void)state;
	for (size_t i = 0; i < array_size(cases); i++) {
		char keys[200];
		unsigned d = diff(cases[i].a, cases[i].b, keys, sizeof(keys));

		if (d != cases[i].change || strcmp(keys, cases[i].keys) != 0)
			fail_msg("%s against %s: %#x, keys \"%s\"", cases[i].a, cases[i].b, d,
				 keys);
	}
}

static void scheduling_is_changed_live(void **state)
{
	char keys[64];

	(void)state;
	assert_int_equal(diff("", "'system': { 'scheduling': 'normal' }", keys, sizeof(keys)),
			 CONF_SCHEDULING);
	assert_int_equal(diff("", "'system': { 'scheduling': 'realtime' }", keys, sizeof(keys)),
			 CONF_SAME);
	assert_string_equal(keys, "");
}

static void the_list_differs(void **state)
{
	char keys[100];

	(void)state;
	assert_int_equal(diff(LISTED("'" KEY_A "'"), LISTED("'" KEY_B "'"), keys, sizeof(keys)),
			 CONF_KEYS);
	assert_int_equal(diff(LISTED("'" KEY_A "'"), LISTED(""), keys, sizeof(keys)), CONF_KEYS);
	assert_int_equal(diff(LISTED("'" KEY_A "', '" KEY_B "'"),
			      LISTED("'" KEY_B "', '" KEY_A "'"), keys, sizeof(keys)),
			 CONF_SAME);
}

static void other_interface_needs_a_restart(void **state)
{
	const char *text = "{\"version\":1,\"interface\":\"leon1\","
			   "\"authentication\":{\"disable\":true}}";
	char err[ERR_LEN], keys[100], cut[6];
	struct conf *a = good(""), *b = conf_parse(text, strlen(text), err, sizeof(err));

	(void)state;
	assert_non_null(b);
	assert_int_equal(conf_diff(a, b), CONF_RESTART);
	conf_restart_keys(a, b, keys, sizeof(keys));
	/* The default control socket is named after the interface. */
	assert_string_equal(keys, "interface, identity-file, system.control-socket");
	conf_restart_keys(a, b, cut, sizeof(cut));
	assert_string_equal(cut, "inter");
	conf_free(a);
	conf_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults),
		cmocka_unit_test(every_key_is_read),
		cmocka_unit_test(peers_are_sorted_by_name),
		cmocka_unit_test(prefixes_and_rules_are_sorted),
		cmocka_unit_test(limits_themselves_are_accepted),
		cmocka_unit_test(bad_values_are_refused),
		cmocka_unit_test(trusted_identities_are_read),
		cmocka_unit_test(trusted_identities_are_bounded),
		cmocka_unit_test(no_key_is_printed_back),
		cmocka_unit_test(bad_secrets_are_refused),
		cmocka_unit_test(bad_routes_are_refused),
		cmocka_unit_test(too_long_values_are_refused),
		cmocka_unit_test(too_many_peers_are_refused),
		cmocka_unit_test(broken_documents_are_refused),
		cmocka_unit_test(former_names_are_read),
		cmocka_unit_test(the_cipher_differs),
		cmocka_unit_test(wrong_type_does_not_print_the_secret),
		cmocka_unit_test(differences_are_notified_apart),
		cmocka_unit_test(scheduling_is_changed_live),
		cmocka_unit_test(the_list_differs),
		cmocka_unit_test(other_interface_needs_a_restart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
