# SPDX-License-Identifier: GPL-2.0-or-later
"""The section `leon:` of user-data: the result, and the message for each error. leond itself
checks the file. The machine is a folder and a list of commands.
"""
import json
import os
import re
import subprocess
import textwrap
import urllib.error
from pathlib import Path

import pytest
from cloud_machine import SECRET, TOP, Machine
from leon_cloud import apply, network, section

HERE = {'hostname': 'fujisawa.example.net', 'uplink': 'ens3', 'uplink-mac': '52:54:00:00:00:01',
        'address': '10.0.0.5'}
PLACEHOLDER = 'OUTPUT OF leonctl generate secret'
# The token of protocol.md: VNI 1, 192.0.2.1, seoul.example.net:7000.
TOKEN = ('leon1.AAABAhT2CTE5Mi4wLjIuMRtYEXNlb3VsLmV4YW1wbGUubmV0HGNvcnJlY3QgaG9yc2UgYmF0dGVyeSBzdGFw'
         'bGU7Hy_G')
OF_TOKEN = {'vni': 1, 'peer': {'seed-1': {'address': '192.0.2.1'},
                               'seed-2': {'address': 'seoul.example.net', 'port': 7000}},
            'authentication': {'pre-shared-secret': 'correct horse battery staple'}}


def plan(machine=None, **keys):
    return section.plan({key.replace('_', '-'): value for key, value in keys.items()},
                        HERE if machine is None else machine)


def faults(**keys):
    with pytest.raises(section.SectionError) as caught:
        plan(**keys)
    return caught.value.faults


def test_short_forms():
    made = plan(peer=['198.51.100.1', 'seoul.example.net:5367', '[2001:db8::1]:5366', '2001:db8::2'],
                address='10.99.0.1/32', export='10.1.0.0/16')
    assert made.document == {
        'version': 1,
        'interface': 'leon0',
        'node-name': 'fujisawa',
        'node-id': '10.0.0.5',
        'source-interface': 'ens3',
        'overlay-address': ['10.99.0.1'],
        'peer': {
            'peer1': {'address': '198.51.100.1'},
            'peer2': {'address': 'seoul.example.net', 'port': 5367},
            'peer3': {'address': '2001:db8::1', 'port': 5366},
            'peer4': {'address': '2001:db8::2'},
        },
        'export': {'next-hop': {}, 'prefix': ['10.1.0.0/16']},
    }


def test_every_leaf_of_leond_is_passed_on():
    """All present and future leaves of leond.json(5). systemd-networkd of the image sets addresses
    and the bridge, with the local ports."""
    schema = json.loads(subprocess.run(
        ['/usr/bin/python3', '-B', TOP / 'vyos-1x-leon/tools/conf_schema.py'],
        capture_output=True, text=True, check=True).stdout)
    leaves = set(schema['properties']) - {'version', 'interface'}
    assert len(leaves) > 20
    assert leaves & set(section.OWN) == {'address', 'bridge'}
    leaves -= set(section.OWN)
    made = section.plan({leaf: {'x': leaf} for leaf in leaves}, HERE)
    assert {leaf: made.document[leaf] for leaf in leaves} == {leaf: {'x': leaf} for leaf in leaves}
    assert set(section.SHORT) <= leaves


def test_long_forms_are_left_alone():
    peer = {'seoul': {'address': '203.0.113.1', 'disable': True}}
    made = plan(peer=peer, export={'prefix': ['10.1.0.0/16']}, node_name='a', node_id='1.2.3.4',
                overlay_address=['10.99.0.9'], address='10.99.0.1/24')
    assert made.document['peer'] == peer
    assert made.document['export'] == {'prefix': ['10.1.0.0/16']}
    assert (made.document['node-name'], made.document['node-id']) == ('a', '1.2.3.4')
    assert made.document['overlay-address'] == ['10.99.0.9']


def test_import_of_prefixes():
    made = plan(**{'import': ['10.0.0.0/8', 'fd00::/16']})
    assert made.document['import'] == {'prefix': {'10.0.0.0/8': {}, 'fd00::/16': {}}}
    assert made.routes


def test_elastic_address_is_the_node_id():
    """Two sites may have the same private address, but never the same elastic address."""
    assert plan({**HERE, 'public-address': '198.51.100.9'}).document['node-id'] == '198.51.100.9'
    assert 'node-id' not in plan({**HERE, 'public-address': '198.51.100.9'},
                                 source_address=['10.0.0.5']).document
    assert 'node-id' not in plan({}).document


def test_node_id_without_ipv4():
    here = {**HERE, 'address': None}
    others = {'uplink-mac': None}, {'uplink-mac': '52:54:00:00:00:02'}, {'hostname': 'seoul'}, {}
    drawn = [plan({**here, **other}).document['node-id'] for other in others * 2]
    assert drawn[:4] == drawn[4:] and len(set(drawn)) == 4 and re.match(r'2[45]\d\.', drawn[0])
    for document in plan({}), plan(here, source_address=['2001:db8::1']), plan(here, source_interface='b'):
        assert 'node-id' not in document.document


