"""Elastic links beside Exudyn's cables (absolute nodal coordinates, which stretch): a flexible pendulum and the two-link arm."""

import numpy as np
import pytest

import dalembert as da
from flexible_arms import EF, EJ, LENGTH, MASS_PER_LENGTH, PAYLOAD, ends, run_of, two_links

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")      # names of settings change between versions of Exudyn
DAMPING, G = 2e-4, 9.81


class Cables:
    """Planar links of cables with hinges between them, hanging along x."""

    def __init__(self, elements):
        self.exu, self.util, self.beams = (pytest.importorskip(name) for name in ("exudyn", "exudyn.utilities", "exudyn.beams"))
        self.container = self.exu.SystemContainer()
        self.mbs, self.elements, self.last = self.container.AddSystem(), elements, None

    def marker(self, node, rigid=False):
        of = self.util.MarkerNodeRigid if rigid else self.util.MarkerNodePosition
        return self.mbs.AddMarker(of(nodeNumber=node))

    def link(self, x, stiffness=EJ, gravity=(G, 0, 0)):
        """Nodes of the ends of a link from (x, 0); hinged to the base, or to the link before."""
        cable = self.util.Cable2D(massPerLength=MASS_PER_LENGTH, bendingStiffness=stiffness, axialStiffness=EF, bendingDamping=stiffness * DAMPING,
                                   axialDamping=EF * DAMPING, useReducedOrderIntegration=1)
        nodes = self.beams.GenerateStraightLineANCFCable2D(
            mbs=self.mbs, positionOfNode0=[x, 0, 0], positionOfNode1=[x + LENGTH, 0, 0], numberOfElements=self.elements, cableTemplate=cable,
            massProportionalLoad=list(gravity), fixedConstraintsNode0=[0, 0, 0, 0] if self.last else [1, 1, 0, 0], fixedConstraintsNode1=[0, 0, 0, 0])[0]
        if self.last:
            self.mbs.AddObject(self.util.RevoluteJoint2D(markerNumbers=[self.marker(self.last), self.marker(nodes[0])]))
        self.last = nodes[-1]
        return nodes[0], nodes[-1]

    def payload(self):
        body = self.util.RigidBody2D
        node = self.mbs.AddNode(self.util.NodeRigidBody2D(referenceCoordinates=[2 * LENGTH + PAYLOAD, 0, 0]))
        body = self.mbs.AddObject(body(nodeNumber=node, mass=2.0, inertia=0.002))
        self.mbs.AddLoad(self.util.LoadMassProportional(markerNumber=self.mbs.AddMarker(self.util.MarkerBodyMass(bodyNumber=body)), loadVector=[G, 0, 0]))
        on_body = self.mbs.AddMarker(self.util.MarkerBodyRigid(bodyNumber=body, localPosition=[-PAYLOAD, 0, 0]))
        self.mbs.AddObject(self.util.GenericJoint(markerNumbers=[self.marker(self.last, rigid=True), on_body], constrainedAxes=[1, 1, 0, 0, 0, 1]))

    def torque(self, node, sign):
        def moment(mbs, t, load):
            return [0, 0, sign * 10 * (1 - np.cos(6 * t))]
        self.mbs.AddLoad(self.util.LoadTorqueVector(markerNumber=self.marker(node, rigid=True), loadVector=[0, 0, 0], loadVectorUserFunction=moment))

    def path(self, node, start, end, h, every):
        """Places of a node at equal times."""
        sensor = self.mbs.AddSensor(self.util.SensorNode(nodeNumber=node, storeInternal=True, outputVariableType=self.exu.OutputVariableType.Coordinates))
        self.mbs.Assemble()
        settings = self.exu.SimulationSettings()
        integration = settings.timeIntegration
        integration.numberOfSteps, integration.endTime, integration.verboseMode = round(end / h), end, 0
        settings.solutionSettings.writeSolutionToFile, settings.solutionSettings.sensorsWritePeriod = False, every
        integration.newton.useModifiedNewton, integration.newton.relativeTolerance, integration.newton.absoluteTolerance = True, 1e-8, 1e-10
        integration.generalizedAlpha.computeInitialAccelerations = True
        settings.linearSolverType = self.exu.LinearSolverType.EigenSparse
        self.mbs.SolveDynamic(settings, solverType=self.exu.DynamicSolverType.TrapezoidalIndex2)
        return self.mbs.GetSensorStoredData(sensor)[:, 1:3] + start


def pendulum(stretch=0):
    """A soft link, hinged at its end, that falls from the vertical of the x axis under gravity along y."""
    beam = da.Beam(LENGTH, EA=EF, EIz=EJ / 20, mass_per_length=MASS_PER_LENGTH, kinematics="exact", damping=da.Rayleigh(0, DAMPING))
    modes = {"bend_y": 4} | ({"stretch": stretch} if stretch else {})
    bodies = [da.Body("base"), da.Body("link", beam=beam, modes=modes)]
    return da.Mechanism("pendulum", bodies, [da.Joint("hinge", da.Revolute((0, 0, 1)), "base", "link")], [da.Frame("end", "link", da.Origin((LENGTH, 0, 0)))],
                        gravity=(0, -G, 0))


@pytest.mark.parametrize("elements, h, end, tolerance", [(6, 2e-4, 0.4, 3e-4), pytest.param(12, 1e-4, 1.0, 5e-5, marks=pytest.mark.slow)])
def test_a_flexible_pendulum_moves_as_by_exudyn(elements, h, end, tolerance):
    """The difference is that of Exudyn's steps: 4e-4 m with 0.2 ms, 3e-5 m with 0.1 ms, at largest."""
    cables = Cables(elements)
    _, node = cables.link(0.0, stiffness=EJ / 20, gravity=(0, -G, 0))
    peer = cables.path(node, [LENGTH, 0], end, h, 0.05)
    arm = pendulum()
    run = da.simulate(arm, arm.neutral(), np.zeros(arm.nv), end, method="rodas5p", rtol=1e-8, record=0.05)
    np.testing.assert_allclose(da.placement(arm, run.q, "end")[:, :2, 3], peer, atol=tolerance)


@pytest.mark.parametrize("elements, h, end, stretch, tolerance", [
    (4, 1e-3, 0.6, 0, 2e-4), *(pytest.param(*case, marks=pytest.mark.slow) for case in ((8, 2.5e-4, 2.5, 0, 3e-3), (8, 2.5e-4, 2.5, 2, 2e-4)))])
def test_the_two_link_arm_moves_as_by_exudyn(elements, h, end, stretch, tolerance):
    """With the stretch of the cables, 8e-5 m to 2.5 s; without it their motions part by 2.6e-3 m at the second alignment (1.51 s)."""
    cables = Cables(elements)
    first, second = cables.link(0.0), cables.link(LENGTH)
    cables.payload()
    for node, sign in ((first[0], 1), (first[1], -1), (second[0], 1)):
        cables.torque(node, sign)
    peer = cables.path(second[1], [2 * LENGTH, 0], end, h, 0.05)
    arm = two_links(5, stretch=stretch)
    tips = ends(arm, run_of(arm, end, record=0.05).q)[1]
    np.testing.assert_allclose(tips, peer, atol=tolerance)
