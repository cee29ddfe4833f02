"""Faults of URDF files mended in their text; what is not at fault stays, to the last blank."""

import warnings

import pytest

import dalembert as da
from dalembert.writers.element_spans import TextEdits, spans_of
from dalembert.writers.urdf_repair import repair_urdf

BROKEN = """<?xml version="1.0"?>
<!-- an arm with faults; a > b -->
<robot name="arm">
  <link name="base"/>
  <link name="upper">
    <inertial>
      <origin xyz="0.1 0 0" rpy="0.3 -0.2 1"/>
      <mass value="2"/>   <!-- kg -->
      <mass value="3"/>
      <inertia ixx="0.02" iyy="0.001" izz="0.03"/>
    </inertial>
    <inertial><mass value="1"/></inertial>
  </link>
  <link name='low "&amp;" er'><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
  <joint name="shoulder" type="revolute">
    <parent link="base"/>
    <child link="upper"/>
    <limit lower="2" upper="-2"/>
  </joint>
  <joint name="elbow" type="revolute">
    <parent link="upper"/> <child link='low "&amp;" er'/>
    <axis xyz="0 1 0"/>
    <axis xyz="0 1 0"/>
  </joint>
</robot>
"""


def test_a_repaired_file_is_read_without_a_doubt_and_differs_in_the_repaired_lines_alone():
    repair = repair_urdf(BROKEN.encode(), "arm.urdf")
    assert repair.left == []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        arm = da.load(repair.after, strict=True)
    assert arm.body("upper").mass == 2 and arm.joint("shoulder").limits.lower == (-2,)
    assert [j.type.name for j in arm.joints] == ["revolute", "continuous"]
    removed = {line[1:] for line in repair.diff.splitlines() if line.startswith("-") and not line.startswith("---")}
    kept = [line for line in BROKEN.splitlines() if line not in removed]
    assert [line for line in repair.after.splitlines() if line in kept] == kept and len(removed) == 6
    assert [change.source.line for change in repair.changes] == sorted(change.source.line for change in repair.changes)
    assert repair_urdf(repair.after.encode(), "arm.urdf").changes == []


def test_inertias_of_the_file_are_those_of_repaired_mechanisms():
    """The file gives moments in turned axes; the nearest ones turn with them."""
    text = BROKEN.replace('      <mass value="3"/>\n', "").replace('    <inertial><mass value="1"/></inertial>\n', "").replace('lower="2" upper="-2"', 'lower="-2" upper="2"')
    text = text.replace('    <axis xyz="0 1 0"/>\n', "", 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        whole, after = da.load(text).repaired(), da.load(repair_urdf(text.encode(), "arm.urdf").after)
    assert [*map(float, after.body("upper").inertia)] == pytest.approx([*map(float, whole.body("upper").inertia)], rel=1e-8)


def test_what_cannot_be_known_is_left_and_said():
    text = BROKEN.replace('<inertial><mass value="1"/><inertia ixx="1"', '<inertial><inertia ixx="1"')
    left = [str(finding) for finding in repair_urdf(text.encode(), "arm.urdf").left]
    assert any("no <mass>" in finding for finding in left)
    broken = BROKEN.replace('<parent link="base"/>', '<parent link="bose"/>')
    finding, *impossible = repair_urdf(broken.encode(), "arm.urdf").left
    assert impossible and all("principal moments" in other.why for other in impossible)
    assert "Did you mean 'base'" in finding.fix and finding.source.line == 13
    for other in (b"<mujoco/>", b'name = "arm"'):
        with pytest.raises(da.ReadError, match="only URDF files are repaired"):
            repair_urdf(other, "a.xml")
    with pytest.raises(da.ReadError, match="the file is empty"):
        repair_urdf(b" \n", "a.urdf")
    with pytest.raises(da.ReadError, match="not UTF-8"):
        repair_urdf(b"<robot name='\xff'/>", "a.urdf")


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_sound_files_stay_to_the_last_byte(line_end):
    with open(da.data.path("panda"), encoding="utf-8") as file:
        text = file.read().replace("\n", line_end)
    assert repair_urdf(text.encode(), "panda.urdf").after == text


def test_spans_are_those_of_elements():
    text = '<a x="1>" y=\'<!--\'><!-- <b/> --><b\n z = "&lt;"  /><![CDATA[<c>]]><d></d></a>'
    root = spans_of(text)
    assert [(e.tag, text[e.start:e.end]) for e in root.children] == [("b", '<b\n z = "&lt;"  />'), ("d", "<d></d>")]
    assert root.get("x") == "1>" and root.children[0].get("z") == "<" and root.children[1].line == 2
    edits = TextEdits(text)
    edits.set(root.children[0], "z", '"')
    edits.set(root.children[0], "new", "1")
    edits.add(root.children[1], "<e/>")
    assert "<b\n z = '\"' new=\"1\"  />" in edits.result() and "<d><e/></d>" in edits.result()