@pytest.mark.parametrize('data', [
    {'ds': {'meta_data': {'public-ipv4': '198.51.100.9'}}},
    {'ds': {'ec2_metadata': {'public-ipv4': '198.51.100.9'}, 'meta_data': {'uuid': 'x'}}},
    {'ds': {'meta_data': {'imds': {'network': {'interface': [
        {'ipv4': {'ipAddress': [{'privateIpAddress': '10.0.0.4',
                                 'publicIpAddress': '198.51.100.9'}]}}]}}}}},
])
def test_public_address_in_instance_data(data):
    assert section.public_address(data) == '198.51.100.9'


@pytest.mark.parametrize('data', [
    {}, {'ds': None}, {'ds': {'meta_data': {'public-ipv4': ''}}},
    {'ds': {'meta_data': {'imds': {'network': {'interface': []}}}}},
])
def test_no_public_address(data):
    assert section.public_address(data) is None


def test_secret_joins_what_else_says_who_may_be_a_member():
    trusted = {'trusted-identity': ['ab' * 32]}
    assert plan(authentication=trusted, secret=SECRET).with_secret(SECRET)['authentication'] == {
        **trusted, 'pre-shared-secret': SECRET}
    assert plan(authentication=trusted).with_secret(None)['authentication'] == trusted


@pytest.mark.parametrize('keys, sentences', [
    ({'address': '10.99.0.1'},
     ['leon.address: 10.99.0.1 has no length; write 10.99.0.1/24, or 10.99.0.1/32 where this node '
      'routes prefixes']),
    ({'address': 'ten/24'},
     ['leon.address: ten/24 is no address with its length, such as 10.99.0.1/24']),
    ({'address': 5}, ['leon.address: 5 is no string; put it in quotes']),
    ({'interface': 'a name with spaces'},
     ["leon.interface: 'a name with spaces' is no name of an interface: 1 to 15 letters, digits and "
      '. _ -']),
    ({'ports': ['ens3']},
     ['leon.ports: ens3 carries the default route of this machine, which would be out of reach; give '
      'the interface of the local segment']),
    ({'ports': ['52:54:00:00:00:01']},
     ['leon.ports: 52:54:00:00:00:01 carries the default route of this machine, which would be out '
      'of reach; give the interface of the local segment']),
    ({'ports': ['../x']},
     ['leon.ports: ../x is neither the name nor the MAC address of an interface']),
    ({'ports': 'ens4', 'export': '10.1.0.0/16'},
     ['leon.export: a node that routes prefixes has leon0 to itself, and one with ports or a bridge '
      'has it in a bridge; take out one of them']),
    ({'bridge': 'a/b'},
     ["leon.bridge: 'a/b' is no name of an interface: 1 to 15 letters, digits and . _ -"]),
    ({'bridge': 'br7', 'address': '10.99.0.1/24'},
     ['leon.address: a port of a bridge has no address; give ports too, or set the address where br7 '
      'is made']),
    ({'bridge': 'br7', 'export': '10.1.0.0/16'},
     ['leon.export: a node that routes prefixes has leon0 to itself, and one with ports or a bridge '
      'has it in a bridge; take out one of them']),
    ({'data-disk': 'vdb'},
     ["leon.data-disk: 'vdb' is no disk, such as /dev/vdb or /dev/disk/by-label/leon-data"]),
    ({'peer': [17]}, ['leon.peer: 17 is no address or name, with or without :PORT']),
    ({'import': [17]}, ['leon.import: is no list of prefixes such as 10.0.0.0/8']),
    ({'secret': 12345678}, ['leon.secret: is no string; put it in quotes']),
    ({'secret': SECRET, 'secret-from': 'https://x/'},
     ['leon.secret-from: secret is given too; give one of them']),
    ({'secret': SECRET, 'authentication': {'pre-shared-secret': SECRET}},
     ['leon.secret: authentication.pre-shared-secret is given too; give one of them']),
    ({'token': 7}, ['leon.token: is no string; put it in quotes']),
    ({'token': TOKEN, 'secret': SECRET},
     ['leon.token: secret is given too; give one of them']),
    ({'token': TOKEN, 'token-from': 'https://x/'},
     ['leon.token-from: token is given too; give one of them']),
    ({'token': TOKEN, 'authentication': {'pre-shared-secret': SECRET}},
     ['leon.token: authentication.pre-shared-secret is given too; give one of them']),
    ({'token': TOKEN, 'vni': 7},
     ['leon.vni: the token has one; take this one out, or give peer and secret in place of the token']),
    ({'token-from': 'http://vault.example.net/leon'},
     ['leon.token-from: is sent in the clear; give an address with https:// (http:// only for the '
      'metadata service of the cloud), or file:///']),
    ({'secret-from': 'http://vault.example.net/leon'},
     ['leon.secret-from: is sent in the clear; give an address with https:// (http:// only for the '
      'metadata service of the cloud), or file:///']),
    ({'secret-from': 'file:///var/tmp/secret'},
     ['leon.secret-from: leon-cloud has a /tmp and a /var/tmp of its own; put the file below /run']),
    ({'token-from': {'url': 'file:///tmp/token'}},
     ['leon.token-from: leon-cloud has a /tmp and a /var/tmp of its own; put the file below /run']),
    ({'secret-from': {'url': 'https://x/', 'token': 'y'}},
     ['leon.secret-from.token: unknown key']),
    ({'secret-from': {'url': 'https://x/', 'headers': {'a': 1}}},
     ['leon.secret-from.headers: is no object of strings']),
    ({'secret-from': {}}, ['leon.secret-from: is neither an address nor { url, headers }']),
    ({'ipsec': 'yes'}, ['leon.ipsec: is no object; see leon-ipsec(8)']),
    # All errors at once.
    ({'address': 'x', 'data-disk': 7},
     ['leon.address: x is no address with its length, such as 10.99.0.1/24',
      'leon.data-disk: 7 is no disk, such as /dev/vdb or /dev/disk/by-label/leon-data']),
])
def test_faults(keys, sentences):
    assert faults(**keys) == sentences


