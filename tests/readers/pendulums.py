"""A format that tests register: a line `name mass length` for each link of a chain. One file, which the package does not know."""

import dalembert as da
from dalembert.errors import ReadError


def read(data, file, options):
    bodies, joints = [da.Body("base", source=da.Source(file, 1))], []
    for line, text in enumerate(data.decode("ascii", "replace").lstrip("%").splitlines(), 1):
        try:
            name, mass, length = text.split()
            place, m, l = da.Source(file, line), float(mass), float(length)
        except ValueError:
            raise ReadError(f"expected a name, a mass and a length, not {text[:40]!r}.", file, line) from None
        joints.append(da.Joint(f"turn {name}", da.Revolute((0, 1, 0)), bodies[-1].name, name, da.Origin((0, 0, -l)), source=place))
        bodies.append(da.Body(name, m, (0, 0, -l / 2), (0.1, 0, 0.1, 0, 0, 0.1), source=place))
    return da.Mechanism(options.mimic, tuple(bodies), tuple(joints))
