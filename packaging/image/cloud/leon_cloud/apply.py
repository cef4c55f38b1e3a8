# SPDX-License-Identifier: GPL-2.0-or-later
"""Configures a node from the section `leon` of user-data, once for each instance.

Called by /usr/lib/leon/leon-cloud (leon-cloud.service) after cloud-init has the user-data. The
steps: get the default route, fetch the secret from the given source, check the document with leond,
write the files, start leond. After an error, no file is written. The error sentences appear on the
console and above its login prompt, and SSH works as before. The instance-id shows whether the
machine is already set up, so later changes of an operator are kept. A changed instance-id on other
hardware removes the configuration first. The machine (class Machine) is a parameter, so that tests
supply another one.
"""
import hashlib
import json
import os
import shutil
import subprocess
import tempfile
import time
import urllib.error
from pathlib import Path

import yaml

from . import fetch, network, section

# A network, a volume or a service may appear some time after the machine.
FETCH_S = 120
ATTEMPT_S = 10
DISK_S = 180
TRY_S = 3
SECRET_BYTES = 4096
STATE = 'var/lib/leon'
ISSUE = 'run/issue.d/leon.issue'
DONE = 'var/lib/leon-cloud/instance-id'
REDEEMED = 'var/lib/leon-cloud/redeemed'
# The interface of the user-data. Other interfaces belong to the operator.
INTERFACE = 'var/lib/leon-cloud/interface'
HARDWARE = 'var/lib/leon-cloud/machine'
# A hypervisor gives each clone another UUID. A changed instance-id alone may be changed user-data,
# for example on Proxmox VE.
UUID = 'sys/class/dmi/id/product_uuid'
# Some vendors use this UUID for all boards.
SHARED_UUID = '03000200-0400-0500-0006-000700080009'
# systemd creates the file in a container. A container has the UUID of its host.
CONTAINER = 'run/systemd/container'
# The instance-ids of cloud-init if the metadata service does not answer.
UNKNOWN = ('', 'iid-datasource-none')
# Exit status of leonctl(8).
NO_ANSWER = 3
CLOCKS = {'aws': '169.254.169.123', 'gce': '169.254.169.254'}
GCE_ADDRESS = ('http://169.254.169.254/computeMetadata/v1/instance/network-interfaces/0/'
               'access-configs/0/external-ip')


class Machine:
    """Files below a root, programs, and downloads."""

    root = Path('/')

    def run(self, *command, given=None):
        return subprocess.run(command, capture_output=True, text=True, check=False, input=given)

    def fetch(self, url, headers, timeout):
        return fetch.fetch(url, headers, SECRET_BYTES + 1, timeout)

    def wait(self, seconds):
        time.sleep(seconds)

    def now(self):
        return time.monotonic()

    def say(self, text):
        # systemd writes the line to the console and the journal.
        print(text, flush=True)

    def read(self, name):
        try:
            return (self.root / name).read_text(encoding='utf-8', errors='replace')
        except OSError:
            return ''

    def prepare(self, name, text, mode=0o644, group=None):
        """Writes a temporary file in the same directory, and returns both paths. Other users cannot
        read the file before its final mode is set."""
        path = self.root / name.lstrip('/')
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_name(path.name + '.new')
        fresh.unlink(missing_ok=True)
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), 'w') as file:
            file.write(text)
            # Otherwise a power loss after the rename may leave an empty file.
            file.flush()
            os.fsync(file.fileno())
        if group:
            shutil.chown(fresh, group=group)
        fresh.chmod(mode)
        return fresh, path

    def write(self, name, text, mode=0o644, group=None):
        """Replaces a file atomically and durably."""
        fresh, path = self.prepare(name, text, mode, group)
        fresh.replace(path)
        folder = os.open(path.parent, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)


def fault(key, sentence):
    return section.SectionError([f'leon.{key}: {sentence}'])


def read_section(machine):
    """Returns the value of `leon:`, or None. cloud-init merges parts into one file."""
    text = machine.read('var/lib/cloud/instance/cloud-config.txt')
    raw = machine.read('var/lib/cloud/instance/user-data.txt')
    for source in (raw if raw.startswith('#cloud-config') else '', text):
        try:
            found = yaml.safe_load(source)
        except (yaml.YAMLError, ValueError) as error:
            mark = getattr(error, 'problem_mark', None)
            where = f' in line {mark.line + 1}' if mark else ''
            problem = getattr(error, 'problem', None) or str(error).partition('\n')[0]
            raise section.SectionError([f'leon: user-data is no YAML{where}: {problem}'])
    return found.get('leon') if isinstance(found, dict) else None