@pytest.mark.parametrize('given, sentence', [
    (['peer'], 'leon: is no object; write keys below it, such as peer and secret'),
    ({5: 6}, 'leon.5: unknown key'),
])
def test_sections_that_are_none(given, sentence):
    with pytest.raises(section.SectionError) as caught:
        section.plan(given, HERE)
    assert caught.value.faults == [sentence]


@pytest.mark.parametrize('url', [
    'https://vault.example.net/v1/leon', 'file:///run/secret', 'http://169.254.169.254/latest/user',
    'http://metadata.google.internal/computeMetadata/v1/instance/attributes/leon'])
def test_places_of_secrets(url):
    assert plan(secret_from=url).secret == {'url': url, 'headers': {}}


def units_of(text):
    """{section: {key: value}} of a file of systemd."""
    found, inside = {}, None
    for line in text.splitlines():
        if line.startswith('['):
            inside = found.setdefault(line.strip('[]'), {})
        elif '=' in line:
            key, _, value = line.partition('=')
            inside[key] = value
    return found


def test_network_of_a_node_alone():
    made = network.files(plan(address=['10.99.0.1/24', 'fd00:99::1/64']))
    (text,) = made.values()
    assert list(made) == ['/etc/systemd/network/05-leon-leon0.network']
    assert text.count('Address=') == 2
    assert units_of(text)['Match'] == {'Name': 'leon0'}


def bridge_mac(machine=None, **keys):
    made = network.files(plan(machine, ports='ens4', **keys))
    return units_of(made['/etc/systemd/network/05-leon-br0.netdev'])['NetDev'].get('MACAddress')


def test_copies_have_bridges_with_their_own_mac_addresses():
    """A copy of a disk has the machine-id of the original and another node-id."""
    macs = [bridge_mac(node_id='10.0.0.1'), bridge_mac(node_id='10.0.0.2'),
            bridge_mac(source_address=['10.0.0.1']), bridge_mac(source_address=['10.0.0.2'])]
    assert len(set(macs)) == 4 and all(int(mac[:2], 16) & 3 == 2 for mac in macs)
    # The node-id is unknown until leond starts.
    assert bridge_mac({}) is None


def test_network_of_a_bridge():
    made = {os.path.basename(name): units_of(text) for name, text in
            network.files(plan(ports=['ens4', '52:54:00:aa:bb:cc'], address='10.1.0.9/24')).items()}
    assert made['05-leon-br0.netdev']['NetDev'] == {
        'Name': 'br0', 'Kind': 'bridge', 'MACAddress': bridge_mac(node_id='10.0.0.5')}
    assert made['05-leon-br0.network']['Network']['Address'] == '10.1.0.9/24'
    assert made['05-leon-leon0.network']['Network'] == {'Bridge': 'br0', 'LinkLocalAddressing': 'no'}
    assert made['05-leon-port-ens4.network']['Match'] == {'Name': 'ens4'}
    assert made['05-leon-port-525400aabbcc.network']['Match'] == {
        'PermanentMACAddress': '52:54:00:aa:bb:cc'}
    assert 'overlay-address' not in plan(ports=['ens4'], address='10.1.0.9/24').document


def test_bridge_of_another_program():
    """leond joins the bridge. systemd-networkd would take the interface out again."""
    made = plan(bridge='br7')
    assert made.document['bridge'] == 'br7'
    assert network.files(made) == {}
    assert 'bridge' not in plan(bridge='br7', ports=['ens4']).document


def test_routes_are_forwarded():
    made = network.files(plan(address='10.99.0.1/32', export='10.1.0.0/16'))
    assert 'net.ipv4.ip_forward = 1' in made['/etc/sysctl.d/60-leon-routes.conf']
    assert '/etc/sysctl.d/60-leon-routes.conf' not in network.files(plan())


@pytest.fixture
def machine(tmp_path):
    made = Machine(tmp_path)
    made.answers['ip -j -4 route'] = (0, '[{"dev": "ens3"}]', '')
    made.answers['ip -j address'] = (0, json.dumps([{'address': '52:54:00:00:00:01', 'addr_info': [
        {'family': 'inet', 'scope': 'global', 'local': '10.0.0.5'}]}]), '')
    return made


