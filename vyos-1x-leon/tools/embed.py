#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Converts a file to a C array: embed.py FILE HEADER NAME. Used for pages that a program prints."""
import sys


def main():
    source, header, name = sys.argv[1:]
    with open(source, 'rb') as f:
        data = f.read()
    lines = [', '.join(map(str, data[at:at + 24])) for at in range(0, len(data), 24)]
    with open(header, 'w', encoding='ascii') as f:
        f.write(f'static const char {name}[] = {{\n\t')
        f.write(',\n\t'.join(lines))
        f.write(',\n\t0\n};\n')


if __name__ == '__main__':
    main()
