"""Actuators in files: tables of TOML, transmissions of URDF, a table beside a URDF file."""

import pytest

import dalembert as da
from dalembert.model.numbers import Literal
from dalembert.readers.toml import read_toml, write_toml
from geared_rotors import geared

TABLE = """
[[actuator]]
name = "motor"
joint = "hinge"
gear_ratio = 100
rotor_inertia = "2e-5"
body = "rod"
axis = [0, 0.6, 0.8]
effort = 0.5
velocity = 400
"""
ROD = ('<link name="base"/><link name="rod"><inertial><mass value="1"/><inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial>'
       '</link><joint name="hinge" type="continuous"><parent link="base"/><child link="rod"/><limit effort="80" velocity="3"/></joint>')
MOTOR = da.Actuator("motor", "hinge", 100, Literal("2e-5"), "rod", (0, Literal("0.6"), Literal("0.8")), effort=Literal("0.5"), velocity=400)


def urdf(*transmissions):
    return da.load(f'<robot name="r">{ROD}{"".join(transmissions)}</robot>')


def transmission(kind="transmission_interface/SimpleTransmission", joint="hinge", actuator="m", gear="<mechanicalReduction>50</mechanicalReduction>"):
    return (f'<transmission name="t"><type>{kind}</type><joint name="{joint}"><hardwareInterface>EffortJointInterface</hardwareInterface></joint>'
            f'<actuator name="{actuator}">{gear}</actuator></transmission>')


def test_tables_are_read_and_written():
    mechanism, _ = geared()
    assert read_toml(write_toml(mechanism)) == mechanism
    beside = da.load(f'<robot name="r">{ROD}</robot>', constraints=TABLE)
    (motor,) = beside.actuators
    assert motor == MOTOR and (motor.source.line, motor.gear_ratio) == (2, 100)
    assert read_toml(write_toml(beside)).actuators == (MOTOR,)


@pytest.mark.parametrize(("old", "new", "message"), [
    ('joint = "hinge"', "", "line 2: actuator 'motor': the key 'joint' is missing"),
    ("velocity = 400", "speed = 400", "line 10: .*unknown key 'speed' .*effort, velocity"),
    ("[0, 0.6, 0.8]", "[0, 1]", "line 8: .*axis is a list of 2; expected a list of 3"),
    ("gear_ratio = 100", "gear_ratio = 0", "actuator 'motor' .*line 2.*gear_ratio is 0"),
    ('"hinge"', '"elbow"', "names the joint 'elbow', which does not exist"),
])
def test_faults_of_tables_are_named(old, new, message):
    with pytest.raises(da.DalembertError, match=message):
        da.load(f'<robot name="r">{ROD}</robot>', constraints=TABLE.replace(old, new))


def test_an_actuator_drives_the_motor_of_a_flexible_joint():
    beside = '[[joint]]\nname = "hinge"\ntransmission = { stiffness = 500 }\n' + TABLE
    flexible = da.load(f'<robot name="r">{ROD}</robot>', constraints=beside)
    assert flexible.actuators[0].joint == "hinge.motor"
    whole = write_toml(da.load(f'<robot name="r">{ROD}</robot>')).replace('child = "rod"', 'child = "rod"\ntransmission = { stiffness = 500 }')
    assert read_toml(whole + TABLE) == read_toml(write_toml(read_toml(whole + TABLE)))
    assert read_toml(whole + TABLE).actuators == flexible.actuators


def test_simple_transmissions_are_actuators():
    drake = '<drake:rotor_inertia value="1e-4"/><drake:gear_ratio value="20"/>'
    older = '<transmission type="pr2/SimpleTransmission" name="t"><actuator name="a"/><joint name="hinge"/><mechanicalReduction>-7.5</mechanicalReduction></transmission>'
    robot = urdf(transmission(), transmission(gear=""), transmission(actuator="hinge", gear=drake), older)
    found = [(a.name, a.joint, a.gear_ratio, float(a.rotor_inertia), a.source.line) for a in robot.actuators]
    assert found == [("m", "hinge", 50, 0, 1), ("m_1", "hinge", 1, 0, 1), ("hinge.motor", "hinge", 20, 1e-4, 1), ("a", "hinge", -7.5, 0, 1)]
    assert da.effort_limits(robot) == [80]
    assert robot.tree().rotor == (20 * 20 * 1e-4,)
    notes = [str(f) for f in robot.check()]
    assert any("has an ending" in note and "2 times" in note for note in notes) and not any("not used" in note for note in notes)


@pytest.mark.parametrize(("given", "message"), [
    (transmission("DifferentialTransmission"), "type is 'DifferentialTransmission'"),
    (transmission(joint="elbow"), "there is no joint 'elbow'"),
    (transmission(actuator=" "), "no name"),
    (transmission(gear="<mechanicalReduction>reduction</mechanicalReduction>"), "'reduction', no number"),
    (transmission(gear="<mechanicalReduction>0</mechanicalReduction>"), "is 0"),
    (transmission(gear="<mechanicalReduction>1e999</mechanicalReduction>"), "1e999"),
    ('<transmission name="t"><joint name="hinge"/></transmission>', "it has 0 <actuator>"),
])
def test_other_transmissions_are_left_out_with_a_note(given, message):
    robot = urdf(given)
    assert robot.actuators == ()
    assert [f.severity for f in robot.check() if f.what == "actuators" and message in f.why] == ["note"]


def test_a_gear_alone_changes_no_equation():
    assert urdf(transmission()).identity() == urdf().identity()