def test_first_boot(machine):
    machine.tell({'peer': '198.51.100.1', 'secret': SECRET, 'address': '10.99.0.1/24'})
    assert apply.apply(machine) == 0
    assert machine.document() == {
        'version': 1, 'interface': 'leon0', 'node-name': 'seoul', 'node-id': '10.0.0.5',
        'source-interface': 'ens3', 'overlay-address': ['10.99.0.1'],
        'peer': {'peer1': {'address': '198.51.100.1'}},
        'authentication': {'pre-shared-secret': SECRET}}
    assert (machine.root / 'etc/leon/leon0.json').stat().st_mode & 0o777 == 0o640
    assert machine.ran[-3:] == ['networkctl reload', 'systemctl enable --no-reload leond@leon0.service',
                                'systemctl restart --no-block leond@leon0.service']
    assert machine.said == ['leon: leon0 is configured from the user-data: node seoul, 1 peers; '
                            'leonctl show nodes']
    assert SECRET not in ' '.join(machine.ran + machine.said)


@pytest.mark.parametrize('step', ['enable', 'restart'])
def test_a_daemon_that_is_not_started_is_told(machine, step):
    """The failure is reported, and the next boot tries again."""
    machine.answers[f'systemctl {step}'] = (1, '', 'Transport endpoint is not connected\n')
    machine.tell({'peer': '198.51.100.1'})
    assert apply.apply(machine) == 1
    assert machine.said[0] == ('leon: leond@leon0.service cannot be started: Transport endpoint is not '
                               'connected; run: systemctl enable --now leond@leon0.service')
    machine.answers.pop(f'systemctl {step}')
    assert apply.apply(machine) == 0
    assert machine.read('run/issue.d/leon.issue') == ''


def test_nothing_waits_for_systemd_to_read_all_anew(machine):
    """The generators of systemd reach their timeout on a slow machine, and jobs are then lost."""
    disk_of(machine, (0, 'UUID=6a-7\nTYPE=ext4\n', ''))
    machine.tell({'data-disk': '/dev/vdb'})
    assert apply.apply(machine) == 0
    assert not [line for line in machine.ran if 'daemon-reload' in line or '--now' in line]


def test_later_boots_leave_it_to_the_operator(machine):
    machine.tell({'peer': '198.51.100.1'})
    assert apply.apply(machine) == 0
    (machine.root / 'etc/leon/leon0.json').write_text('mine')
    machine.ran.clear()
    assert apply.apply(machine) == 0
    assert machine.read('etc/leon/leon0.json') == 'mine'
    assert machine.ran == []


def firmware(machine, uuid):
    (machine.root / apply.UUID).parent.mkdir(parents=True, exist_ok=True)
    (machine.root / apply.UUID).write_text(uuid)


@pytest.fixture
def configured(machine):
    """A configured machine, with its identity key and IPsec."""
    firmware(machine, 'uuid-1\n')
    machine.tell({'ports': 'ens4', 'ipsec': {'version': 1}})
    assert apply.apply(machine) == 0
    (machine.root / 'var/lib/leon').mkdir(parents=True)
    (machine.root / 'var/lib/leon/leon0.identity').write_text('key')
    machine.ran.clear()
    return machine


@pytest.fixture(params=['uuid-2\n', '', 'a container', apply.SHARED_UUID.upper() + '\n'])
def copy(configured, request):
    """A copy of the disk, in a machine with another UUID or without one of its own."""
    if request.param == 'a container':
        configured.write(apply.CONTAINER, 'lxc\n')
        return configured
    firmware(configured, request.param)
    if request.param.strip().lower() == apply.SHARED_UUID:
        configured.write(apply.HARDWARE, request.param)
    return configured


@pytest.mark.parametrize('is_upgraded', [False, True])
@pytest.mark.parametrize('leon, status', [
    ({'token': 'leon3.used'}, 1), ({'secret-from': 'https://vault.example.net/leon'}, 1),
    ({'pear': 1}, 1), ('#cloud-config\npackages: [mtr]\n', 0)])
def test_changed_user_data_with_an_error(configured, monkeypatch, leon, status, is_upgraded):
    """Proxmox VE derives the instance-id from the user-data. The former configuration remains."""
    if is_upgraded:  # from a version that did not store the UUID
        (configured.root / apply.HARDWARE).unlink()
        assert apply.apply(configured) == 0
    assert (configured.root / apply.HARDWARE).stat().st_mode & 0o777 == 0o600
    answer_joins(configured, monkeypatch, 1)
    before = configured.document()
    configured.tell(leon, number='i-2')
    assert apply.apply(configured) == status
    assert configured.document() == before and configured.read('var/lib/leon/leon0.identity') == 'key'
    assert len(list((configured.root / 'etc/systemd/network').iterdir())) > 1


@pytest.mark.parametrize('is_upgraded', [False, True])
def test_changed_user_data_leaves_other_interfaces_alone(configured, is_upgraded):
    """`leonctl -i leon1 join` made the others. Earlier versions stored no interface name."""
    if is_upgraded:
        (configured.root / apply.INTERFACE).unlink()
    for name in ('leon1.json', 'leon1.ipsec.json', 'leon0-b.json'):
        (configured.root / 'etc/leon' / name).write_text('mine')
    configured.tell({'ports': 'ens5'}, number='i-2')
    assert apply.apply(configured) == 0
    left = {path.name for path in (configured.root / 'etc/leon').glob('*.json')} - {'leon0.json'}
    assert left == (set() if is_upgraded else {'leon1.json', 'leon1.ipsec.json', 'leon0-b.json'})
    configured.tell({'interface': 'leon1'}, number='i-3')
    assert apply.apply(configured) == 0
    assert configured.read('etc/leon/leon1.json.original') == 'mine'


