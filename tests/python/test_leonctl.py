# SPDX-License-Identifier: GPL-2.0-or-later
"""leonctl at a prompt: messages for unknown commands, and completions of the Tab key."""
import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import tempfile
import threading

import pytest

from conftest import BUILD, FakeDaemon, TOP

LEONCTL = BUILD / 'vyos-1x-leon/leonctl/leonctl'
COMPLETION = TOP / 'vyos-1x-leon/completion/leonctl.bash'


def run(*words):
    return subprocess.run([LEONCTL, *words], capture_output=True, text=True, check=False, timeout=60)


def commands():
    """The commands in the help, without arguments."""
    text = run('--help').stdout.split('commands (')[1]
    return [re.sub(r'( [A-Z[].*|  .*)', '', m) for m in re.findall(r'^ {2}(\w.*)$', text, re.M)]


def test_a_word_is_missing():
    for group in ('show', 'reset', 'explain', 'generate'):
        result = run(group)
        assert result.returncode == 2 and result.stdout == ''
        first, *rest = result.stderr.splitlines()
        assert first == f'leonctl: unknown or incomplete command "{group}"; expected one of'
        assert [c for c in commands() if c.startswith(group + ' ')] == \
            [re.sub(r'( [A-Z[].*|  .*)', '', line.strip()) for line in rest
             if re.match(r' {2}\w', line)]


@pytest.mark.parametrize('typed, meant', [
    ('show noeds', 'show nodes'), ('show node', 'show nodes'), ('show path', 'show paths'),
    ('shwo nodes', 'show nodes'), ('show statistic', 'show statistics'), ('show latancy', 'show latency'),
    ('pnig inagi', 'ping'), ('trcae seoul', 'trace'), ('relaod', 'reload'), ('metric', 'metrics'),
    ('reset fbd', 'reset fdb'), ('explian path seoul', 'explain path'), ('show acceleration conections', 'show acceleration connections'),
    ('show aceleration connections', 'show acceleration connections'), ('show aceleration', 'show acceleration'), ('invte', 'invite'), ('mpa', 'map')])
def test_a_misspelt_word(typed, meant):
    result = run(*typed.split())
    assert result.returncode == 2 and result.stdout == ''
    said = ' '.join(typed.split()[:max(2, len(meant.split()))])
    assert result.stderr == f'leonctl: unknown command "{said}"; did you mean "{meant}"?\n'


def test_each_command_is_nearest_to_itself():
    """With any single character removed, except if another command is as near."""
    for command in [c for c in commands() if '-' not in c]:
        for i in range(len(command)):
            typed = command[:i] + command[i + 1:]
            words = typed.split(' ')
            if command[i] == ' ' or '' in words or len(words[-1]) < 3:
                continue
            error = run(*words).stderr
            if any(f'did you mean "{typed[:k] + typed[k + 1:]}"?' in error for k in range(len(typed))):
                continue
            assert f'did you mean "{command}"?' in error or 'missing node' in error or 'usage' in error, (typed, error)


def test_a_word_that_is_near_nothing():
    result = run('frobnicate')
    assert result.returncode == 2 and 'did you mean' not in result.stderr
    assert all(f'  {command}' in result.stderr for command in commands())
    result = run('show', 'frobnicate')
    assert 'unknown or incomplete command "show"; expected one of' in result.stderr and 'did you mean' not in result.stderr
    assert run('x' * 5000, 'y' * 5000).returncode == 2


def test_too_many_options(tmp_path):
    """No option is ignored."""
    for n, text in ((81, 'capture: more than 80 options'), (80, 'leond is not running')):
        result = run('--socket', str(tmp_path / 'gone'), 'capture', *['--node', 'x'] * n, 'port', '80')
        assert text in result.stderr, (n, result)


def test_no_address_is_ignored():
    result = run('init', '--print', *(f'--address=10.99.{i}.1/24' for i in range(17)))
    assert result.returncode == 1 and 'address: has more than 16 addresses' in result.stderr, result


