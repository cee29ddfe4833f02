"""A target that tests register: Python without NumPy, one state at a time. One file, which the package does not know."""

from dalembert.codegen.program import (
    CODES,
    INPUT_NOT_FINITE,
    RESULT_NOT_FINITE,
    results_and_status,
    verify,
)
from dalembert.codegen.rolled import Rolled, verify_rolled
from dalembert.codegen.targets.text import INFIX, identifiers, plain

FORMS = {"neg": "-{}", "power": "{} ** {}", "abs": "abs({})", "min": "min({}, {})", "max": "max({}, {})", "not": "not {}",
         "and": "{} and {}", "or": "{} or {}", "select": "{1} if {0} else {2}", "sign": "math.copysign({0} != 0, {0})"}


def files(program, name="function", notes=(), vectors=None, prefix=""):
    function = f"{prefix}{identifiers([name])[0]}"
    inputs = [f"x{k}" for k in range(len(program.inputs))]
    results, doubts = results_and_status(program)
    body = [*(_scans if isinstance(program, Rolled) else _straight)(program, inputs)]
    body += [f"given = all(map(math.isfinite, [{', '.join(f'*{x}' for x in inputs)}]))",
             f"found = all(math.isfinite(y) for k in {results} for y in outputs[k])",
             f"status = outputs[{doubts[0]}][0]" if doubts else "status = 0",
             f"status = int(status) if status else 0 if found else {RESULT_NOT_FINITE}",
             f"return (*(outputs[k] for k in {results}), status if given else {INPUT_NOT_FINITE})"]
    lines = ["import math", "", *(f"# {plain(line)}" for line in (*notes, *CODES)), "",
             f"def {function}({', '.join(inputs)}):", *(f"    {line}" for line in body)]
    return {f"{function}.py": "\n".join(lines) + "\n"}


def _straight(program, inputs):
    verify(program)
    results = [f"[{', '.join(f'v[{k}]' for k in places)}]" for places in program.results]
    return ["v = {}", *_values(program, inputs), f"outputs = [{', '.join(results)}]"]


def _values(program, inputs):
    for k, (op, args) in enumerate(program.code):
        x = [f"v[{a}]" for a in args]
        if op == "constant":
            yield f"v[{k}] = {args[0]!r}"
        elif op == "input":
            yield f"v[{k}] = {inputs[args[0]]}[{args[1]}]"
        elif op in INFIX:
            yield f"v[{k}] = {x[0]} {INFIX[op]} {x[1]}"
        else:
            yield f"v[{k}] = {FORMS.get(op, f'math.{op}({{}}' + ', {}' * (len(x) - 1) + ')').format(*x)}"


def _scans(rolled, inputs):
    verify_rolled(rolled)
    stretches = rolled.stretches()
    yield f"work = [0.0] * {rolled.size}"
    yield from (f"work[{s.start}:{s.stop}] = {x}" for s, x in zip(stretches, inputs, strict=False))
    yield f"for angle, sine, cosine in {rolled.turns.tolist()}:"
    yield "    work[sine], work[cosine] = math.sin(work[angle]), math.cos(work[angle])"
    for scan in rolled.scans:
        for number, row in scan.order.tolist():
            step = scan.steps[number]
            yield f"numbers, v = {step.numbers[row].tolist()}, {{}}"
            read = [f"work[{s.start}:{s.stop}]" for s in step.inputs_at(row)]
            yield from _values(step.program, ["numbers", *read])
            for stretch, places in zip(step.outputs_at(row), step.program.results, strict=True):
                yield f"work[{stretch.start}:{stretch.stop}] = [{', '.join(f'v[{k}]' for k in places)}]"
    yield f"outputs = [{', '.join(f'work[{s.start}:{s.stop}]' for s in stretches[len(inputs):])}]"
