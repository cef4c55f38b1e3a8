#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Generates the Wireshark dissector leon.lua: the tables of protocol.md in front of leon.lua.in.

Usage: make_dissector.py PROTOCOL.MD LEON.LUA.IN OUTPUT

The tables define the names of kinds, flags and messages, and the size of each field of a message.
leon.lua.in parses the structure around messages: headers, envelopes, fragments and bundles.
"""
import re
import sys

NODE_IDS = ('origin', 'node', 'next', 'destination', 'node-id', 'source')


def fail(what):
    sys.exit(f'make_dissector: protocol.md: {what}')


def section(text, title):
    """The text of a section, up to the next heading of the same level or above."""
    found = re.search(rf'^(#+) (?:[\d.]+ )?{re.escape(title)}$(.*?)(?=^#{{1,3}} |\Z)', text, re.M | re.S)
    return found.group(2) if found else fail(f'no section "{title}"')


def rows(text, *header):
    """Cells of the rows of the first table with the given header."""
    start = re.search(r'^\| *' + r' *\| *'.join(map(re.escape, header)) + r' *\|.*\n\|[-| ]+\|\n',
                      text, re.M)
    if not start:
        fail(f'no table with {header}')
    body = re.match(r'(?:\|.*\n)*', text[start.end():]).group(0)
    return [[cell.strip() for cell in line.strip('|').split('|')] for line in body.splitlines()]


def abbreviation(label):
    return re.sub(r'[^a-z0-9]+', '_', label.lower()).strip('_')


def scalar(label, bits):
    if bits % 8:
        fail(f'{label}: {bits} bits')
    kind = 'node' if bits == 32 and label.split()[-1] in NODE_IDS else 'uint'
    return {'label': label, 'kind': kind if bits <= 64 else 'bytes', 'bytes': bits // 8}


def element(label, text):
    """A field of the column "bits": 16, endpoint, address, 4 x 32."""
    if re.fullmatch(r'\d+', text):
        return [scalar(label, int(text))]
    if text in ('endpoint', 'address'):
        return [{'label': label, 'kind': text}]
    several = re.fullmatch(r'(\d+) x (\d+)', text)
    if several:
        return [scalar(label, int(several.group(2)))] * int(several.group(1))
    return fail(f'{label}: cannot read "{text}"')


def repeated(label, text):
    """The entry of a list behind "n x": 8, endpoint, (address, 8)."""
    parts = re.split(r', *', text.strip('()'))
    if parts == ['8']:
        return [{'label': label, 'kind': 'text'}]
    names = [label] + [f'{label} {i}' for i in range(2, len(parts) + 1)]
    items = [item for name, part in zip(names, parts) for item in element(name, part)]
    return [{'label': label, 'kind': 'list', 'items': items}]


def fields_of(label, bits):
    condition = re.fullmatch(r'with (0x[0-9a-f]+): (.*)', bits)
    if condition:
        return [{'label': label, 'kind': 'if', 'flag': int(condition.group(1), 16),
                 'items': fields_of(label, condition.group(2))}]
    counted = re.fullmatch(r'(.*), n x (.+)', bits)
    if counted:
        front = [f for i, part in enumerate(counted.group(1).split(', '), 1)
                 for f in element(f'{label} word {i}', part)]
        front[-1] = dict(front[-1], label='number of ' + label)
        return front + repeated(label, counted.group(2))
    parts = bits.split(', ')
    labels = label.split(', ') if len(parts) > 1 else [label]
    if len(labels) != len(parts):
        fail(f'{label}: {bits}')
    return [f for name, part in zip(labels, parts) for f in element(name, part)]


def message_fields(table):
    """Rows after "for each:" repeat, and the row before has the count."""
    fields = target = []
    for label, bits, *_ in table:
        if label.startswith('for each: '):
            target = []
            fields.append({'label': 'entry', 'kind': 'list', 'items': target})
            label = label[len('for each: '):]
        target += fields_of(label, bits)
    return fields


def messages(text):
    numbers = {name: int(number) for number, name, *_ in rows(section(text, 'Messages'), 'type', 'name')}
    found = {number: {'name': name, 'fields': []} for name, number in numbers.items()}
    part = text[text.index('\n## 4. Messages'):text.index('\n## 5. ')]
    title = None
    for line in re.finditer(r'^### 4\.\d+ (.+)$|^\| (\w+) \| bits \|', part, re.M):
        if line.group(1):
            title = line.group(1).lower()
            continue
        name = title if line.group(2) == 'field' else line.group(2).lower()
        if name not in numbers:
            fail(f'no message {name}')
        found[numbers[name]]['fields'] = message_fields(
            rows(part[line.start():], line.group(2), 'bits'))
    return found


def named_bits(text):
    """Fields from prose or from a picture: name (bits)."""
    return [scalar(re.sub(r'.* zstd window .*', 'window', label.strip()).split(', ')[-1], int(bits))
            for label, bits in re.findall(r'([\w][\w" -]*?) \((\d+)[;)]', text)]


def guard(text):
    picture = re.search(r'version \d+ \(8\).*?authenticator \(128\)', section(text, 'The loop-guard frame'), re.S)
    return named_bits(picture.group(0)) if picture else fail('no picture of the guard')


def connection(text):
    picture = re.search(r'vlan \(16\) \|.*?far port \(16\)', text, re.S)
    if not picture:
        fail('no picture of a connection')
    found = []
    for cell in picture.group(0).split('|'):
        label, bits = re.match(r'\s*([\w ]+?) \((\d+)( or 128)?', cell).group(1, 2)
        found.append({'label': label, 'kind': 'address_of_family'} if 'or 128' in cell
                     else scalar(label, int(bits)))
    return found


def view(text):
    picture = re.search(r'seq \(32\) \|.*?mss \(16\)', text, re.S) or fail('no picture of a view')
    return [dict(field, label=f'{host} {field["label"]}')
            for host in ('near', 'far') for field in named_bits(picture.group(0))]


def accelerator(text):
    part = section(text, 'Between accelerators')
    pictures = {'connection': connection(part), 'view': view(part)}
    found = {}
    for numbers, names, _, body in (row[:4] for row in rows(part, 'type', 'name', 'stream', 'bytes')):
        parts = body.split(':')[0].split(', ')
        fields = sum((pictures[name] for name in parts), []) if set(parts) <= set(pictures) \
            else named_bits(body)
        for number, name in zip(numbers.split(', '), names.split(', ')):
            found[int(number)] = {'name': name, 'fields': fields}
    return found


def lua(value):
    if isinstance(value, dict):
        keys = (f'[{k}]' if isinstance(k, int) else k for k in value)
        return '{' + ', '.join(f'{k} = {lua(v)}' for k, v in zip(keys, value.values())) + '}'
    if isinstance(value, list):
        return '{' + ', '.join(map(lua, value)) + '}'
    return f"'{value}'" if isinstance(value, str) else str(value)


def tables(text):
    header = section(text, 'The LEON header')
    flags = {int(value, 16): name for name, value, *_ in rows(header, 'flag', 'value')}
    kinds = {int(kind): name for kind, name, *_ in rows(section(text, 'Kinds'), 'kind', 'name')}
    if not {'frame', 'control'} <= set(kinds.values()) or 'SEALED' not in flags.values():
        fail('kinds or flags are not as leon.lua.in expects them')
    return {'kinds': kinds, 'flags': flags, 'messages': messages(text), 'guard': guard(text),
            'accelerator': accelerator(text)}


def main():
    protocol, template, output = sys.argv[1:]
    with open(protocol, encoding='utf-8') as f:
        found = tables(f.read())
    with open(template, encoding='utf-8') as f:
        text = f.read()
    lines = ''.join(f'T.{name} = {lua(value)}\n' for name, value in found.items())
    with open(output, 'w', encoding='utf-8') as f:
        f.write(text.replace('-- @TABLES@\n', lines))


if __name__ == '__main__':
    main()
