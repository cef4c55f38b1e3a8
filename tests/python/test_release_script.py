# SPDX-License-Identifier: GPL-2.0-or-later
"""packaging/release/release.py: the download precedes all else, with hashes, and a release that
fails leaves nothing half-made. tests/release makes whole releases."""
import re

import pytest
from conftest import TOP

RELEASE = 'packaging/release/release.py'


@pytest.fixture
def release(load_script, monkeypatch, tmp_path):
    script = load_script(RELEASE)
    monkeypatch.setattr(script.sys, 'argv', ['release.py', '--out', str(tmp_path / 'leon'), '--dirty'])
    monkeypatch.setattr(script, 'tree_version', lambda: '1.2.3')
    return script


def test_every_download_has_a_version_and_a_hash():
    text = (TOP / 'packaging/release/debsbom.txt').read_text()
    entries = re.split(r'\n(?=[a-z])', re.sub(r'^#.*\n', '', text, flags=re.M).strip())
    assert len(entries) > 10
    for entry in entries:
        assert re.fullmatch(r'[a-z0-9-]+==[\d.]+( \\\n    --hash=sha256:[0-9a-f]{64})+', entry), entry


def test_without_network_nothing_is_left(release, monkeypatch, tmp_path, capsys):
    def no_network(*command, **_):
        raise SystemExit(f'{command[0]} failed: no network')
    monkeypatch.setattr(release, 'run', no_network)
    with pytest.raises(SystemExit, match='no network'):
        release.main()
    assert 'downloaded from PyPI' in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []


def test_a_failure_keeps_the_earlier_release(release, monkeypatch, tmp_path):
    (tmp_path / 'leon').mkdir()
    (tmp_path / 'leon/SHA256SUMS').write_text('earlier')
    monkeypatch.setattr(release, 'get_sbom_tool', lambda tools: None)

    def broken(out, *_):
        (out / 'half').write_text('')
        raise SystemExit('the packages are older than HEAD')
    monkeypatch.setattr(release, 'fill', broken)
    with pytest.raises(SystemExit, match='older'):
        release.main()
    assert [path.name for path in tmp_path.iterdir()] == ['leon']
    monkeypatch.setattr(release, 'fill', lambda out, *_: (out / 'SHA256SUMS').write_text('new'))
    release.main()
    assert (tmp_path / 'leon/SHA256SUMS').read_text() == 'new'
    assert [path.name for path in tmp_path.iterdir()] == ['leon']


@pytest.mark.parametrize('depends, said', [
    ('libc6 (>= 2.38), libssl3t64 (>= 3.0.0)', 'Debian 13'),
    ('libc6 (>= 2.34), libssl3 (>= 3.0.0)', 'Debian 12 and 13, and VyOS 1.5')])
def test_the_repository_names_the_systems_that_have_the_libraries(release, monkeypatch, depends, said):
    monkeypatch.setattr(release, 'run', lambda *_: depends.encode())
    assert release.systems('leond_1.deb') == said