def test_changed_user_data_replaces_the_configuration(configured):
    """The identity key remains. No file of the former configuration remains in use."""
    configured.tell({'interface': 'leon1'}, number='i-2')
    assert apply.apply(configured) == 0
    assert [path.name for path in (configured.root / 'etc/leon').glob('*.json')] == ['leon1.json']
    assert 'ens3' in configured.read('etc/leon/leon0.json.original')
    assert configured.read('var/lib/leon/leon0.identity') == 'key'
    assert configured.read(apply.DONE) == 'i-2\n'
    # A running leon-ipsec has the former documents.
    assert 'systemctl try-restart --no-block leon-ipsec@leon1.service' in configured.ran


@pytest.mark.parametrize('full', ['etc/leon/leon0.json', 'etc/systemd/network/05-leon-br0.network'])
def test_a_full_disk_keeps_the_former_configuration(configured, full):
    def files():
        return {path: path.read_text() for path in (configured.root / 'etc').rglob('*')
                if path.is_file() and path.suffix != '.new'}
    before = files()
    configured.tell({'ports': 'ens5'}, number='i-2')
    configured.full = [full]
    assert apply.apply(configured) == 1
    assert files() == before and configured.read(apply.DONE) == 'i-1\n'
    assert 'No space left on device' in configured.read('run/issue.d/leon.issue')
    configured.full = ()
    assert apply.apply(configured) == 0
    assert 'ens5' in ' '.join(str(path) for path in files())
    assert not [path for path in (configured.root / 'etc').rglob('*.new')]


def test_a_copy_of_the_disk_is_another_node(copy):
    copy.tell({'address': '10.99.0.1/24'}, number='i-2')
    assert apply.apply(copy) == 0
    assert not (copy.root / 'var/lib/leon/leon0.identity').exists()
    assert not (copy.root / 'etc/leon/leon0.ipsec.json').exists()
    assert [path.name for path in (copy.root / 'etc/systemd/network').iterdir()] == [
        '05-leon-leon0.network']
    # networkd would add the ports to the vanishing bridge if it still had the files.
    assert copy.ran[:2] == [
        'networkctl reload', 'systemd-run --quiet --wait --collect ip link delete br0']
    # leond of the original may run, unless its unit waits.
    assert 'systemctl restart --no-block leond@leon0.service' in copy.ran
    unit = units_of((TOP / 'packaging/systemd/leond@.service').read_text())
    assert 'leon-cloud.service' in unit['Unit']['After'].split()


@pytest.mark.parametrize('text', ['#cloud-config\nleon: { pear: 1 }\n', '#cloud-config\npackages: [mtr]\n'])
def test_a_copy_without_user_data_is_not_the_original(copy, text):
    """The machine gets no configuration, until that of the operator."""
    drop_ins = copy.root / 'etc/systemd/network/05-leon-br0.network.d'
    drop_ins.mkdir()
    (copy.root / 'etc/leon/leon1.json').write_text('of the original')
    copy.tell(text, number='i-2')
    apply.apply(copy)
    assert [path.name for path in (copy.root / 'etc/leon').iterdir() if path.suffix == '.json'] == []
    assert 'ens3' in copy.read('etc/leon/leon0.json.original')
    assert list((copy.root / 'var/lib/leon').iterdir()) == []
    assert list((copy.root / 'etc/systemd/network').iterdir()) == [drop_ins]
    (copy.root / 'etc/leon/leon0.json').write_text('mine')
    apply.apply(copy)
    assert copy.read('etc/leon/leon0.json') == 'mine'


def test_a_mounted_data_disk_keeps_its_key(copy, monkeypatch):
    monkeypatch.setattr(apply.Path, 'is_mount', lambda path: path == copy.root / 'var/lib/leon')
    copy.tell('#cloud-config\nleon: { pear: 1 }\n', number='i-2')
    assert apply.apply(copy) == 1
    assert copy.read('var/lib/leon/leon0.identity') == 'key'


@pytest.mark.parametrize('number', ['', 'iid-datasource-none'])
def test_a_metadata_service_without_an_answer_changes_nothing(copy, number):
    copy.tell('', number=number)
    assert apply.apply(copy) == 0
    assert copy.document() and copy.read('var/lib/leon/leon0.identity') == 'key'
    assert copy.ran == []


