"""A target that tests register: Python without NumPy, one state at a time. One file, which the package does not know."""

from dalembert.codegen.program import (
    CODES,
    INPUT_NOT_FINITE,
    REPEATS,
    RESULT_NOT_FINITE,
    Callback,
    Clear,
    Goals,
    Scan,
    Turns,
    results_and_status,
)
from dalembert.codegen.targets.text import INFIX, beside, identifiers, plain
from dalembert.codegen.verifier import verify

FORMS = {"neg": "-{}", "power": "{} ** {}", "abs": "abs({})", "min": "min({}, {})", "max": "max({}, {})", "not": "not {}",
         "and": "{} and {}", "or": "{} or {}", "select": "{1} if {0} else {2}", "sign": "math.copysign({0} != 0, {0})"}


def files(program, name="function", notes=(), vectors=None, prefix=""):
    verify(program)
    function, inputs = f"{prefix}{identifiers([name])[0]}", [f"x{k}" for k in range(len(program.inputs))]
    results, doubts = results_and_status(program)
    body = [f"work, records = [0.0] * {program.size}, []"]
    body += [f"work[{r.start}:{r.stop}] = {x}" for x, r in zip(inputs, program.inputs, strict=True)]
    body += items(program, program.items)
    body += ["outputs = [*map(list, zip(*records))]" if program.goals else "outputs = []"]
    body += [f"outputs.append(work[{r.start}:{r.stop}])" for r in program.outputs]
    body += [f"given = all(map(math.isfinite, [{', '.join(f'*{x}' for x in inputs)}]))",
             f"found = all(math.isfinite(y) for k in {results} for x in outputs[k] for y in (x if isinstance(x, list) else [x]))",
             f"status = outputs[{doubts[0]}][0]" if doubts else "status = 0",
             f"status = int(status) if status else 0 if found else {RESULT_NOT_FINITE}",
             f"return (*(outputs[k] for k in {results}), status if given else {INPUT_NOT_FINITE})"]
    lines = ["import math", "", *(f"# {plain(line)}" for line in (*notes, *CODES)), "",
             f"def {function}({', '.join([*inputs, *beside(program)])}):", *(f"    {line}" for line in body)]
    return {f"{function}.py": "\n".join(lines) + "\n"}


def items(program, those):
    return [line for item in those for line in item_lines(program, item)]


def item_lines(program, item):
    if isinstance(item, Scan):
        return [line for number, row in item.order.tolist() for line in row_lines(program.tables[number], row)]
    if isinstance(item, Turns):
        return [f"work[{s}], work[{c}] = math.sin(work[{a}]), math.cos(work[{a}])" for a, s, c in item.places.tolist()]
    if isinstance(item, Clear):
        return [f"work[{item.start}:{item.stop}] = [0.0] * {item.stop - item.start}"]
    if isinstance(item, Callback):
        vectors = "".join(f", work[{r.start}:{r.stop}]" for r in item.takes[1:])
        return [f"work[{item.gives.start}:{item.gives.stop}] = call_{item.function + 1}(work[{item.takes[0].start}]{vectors})"]
    inner = [f"    {line}" for line in items(program, item.items)]
    if isinstance(item, Goals):
        goal = [] if item.goal is None else [f"    work[{item.goal}] = goal"]
        kept = ", ".join(f"work[{r.start}:{r.stop}]" for r in item.records)
        return ["for goal in goals:", *goal, *inner, f"    records.append([{kept}])"]
    stop = [] if item.until is None else [f"    if work[{item.until}] != 0:", "        break"]
    return [f"for _ in range({'repeats' if item.most == REPEATS else item.most}):", *stop, *inner]


def row_lines(table, row):
    reads = [f"work[{s.start}:{s.stop}]" for s in table.reads(row)]
    inputs = reads if table.numbers is None else [repr(table.numbers[row].tolist()), *reads]
    lines = [f"{', '.join(f'p{k}' for k in range(len(inputs)))}, v = {', '.join([*inputs, '{}'])}"] if inputs else ["v = {}"]
    lines += values(table.block)
    return lines + [f"work[{s.start}:{s.stop}] = [{', '.join(f'v[{k}]' for k in results)}]"
                    for s, results in zip(table.stores(row), table.block.results, strict=True)]


def values(block):
    for k, (op, args) in enumerate(block.code):
        x = [f"v[{a}]" for a in args]
        if op == "constant":
            yield f"v[{k}] = {args[0]!r}"
        elif op == "input":
            yield f"v[{k}] = p{args[0]}[{args[1]}]"
        elif op in INFIX:
            yield f"v[{k}] = {x[0]} {INFIX[op]} {x[1]}"
        else:
            yield f"v[{k}] = {FORMS.get(op, f'math.{op}({{}}' + ', {}' * (len(x) - 1) + ')').format(*x)}"