def instance_data(machine):
    for name in ('instance-data-sensitive.json', 'instance-data.json'):
        try:
            return json.loads(machine.read(f'run/cloud-init/{name}'))
        except ValueError:
            continue
    return {}


def answer(machine, *command):
    """Returns the JSON output of a program of iproute2."""
    try:
        return json.loads(machine.run(*command).stdout)
    except ValueError:
        return []


def public_address(machine, instance):
    known = section.public_address(instance)
    if known or (instance.get('v1') or {}).get('cloud_name') != 'gce':
        return known
    deadline = machine.now() + FETCH_S
    while True:
        try:
            text = machine.fetch(GCE_ADDRESS, {'Metadata-Flavor': 'Google'}, TRY_S).decode('ascii')
            return section.public_address({'ds': {'meta_data': {'public-ipv4': text}}})
        except ValueError:
            return None
        except OSError as error:
            # 404: the machine has no external address.
            if getattr(error, 'code', None) == 404 or machine.now() + TRY_S >= deadline:
                return None
        machine.wait(TRY_S)


def facts(machine, instance):
    """Returns the facts of the machine for section.plan()."""
    found = {'hostname': str((instance.get('v1') or {}).get('local_hostname') or '')}
    for family in ('-4', '-6'):
        routes = answer(machine, 'ip', '-j', family, 'route', 'show', 'default')
        if routes:
            found['uplink'] = routes[0].get('dev')
            break
    for link in answer(machine, 'ip', '-j', 'address', 'show', 'dev', found.get('uplink', 'lo')):
        found['uplink-mac'] = link.get('address')
        addresses = [entry.get('local') for entry in link.get('addr_info', ())
                     if entry.get('family') == 'inet' and entry.get('scope') == 'global']
        found['address'] = addresses[0] if addresses else None
    found['public-address'] = public_address(machine, instance)
    return found


def fetched(machine, key, where):
    """Returns a secret or a token, one line of text, from its source."""
    deadline = machine.now() + FETCH_S
    while True:
        try:
            left = max(deadline - machine.now(), 1)
            data = machine.fetch(where['url'], where['headers'], min(ATTEMPT_S, left))
            break
        except (OSError, ValueError) as error:
            denied = isinstance(error, urllib.error.HTTPError) and error.code in (401, 403)
            final = denied or isinstance(error, fetch.Refused)
            if final or machine.now() + TRY_S >= deadline:
                raise fault(key, f'{where["url"]} cannot be fetched: {error}')
        machine.wait(TRY_S)
    try:
        text = data.decode('utf-8').strip()
    except ValueError:
        text = ''
    if not text or len(data) > SECRET_BYTES or '\n' in text:
        raise fault(key, f'{where["url"]} has not one line of text')
    return text


def joining(machine, token):
    """The result of `leonctl join`. Status 3: no member answers a one-time token, for example
    because the member starts at the same time. leonctl reads standard input, because arguments
    are public."""
    deadline = machine.now() + FETCH_S
    while True:
        done = machine.run('leonctl', 'join', '--print', '-', given=token)
        if done.returncode != NO_ANSWER or machine.now() + TRY_S >= deadline:
            return done
        machine.wait(TRY_S)


def invited(machine, key, token):
    """Returns leond's document of a token. The first request uses a one-time token, so the document
    is kept until leond starts. A machine with an error in another key tries again at the next
    boot."""
    name = hashlib.sha256(''.join(token.split()).encode()).hexdigest()
    kept = machine.read(REDEEMED)
    if kept.startswith(name):
        return json.loads(kept.removeprefix(name))
    done = joining(machine, token)
    if done.returncode != 0:
        sentences = [line.removeprefix('leonctl: ') for line in said(done)]
        raise section.SectionError([f'leon.{key}: {sentence}' for sentence in sentences])
    document = json.loads(done.stdout)
    machine.write(REDEEMED, name + json.dumps(document), mode=0o600)
    return document


def whole_document(machine, plan):
    """Returns leond.json(5) with the secret from any source."""
    key, text = plan.secret_kind, plan.secret
    if key and key.endswith('-from'):
        text = fetched(machine, key, text)
    if key and key.startswith('token'):
        return plan.with_token(invited(machine, key, text))
    return plan.with_secret(text)