@pytest.mark.parametrize('leon, sentence', [
    ({'peer': '198.51.100.1', 'secret': 'short'}, 'leon.authentication.pre-shared-secret: '),
    ({'pear': '198.51.100.1'}, 'leon.pear: unknown key; did you mean "peer"?'),
    ({'port': 70000}, 'leon.port: '),
    ({'address': 'x'}, 'leon.address: x is no address with its length, such as 10.99.0.1/24'),
    ('#cloud-config\nleon:\n  peer: [\n', 'leon: user-data is no YAML in line 4: '),
    # YAML makes dates of the first two.
    ('#cloud-config\nleon:\n  node-name: 2026-11-29\n',
     'leon.node-name: Object of type date is not JSON serializable; put the value in quotes'),
    ('#cloud-config\nleon:\n  node-name: 2026-13-29\n', 'leon: user-data is no YAML: month must be'),
    ('#cloud-config\nleon:\n  import: &a [*a]\n', 'leon.import: Circular reference detected; '),
    ({'secret': SECRET, 'authentication': 5}, 'leon.authentication: is no object'),
    ({'token': TOKEN, 'authentication': 'x'}, 'leon.authentication: is no object'),
    ({'secret-from': 'file:///nowhere'},
     'leon.secret-from: file:///nowhere cannot be fetched: nobody there'),
    ({'token': TOKEN[:-9]},
     'leon.token: the token is damaged or truncated; copy the whole token again'),
    ({'token': 'seoul.example.net'}, 'leon.token: the text is no token; a token begins with "leon3."'),
    ({'token': 'OUTPUT OF leonctl invite'}, 'leon.token: the text is no token; a token begins with "leon3."'),
    ({'token': TOKEN, 'mtu': 1}, 'leon.mtu: '),
])
def test_wrong_user_data(machine, leon, sentence):
    """A sentence, on the console and above the login prompt; nothing else was touched; and the next
    boot, with better user-data, succeeds."""
    before = sorted((machine.root / 'etc').rglob('*'))
    machine.tell(leon)
    assert apply.apply(machine) == 1
    assert machine.said[0].startswith(sentence)
    assert machine.said[-1].startswith('leon: nothing was configured. ')
    assert machine.read('run/issue.d/leon.issue').splitlines()[0] == machine.said[0]
    assert sorted((machine.root / 'etc').rglob('*')) == before
    assert not any(line.startswith(('systemctl', 'networkctl')) for line in machine.ran)

    machine.tell({'peer': '198.51.100.1'})
    assert apply.apply(machine) == 0
    assert machine.read('run/issue.d/leon.issue') == ''
    assert machine.document()['peer']


@pytest.mark.parametrize('text', ['#cloud-config\npackages: [mtr]\n', '#!/bin/sh\necho\n', ''])
def test_no_section(machine, text):
    machine.tell(text)
    assert apply.apply(machine) == 0
    assert machine.said == ['leon: the user-data has no section "leon:", so no overlay was configured']


def test_one_string_is_enough(machine):
    machine.tell({'token': TOKEN})
    assert apply.apply(machine) == 0, machine.said
    assert machine.document() == {
        'version': 1, 'interface': 'leon0', 'node-name': 'seoul', 'node-id': '10.0.0.5',
        'source-interface': 'ens3', **OF_TOKEN}
    assert machine.said == ['leon: leon0 is configured from the user-data: node seoul, 2 peers; '
                            'leonctl show nodes']
    assert TOKEN not in ' '.join(machine.ran + machine.said)


def test_token_beside_what_is_the_site_s_own(machine):
    """Line breaks as in a mail, further peers, and trusted identities."""
    trusted = {'trusted-identity': ['ab' * 32]}
    machine.tell({'token': f'{TOKEN[:60]}\n{TOKEN[60:]}\n', 'peer': '198.51.100.1',
                  'authentication': trusted, 'address': '10.99.0.4/24'})
    assert apply.apply(machine) == 0, machine.said
    document = machine.document()
    assert document['peer'] == {**OF_TOKEN['peer'], 'peer1': {'address': '198.51.100.1'}}
    assert document['authentication'] == {**trusted, **OF_TOKEN['authentication']}
    assert (document['vni'], document['overlay-address']) == (1, ['10.99.0.4'])


def test_token_and_bridge(machine):
    machine.tell({'token': TOKEN, 'bridge': 'br7'})
    assert apply.apply(machine) == 0, machine.said
    assert machine.document()['bridge'] == 'br7' and machine.document()['peer'] == OF_TOKEN['peer']
    assert not list(machine.root.glob('etc/systemd/network/*'))


def test_token_is_fetched(machine):
    url = 'https://vault.example.net/leon'
    machine.pages[url] = TOKEN.encode() + b'\n'
    machine.tell({'token-from': url})
    assert apply.apply(machine) == 0, machine.said
    assert machine.document()['peer'] == OF_TOKEN['peer']
    machine.pages[url] = TOKEN[:-3].encode()
    machine.tell({'token-from': url}, number='i-2')
    assert apply.apply(machine) == 1
    assert machine.said[1] == ('leon.token-from: the token is damaged or truncated; copy the whole '
                               'token again')


def answer_joins(machine, monkeypatch, *codes, **further):
    """`leonctl join` ends with these statuses. Returns the tokens on its standard input."""
    document = json.dumps({**OF_TOKEN, **further})
    left, given_tokens, run = list(codes), [], machine.run

    def joined(*command, given=None):
        if command[0] != 'leonctl':
            return run(*command, given=given)
        given_tokens.append(given)
        code = left.pop(0)
        return subprocess.CompletedProcess(command, code, document if code == 0 else '', 'leonctl: no answer\n')
    monkeypatch.setattr(machine, 'run', joined)
    return given_tokens


