"""Set-point control of elastic links, and laws that refuse them."""

import numpy as np
import pytest

import dalembert as da


def arm(links=2, gravity=(0, -9.81, 0)):
    beam = da.Beam(0.5, EIz=30.0, mass_per_length=0.5, damping=da.Rayleigh(stiffness=2e-3))
    bodies = [da.Body("base"), *(da.Body(f"link{k}", 0.2, inertia=(0, 0, 0.01, 0, 0, 0.01), beam=beam, modes={"bend_y": 2}) for k in range(links)), da.Body("load", 0.3)]
    names = [b.name for b in bodies]
    joints = [da.Joint(f"q{k}", da.Revolute((0, 0, 1)), names[k], names[k + 1], da.Origin((0.5 * (k > 0), 0, 0))) for k in range(links)]
    joints.append(da.Joint("grip", da.Fixed(), names[links], "load", da.Origin((0.5, 0, 0))))
    return da.Mechanism("arm", bodies, joints, gravity=gravity)


def test_the_set_point_with_static_deflections_is_reached_under_gravity():
    mechanism = arm()
    control = da.controllers.ElasticPD(mechanism, [0.4, -0.3], K_p=60.0, K_d=8.0)
    rest = np.zeros(mechanism.nv)
    run = da.simulate(mechanism, rest, rest, 6.0, control=control, method="dop853")
    np.testing.assert_allclose(run.q[-1], control.q_equilibrium, atol=1e-5)
    np.testing.assert_allclose(control.q_equilibrium[:2], [0.4, -0.3], atol=0)
    np.testing.assert_allclose(da.inverse_dynamics(mechanism, control.q_equilibrium, rest, rest)[2:], 0, atol=1e-9)
    assert abs(control.q_equilibrium[2:]).max() > 1e-3


def test_no_force_acts_on_deflections_and_feedback_is_linear():
    mechanism = arm()
    K_s, K_r = np.arange(8.0).reshape(2, 4), -np.ones((2, 4))
    control = da.controllers.ElasticPD(mechanism, [0.4, -0.3], K_p=[1.0, 2.0], K_d=3.0, K_s=K_s, K_r=K_r)
    q, qd = control.q_equilibrium + np.arange(6) * 0.01, np.linspace(1, 2, 6)
    tau = control(0.0, q, qd)
    np.testing.assert_array_equal(tau[2:], 0)
    expected = [1.0, 2.0] * (control.q_ref - q[:2]) - 3.0 * qd[:2] + control.tau_ref - K_s @ (q - control.q_equilibrium)[2:] - K_r @ qd[2:]
    np.testing.assert_allclose(tau[:2], expected, rtol=1e-13)


def test_it_is_traced_with_the_motion():
    mechanism = arm(1)
    control = da.controllers.ElasticPD(mechanism, [0.1], K_p=20.0, K_d=2.0, K_r=[[0.5, 0.0]])
    run = da.simulate(mechanism, np.zeros(3), np.zeros(3), 0.1, control=control)
    assert run.forces["control"] == "traced"


@pytest.mark.parametrize("law", [
    lambda m: da.controllers.PD(m, np.zeros(m.nq), K_p=1.0, K_d=1.0),
    lambda m: da.controllers.GravityPD(m, np.zeros(m.nq), K_p=1.0, K_d=1.0),
    lambda m: da.controllers.ComputedTorque(m, da.controllers.Hold(np.zeros(m.nq)), k_p=1.0),
    lambda m: da.controllers.Passivity(m, da.controllers.Hold(np.zeros(m.nq)), K=1.0, L=1.0)])
def test_laws_that_drive_every_coordinate_refuse_elastic_links(law):
    with pytest.raises(da.ModelError, match="no actuator acts on the deflections of 'link0', 'link1'"):
        law(arm())


def test_wrong_gains_and_mechanisms_are_refused():
    with pytest.raises(da.ModelError, match="no elastic bodies"):
        da.controllers.ElasticPD(da.planar_chain(2), [0, 0], K_p=1.0, K_d=1.0)
    with pytest.raises(da.ShapeError, match=r"K_r has shape \(2,\)"):
        da.controllers.ElasticPD(arm(1), [0.0], K_p=1.0, K_d=1.0, K_r=[1.0, 2.0])
    with pytest.raises(da.ShapeError, match="q_ref"):
        da.controllers.ElasticPD(arm(2), [0.0], K_p=1.0, K_d=1.0)
    with pytest.raises(da.ModelError, match="quaternions"):
        da.controllers.ElasticPD(arm(1).floating(), [0.0] * 8, K_p=1.0, K_d=1.0)
