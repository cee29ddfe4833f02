"""Exudyn on the two-link arm: cables with absolute nodal coordinates, which stretch; each setting
gives the processor time of the solve [s] and the motion.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

SETTINGS = ((4, 1e-3), (4, 5e-4), (8, 5e-4), (8, 2.5e-4))  # elements a link, step [s]
EVERY = 5e-3  # s, between records


class CableArm:
    """Two links of cables, hanging along x, with a sphere at the end.

    numbers : length, stiffness, axial stiffness, mass per length, damping time of a link
    """

    def __init__(self, elements: int, numbers: tuple[float, ...]):
        import exudyn
        from exudyn import beams, utilities

        self.engine, self.beams, self.u = exudyn, beams, utilities
        self.container = exudyn.SystemContainer()
        self.mbs = self.container.AddSystem()
        self.elements, self.numbers = elements, numbers
        length = numbers[0]
        self.nodes = [self._link(0.0, True), self._link(length, False)]
        self._hinge(self.nodes[0][1], self.nodes[1][0])
        self._sphere(self.nodes[1][1], 2 * length + 0.05)
        for node, sign in ((self.nodes[0][0], 1), (self.nodes[0][1], -1), (self.nodes[1][0], 1)):
            self._moment(node, sign)

    def _link(self, x: float, on_base: bool) -> tuple[int, int]:
        """Nodes of the ends of a link."""
        length, bending, axial, density, time_of_damping = self.numbers
        cable = self.u.Cable2D(
            massPerLength=density,
            bendingStiffness=bending,
            axialStiffness=axial,
            bendingDamping=bending * time_of_damping,
            axialDamping=axial * time_of_damping,
            useReducedOrderIntegration=1,
        )
        nodes = self.beams.GenerateStraightLineANCFCable2D(
            mbs=self.mbs,
            positionOfNode0=[x, 0, 0],
            positionOfNode1=[x + length, 0, 0],
            numberOfElements=self.elements,
            cableTemplate=cable,
            massProportionalLoad=[9.81, 0, 0],
            fixedConstraintsNode0=[1, 1, 0, 0] if on_base else [0, 0, 0, 0],
            fixedConstraintsNode1=[0, 0, 0, 0],
        )[0]
        return nodes[0], nodes[-1]

    def _marker(self, node: int, rigid: bool = False) -> Any:
        kind = self.u.MarkerNodeRigid if rigid else self.u.MarkerNodePosition
        return self.mbs.AddMarker(kind(nodeNumber=node))

    def _hinge(self, first: int, second: int) -> None:
        markers = [self._marker(first), self._marker(second)]
        self.mbs.AddObject(self.u.RevoluteJoint2D(markerNumbers=markers))

    def _sphere(self, node: int, x: float) -> None:
        u, mbs = self.u, self.mbs
        own = mbs.AddNode(u.NodeRigidBody2D(referenceCoordinates=[x, 0, 0]))
        body = mbs.AddObject(u.RigidBody2D(nodeNumber=own, mass=2.0, inertia=0.002))
        mass = mbs.AddMarker(u.MarkerBodyMass(bodyNumber=body))
        mbs.AddLoad(u.LoadMassProportional(markerNumber=mass, loadVector=[9.81, 0, 0]))
        grip = mbs.AddMarker(u.MarkerBodyRigid(bodyNumber=body, localPosition=[-0.05, 0, 0]))
        held = [self._marker(node, rigid=True), grip]
        mbs.AddObject(u.GenericJoint(markerNumbers=held, constrainedAxes=[1, 1, 0, 0, 0, 1]))

    def _moment(self, node: int, sign: int) -> None:
        """10 (1 - cos 6t) N m about z."""

        def moment(mbs: Any, t: float, load: Any) -> list[float]:
            return [0, 0, sign * 10 * (1 - np.cos(6 * t))]

        load = self.u.LoadTorqueVector(
            markerNumber=self._marker(node, rigid=True),
            loadVector=[0, 0, 0],
            loadVectorUserFunction=moment,
        )
        self.mbs.AddLoad(load)

    def run(self, end: float, h: float) -> tuple[float, np.ndarray]:
        """Seconds of the solve, and rows t, angles of both links, deflections of their ends."""
        nodes = [node for pair in self.nodes for node in pair]
        kind = self.engine.OutputVariableType.Coordinates
        sensors = [
            self.mbs.AddSensor(
                self.u.SensorNode(nodeNumber=n, storeInternal=True, outputVariableType=kind)
            )
            for n in nodes
        ]
        self.mbs.Assemble()
        settings = self._settings(end, h)
        start = time.process_time()
        solver = self.engine.DynamicSolverType.TrapezoidalIndex2
        self.mbs.SolveDynamic(settings, solverType=solver)
        seconds = time.process_time() - start
        return seconds, self._rows([self.mbs.GetSensorStoredData(s) for s in sensors])

    def _settings(self, end: float, h: float) -> Any:
        settings = self.engine.SimulationSettings()
        integration = settings.timeIntegration
        integration.numberOfSteps = round(end / h)
        integration.endTime = end
        integration.verboseMode = 0
        integration.newton.useModifiedNewton = True
        integration.newton.relativeTolerance = 1e-8
        integration.newton.absoluteTolerance = 1e-10
        integration.generalizedAlpha.computeInitialAccelerations = True
        settings.solutionSettings.writeSolutionToFile = False
        settings.solutionSettings.sensorsWritePeriod = EVERY
        settings.linearSolverType = self.engine.LinearSolverType.EigenSparse
        return settings

    def _rows(self, data: list[np.ndarray]) -> np.ndarray:
        """Coordinates of nodes are displacements of (x, y, x', y')."""
        length = self.numbers[0]
        places = [0.0, length, length, 2 * length]
        nodes = [d[:, 1:] + [x, 0, 1, 0] for d, x in zip(data, places, strict=True)]
        angles, across = [], []
        for first, last in (nodes[:2], nodes[2:]):
            angle = np.unwrap(np.arctan2(first[:, 3], first[:, 2]))
            way = last[:, :2] - first[:, :2]
            angles.append(angle)
            across.append(-np.sin(angle) * way[:, 0] + np.cos(angle) * way[:, 1])
        return np.stack([data[0][:, 0], *angles, *across], axis=1)


def exudyn_runs(numbers: tuple[float, ...], end: float) -> list[tuple[int, float, float, Any]]:
    """(elements, step, seconds, rows) by setting."""
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        for elements, h in SETTINGS:
            seconds, rows = CableArm(elements, numbers).run(end, h)
            found.append((elements, h, seconds, rows))
    return found