def test_a_one_time_token_is_redeemed_once(machine, monkeypatch):
    """An error in another key and a failed start use no second token."""
    given = answer_joins(machine, monkeypatch, 0)
    kept = machine.root / 'var/lib/leon-cloud/redeemed'
    machine.tell({'token': 'leon3.abc', 'mtu': 1})
    assert apply.apply(machine) == 1 and 'leon.mtu' in machine.said[0]
    assert kept.stat().st_mode & 0o777 == 0o600
    machine.answers['systemctl restart'] = (1, '', 'later\n')
    machine.tell({'token': 'leon3.\nabc'})
    assert apply.apply(machine) == 1
    machine.answers.pop('systemctl restart')
    assert apply.apply(machine) == 0, machine.said
    assert given == ['leon3.abc'] and machine.document()['authentication'] == OF_TOKEN['authentication']
    assert not kept.exists()


def test_files_are_on_the_disk_before_their_names(machine, monkeypatch):
    """After a power loss, an empty file would cost the one-time token."""
    synced, fsync, replace = set(), os.fsync, Path.replace

    def noted(descriptor):
        synced.add(os.fstat(descriptor).st_ino)
        fsync(descriptor)

    def checked(fresh, path):
        assert fresh.stat().st_ino in synced, path
        return replace(fresh, path)
    monkeypatch.setattr(os, 'fsync', noted)
    monkeypatch.setattr(Path, 'replace', checked)
    answer_joins(machine, monkeypatch, 0)
    machine.tell({'token': 'leon3.abc'})
    assert apply.apply(machine) == 0
    assert (machine.root / 'var/lib/leon-cloud').stat().st_ino in synced


def test_another_token_is_redeemed(machine, monkeypatch):
    given = answer_joins(machine, monkeypatch, 0, 0)
    machine.tell({'token': 'leon3.abc', 'mtu': 1})
    assert apply.apply(machine) == 1
    machine.tell({'token': 'leon3.def'})
    assert apply.apply(machine) == 0 and given == ['leon3.abc', 'leon3.def']


def test_the_curve_of_the_token_is_kept(machine, monkeypatch):
    answer_joins(machine, monkeypatch, 0, encryption={'curve': 'p256'})
    machine.tell({'token': 'leon3.abc', 'encryption': {'cipher': 'aes256gcm'}})
    assert apply.apply(machine) == 0, machine.said
    assert machine.document()['encryption'] == {'cipher': 'aes256gcm', 'curve': 'p256'}


def test_a_member_is_waited_for(machine, monkeypatch):
    answer_joins(machine, monkeypatch, 3, 3, 0)
    machine.tell({'token': 'leon3.abc'})
    assert apply.apply(machine) == 0 and machine.clock == 6
    answer_joins(machine, monkeypatch, *[3] * 100)
    machine.tell({'token': 'leon3.def'}, number='i-2')
    assert apply.apply(machine) == 1 and machine.clock < 200
    assert machine.said[-2] == 'leon.token: no answer'


def test_secret_is_waited_for(machine):
    url = 'https://vault.example.net/leon'
    machine.tell({'secret-from': {'url': url, 'headers': {'X-Token': 't'}}})

    def wait(seconds):
        machine.clock += seconds
        machine.pages[url] = SECRET.encode() + b'\n'

    machine.wait = wait
    assert apply.apply(machine) == 0
    assert machine.fetched == [(url, {'X-Token': 't'})] * 2
    assert machine.document()['authentication'] == {'pre-shared-secret': SECRET}


@pytest.mark.parametrize('first, then, node_id, seconds', [
    (b'203.0.113.9', None, '203.0.113.9', 0),
    (urllib.error.HTTPError('u', 503, 'later', None, None), b'203.0.113.9', '203.0.113.9', 3),
    (urllib.error.HTTPError('u', 404, 'no such address', None, None), None, '10.0.0.5', 0),
    (b'\xff', None, '10.0.0.5', 0),
    (None, None, '10.0.0.5', 117),
])
def test_external_address_of_google_is_waited_for(machine, first, then, node_id, seconds):
    """The private address of another network may be equal."""
    machine.pages[apply.GCE_ADDRESS] = first
    machine.tell({'peer': '198.51.100.1'}, cloud='gce')

    def wait(pause):
        machine.clock += pause
        machine.pages[apply.GCE_ADDRESS] = then

    machine.wait = wait
    assert apply.apply(machine) == 0
    assert (machine.document()['node-id'], machine.clock) == (node_id, seconds)


@pytest.mark.parametrize('page, sentence', [
    (b'', 'has not one line of text'),
    (b'two\nlines', 'has not one line of text'),
    (b'\xff' * 9, 'has not one line of text'),
    (b'x' * 5000, 'has not one line of text'),
    (urllib.error.HTTPError('u', 403, 'Forbidden', None, None),
     'cannot be fetched: HTTP Error 403: Forbidden'),
])
def test_secret_that_is_none(machine, page, sentence):
    url = 'https://vault.example.net/leon'
    machine.pages[url] = page
    machine.tell({'secret-from': url})
    assert apply.apply(machine) == 1
    assert machine.said[0] == f'leon.secret-from: {url} {sentence}'
    assert machine.clock == 0  # a refusal is final