def mount_data_disk(machine, plan):
    """Prepares the disk of the identity key and other persistent files of a node, at
    /var/lib/leon."""
    disk = plan.data_disk
    deadline = machine.now() + DISK_S
    while not (machine.root / disk.lstrip('/')).exists():
        if machine.now() > deadline:
            raise fault('data-disk', f'{disk} did not appear; attach it, then restart the machine')
        machine.wait(TRY_S)
    found = machine.run('blkid', '-p', '-o', 'export', disk)
    if found.returncode == 2:
        made = machine.run('mkfs.ext4', '-q', '-L', 'leon-data', disk)
        if made.returncode != 0:
            raise fault('data-disk', f'{disk} cannot be formatted: {made.stderr.strip()}')
        found = machine.run('blkid', '-p', '-o', 'export', disk)
    known = dict(line.split('=', 1) for line in found.stdout.splitlines() if '=' in line)
    if known.get('TYPE') not in ('ext4', 'xfs', 'btrfs') or 'UUID' not in known:
        raise fault('data-disk', f'{disk} has no file system that is known and is not blank; give a '
                    'partition of it, or another disk')
    at = '/' + STATE
    lines = [line for line in machine.read('etc/fstab').splitlines() if line.split()[1:2] != [at]]
    lines.append(f'UUID={known["UUID"]} {at} {known["TYPE"]} '
                 'nofail,nodev,nosuid,noexec,x-systemd.device-timeout=15min 0 2')
    machine.write('etc/fstab', '\n'.join(lines) + '\n')
    # systemd runs the command, since leon-cloud.service has a private mount namespace. A unit of
    # fstab would need the generators of systemd, which time out on a slow machine.
    done = machine.run('systemd-run', '--quiet', '--wait', '--pipe', '--collect', 'sh', '-c',
                       f'mountpoint -q {at} || mount --mkdir {at}')
    if done.returncode != 0:
        raise fault('data-disk', f'{disk} cannot be mounted: {done.stderr.strip()}')


def judge(machine, plan, document):
    """Checks the documents with leond and leon-ipsec; raises their error sentences."""
    with tempfile.TemporaryDirectory(prefix='leon-cloud-') as folder:
        file = Path(folder, f'{plan.interface}.json')
        file.touch(mode=0o600)
        file.write_text(json.dumps(document))
        under, faults = 'leon', said(machine.run('leond', '--config', str(file), '--check'))
        if plan.ipsec is not None and not faults:
            other = Path(folder, 'ipsec.json')
            other.touch(mode=0o600)
            other.write_text(json.dumps(plan.ipsec))
            under, faults = 'leon.ipsec', said(machine.run(
                '/usr/lib/leon/leon-ipsec', '--config', str(file), '--ipsec', str(other), 'check'))
    if faults:
        # The temporary file of the check is unknown to the author of the user-data.
        raise section.SectionError([f'{under}.{line.removeprefix(f"{file}: ")}' for line in faults])


def said(done):
    """Error sentences of a failed check."""
    if done.returncode == 0:
        return []
    lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    return lines or [f'the check ended with {done.returncode}']


def remove_network(machine, fresh=()):
    for folder, pattern in (('etc/systemd/network', '05-leon-*'), ('etc/sysctl.d', '60-leon-*')):
        for path in (machine.root / folder).glob(pattern):
            # A folder of drop-ins has no effect without its file.
            if not path.is_dir() and path not in fresh:
                path.unlink()


def is_same_hardware(machine):
    uuid = machine.read(UUID)
    if uuid.strip().lower() == SHARED_UUID or (machine.root / CONTAINER).exists():
        return False
    return uuid != '' and uuid == machine.read(HARDWARE)


def set_aside(machine, interfaces=None):
    """Renames the configuration of these or all interfaces, because an operator may have edited
    it."""
    for path in (machine.root / 'etc/leon').glob('*.json'):
        interface = path.name.removesuffix('.json').removesuffix('.ipsec')
        if interfaces is None or interface in interfaces:
            path.replace(f'{path}.original')
    # A configuration of the operator after an error remains.
    (machine.root / DONE).unlink(missing_ok=True)


def forget_the_original(machine):
    """A copy of a disk is another node, even if its user-data is faulty. The node-id, the addresses
    and the identity key of the original would disturb the original. leond does not start without a
    configuration. A mounted data disk is that of this machine and keeps its key."""
    state = machine.root / STATE
    for kind in ('identity', 'invitations') if not state.is_mount() else ():
        for path in state.glob(f'*.{kind}'):
            path.unlink()
    set_aside(machine)
    bridges = [path.stem.removeprefix('05-leon-')
               for path in (machine.root / 'etc/systemd/network').glob('05-leon-*.netdev')]
    remove_network(machine)
    machine.run('networkctl', 'reload')
    # networkd has made the bridges at this boot, and keeps the MAC address of an existing bridge.
    # systemd runs the command, since leon-cloud.service must not change links.
    for bridge in bridges:
        machine.run('systemd-run', '--quiet', '--wait', '--collect', 'ip', 'link', 'delete', bridge)


