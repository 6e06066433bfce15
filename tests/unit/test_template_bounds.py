"""Bounds of a rendering: none takes for ever or all memory, and what is ordinary renders as Jinja2 renders it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import StrictUndefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

from tamesu.base.errors import InvalidDocument
from tamesu.base.model.manifest import Item, Prompt
from tamesu.core.judging.prompts import prompt_faults
from tamesu.core.prompts import filled_in, render_prompt
from tamesu.core.template_sandbox import FAULTS

ITEM = Item("x", {"scene": "a <b> sun", "parts": [3, 1, 2], "rows": [{"k": "a", "v": 1}, {"k": "b", "v": 2}]})
VISIBLE = {"item": {"id": ITEM.id, "input": ITEM.input}}
DOUBLED = "{% set x = [1] %}" + "{% set x = [x, x] %}" * 60
LONG = "{% set x = 'a' * 1000000 %}"


def render(text: str) -> str:
    return render_prompt(Prompt("user.md.j2", text, template=True), ITEM)


@pytest.mark.parametrize(
    "text",
    [
        "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
        "{% for a in range(99999) %}{% for b in range(99999) if false %}{% endfor %}{% endfor %}",
        "{% for a in range(99999) %}{% for b in range(99999) %}{% else %}{% endfor %}{% endfor %}",
        "{% for a in range(99999) recursive %}{{ loop(range(99999)) }}{% endfor %}",
        "{% for a in range(99999) %}{% set x = range(99999) | sum %}{% endfor %}",
        "{% for a in range(99999) %}{% set x = range(99999) | map('string') | join %}{% endfor %}",
        "{% for a in range(99999) %}{% set x = range(99999) | select('odd') | list %}{% endfor %}",
        "{% set m = range(99999) | list %}{% for a in m %}{% if a * -1 in m %}{% endif %}{% endfor %}",
        "{% set m = range(99999) | list %}{% for a in m %}{% if 'z' is in m %}{% endif %}{% endfor %}",
        LONG + "{% for a in range(99999) %}{% if x == 'b' ~ x %}{% endif %}{% endfor %}",
        LONG + "{% for a in range(99999) %}{% set y = x[1:] %}{% endfor %}",
        "{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(40) }}",
        "{% macro m() %}{{ caller() }}{{ caller() }}{% endmacro %}{% for a in range(99999) %}{% for b in range(99) %}"
        "{% call m() %}{% endcall %}{% endfor %}{% endfor %}",
        "{% set x = 'aaaa' %}" + "{% set x = x ~ x ~ x ~ x %}" * 30 + "{{ x }}",
        "{% set x = 'aaaa' %}" + "{% set x = x + x %}" * 40,
        "{% set x = [1] %}" + "{% set x = x + x %}" * 40,
        "{% set x = 'aaaa' %}" + "{% set x %}{{ x }}{{ x }}{{ x }}{{ x }}{% endset %}" * 30,
        "{% set x %}{% for a in range(99999) %}" + "text " * 20000 + "{% endfor %}{% endset %}",
        "{% set n = namespace(x='a') %}{% for a in range(99) %}{% set n.x = n.x ~ n.x %}{% endfor %}",
        "{% set x = 3 %}" + "{% set x = x * x %}" * 60,
        DOUBLED + "{{ x }}",
        DOUBLED + "{{ x | tojson }}",
        DOUBLED.replace("[x, x]", "{'a': x, 'b': x}") + "{{ x | length }}",
        DOUBLED.replace("[x, x]", "dict(a=x, b=x)") + "{{ x | length }}",
        DOUBLED.replace("[x, x]", "namespace(a=x, b=x)") + "{{ x | string }}",
        DOUBLED.replace("[x, x]", "([x] | batch(2, x) | first)") + "{{ x | string }}",
        "{{ 'a' | center(10 ** 10) }}",
        "{{ '%1000000000d' | format(1) }}",
        "{{ '%99999d' * 1000 | format(1) }}",
        "{{ ('%(a)99999d' * 1000) % {'a': 1} }}",
        LONG + "{{ ('%(a)s' * 1000) | format(a=x) }}",
        LONG + "{{ ('{0}' * 1000).format(x) }}",
        LONG + "{{ ('{a}' * 1000).format_map({'a': x}) }}",
        LONG + "{{ x.replace('a', x) }}",
        LONG + "{{ x | replace('a', x) }}",
        LONG + "{{ x.replace('', x) }}",
        LONG + "{{ x.join(x) }}",
        LONG + "{{ x | join(x) }}",
        LONG + "{{ x.join(range(1000) | map('string')) }}",
        LONG + "{{ x.translate({97: x}) }}",
        LONG + "{{ ('a\t' * 1000).expandtabs(1000000) }}",
        LONG + "{{ ('a\n' * 1000) | indent(1000000) }}",
        LONG + "{{ ('a\n' * 1000) | indent(x) }}",
        LONG + "{{ ('a ' * 1000) | wordwrap(1, wrapstring=x) }}",
        LONG + "{{ ('www.a.org ' * 1000) | urlize(target=x) }}",
        "{{ range(99999) | map('list', 1) | sum(start=[]) }}",
        "{{ range(9999) | batch(99) | map('list') | sum(start=range(90000) | list) }}",
        "{{ item.input.parts | batch(10 ** 10, 1) | list }}",
        "{{ range(2) | slice(10 ** 10) | list }}",
        "{{ item.input | tojson(indent=10 ** 9) }}",
        "{{ lipsum(n=1000000) }}",
        "{{ 1 | round(1000000000, 'ceil') }}",
        "{% for a in range(9) %}" * 30 + "{% endfor %}" * 30,
        "{{ item.input.parts | dictsort }}",
    ],
)
def test_what_has_no_end_is_an_error_of_one_line(text: str) -> None:
    said = []
    for _ in range(2):
        with pytest.raises(InvalidDocument) as caught:
            render(text)
        said.append(str(caught.value))
    assert said[0] == said[1]
    assert said[0].startswith("user.md.j2: cannot be rendered for item 'x': ")
    assert "\n" not in said[0]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{% for a in range(99999) %}{% for b in range(99) %}{% endfor %}{% endfor %}", "more than 1000000 steps"),
        (LONG + "{{ x ~ x ~ x ~ x ~ x ~ x ~ x ~ x ~ x }}", "a text or a list of more than 8388608 characters"),
        (LONG + "{% for a in range(999) %}{% set y = x ~ x %}{% endfor %}", "texts and lists of more than 134217728"),
    ],
)
def test_the_line_says_which_bound(text: str, said: str) -> None:
    with pytest.raises(InvalidDocument, match=said):
        render(text)


def test_a_judges_prompt_is_bounded_as_well() -> None:
    text = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
    assert prompt_faults(text) == ()
    with pytest.raises(FAULTS, match="steps"):
        filled_in(text, {})


def test_a_rendering_counts_for_itself() -> None:
    text = "{% for a in range(9999) %}{% for b in range(60) %}{% endfor %}{% endfor %}done"
    assert [render(text), render(text)] == ["done"] * 2


PLAIN = ImmutableSandboxedEnvironment(undefined=StrictUndefined, keep_trailing_newline=True)
SNIPPETS = [
    "{{ item.id ~ '-' ~ 3 ~ 1.5 }}",
    "{{ 'a' ~ 'b' }}{{ [1, 'a'] + [2] }}{{ (1, 2) + (3,) }}{{ 1 + 2.5 }}{{ 'a' + 'b' }}",
    "{% autoescape true %}{{ '<' ~ '<b>'|safe ~ item.input.scene }}{{ item.input.scene }}{% endautoescape %}",
    "{{ '<' ~ ('<b>' | safe) ~ '<i>' | escape }}",
    "{% for part in item.input.parts if part > 1 %}{{ loop.index }}/{{ loop.length }}:{{ part }}"
    "{% else %}no{% endfor %}",
    "{% for part in item.input.parts if part > 7 %}{{ part }}{% else %}no{% endfor %}",
    "{% for part in item.input.parts | sort %}{{ loop.previtem | default('-') }}{{ part }}{{ loop.last }}{% endfor %}",
    "{% for a, b in item.input | dictsort %}{{ a }}={{ b }};{% endfor %}",
    "{% for a, b in [(1, 2), (3, item.id)] %}{{ a }}{{ b }}{{ loop.changed(a) }}{{ loop.cycle('x', 'y') }}{% endfor %}",
    "{% for a in [1, [2, [3]]] recursive %}{% if a is iterable %}({{ loop(a) }}){% else %}{{ a }}"
    "{% endif %}{% endfor %}",
    "{% macro m(a, b=2) %}{{ a }}{{ b }}{{ varargs }}{{ kwargs }}{{ caller() }}{% endmacro %}"
    "{% call m(1, 3, 4, c=5) %}-{% endcall %}"
    "{% call m(9) %}called{% endcall %}",
    "{% macro m(n) %}{% if n %}{{ n }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(3) }}",
    "{% for r in item.input.rows %}{% for k in r %}{{ loop.index }}{{ k }}{{ r[k] }}{% endfor %}{% endfor %}",
    "{{ item.input.rows | map(attribute='k') | join(', ') }}{{ ', '.join(item.input.rows | map(attribute='k')) }}",
    "{{ item.input.rows | selectattr('v', 'gt', 1) | list }}{{ item.input.rows | groupby('k') | list }}",
    "{{ item.input.rows | sum(attribute='v') }}{{ [[1], [2]] | sum(start=[0]) }}{{ item.input.parts | max }}",
    "{{ item.input | tojson }}{{ item.input | tojson(indent=2) }}{{ item.input | pprint }}{{ item.input }}",
    "{{ item.input.parts | batch(2, 0) | list }}{{ item.input.parts | slice(2) | list }}"
    "{{ item.input.parts | reverse | list }}",
    "{{ item.input.scene[2:] }}{{ item.input.scene[::-1] }}{{ item.input.parts[:2] }}{{ item.input.parts[-1] }}",
    "{{ 1 < 2 < 3 }}{{ 2 in item.input.parts }}{{ 'sun' in item.input.scene }}{{ 7 not in [1, 2] }}"
    "{{ item.id == 'x' }}",
    "{{ 'y' if item.id == 'x' and not 1 > 2 else 'n' }}{{ item.id is in ['x'] }}{{ item.nothing is defined }}",
    "{% set ns = namespace(n=0, t='') %}{% for p in item.input.parts %}{% set ns.n = ns.n + p %}"
    "{% set ns.t = ns.t ~ p %}{% endfor %}{{ ns.n }}{{ ns.t }}",
    "{% set x %}{{ item.id }}!{% endset %}{{ x }}{% filter upper %}{{ item.id }}b{% endfilter %}",
    "{{ '%s is %05.1f%%' % (item.id, 2) }}{{ '%(a)s' % {'a': 1} }}{{ '%s' | format(3) }}"
    "{{ '%(a)s' | format(a=1) }}{{ 7 % 4 }}",
    "{{ '{} {a:>4}'.format(1, a=2) }}{{ '{x}'.format_map({'x': 3}) }}{{ 'a.b'.split('.') }}"
    "{{ 'ab'.replace('a', 'c') }}",
    "{{ 'a\n\nb' | indent(2, true, true) }}{{ 'a b c d' | wordwrap(3) }}"
    "{{ 'see https://a.org now' | urlize }}{{ 'a b' | urlencode }}",
    "{{ 'abc' | replace('b', '-', 1) }}{{ 'abcdefghij' | truncate(5, true) }}{{ 'a' | center(5) }}"
    "{{ 3.14159 | round(2) }}{{ 'a b' | title }}",
    "{{ {'a': 1, 'b': [2]} }}{{ dict(a=1) }}{{ [item.id, [1]] }}{{ ('a',) }}{{ {'b': 1}.items() | list }}",
    "{% set j = joiner(', ') %}{% for a in [1, 2] %}{{ j() }}{{ a }}{% endfor %}"
    "{% set c = cycler(1, 2) %}{{ c.next() }}{{ c.next() }}",
    "{% with a = 1, b = item.id %}{{ a }}{{ b }}{% endwith %}{% raw %}{{ x }}{% endraw %}{# no #}\n",
    "{% block b %}in {{ item.id }}{% for a in [1] %}{{ a }}{% endfor %}{% endblock %}{{ self.b() }}",
    "  {%- for a in [1, 2] -%}  {{ a }}  {%- endfor -%}  \n\n",
    "{{ ['b', 'a', 'b'] | unique | list }}{{ item.input.parts | first }}{{ item.input.rows | last }}"
    "{{ {'class': 'a'} | xmlattr }}",
    "{{ [1, 2] | map('string') | list }}{{ ['a'] | map('center', 3) | list }}"
    "{{ [3, 4] | select('odd') | list }}{{ 5000000 | int }}",
    "{{ none | default('a', true) }}{{ item.input.nothing | default(9999999) }}{{ 2 ** 10 }}"
    "{{ 12345678901 * 1000000 }}{{ 7 // 2 }}",
]


@given(st.lists(st.sampled_from(SNIPPETS), min_size=1, max_size=4))
def test_what_is_ordinary_renders_as_jinja_renders_it(parts: list[str]) -> None:
    named = [
        part.replace("{% block b %}", f"{{% block b{n} %}}").replace("self.b()", f"self.b{n}()")
        for n, part in enumerate(parts)
    ]
    text = "\n".join(named)
    assert filled_in(text, VISIBLE) == PLAIN.from_string(text).render(VISIBLE)


@pytest.mark.parametrize("text", SNIPPETS)
def test_each_of_them_renders(text: str) -> None:
    assert filled_in(text, VISIBLE) == PLAIN.from_string(text).render(VISIBLE)
