"""Lagrangians of users, compiled: equal to the plain values, batches too."""

import pickle

import numpy as np
import pytest

import dalembert as da


def pendulum_on_a_driven_cart(q, qd, t):
    """Terms linear in qd and explicit time."""
    x, angle = q[0], q[1]
    drive = da.sin(3 * t)
    kinetic = qd[0] ** 2 + 0.5 * qd[1] ** 2 + qd[0] * qd[1] * da.cos(angle) + 0.3 * drive * qd[0]
    return kinetic + 9.81 * da.cos(angle) - 2 * x**2


@pytest.fixture(scope="module")
def system():
    return da.lagrangian_system(pendulum_on_a_driven_cart, ["x", "angle"])


def test_every_quantity_equals_the_plain_one_in_batches(system):
    dyn = da.compile(system)
    rng = np.random.default_rng(0)
    batch = {name: rng.normal(size=(20, 2)) for name in ("q", "qd", "qdd", "tau")} | {"t": rng.normal(size=20)}
    for name in ("mass_matrix", "bias_force", "energy", "momenta", "inverse_dynamics", "forward_dynamics"):
        f = getattr(dyn, name)
        found = f(*(batch[key] for key in f.shapes))
        for k in range(20):
            vectors = [batch[key][k] for key in f.shapes if key != "t"]
            if name == "mass_matrix":
                right = system.mass_matrix(batch["q"][k], batch["qd"][k], batch["t"][k])
            else:
                right = getattr(system, name)(*vectors, t=batch["t"][k])
            assert np.allclose(found[k], right, rtol=1e-12, atol=1e-12)


def test_the_time_is_0_unless_it_is_given(system):
    dyn, q, qd = da.compile(system), [0.1, 0.2], [0.3, 0.4]
    for f in (dyn.momenta, dyn.function(["momenta"]), dyn.momenta.jacobian("t"), pickle.loads(pickle.dumps(dyn.momenta))):
        assert np.array_equal(f(q, qd), f(q, qd, 0.0)) and not np.array_equal(f(q, qd), f(q, qd, t=0.5))
    assert np.array_equal(dyn.momenta([q, q], [qd, qd])[1], dyn.momenta(q, qd))
    assert "momenta(q, qd, t=0.0): (nv,) [kg m^2/s" in dyn.momenta.__doc__
    for arguments, options in (((), {}), ((q, qd, 0.0), {"t": 0.0}), ((q,), {"t": 0.0})):
        with pytest.raises(TypeError, match="each once"):
            dyn.momenta(*arguments, **options)
    with pytest.raises(TypeError, match="each once"):      # functions of one's own have no default
        da.function(lambda t: t * t, t=())()


def test_several_at_once_pickle_and_wrong_names(system):
    dyn = da.compile(system)
    M, h = dyn.function(["mass_matrix", "bias_force"])(q=[0.1, 0.2], qd=[0.3, 0.4], t=0.5)
    assert np.allclose(M, system.mass_matrix([0.1, 0.2])) and np.allclose(h, system.bias_force([0.1, 0.2], [0.3, 0.4], t=0.5))
    assert np.allclose(pickle.loads(pickle.dumps(dyn)).mass_matrix([0.1, 0.2], [0, 0], 0.5), M)
    with pytest.raises(AttributeError, match="mass_matrix"):
        dyn.mas_matrix([0, 0])
    with pytest.raises(TypeError, match="does not compile"):
        da.compile(3)


def test_numbers_that_are_not_finite_are_the_errors_of_the_plain_functions():
    system = da.lagrangian_system(lambda q, qd, t: qd[0]**2 / 2 - 9.81 * q[0]**2, ["x"])
    compiled = da.compile(system)
    with pytest.raises(ValueError, match="q has the entry nan at index 0 in row 1"):
        compiled.energy([[1.0], [np.nan]], [[1.0], [1.0]], [0.0])
    with pytest.raises(ValueError, match="t has the entry inf"):
        compiled.energy([1.0], [1.0], [np.inf])
    for function, t in ((system.energy, 0.0), (compiled.energy, [0.0])):
        with pytest.raises(da.OverflowedError, match="result"):
            function([1.0], [1e200], t)
    assert np.isfinite(compiled.energy([[1e150], [1e-310]], [[1.0], [1.0]], [0.0])).all()