@pytest.mark.parametrize('words', [['--json', 'show', 'nodes'], ['show', 'nodes'], ['--help'], ['generate', 'secret']])
def test_output_that_cannot_be_written(tmp_path, words):
    path = str(tmp_path / 's')
    daemon(path, '{"version":1,"nodes":[]}\n')
    with open('/dev/full', 'w', encoding='ascii') as full:
        result = subprocess.run([LEONCTL, '--socket', path, *words], stdout=full, stderr=subprocess.PIPE, text=True,
                                check=False, timeout=60)
    assert (result.returncode, result.stderr) == (1, 'leonctl: standard output: No space left on device\n')


@pytest.mark.parametrize('file', ['-', '/dev/full'])
def test_capture_that_cannot_be_written(tmp_path, file):
    nodes = [{'node_id': '10.0.0.1', 'name': None, 'state': 'complete', 'frames': 0, 'lost': 0, 'unseen': 0}]
    fake = FakeDaemon(tmp_path / 's', [{'version': 1, 'snap': 128}, {
        'version': 1, 'clock_us': 1, 'wall_us': 1, 'records': [], 'over': True, 'nodes': nodes}])
    with open('/dev/full', 'w', encoding='ascii') as full:
        result = subprocess.run([LEONCTL, '--socket', str(tmp_path / 's'), 'capture', '-w', file, 'port', '80'],
                                stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=60)
    fake.close()
    assert result.returncode == 1 and result.stderr.count('No space left on device') == 1, result


def test_no_word_of_a_filter_is_ignored(tmp_path):
    fake = FakeDaemon(tmp_path / 's', [{'version': 1, 'error': 'no'}])
    words = 'mac M and mac N and host A and host B and vlan 5 and proto tcp and port 443'.split()
    filters = (words, ['host', 'x' * 600, 'port', '80'])
    for given in filters:
        run('--socket', str(tmp_path / 's'), 'capture', *given)
    fake.close()
    assert [r['arguments']['filter'] for r in fake.requests] == [' '.join(given) for given in filters]


def test_exit_status_of_wrong_usage(tmp_path):
    gone = ['--socket', str(tmp_path / 'gone.sock')]
    for words in ([], ['--frobnicate'], ['-i'], ['show', 'nodes', 'x'], ['trace'], ['ping', 'a', '0'], ['map', 'x'],
                  ['metrics', '--listen'], ['--socket', 'x' * 200, 'show', 'nodes']):
        assert run(*words).returncode == 2, words
    reason = f'leond is not running (no process listens on {gone[1]})'
    for words in (['show', 'nodes'], ['map'], ['reload'], ['show', 'paths'], ['invite']):
        result = run(*gone, *words)
        assert (result.returncode, result.stdout) == (3, ''), words
        assert result.stderr == f'leonctl: {reason}\n'
        result = run(*gone, '--json', *words)
        assert (result.returncode, result.stderr) == (3, ''), words
        assert json.loads(result.stdout) == {'version': 1, 'error': reason}
    assert run('--version').returncode == run('--help').returncode == run('generate', 'secret').returncode == 0