def prepared(machine, plan, document):
    """Writes all temporary files first. An error, such as a full disk, leaves the former files in
    use."""
    texts = {INTERFACE: plan.interface + '\n', **network.files(plan)}
    made = [machine.prepare(name, text) for name, text in texts.items()]
    name = f'etc/leon/{plan.interface}'
    if plan.ipsec is not None:
        text = json.dumps(plan.ipsec, indent=2) + '\n'
        made.append(machine.prepare(f'{name}.ipsec.json', text, mode=0o600))
    text = json.dumps(document, indent=2) + '\n'
    return [*made, machine.prepare(f'{name}.json', text, mode=0o640, group='leon')]


def install(machine, plan, made):
    remove_network(machine, [fresh for fresh, _ in made])
    for fresh, path in made:
        fresh.replace(path)
    # A running leon-ipsec has the former documents. Without a document, leon-ipsec removes its
    # firewall table.
    machine.run('systemctl', 'try-restart', '--no-block', f'leon-ipsec@{plan.interface}.service')
    if plan.routes:
        machine.run('systemctl', 'restart', 'systemd-sysctl.service')
    machine.run('networkctl', 'reload')


def start(machine, unit):
    """Starts the services now and at each boot. systemd needs no reload of its configuration, see
    above. Returns an error sentence, or None."""
    for words in (('enable', '--no-reload'), ('restart', '--no-block')):
        done = machine.run('systemctl', *words, unit)
        if done.returncode != 0:
            return (f'leon: {unit} cannot be started: {done.stderr.strip()}; run: systemctl enable '
                    f'--now {unit}')
    return None


def tell_the_time(machine, cloud):
    if cloud in CLOCKS and (machine.root / 'etc/chrony/sources.d').is_dir():
        machine.write('etc/chrony/sources.d/leon-cloud.sources',
                      f'server {CLOCKS[cloud]} prefer iburst minpoll 4 maxpoll 4\n')
        machine.run('systemctl', '--no-block', 'try-restart', 'chrony.service')


NOTHING = ('leon: nothing was configured. Correct the user-data and restart the machine, or write '
           '/etc/leon/leon0.json and run: systemctl enable --now leond@leon0')


def complain(machine, *lines):
    for line in lines:
        machine.say(line)
    machine.write(ISSUE, '\n'.join(lines) + '\n\n')


def apply(machine):
    """Exit status for leon-cloud.service."""
    instance = instance_data(machine)
    number = str((instance.get('v1') or {}).get('instance_id') or '')
    (machine.root / ISSUE).unlink(missing_ok=True)
    done = machine.read(DONE).strip()
    if number and done == number:
        if not machine.read(HARDWARE):
            machine.write(HARDWARE, machine.read(UUID), mode=0o600)
        return 0
    if done and number not in UNKNOWN and not is_same_hardware(machine):
        forget_the_original(machine)
    try:
        tell_the_time(machine, (instance.get('v1') or {}).get('cloud_name'))
        given = read_section(machine)
        if given is None:
            machine.say('leon: the user-data has no section "leon:", so no overlay was configured')
            return 0
        plan = section.plan(given, facts(machine, instance))
        document = whole_document(machine, plan)
        judge(machine, plan, document)
        if plan.data_disk:
            mount_data_disk(machine, plan)
        made = prepared(machine, plan, document)
        if done:
            former = machine.read(INTERFACE).strip()
            # Earlier versions stored no UUID.
            set_aside(machine, {former, plan.interface} if former else None)
        install(machine, plan, made)
    except section.SectionError as error:
        complain(machine, *error.faults, NOTHING)
        return 1
    except OSError as error:
        complain(machine, f'leon: {error}', NOTHING)
        return 1
    failed = start(machine, f'leond@{plan.interface}.service')
    if failed:
        complain(machine, failed)
        return 1
    machine.write(HARDWARE, machine.read(UUID), mode=0o600)
    machine.write(DONE, number + '\n')
    (machine.root / REDEEMED).unlink(missing_ok=True)
    machine.say(f'leon: {plan.interface} is configured from the user-data: node '
                f'{document.get("node-name", document.get("node-id", "without a name"))}, '
                f'{len(document.get("peer", {}))} peers; leonctl show nodes')
    return 0
