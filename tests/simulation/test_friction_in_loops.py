"""Friction in a loop that moves in space, beside Exudyn: maximal coordinates, an implicit method, and a force that is tanh in
place of the jump of Coulomb friction. The slider turns back in each half turn of the crank and never sticks."""

import math
from functools import cache

import numpy as np
import pytest

import dalembert as da
from dalembert.systems.kinds import system_of
from reference import reference

VISCOUS, COULOMB = 0.4, 0.6            # N s/m, N
CRANK_RATE = 20.0                      # rad/s
RECORD = 0.1                           # s
CASE = reference("friction_in_loops", "spatial_slider_crank_with_friction")
CENTRE, PIN, SLIDER = np.array([0.0, 0.1, 0.12]), np.array([0.0, 0.1, 0.2]), np.array([0.2, 0.0, 0.0])      # m, at the start
X = np.array([1.0, 0.0, 0.0])


def start(mechanism, q):
    """Velocities at the rate of the crank."""
    J = system_of(mechanism)._constraint_set.rates(q, np.zeros(4), 0.0).jacobian.astype(float)
    others = np.linalg.solve(J[:, :3], -J[:, 3] * CRANK_RATE)
    return np.array([*others, CRANK_RATE])


@cache
def ours(viscous=VISCOUS, coulomb=COULOMB):
    """Records of crank, slider and its rate."""
    mechanism, q = da.loops.spatial_slider_crank()
    rubbing = mechanism.replace({"slider.viscous": viscous, "slider.coulomb": coulomb})
    end = float(CASE["rows"][-1][0])
    run = da.simulate(rubbing, q, start(mechanism, q), end, record=RECORD, rtol=1e-10, atol=1e-12)
    assert run.reason == "finished"
    return np.stack([run.q[:, 3], run.q[:, 0], run.qd[:, 0]], axis=1)


def by_exudyn(end, h, width):
    """The same by Exudyn with friction that is smooth below a rate [m/s]."""
    exu = pytest.importorskip("exudyn")
    util = pytest.importorskip("exudyn.utilities")
    normal = np.cross(SLIDER - PIN, X)
    normal /= np.linalg.norm(normal)
    along = (SLIDER - PIN) / np.linalg.norm(SLIDER - PIN)
    pin_rate = np.cross([CRANK_RATE, 0, 0], PIN - CENTRE)
    columns = [X, np.cross(X, PIN - SLIDER), np.cross(normal, PIN - SLIDER)]
    slide, about_x, about_normal = np.linalg.solve(np.array(columns).T, pin_rate)
    turning = about_x * X + about_normal * normal

    mbs = exu.SystemContainer().AddSystem()
    ground = mbs.AddObject(util.ObjectGround())
    inertias = [util.RigidBodyInertia(mass=m, inertiaTensor=np.diag(J)) for m, J in (
        (0.12, (1e-4, 1e-4, 1e-5)), (0.5, (4e-4, 4e-3, 4e-3)), (2.0, (1e-3, 1e-3, 1e-3)))]
    crank = mbs.CreateRigidBody(inertia=inertias[0].Translated([0, 0, 0.04]), referencePosition=CENTRE,
                                initialAngularVelocity=[CRANK_RATE, 0, 0], gravity=[0, 0, -9.81])
    rod = mbs.CreateRigidBody(inertia=inertias[1], referencePosition=(PIN + SLIDER) / 2,
                              referenceRotationMatrix=np.array([along, np.cross(normal, along), normal]).T,
                              initialVelocity=pin_rate + np.cross(turning, (SLIDER - PIN) / 2),
                              initialAngularVelocity=turning, gravity=[0, 0, -9.81])
    block = mbs.CreateRigidBody(inertia=inertias[2], referencePosition=SLIDER, initialVelocity=[slide, 0, 0], gravity=[0, 0, -9.81])

    def joint(items, position, held, **more):
        mbs.CreateGenericJoint(itemNumbers=items, position=position, constrainedAxes=held, **more)

    joint([ground, crank], CENTRE, [1, 1, 1, 0, 1, 1], useGlobalFrame=False)
    joint([ground, block], [0, 0, 0], [0, 1, 1, 1, 1, 1], useGlobalFrame=False)
    joint([crank, rod], [0, 0, 0.08], [1, 1, 1, 0, 0, 0], useGlobalFrame=False)
    joint([block, rod], SLIDER, [1, 1, 1, 0, 0, 1], rotationMatrixAxes=np.array([X, normal, np.cross(X, normal)]).T)

    def friction(mbs, t, item, displacement, velocity, stiffness, damping, offset):
        return [VISCOUS * velocity[0] + COULOMB * math.tanh(velocity[0] / width), 0.0, 0.0]

    markers = [mbs.AddMarker(util.MarkerBodyPosition(bodyNumber=body, localPosition=[0, 0, 0])) for body in (ground, block)]
    mbs.AddObject(util.CartesianSpringDamper(markerNumbers=markers, stiffness=[0] * 3, damping=[1, 0, 0], springForceUserFunction=friction))
    mbs.Assemble()
    settings = exu.SimulationSettings()
    settings.solution.file.write = False
    settings.linearSolver.solverType = exu.LinearSolverType.EigenSparse
    method = settings.timeIntegration
    method.numberOfSteps, method.endTime, method.verboseMode = round(end / h), end, 0
    method.newton.useModifiedNewton, method.newton.relativeTolerance, method.newton.absoluteTolerance = False, 1e-10, 1e-12
    method.generalizedAlpha.useIndex2Constraints = method.generalizedAlpha.useNewmark = True
    mbs.SolveDynamic(settings, solverType=exu.DynamicSolverType.TrapezoidalIndex2)
    kinds = exu.OutputVariableType
    R = np.reshape(mbs.GetObjectOutputBody(crank, kinds.RotationMatrix), (3, 3))
    place, rate = (mbs.GetObjectOutputBody(block, kind)[0] for kind in (kinds.Position, kinds.Velocity))
    return np.array([np.arctan2(-R[1, 2], R[2, 2]), place, rate])


def test_motion_is_that_of_exudyn_to_the_error_of_its_extrapolation():
    expected = np.array([row[1:] for row in CASE["rows"]], float)
    bound = [float(CASE["error"][name]) for name in ("crank", "slider", "slider_rate")]
    assert (np.abs(ours() - expected).max(axis=0) <= bound).all()      # found: 1.8e-8 rad, 6e-10 m, 1.2e-8 m/s


def test_friction_changes_the_motion_by_a_million_times_that():
    assert np.abs(ours()[-1] - ours(VISCOUS, 0.0)[-1])[0] > 0.1
    assert np.count_nonzero(np.diff(np.sign(ours()[:, 2]))) >= 6


@pytest.mark.filterwarnings("ignore::DeprecationWarning")      # names of settings change between versions of Exudyn
@pytest.mark.parametrize("end, h", [(0.3, 5e-4), pytest.param(1.5, 1e-4, marks=pytest.mark.slow)])
def test_motion_is_that_of_a_run_of_exudyn(end, h):
    found = by_exudyn(end, h, 2e-3)
    expected = ours()[round(end / RECORD)]
    turns = 2 * np.pi * np.round((expected[0] - found[0]) / (2 * np.pi))
    assert np.abs(found + [turns, 0, 0] - expected).max() < 1e-4