def test_no_secret_is_refused(machine):
    machine.tell('#cloud-config\nleon:\n  peer: 198.51.100.1\n')
    assert apply.apply(machine) == 1
    assert machine.said[0].startswith('leon.authentication: needs a pre-shared-secret')
    machine.tell({'peer': '198.51.100.1', 'authentication': {'disable': True}})
    assert apply.apply(machine) == 0


def test_placeholder_of_the_documents_is_refused(machine):
    machine.tell({'peer': '198.51.100.1', 'secret': PLACEHOLDER})
    assert apply.apply(machine) == 1
    assert machine.said[0] == (
        'leon.authentication.pre-shared-secret: is a placeholder or an obvious secret; use the output '
        'of: leonctl generate secret')


def documented():
    """User-data from the pages, for copying."""
    for name, least in {'vyos-1x-leon/doc/cloud.md': 4, 'README.md': 1}.items():
        blocks = re.findall(r'^    #cloud-config\n(?:    .*\n)+', (TOP / name).read_text(), re.M)
        assert len(blocks) >= least
        for number, block in enumerate(blocks):
            # A readable token would be a secret in real use.
            block = textwrap.dedent(block).replace('OUTPUT OF leonctl invite', TOKEN)
            yield pytest.param(block.replace(PLACEHOLDER, SECRET), id=f'{Path(name).name}-{number}')
    for path in sorted((TOP / 'packaging/deploy').glob('*/user-data')):
        yield pytest.param(path.read_text().replace(PLACEHOLDER, SECRET), id=path.parent.name)


@pytest.mark.parametrize('text', documented())
def test_documented_user_data(machine, text):
    machine.tell(text)
    assert apply.apply(machine) == 0, machine.said
    assert machine.document()['peer'] and machine.document()['authentication']


def test_every_word_is_documented():
    text = (TOP / 'vyos-1x-leon/doc/cloud.md').read_text()
    assert [word for word in (*section.OWN, *section.SHORT) if f'`{word}`' not in text] == []


def disk_of(machine, *answers):
    """A disk with the given outputs of blkid, one after the other."""
    (machine.root / 'dev').mkdir()
    (machine.root / 'dev/vdb').touch()
    left = list(answers)
    usual = machine.run

    def run(*command, **keys):
        if command[0] == 'blkid':
            machine.ran.append('blkid')
            return subprocess.CompletedProcess(command, *left.pop(0))
        return usual(*command, **keys)

    machine.run = run


def test_data_disk_keeps_the_identity(machine):
    """A blank disk is formatted once. A disk with a file system is mounted unchanged."""
    known = (0, 'UUID=6a-7\nTYPE=ext4\n', '')
    disk_of(machine, (2, '', ''), known, known)
    machine.tell({'data-disk': '/dev/vdb'})
    assert apply.apply(machine) == 0
    assert machine.ran.count('mkfs.ext4 -q -L leon-data /dev/vdb') == 1
    line = 'UUID=6a-7 /var/lib/leon ext4 '
    assert [text for text in machine.read('etc/fstab').splitlines() if text.startswith(line)]
    assert ('systemd-run --quiet --wait --pipe --collect sh -c mountpoint -q /var/lib/leon || '
            'mount --mkdir /var/lib/leon') in machine.ran
    machine.ran.clear()
    machine.tell({'data-disk': '/dev/vdb'}, number='i-2')
    assert apply.apply(machine) == 0
    assert not any(text.startswith('mkfs') for text in machine.ran)
    assert machine.read('etc/fstab').count(line) == 1


def test_data_disk_with_something_else(machine):
    disk_of(machine, (0, 'PTTYPE=gpt\n', ''))
    machine.tell({'data-disk': '/dev/vdb'})
    assert apply.apply(machine) == 1
    assert machine.said[0] == (
        'leon.data-disk: /dev/vdb has no file system that is known and is not blank; give a '
        'partition of it, or another disk')
    assert not any(text.startswith('mkfs') for text in machine.ran)


def test_data_disk_that_never_comes(machine):
    machine.tell({'data-disk': '/dev/vdb'})
    assert apply.apply(machine) == 1
    assert 'did not appear' in machine.said[0]


def test_clock_of_the_cloud(machine):
    (machine.root / 'etc/chrony/sources.d').mkdir(parents=True)
    machine.tell({}, cloud='aws')
    apply.apply(machine)
    assert machine.read('etc/chrony/sources.d/leon-cloud.sources').startswith('server 169.254.169.123 ')


def test_ipsec_is_judged_and_kept_from_others(machine):
    machine.tell({'ipsec': {'version': 1}})
    machine.answers['/usr/lib/leon/leon-ipsec'] = (1, '', 'authentication: is missing\n')
    assert apply.apply(machine) == 1
    assert machine.said[0] == 'leon.ipsec.authentication: is missing'
    machine.answers.pop('/usr/lib/leon/leon-ipsec')
    assert apply.apply(machine) == 0
    assert (machine.root / 'etc/leon/leon0.ipsec.json').stat().st_mode & 0o777 == 0o600
