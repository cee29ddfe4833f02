"""Mistakes of a first day: the message says where the thing is, or what it is called here."""

from fractions import Fraction

import numpy as np
import pytest

import dalembert as da

ARM = da.planar_chain(2)
Q = [0.1, 0.2]


@pytest.mark.parametrize("owner, name, here", [
    (ARM, "mass_matrix", r"da.mass_matrix\(...\)"), (ARM, "equations", r"da.equations\(...\)"),
    (ARM, "forward_kinematics", r"da.placement\(...\)"), (ARM, "M", r"da.mass_matrix\(...\)"), (ARM, "links", "'bodies'"),
    (ARM, "joint_names", "'velocity_names'"), (ARM, "boddies", "'bodies'"), (da, "fk", "'placement'"),
    (da.compile(ARM), "simulate", r"da.simulate\(...\)"), (da.equations(ARM), "to_latex", "'latex'"),
    (da.equations(ARM), "gravity_vectr", "'gravity_vector'"),
])
def test_an_attribute_that_is_elsewhere_is_told(owner, name, here):
    with pytest.raises(AttributeError, match=rf"has no attribute '{name}'. Did you mean {here}\?$"):
        getattr(owner, name)


@pytest.mark.parametrize("name", ["inverse_kinematics", "_x", "quite_another_thing"])
def test_an_attribute_that_is_nowhere_has_no_hint(name):
    with pytest.raises(AttributeError, match="has no attribute '[a-z_]+'.$"):
        getattr(ARM, name)


@pytest.mark.parametrize("other, here", [("dt", "h"), ("tau", "control"), ("u", "control"), ("T", "t"), ("t_span", "t"),
                                         ("dq", "qd"), ("integrator", "method"), ("fricton", "friction")])
def test_an_argument_of_another_name_is_told(other, here):
    with pytest.raises(TypeError, match=rf"^simulate\(mechanism, q, qd, t, ...\): it has no argument '{other}'. Did you mean '{here}'\?$"):
        da.simulate(ARM, Q, Q, 0.1, **{other: 1})


@pytest.mark.parametrize("call, message", [
    (lambda: da.simulate(ARM, Q, 0.1), r"simulate\(mechanism, q, qd, t, ...\): missing a required argument: 't'."),
    (lambda: da.mass_matrix(ARM), r"mass_matrix\(mechanism, q\): missing a required argument: 'q'."),
    (lambda: da.mass_matrix(ARM, Q, Q), r"mass_matrix\(mechanism, q\): too many positional arguments."),
    (lambda: da.forward_dynamics(ARM, Q, Q, u=Q), r"forward_dynamics\(.*\): it has no argument 'u'. Did you mean 'tau'\?"),
    (lambda: da.Body("b", m=1), r"Body\(name, ...\): it has no argument 'm'. Did you mean 'mass'\?"),
    (lambda: da.Joint("j", da.Fixed(), "a", zzz="b"), r"it has no argument 'zzz'. It takes name, type, parent, child,"),
    (lambda: da.resume(ARM, t=1.0), r"resume\(mechanism, store, ...\): missing a required argument: 'store'."),
    (lambda: da.Mechanism([], []), r"Mechanism\(name, bodies, joints, ...\): missing a required argument: 'joints'."),
])
def test_a_call_that_does_not_fit_names_its_arguments(call, message):
    with pytest.raises(TypeError, match=message) as caught:
        call()
    assert caught.value.__context__ is None or caught.value.__suppress_context__


def test_a_type_error_from_within_stays():
    with pytest.raises(TypeError, match="control returned None"):
        da.simulate(ARM, Q, Q, 0.1, control=lambda t, q, qd: None)


@pytest.mark.parametrize("inertia", [(0.1, 0.1, 0.1), np.eye(3)], ids=["moments", "tensor"])
def test_the_order_of_moments_is_told(inertia):
    with pytest.raises(ValueError, match=r"^inertia of body 'b' has 3 entries, expected 6: Ixx, Ixy, Iyy, .*principal moments"):
        da.Body("b", 1.0, inertia=inertia)


@pytest.mark.parametrize("q, said", [(None, "None (NoneType)"), ("0.1,0.2", "'0.1,0.2' (str)"), ({0.1, 0.2}, "(set)"),
                                     (0.1, "0.1 (float)"), (ARM, "<Mechanism")], ids=lambda x: type(x).__name__)
def test_a_state_that_is_no_array_is_shown(q, said):
    with pytest.raises(da.ShapeError) as caught:
        da.mass_matrix(ARM, q)
    assert said in str(caught.value) and "expected (2,) or (N, 2)" in str(caught.value)


@pytest.mark.parametrize("q, held", [(["0.1", "0.2"], "texts"), ([1j, 0], "complex numbers"), ([True, False], "truth values")])
def test_a_state_of_no_real_numbers_is_told_in_words(q, held):
    with pytest.raises(TypeError, match=f"^q holds {held}, expected real numbers.$"):
        da.mass_matrix(ARM, q)


@pytest.mark.parametrize("other, here", [("RK45", "dopri5"), ("RK4", "rk4"), ("euler", "explicit_euler"), ("BDF", "rodas5p")])
def test_methods_of_other_tools_are_known(other, here):
    with pytest.raises(da.UnknownNameError, match=rf"rodas5p, radau5\). Did you mean '{here}'\?$"):
        da.simulate(ARM, Q, Q, 0.1, method=other)


@pytest.mark.parametrize("given", ["mass_matrix", ["mass_matrix"]])
def test_a_quantity_is_not_named_when_compiling(given):
    with pytest.raises(TypeError, match=r"'mass_matrix' is a quantity, .* da.compile\(mechanism\).mass_matrix\(...\)"):
        da.compile(ARM, given)


def test_numbers_of_sympy_are_numbers_and_its_symbols_are_not():
    sympy = pytest.importorskip("sympy")
    mass = da.Body("b", sympy.Rational(1, 3)).mass
    assert mass == Fraction(1, 3) and type(mass) is Fraction
    with pytest.raises(TypeError, match=r"mass of body 'b' is m \(Symbol\); expected a number or an expression, as da.symbols\('m'\) makes"):
        da.Body("b", sympy.Symbol("m"))


def test_a_folder_of_meshes_is_there():
    with pytest.raises(da.MissingFileError, match="nowhere: there is no such folder of meshes."):
        da.load("ur5", mesh_folders=["nowhere"])