def daemon(path, answer):
    """A socket with one answer for every request."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()

    def serve():
        while True:
            client, _ = listener.accept()
            with client, client.makefile() as request:
                request.readline()
                client.sendall(answer.encode())
    threading.Thread(target=serve, daemon=True).start()


@pytest.mark.parametrize('answer, status', [
    ('{"version":1,"error":"no"}\n', 1), ('no JSON\n', 3), ('', 3), ('{"version":1,"nodes":[]}\n', 0),
    ('{"version":1,"nodes":3}\n', 3)])
def test_exit_status_of_what_the_daemon_says(tmp_path, answer, status):
    path = str(tmp_path / 's')
    daemon(path, answer)
    assert run('--socket', path, 'show', 'nodes').returncode == status


@pytest.mark.parametrize('answers, status', [
    ([{'version': 1, 'error': 'a capture of this node is under way'}], 1),
    ([{'version': 1, 'snap': 128},
      {'version': 1, 'clock_us': 1, 'wall_us': 1, 'records': [], 'over': True, 'nodes': [
          {'node_id': '10.0.0.1', 'name': None, 'state': 'complete', 'frames': 0, 'lost': 0, 'unseen': 0}]}], 0)])
def test_a_capture_replaces_a_file_once_it_has_records(tmp_path, answers, status):
    fake = FakeDaemon(tmp_path / 's', answers)
    file = tmp_path / 'old.pcapng'
    file.write_bytes(b'of an earlier capture' * 100)
    result = run('--socket', str(tmp_path / 's'), 'capture', '-w', str(file), 'port', '80')
    fake.close()
    assert result.returncode == status, result
    if status:
        assert file.read_bytes() == b'of an earlier capture' * 100
    else:
        assert file.read_bytes()[:4] == bytes.fromhex('0a0d0d0a') and b'earlier' not in file.read_bytes()


def test_nodes_of_another_capture(tmp_path):
    """leonctl ends instead of mixing the records."""
    nodes = [{'node_id': f'10.0.0.{i}', 'name': None, 'state': 'running', 'frames': 0, 'lost': 0, 'unseen': 0}
             for i in (1, 2)]
    record = {'node': '10.0.0.2', 'place': 'sent', 'at_us': 1, 'length': 1, 'path': [], 'sealed': False, 'frame': '00'}
    first = {'version': 1, 'clock_us': 1, 'wall_us': 1, 'nodes': nodes, 'records': [record], 'over': False}
    fake = FakeDaemon(tmp_path / 's', [{'version': 1, 'snap': 128}, first,
                                       {**first, 'nodes': nodes[:1], 'records': [], 'over': True}])
    result = run('--socket', str(tmp_path / 's'), 'capture', 'port', '80')
    fake.close()
    assert result.returncode == 3, result
    assert 'invalid answer of leond: the nodes are of another capture' in result.stderr
    assert '10.0.0.2' in result.stdout


def test_exit_status_without_permission(tmp_path):
    if os.geteuid() != 0:
        pytest.skip('needs root to become somebody else')
    # In a directory that other users may enter. The directory of a clone may be private.
    with tempfile.TemporaryDirectory(prefix='leonctl-') as directory:
        os.chmod(directory, 0o755)
        path, program = f'{directory}/s', f'{directory}/leonctl'
        daemon(path, '{}\n')
        os.chmod(path, 0o600)
        shutil.copy(LEONCTL, program)
        os.chmod(program, 0o755)
        result = subprocess.run([program, '--socket', path, 'show', 'nodes'], capture_output=True,
                                text=True, check=False, user=65534, group=65534, extra_groups=[])
    assert result.returncode == 4 and 'permission denied' in result.stderr, result


def test_exit_status_where_sockets_cannot_be_looked_for():
    """/run/leon is for root and the group. Other users must not get the message that nothing runs.
    """
    if os.geteuid() != 0 or subprocess.run(['unshare', '--mount', 'true'], check=False).returncode != 0:
        pytest.skip('needs root to become somebody else, with a /run of its own')
    with tempfile.TemporaryDirectory(prefix='leonctl-') as directory:
        os.chmod(directory, 0o755)
        shutil.copy(LEONCTL, f'{directory}/leonctl')
        result = subprocess.run(
            ['unshare', '--mount', 'sh', '-c',
             'mount -t tmpfs -o mode=0755 run /run && mkdir -m 0750 /run/leon && exec setpriv '
             f'--reuid=65534 --regid=65534 --clear-groups {directory}/leonctl show nodes'],
            capture_output=True, text=True, check=False)
    assert result.returncode == 4 and 'become root or a member of the group' in result.stderr, result


# --- habits ---

def test_help_of_one_command():
    for command in [c for c in commands() if c != 'help']:
        words = command.replace('--listen', '--listen 127.0.0.1').split(' ')
        for result in (run(*words, '--help'), run('-h', *words), run('help', *words)):
            assert (result.returncode, result.stderr) == (0, ''), command
            assert f'usage: leonctl [-i INTERFACE] [--json] [--socket PATH] {command}' in result.stdout
    assert run('show', '--help').stdout.startswith('  show nodes')
    assert run('help').stdout == run('--help').stdout
    assert run('help', 'shwo', 'nodes').returncode == 2


def test_options_stand_anywhere(tmp_path):
    path = str(tmp_path / 's')
    daemon(path, '{"version":1,"nodes":[]}\n')
    want = '{"version":1,"nodes":[]}\n'
    for words in (['--json', '--socket', path, 'show', 'nodes'], ['show', '--json', 'nodes', '--socket', path],
                  ['show', 'nodes', '--socket', path, '-j'], ['-ji', 'leon0', '--socket', path, 'show', 'nodes'],
                  ['--jso', '--socket', path, 'show', 'nodes']):
        assert run(*words).stdout == want, words


@pytest.mark.parametrize('words', [
    ['--frobnicate'], ['show', 'nodes', '--frobnicate'], ['-i'], ['show', 'noeds'], ['show'], ['frobnicate'], [],
    ['show', 'nodes', 'x'], ['trace'], ['map', 'x'], ['metrics', '--listen', 'nowhere', '--socket', '/nowhere']])
def test_errors_are_one_line_and_json(words):
    text = run(*words)
    assert text.returncode == 2 and text.stdout == ''
    first = text.stderr.splitlines()[0].removeprefix('leonctl: ')
    if words not in (['show'], ['frobnicate']):
        assert len(text.stderr.splitlines()) == 1
    as_json = run(*words, '--json') if words != ['-i'] else run('--json', *words)
    assert (as_json.returncode, as_json.stderr) == (2, '')
    assert json.loads(as_json.stdout) == {'version': 1, 'error': first}


def test_a_secret_as_json():
    assert re.fullmatch('[A-Za-z0-9_-]{44}', json.loads(run('generate', 'secret', '--json').stdout)['secret'])


@pytest.mark.parametrize('answer, words', [
    ({'verdict': 'restart needed: vni', 'applied': False, 'restart_keys': ['vni']}, ['reload']),
    ({'replies': [], 'sent': 5, 'received': 0}, ['ping', 'a']), ({'hops': [], 'complete': False}, ['trace', 'a'])])
def test_json_has_the_same_exit_status(tmp_path, answer, words):
    path = str(tmp_path / 's')
    daemon(path, json.dumps({'version': 1, **answer}) + '\n')
    for options in ([], ['--json']):
        assert run('--socket', path, *options, *words).returncode == 1


@pytest.mark.parametrize('program, words', [
    ('dataplane/leond', ['--frobnicate']), ('dataplane/leond', []), ('dataplane/leond', ['--config', 'x', 'y']),
    ('leonsim/leonsim', ['--frobnicate']), ('leonsim/leonsim', []), ('leon-accel/leon-accel', []),
    ('leon-accel/leon-accel', ['--frobnicate']), ('leon-accel/leon-accel', ['--socket', 'x', 'y'])])
def test_wrong_options_of_other_programs(program, words):
    path = LEONCTL.parents[1] / program
    if not path.exists():
        pytest.skip(f'no {path}')
    result = subprocess.run([path, *words], capture_output=True, text=True, check=False)
    assert result.returncode == 2 and len(result.stderr.splitlines()) == 1, result


@pytest.mark.parametrize('address, warned', [('127.0.0.1', False), ('192.0.2.77', True), ('[2001:db8::77]', True)])
def test_metrics_name_an_address_that_is_not_here(address, warned):
    with subprocess.Popen([LEONCTL, '--socket', '/nowhere', 'metrics', '--listen', f'{address}:{free_port()}'],
                          stderr=subprocess.PIPE, text=True) as server:
        line = server.stderr.readline()
        server.terminate()
    assert 'metrics at http://' in line
    assert ('no interface of this host has the address yet' in line) == warned


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


# --- the Tab key ---

def offered(line):
    """Completions of bash for the last word of the line."""
    words = line.split(' ')
    script = f'''PATH={shlex.quote(str(LEONCTL.parent))}:$PATH
        source {shlex.quote(str(COMPLETION))}
        COMP_WORDS=({' '.join(shlex.quote(w) for w in words)}); COMP_CWORD={len(words) - 1}
        _leonctl; printf '%s\\n' "${{COMPREPLY[@]}}"'''
    result = subprocess.run(['bash', '-c', script], capture_output=True, text=True, check=True, timeout=60)
    assert result.stderr == ''
    return result.stdout.split()


def test_tab_offers_every_command():
    for command in commands():
        words = command.split(' ')
        for i, word in enumerate(words):
            before = ' '.join(['leonctl', *words[:i]])
            assert word in offered(f'{before} '), command
            assert word in offered(f'{before} {word[:2]}'), command
    assert offered('leonctl ') == sorted({c.split(' ')[0] for c in commands()})
    assert offered('leonctl show pa') == ['paths']
    assert offered('leonctl -i leon0 --json reset n') == ['node']
    assert offered('leonctl show nodes ') == [] and offered('leonctl frobnicate ') == []


def test_tab_offers_options():
    assert offered('leonctl --so') == ['--socket']
    assert '--json' in offered('leonctl -')


def test_tab_offers_options_of_the_command():
    assert offered('leonctl init --a') == ['--address'] and offered('leonctl join leon1.x --br') == ['--bridge']
    assert offered('leonctl join --tls-port 443 --pr') == ['--print']
    assert offered('leonctl invite --e') == ['--expires'] and offered('leonctl leave --y') == ['--yes']
    assert offered('leonctl init --address 10.99.0.1/24 --na') == ['--name']
    assert offered('leonctl show nodes --a') == []
    assert offered('leonctl capture --w') == ['--write'] and offered('leonctl capture -w x --no') == ['--node']
    assert offered('leonctl --seconds 5 -w x cap') == ['capture']


def test_zsh_and_fish_offer_options_of_the_command():
    assert '--address' in zsh('leonctl', 'init', '--') and '--yes' in zsh('leonctl', '-i', 'leon0', 'leave', '--')
    assert '--address' not in zsh('leonctl', 'show', 'nodes', '--')
    assert '--address' in fish('leonctl', 'leonctl init --') and '--expires' in fish('leonctl', 'leonctl invite --')
    assert '--write' in zsh('leonctl', 'capture', '--') and '--node' in fish('leonctl', 'leonctl capture --')
    assert 'nodes' in fish('leonctl', 'leonctl -w x show ') and 'nodes' in zsh('leonctl', '--node', 'x', 'show', '')
    assert '--tls-port' in zsh('leonctl', 'join', 'x', '--') and '--tls-port' in fish('leonctl', 'leonctl join x --')
    # The value of an option is no word of the command.
    assert 'nodes' in fish('leonctl', 'leonctl --uses 3 show ') and 'nodes' in zsh('leonctl', '--uses', '3', 'show', '')


def test_tab_offers_nodes(tmp_path):
    path = str(tmp_path / 's')
    daemon(path, json.dumps({'version': 1, 'nodes': [{'node_id': '10.0.0.2', 'name': 'inagi'},
                                                     {'node_id': '10.0.0.3', 'name': None}]}) + '\n')
    for command in ('explain path', 'trace', 'ping', 'reset node'):
        assert offered(f'leonctl --socket {path} {command} ') == ['10.0.0.2', 'inagi', '10.0.0.3']
        assert offered(f'leonctl --socket {path} {command} in') == ['inagi']
        assert {'10.0.0.2', 'inagi', '10.0.0.3'} <= set(fish('leonctl', f'leonctl --socket {path} {command} '))
    assert offered('leonctl --socket /nonexistent trace ') == []


def test_tab_runs_no_name(tmp_path, monkeypatch):
    """Other sites choose the names. A name may have 32 characters, so the file is relative."""
    monkeypatch.chdir(tmp_path)
    names = ['$(echo>proof)', '`echo>proof`', 'x;reboot', '-x', 'a-b_c.d']
    daemon('s', json.dumps({'version': 1, 'nodes': [{'node_id': f'10.0.0.{i}', 'name': name}
                                                    for i, name in enumerate(names)]}) + '\n')
    want = [f'10.0.0.{i}' for i in range(5)] + ['a-b_c.d']
    assert offered('leonctl --socket s trace ') == want and not (tmp_path / 'proof').exists()
    assert zsh('leonctl', '--socket', 's', 'trace', '') == want


OTHERS = {'leond': 'dataplane', 'leonsim': 'leonsim', 'leon-accel': 'leon-accel', 'leon-sclp': 'leon-sclp'}


def path_of_programs():
    """$PATH with all programs of the build."""
    return ':'.join([str(LEONCTL.parent), *(str(LEONCTL.parents[1] / d) for d in OTHERS.values()), os.environ['PATH']])


def shell(program, script):
    if not shutil.which(program):
        pytest.skip(f'no {program}')
    result = subprocess.run([program, '-c', script], capture_output=True, text=True, check=True, timeout=60,
                            env={**os.environ, 'PATH': path_of_programs()})
    assert result.stderr == ''
    return [line.split('\t')[0] for line in result.stdout.splitlines()]


def zsh(*words):
    return shell('zsh', f'compadd() {{ shift; print -l -- "$@" }}; service=leonctl; words=({" ".join(map(shlex.quote, words))}); '
                 f'CURRENT={len(words)}; source {shlex.quote(str(COMPLETION.parent / "_leonctl"))}')


def fish(program, line):
    return shell('fish', f'source {shlex.quote(str(COMPLETION.parent / (program + ".fish")))}; complete -C {shlex.quote(line)}')


def test_zsh_offers_commands_and_nodes(tmp_path):
    assert set(zsh('leonctl', '')) == {c.split(' ')[0] for c in commands()}
    assert 'nodes' in zsh('leonctl', '-i', 'leon0', '--json', 'show', '')
    assert '--socket' in zsh('leonctl', 'show', '--')
    path = str(tmp_path / 's')
    daemon(path, json.dumps({'version': 1, 'nodes': [{'node_id': '10.0.0.2', 'name': 'inagi'}]}) + '\n')
    assert zsh('leonctl', '--socket', path, 'trace', '') == ['10.0.0.2', 'inagi']


def test_fish_offers_commands_and_options():
    assert {c.split(' ')[0] for c in commands()} <= set(fish('leonctl', 'leonctl '))
    assert 'nodes' in fish('leonctl', 'leonctl --json show ')
    assert '--socket' in fish('leonctl', 'leonctl show --so')


@pytest.mark.parametrize('program, directory', OTHERS.items())
def test_tab_offers_options_of_other_programs(program, directory):
    binary = LEONCTL.parents[1] / directory / program
    if not binary.exists():
        pytest.skip(f'no {binary}')
    text = subprocess.run([binary, '--help'], capture_output=True, text=True, check=True).stdout
    want = set(re.findall(r'--[a-z][a-z-]+', text))
    function = '_' + program.replace('-', '_')
    seen = shell('bash', f'source {shlex.quote(str(COMPLETION.parent / (program + ".bash")))}; COMP_WORDS=({program} --); '
                 f'COMP_CWORD=1; {function}; printf "%s\\n" "${{COMPREPLY[@]}}"')
    assert set(seen) == want
    assert want - {'--'} <= set(fish(program, f'{program} --'))
