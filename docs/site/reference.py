"""Hook of the site: pages of the reference, made of the public names; each name stands on one of them."""

import inspect
from typing import Any, NamedTuple

import dalembert as da


class Topic(NamedTuple):
    """A page of the reference: names whose home begins with one of the homes, the longest wins."""

    file: str
    title: str
    text: str
    homes: tuple[str, ...]


TOPICS = (
    Topic("loading", "Loading and making", "Files, tables and code to mechanisms, and back.",
          ("readers", "writers", "data")),
    Topic("mechanisms", "Mechanisms and their parts", "Frozen data: bodies, joints, frames; new ones come from old ones.",
          ("model",)),
    Topic("elastic_parts", "Elastic parts", "Beams, their damping, springs of joints.", ("model.elastic", "beams")),
    Topic("joints", "Joint types", "A joint type says how a child moves on its parent.", ("model.joints",)),
    Topic("kinematics", "Placements and Jacobians", "Where bodies and frames are, and how they move.", ("kinematics",)),
    Topic("dynamics", "Dynamics", "The reference functions: one state or a batch, numbers or symbols.",
          ("formulations.newton_euler", "analysis.constrained_functions", "kinematics.forces")),
    Topic("formulations", "Other formulations", "The same quantities by other books, to read and to check.", ("formulations",)),
    Topic("closed_forms", "Equations in closed form", "Mass matrix to gravity as a textbook prints them.", ("closed_forms",)),
    Topic("compiled", "Machine code", "All quantities compiled for this processor, and your own functions.",
          ("compiled", "native", "tracing", "codegen")),
    Topic("simulation", "Simulation and runs", "Motions in machine code, and all that a run holds.", ("simulation", "results")),
    Topic("control", "Controllers and programs", "Laws that drive a mechanism, references and programs to follow.",
          ("controllers", "generators")),
    Topic("constraints", "Constraints and their analysis", "Loops, rolling, programs; freedoms, assembly, stability.",
          ("constraints", "loops", "analysis", "compiled.constraint_forces", "compiled.linear_stability", "compiled.servo_report",
           "simulation.contact_motion")),
    Topic("vibrations", "Elastic links: analysis", "Sag, frequencies, responses, section forces.",
          ("analysis.section_forces", "analysis.vibration_model", "analysis.ports", "compiled.linear_response",
           "compiled.modal_convergence", "compiled.natural_vibrations", "compiled.static_deflection", "initial_parameters",
           "results.elastic_histories")),
    Topic("sweeps", "Sweeps", "A function or a simulation at many samples.", ("sweeps",)),
    Topic("showing", "Viewer and reports", "What is seen of mechanisms and runs.", ("views", "reports", "viewer", "notebooks")),
    Topic("systems", "Systems of equations", "The one interface of equations of motion.", ("systems", "formulations.lagrange")),
    Topic("expressions", "Expressions", "Symbols and the functions that take numbers, arrays and expressions alike.", ("expr",)),
    Topic("spatial", "Inertias and conventions", "Inertias of solids, conventions of other engines.", ("spatial", "convert")),
    Topic("errors", "Errors", "Every error derives from one class, and carries its data.", ("errors",)),
)  # fmt: skip


OTHERS = Topic("others", "Others", "Names of rooms that have no page of their own yet.", ())
PAGES = (*TOPICS, OTHERS)


def topic_of(home: str) -> Topic:
    """Topic of a module, the one with the longest home."""
    inside = home.removeprefix("dalembert.") + "."
    found = [(len(h), topic) for topic in TOPICS for h in topic.homes if inside.startswith(h + ".")]
    return max(found, key=lambda pair: pair[0], default=(0, OTHERS))[1]


def names_of() -> dict[str, tuple[str, ...]]:
    """Public names by file of the page on which each stands."""
    names: dict[str, tuple[str, ...]] = {topic.file: () for topic in PAGES}
    for name in da.__all__:
        home = da._MODULES.get(name) or da._HOME[name]
        names[topic_of(home).file] += (name,)
    return {file: _sorted(chosen) for file, chosen in names.items()}


def _sorted(names: tuple[str, ...]) -> tuple[str, ...]:
    """The mechanism, functions, other classes, modules."""
    return tuple(
        sorted(names, key=lambda n: (n != "Mechanism", n in da._MODULES, n[0].isupper(), n.lower()))
    )


def identifier_of(name: str) -> str:
    """Path of an object in the sources, which is its anchor on its page."""
    if name in da._MODULES:
        return da._MODULES[name]
    thing = inspect.unwrap(getattr(da, name))
    module = getattr(thing, "__module__", None) or da._HOME[name]
    return f"{module}.{getattr(thing, '__qualname__', name)}"


def page_of(topic: Topic, names: tuple[str, ...]) -> str:
    """Markdown of a page, which mkdocstrings fills."""
    blocks = [f"# {topic.title}", topic.text]
    blocks += [f"::: {identifier_of(name)}" for name in names]
    return "\n\n".join(blocks) + "\n"


def list_of(names: dict[str, tuple[str, ...]]) -> str:
    """Markdown of the list of all names."""
    blocks = []
    for topic in PAGES:
        if names[topic.file]:
            links = [
                f"[`{name}`]({topic.file}.md#{identifier_of(name)})" for name in names[topic.file]
            ]
            blocks += [f"## [{topic.title}]({topic.file}.md)", topic.text, " · ".join(links)]
    return "\n\n".join(blocks) + "\n"


def on_config(config: Any) -> Any:
    """Put the pages of the reference into the navigation."""
    names = names_of()
    (section,) = [entry for entry in config.nav if "Reference" in entry]
    section["Reference"] += [
        {topic.title: f"reference/{topic.file}.md"} for topic in PAGES if names[topic.file]
    ]
    return config


def on_files(files: Any, config: Any) -> Any:
    """Add the pages of the reference."""
    from mkdocs.structure.files import File

    names = names_of()
    pages = {topic.file: page_of(topic, names[topic.file]) for topic in PAGES if names[topic.file]}
    for file, text in pages.items():
        files.append(File.generated(config, f"reference/{file}.md", content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Text of the first page of the reference, with the list of all names."""
    if page.file.src_uri != "reference/index.md":
        return markdown
    return f"{markdown}\n\n{list_of(names_of())}"
