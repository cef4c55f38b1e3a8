# SPDX-License-Identifier: GPL-2.0-or-later
"""`leonctl status` names the cause of a failure, and the exit code reports it."""
import json
import subprocess

from lab import PATIENT, line_up, wait_for
from node import leonctl_program
from test_answers import check

PORT = 5366
OTHER = {'authentication': {'pre-shared-secret': 'quite another secret'}}


def status(node):
    """(exit code, answer) of the JSON form, which the schema describes."""
    result = subprocess.run([leonctl_program(), '--socket', node.socket, '--json', 'status'],
                            capture_output=True, text=True, check=False)
    answer = json.loads(result.stdout)
    check('status', answer)
    return result.returncode, answer


def text(node):
    return subprocess.run([leonctl_program(), '--socket', node.socket, 'status'],
                          capture_output=True, text=True, check=False)


def ids(answer, kind='problems'):
    return [finding['id'] for finding in answer[kind]]


def wait_problem(node, want, within=40):
    """Returns the finding. The code of leonctl agrees with the list."""
    seen = {}

    def is_there():
        seen['code'], seen['answer'] = status(node)
        assert seen['code'] == (2 if seen['answer']['problems'] else 0)
        return want in ids(seen['answer'])
    wait_for(is_there, within, f'{node.name} has the problem {want}')
    return next(p for p in seen['answer']['problems'] if p['id'] == want)


def wait_note(node, want, fragment, within=40):
    def is_there():
        return [n for n in status(node)[1]['notes'] if n['id'] == want and fragment in n['what']]
    return wait_for(is_there, within, f'{node.name} has the note {want} with "{fragment}"')


def newcomer(lab, **config):
    """n0 and n1 are members, n2 joins with this configuration, and they do not list it."""
    net = lab(line_up(3, hosts=False, config=PATIENT), start=False)
    net.node['n2'].config.update(config)
    net.start()
    return net


def test_all_well(lab):
    net = lab(line_up(2, hosts=False)).joined()
    node = net.node['n0']
    wait_for(lambda: status(node)[0] == 0, 30, 'all well')
    result = text(node)
    assert result.returncode == 0 and result.stdout.startswith('leon0: all well'), result
    assert '  nodes  1 of 1 reachable\n  peers  1 of 1 reached\n' in result.stdout


def test_without_a_daemon(lab):
    net = lab(line_up(1, hosts=False), start=False)
    result = text(net.node['n0'])
    assert result.returncode == 1 and 'leond is not running' in result.stderr


def test_wrong_secret_at_both_ends(lab):
    """The newcomer cannot know the cause. A member has it."""
    net = newcomer(lab, **OTHER)
    problem = wait_problem(net.node['n2'], 'nothing')
    assert 'the secret or VNI of this node is wrong' in problem['why']
    assert 'leonctl status' in problem['remedy']
    wait_note(net.node['n0'], 'stranger', f'{net.node["n2"].node_id}:{PORT} cannot be decrypted')
    assert 'pre-shared-secret' in text(net.node['n0']).stdout


def test_wrong_secret_of_a_peer(lab):
    net = lab({'sites': {'n0': {}, 'n1': {'config': OTHER}}, 'hosts': False})
    problem = wait_problem(net.node['n0'], 'other-secret')
    assert problem['command'] == 'leonctl -i leon0 reload'
    assert 'peer n1' in problem['what']


def test_other_vni(lab):
    net = newcomer(lab, vni=77)
    wait_problem(net.node['n2'], 'nothing')
    wait_note(net.node['n0'], 'stranger', 'another vni')
    net = lab({'sites': {'n0': {}, 'n1': {'config': {'vni': 77}}}, 'hosts': False})
    wait_problem(net.node['n0'], 'other-vni')


def test_udp_is_dropped(lab):
    """A firewall at the newcomer drops all received datagrams, so no member has a diagnosis."""
    net = newcomer(lab)
    net.joined()
    net.node['n2'].stop()
    net.node['n2'].namespace.run('nft', '-f', '-', input=f'''
        table inet closed {{
            chain in {{ type filter hook input priority 0; udp dport {PORT} drop; }}
            chain out {{ type filter hook output priority 0; udp dport {PORT} drop; }}
        }}''')
    net.node['n2'].launch()
    wait_for(lambda: net.node['n2'].show('nodes'), 20, 'leond answers')
    problem = wait_problem(net.node['n2'], 'not-sent')
    assert 'firewall of this host' in problem['why']
    net.node['n2'].namespace.run('nft', 'delete', 'chain', 'inet', 'closed', 'out')
    wait_problem(net.node['n2'], 'nothing', within=120)
    assert 'stranger' not in ids(status(net.node['n0'])[1], 'notes')


def test_unreachable_address(lab):
    net = lab(line_up(1, hosts=False, config={'peer': {'gone': {'address': '198.51.100.9'}}}))
    node = net.node['n0']
    node.namespace.ip('route replace unreachable 198.51.100.9/32')
    problem = wait_problem(node, 'not-sent')
    assert 'no route' in problem['why'] and problem['command'] == 'ip route get 198.51.100.9'


def test_program_is_not_there(lab):
    net = lab(line_up(2, hosts=False), start=False)
    net.start('n0')
    problem = wait_problem(net.node['n0'], 'refused')
    assert 'no program listens' in problem['why']


def test_same_name_twice(lab):
    net = lab(line_up(2, hosts=False), start=False)
    net.node['n1'].config['node-name'] = 'n0'
    net.start()
    problem = wait_problem(net.node['n0'], 'name-twice')
    assert all(n.node_id in problem['what'] for n in net.node.values())
