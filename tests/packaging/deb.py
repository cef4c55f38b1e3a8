# SPDX-License-Identifier: GPL-2.0-or-later
"""The metadata of a .deb."""
import subprocess
from pathlib import Path


def field(deb: Path, name: str) -> str:
    return subprocess.run(
        ['dpkg-deb', '-f', deb, name], check=True, capture_output=True, text=True, timeout=60
    ).stdout.strip()
