"""Files of users are replaced as a whole or stay as they are."""

import os
import stat
import sys

import pytest

from dalembert.whole_files import whole_file


def test_a_file_is_replaced_and_keeps_its_permissions(tmp_path):
    file, link = tmp_path / "arm.urdf", tmp_path / "link.urdf"
    file.write_text("before")
    file.chmod(0o640)
    link.symlink_to(file)
    with whole_file(link) as out:
        out.write("after\r\n")
        assert file.read_text() == "before"
    assert file.read_bytes() == b"after\r\n" and link.is_symlink()
    assert stat.S_IMODE(file.stat().st_mode) == 0o640 and sorted(os.listdir(tmp_path)) == ["arm.urdf", "link.urdf"]


@pytest.mark.parametrize("fault", [ValueError, KeyboardInterrupt, UnicodeEncodeError])
def test_a_file_stays_where_writing_fails(tmp_path, fault):
    file = tmp_path / "arm.urdf"
    file.write_text("before")
    with pytest.raises(fault), whole_file(file) as out:
        out.write("half \ud800" if fault is UnicodeEncodeError else "half")
        raise fault
    assert file.read_text() == "before" and os.listdir(tmp_path) == ["arm.urdf"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pipes of this kind")
def test_a_device_is_written_to_and_no_file_put_in_its_place():
    from pathlib import Path

    with whole_file(Path(os.devnull)) as out:
        out.write("text")
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


def test_an_error_names_the_file_that_was_asked_for(tmp_path):
    with pytest.raises(FileNotFoundError, match="arm.urdf"), whole_file(tmp_path / "none" / "arm.urdf"):
        pass


def test_a_file_that_may_not_be_written_to_is_not_replaced(tmp_path, monkeypatch):
    file = tmp_path / "arm.urdf"
    file.write_text("before")
    file.chmod(0o444)
    monkeypatch.setattr(os, "access", lambda path, mode: bool(os.stat(path).st_mode & stat.S_IWUSR))      # root may all
    with pytest.raises(PermissionError, match="arm.urdf"), whole_file(file) as out:
        out.write("after")
    assert file.read_text() == "before" and os.listdir(tmp_path) == ["arm.urdf"]


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(OSError), whole_file(tmp_path):
        pass
    assert not os.listdir(tmp_path)
