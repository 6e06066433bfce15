"""A template's tree with its costs written into it: every iteration, call and value that is made is counted."""

from __future__ import annotations

from collections.abc import Iterable

from jinja2 import nodes

COUNTING = "counting: "
_REPEATED = (nodes.For, nodes.Macro, nodes.CallBlock, nodes.Block)


def with_costs(tree: nodes.Template) -> nodes.Template:
    """Return the tree, changed in place, so that it calls the filters `stepped`, `joined`, `kept` and `weighed`."""
    repeated: tuple[nodes.For | nodes.Macro | nodes.CallBlock | nodes.Block, ...] = tuple(tree.find_all(_REPEATED))
    for node in repeated:
        node.body.insert(0, nodes.ExprStmt(_called("stepped", [nodes.Const(_written(node.body))])))
        if isinstance(node, nodes.For) and node.test is not None:
            node.test = nodes.And(_called("stepped", [nodes.Const(0)]), node.test)
    _change_below(tree)
    if tree.environment is not None:
        tree.set_environment(tree.environment)
    tree.set_lineno(1)
    return tree


def _written(body: Iterable[nodes.Node]) -> int:
    """Return how many characters of text stand in a body."""
    return sum(len(data.data) for node in body for data in _all(node, nodes.TemplateData))


def _all(node: nodes.Node, kind: type[nodes.TemplateData]) -> Iterable[nodes.TemplateData]:
    if isinstance(node, kind):
        yield node
    yield from node.find_all(kind)


def _change_below(node: nodes.Node) -> None:
    for name, value in node.iter_fields():
        if isinstance(value, list):
            value[:] = [_changed(one) if isinstance(one, nodes.Node) else one for one in value]
        elif isinstance(value, nodes.Node):
            setattr(node, name, _changed(value))


def _changed(node: nodes.Node) -> nodes.Node:
    _change_below(node)
    if isinstance(node, nodes.Concat):
        return _called("joined", node.nodes)
    if isinstance(node, nodes.Getitem) and isinstance(node.arg, nodes.Slice):
        return _called("kept", [node])
    if isinstance(node, (nodes.List, nodes.Dict)) or (isinstance(node, nodes.Tuple) and node.ctx == "load"):
        return _called("kept", [node])
    if isinstance(node, nodes.Compare):
        node.expr = _weighed(node.expr)
        for operand in node.ops:
            operand.expr = _weighed(operand.expr)
    return node


def _weighed(node: nodes.Expr) -> nodes.Expr:
    return node if isinstance(node, nodes.Const) else _called("weighed", [node])


def _called(name: str, args: list[nodes.Expr]) -> nodes.Expr:
    """Return a call of one of the sandbox's own filters, which compile to plain calls and whose names nobody writes."""
    return nodes.Filter(args[0], COUNTING + name, args[1:], [], None, None)
