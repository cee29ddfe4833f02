"""Exudyn on planar arms: cables with absolute nodal coordinates, which stretch; a solve gives its
processor time [s] and the motion of nodes.
"""

from __future__ import annotations

import time
import warnings
from typing import Any, NamedTuple

import numpy as np

SETTINGS = ((4, 1e-3), (4, 5e-4), (8, 5e-4), (8, 2.5e-4))  # elements a link, step [s]
EVERY = 5e-3  # s, between records


class Link(NamedTuple):
    """Numbers of a link [m, N m^2, N, kg/m, s]."""

    length: float
    bending: float
    axial: float
    mass_per_length: float
    damping: float


class Cables:
    """Links of cables with hinges between them, along x."""

    def __init__(self, elements: int, link: Link):
        import exudyn
        from exudyn import beams, utilities

        self.engine, self.beams, self.u = exudyn, beams, utilities
        self.container = exudyn.SystemContainer()
        self.mbs = self.container.AddSystem()
        self.elements, self.numbers = elements, link
        self.nodes: list[tuple[int, int]] = []  # of the ends of each link

    def add_link(self, gravity: tuple[float, ...]) -> tuple[int, int]:
        """Nodes of the ends of a link, hinged to the base, or to the link before."""
        n = self.numbers
        x = n.length * len(self.nodes)
        cable = self.u.Cable2D(
            massPerLength=n.mass_per_length,
            bendingStiffness=n.bending,
            axialStiffness=n.axial,
            bendingDamping=n.bending * n.damping,
            axialDamping=n.axial * n.damping,
            useReducedOrderIntegration=1,
        )
        made = self.beams.GenerateStraightLineANCFCable2D(
            mbs=self.mbs,
            positionOfNode0=[x, 0, 0],
            positionOfNode1=[x + n.length, 0, 0],
            numberOfElements=self.elements,
            cableTemplate=cable,
            massProportionalLoad=list(gravity),
            fixedConstraintsNode0=[0, 0, 0, 0] if self.nodes else [1, 1, 0, 0],
            fixedConstraintsNode1=[0, 0, 0, 0],
        )[0]
        if self.nodes:
            markers = [self._marker(self.nodes[-1][1]), self._marker(made[0])]
            self.mbs.AddObject(self.u.RevoluteJoint2D(markerNumbers=markers))
        self.nodes.append((made[0], made[-1]))
        return self.nodes[-1]

    def add_sphere(self, gravity: tuple[float, ...]) -> None:
        """A payload of 2 kg, 0.05 m beyond the end of the last link."""
        u, mbs = self.u, self.mbs
        x = self.numbers.length * len(self.nodes) + 0.05
        own = mbs.AddNode(u.NodeRigidBody2D(referenceCoordinates=[x, 0, 0]))
        body = mbs.AddObject(u.RigidBody2D(nodeNumber=own, mass=2.0, inertia=0.002))
        mass = mbs.AddMarker(u.MarkerBodyMass(bodyNumber=body))
        mbs.AddLoad(u.LoadMassProportional(markerNumber=mass, loadVector=list(gravity)))
        grip = mbs.AddMarker(u.MarkerBodyRigid(bodyNumber=body, localPosition=[-0.05, 0, 0]))
        held = [self._marker(self.nodes[-1][1], rigid=True), grip]
        mbs.AddObject(u.GenericJoint(markerNumbers=held, constrainedAxes=[1, 1, 0, 0, 0, 1]))

    def add_moment(self, node: int, sign: int) -> None:
        """10 (1 - cos 6t) N m about z."""

        def moment(mbs: Any, t: float, load: Any) -> list[float]:
            return [0, 0, sign * 10 * (1 - np.cos(6 * t))]

        load = self.u.LoadTorqueVector(
            markerNumber=self._marker(node, rigid=True),
            loadVector=[0, 0, 0],
            loadVectorUserFunction=moment,
        )
        self.mbs.AddLoad(load)

    def _marker(self, node: int, rigid: bool = False) -> Any:
        kind = self.u.MarkerNodeRigid if rigid else self.u.MarkerNodePosition
        return self.mbs.AddMarker(kind(nodeNumber=node))

    def run(self, end: float, h: float, every: float) -> tuple[float, np.ndarray]:
        """Seconds of the solve, and rows t, then displacements (x, y, x', y') of both ends of each
        link.
        """
        kind = self.engine.OutputVariableType.Coordinates
        sensors = [
            self.mbs.AddSensor(
                self.u.SensorNode(nodeNumber=n, storeInternal=True, outputVariableType=kind)
            )
            for pair in self.nodes
            for n in pair
        ]
        self.mbs.Assemble()
        settings = self._settings(end, h, every)
        start = time.process_time()
        solver = self.engine.DynamicSolverType.TrapezoidalIndex2
        self.mbs.SolveDynamic(settings, solverType=solver)
        seconds = time.process_time() - start
        data = [self.mbs.GetSensorStoredData(s) for s in sensors]
        return seconds, np.hstack([data[0][:, :1], *(d[:, 1:] for d in data)])

    def _settings(self, end: float, h: float, every: float) -> Any:
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
        settings.solutionSettings.sensorsWritePeriod = every
        settings.linearSolverType = self.engine.LinearSolverType.EigenSparse
        return settings


def two_link_arm(elements: int, link: Link) -> Cables:
    """The arm of Gulyaev and Zavrazhina, hanging along x under gravity and moments."""
    gravity = (9.81, 0.0, 0.0)
    cables = Cables(elements, link)
    first, second = cables.add_link(gravity), cables.add_link(gravity)
    cables.add_sphere(gravity)
    for node, sign in ((first[0], 1), (first[1], -1), (second[0], 1)):
        cables.add_moment(node, sign)
    return cables


def angles_and_deflections(rows: np.ndarray, length: float) -> np.ndarray:
    """Rows t, angles of both links' starts, deflections of their ends, of rows of `Cables.run`."""
    places = [0.0, length, length, 2 * length]
    nodes = [rows[:, 1 + 4 * k : 5 + 4 * k] + [x, 0, 1, 0] for k, x in enumerate(places)]
    angles, across = [], []
    for first, last in (nodes[:2], nodes[2:]):
        angle = np.unwrap(np.arctan2(first[:, 3], first[:, 2]))
        way = last[:, :2] - first[:, :2]
        angles.append(angle)
        across.append(-np.sin(angle) * way[:, 0] + np.cos(angle) * way[:, 1])
    return np.stack([rows[:, 0], *angles, *across], axis=1)


def exudyn_runs(link: Link, end: float) -> list[tuple[int, float, float, Any]]:
    """(elements, step, seconds, rows of angles and deflections) by setting."""
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        for elements, h in SETTINGS:
            seconds, rows = two_link_arm(elements, link).run(end, h, EVERY)
            found.append((elements, h, seconds, angles_and_deflections(rows, link.length)))
    return found
