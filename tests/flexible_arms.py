"""The two-link arm of the fourth source, and a beam on a hub that turns: mechanisms and their reference solutions."""

import numpy as np

import dalembert as da
from reference import reference

LENGTH, PAYLOAD = 0.8, 0.05      # m; of a link, and from its end to the centre of the payload
EF, EJ, MASS_PER_LENGTH = 6597000.0, 129.4, 7850 * np.pi * 1e-5      # N, N m^2, kg/m
HUB = 1e9      # kg m^2: it turns as it is driven, whatever the beam does


def two_links(modes=3, kinematics="exact", stiffness=EJ, damping=2e-4, stretch=0, elements=1, about="z", gravity=9.81):
    """Hanging along x at q = 0; about="y": turned by 90 degrees about its own axis, with the bending stiffness exchanged."""
    bends = {"z": "bend_y", "y": "bend_z"}[about]
    section = {"z": "EIz", "y": "EIy"}[about]
    beam = da.Beam(LENGTH, EA=EF, mass_per_length=MASS_PER_LENGTH, kinematics=kinematics, damping=da.Rayleigh(0, damping), **{section: stiffness})
    links = [da.Body(f"link{k}", beam=beam, modes={bends: modes} | ({"stretch": stretch} if stretch else {}), elements=elements) for k in (1, 2)]
    hinge = da.Revolute({"z": (0, 0, 1), "y": (0, 1, 0)}[about])
    joints = [da.Joint("q1", hinge, "base", "link1"), da.Joint("q2", hinge, "link1", "link2", da.Origin((LENGTH, 0, 0))),
              da.Joint("grip", da.Fixed(), "link2", "payload", da.Origin((LENGTH + PAYLOAD, 0, 0)))]
    payload = da.Body("payload", 2.0, inertia=(0, 0, 0.002, 0, 0, 0.002))
    ends = [da.Frame(f"end{k}", f"link{k}", da.Origin((LENGTH, 0, 0))) for k in (1, 2)]
    return da.Mechanism("arm", [da.Body("base"), *links, payload], joints, ends, gravity=(gravity, 0, 0))


def moments(t, q, qd):
    """10 (1 - cos 6t) N m at both hinges."""
    M = 10 * (1 - da.cos(6 * t))
    return [M, M] + [0.0] * (len(qd) - 2)


def run_of(arm, times, control=moments, **options):
    options = {"method": "rodas5p", "rtol": 1e-8} | options
    return da.simulate(arm, np.zeros(arm.nq), np.zeros(arm.nv), times, control=control, **options)


def ends(arm, q, across=1):
    """Places of the ends of both links, (records, 2) each, and the direction [rad] of the first; across: axis of the plane beside x."""
    first, second = da.placement(arm, q, "end1"), da.placement(arm, q, "end2")
    direction = np.unwrap(np.arctan2(first[:, across, 0], first[:, 0, 0]), axis=0)
    return first[:, [0, across], 3], second[:, [0, across], 3], direction


def absolute(arm, q):
    """phi1, phi2, w1, w2 of records, as of the reference."""
    first, second, direction = ends(arm, q)
    turned = q[:, 0] + (direction - q[:, 0] + np.pi) % (2 * np.pi) - np.pi
    angles = np.array([q[:, 0], turned + q[:, 1]])
    across = [-np.sin(phi) * p[:, 0] + np.cos(phi) * p[:, 1] for phi, p in zip(angles, (first, second - first))]
    return np.array([*angles, *across]).T


def rows(case="D_damped_eta2e-4", until=4.2, key="rows"):
    """Times and phi1, phi2, w1, w2 of the stored solutions."""
    table = np.array(reference("flexible_links", case)[key])
    table = table[table[:, 0] <= until]
    return table[:, 0], table[:, 1:]


def on_hub(modes, kinematics, case, stretch=0, EA=2.8e7, rotary=0.0):
    beam = da.Beam(case["L"], EIz=case["EI"], EA=EA, mass_per_length=case["rhoA"], kinematics=kinematics, rotary_inertia=(0, 0, rotary))
    body = da.Body("beam", beam=beam, modes={"bend_y": modes} | ({"stretch": stretch} if stretch else {}))
    hub = da.Joint("hub", da.Revolute((0, 0, 1)), "base", "beam", rotor_inertia=HUB)
    return da.Mechanism("hub", [da.Body("base"), body], [hub], [da.Frame("tip", "beam", da.Origin((case["L"], 0, 0)))], gravity=(0, 0, 0))


def spun_up(hub, rate, end, every=0.005, **options):
    """Times, and u1, u2 of the tip in the axes of the hub, which reaches a rate in 15 s."""
    def drive(t, q, qd):
        return [da.where(t < 15, HUB * rate / 15 * (1 - da.cos(2 * np.pi / 15 * t)), 0.0)] + [0.0] * (len(qd) - 1)
    run = da.simulate(hub, np.zeros(hub.nq), np.zeros(hub.nv), end, control=drive, record=every, **{"method": "dopri5", "rtol": 1e-9} | options)
    place = da.placement(hub, run.q, "tip")[:, :2, 3]
    c, s = np.cos(run.q[:, 0]), np.sin(run.q[:, 0])
    length = hub.body("beam").beam.length
    return run.times, np.array([c * place[:, 0] + s * place[:, 1] - length, c * place[:, 1] - s * place[:, 0]]).T
