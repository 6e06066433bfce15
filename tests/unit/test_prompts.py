"""Prompts: what a template may see and do, and what is sent as it stands."""

from __future__ import annotations

import pytest

from tamesu.base.errors import InvalidDocument
from tamesu.base.model.manifest import Arm, Item, Prompt
from tamesu.core.prompts import render_messages, render_prompt

ITEM = Item("red-sun", {"scene": "a sun", "parts": [1, 2]}, expected="secret", metadata={"level": "easy"})


def template(text: str) -> Prompt:
    return Prompt("prompts/user.md.j2", text, template=True)


def arm(system: Prompt | None = None, user: Prompt | None = None) -> Arm:
    return Arm("plain", "", system, user, {})


@pytest.mark.parametrize(
    ("text", "rendered"),
    [
        ("{{ item.id }}: {{ item.input.scene }}", "red-sun: a sun"),
        ("{{ item.metadata.level }}", "easy"),
        ("{% for part in item.input.parts %}[{{ part }}]{% endfor %}", "[1][2]"),
        ("<b>{{ item.input.scene }}</b> & more", "<b>a sun</b> & more"),
        ("ends with a line end\n", "ends with a line end\n"),
        ("two\n\n", "two\n\n"),
        ("none", "none"),
        ("", ""),
    ],
)
def test_templates_render(text: str, rendered: str) -> None:
    assert render_prompt(template(text), ITEM) == rendered


@pytest.mark.parametrize(
    ("text", "rendered"),
    [
        ("{{ '-' * 3 }}{{ 2 ** 10 }}", "---1024"),
        ("{{ '%05.1f' % 2 }}{{ '{:>4}'.format('a') }}{{ 'a'.ljust(3) }}|", "002.0   aa  |"),
        ("{{ 'a' | center(3) }}{{ 'a\nb' | indent(2) }}", " a a\n  b"),
        ("{{ 7 % 4 }} {{ 3 * 4 }}", "3 12"),
    ],
)
def test_operators_and_formats_of_ordinary_size_work(text: str, rendered: str) -> None:
    assert render_prompt(template(text), ITEM) == rendered


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{{ item.input.y }}", "item 'x': input.y is null"),
        ("{{ item.metadata['z'] }}", "item 'x': metadata.z is null"),
        ("{{ none }}", "item 'x': a value that is printed is null"),
    ],
)
def test_a_null_is_not_printed_as_a_word(text: str, said: str) -> None:
    item = Item("x", {"y": None, "w": 1}, metadata={"z": None})
    with pytest.raises(InvalidDocument) as caught:
        render_prompt(template(text), item)
    assert said in str(caught.value)


def test_a_null_may_be_asked_for_and_replaced() -> None:
    item = Item("x", {"y": None}, metadata={})
    text = "{% if item.input.y is none %}no{% endif %} {{ item.input.y | default('-', true) }} {{ item.input.y or 1 }}"
    assert render_prompt(template(text), item) == "no - 1"


def test_values_are_not_escaped() -> None:
    item = Item("x", "<a> & 'b' \u2028 \x85")
    assert render_prompt(template("{{ item.input }}"), item) == "<a> & 'b' \u2028 \x85"


def test_what_an_item_holds_is_not_rendered_again() -> None:
    assert render_prompt(template("{{ item.input }}"), Item("x", "{{ 7 * 7 }}")) == "{{ 7 * 7 }}"


def test_a_prompt_without_j2_is_literal() -> None:
    text = "{{ item.id }} {% raise %} {# kept #}\n"
    assert render_prompt(Prompt("prompts/user.md", text, template=False), ITEM) == text


@pytest.mark.parametrize(
    "text",
    [
        "{{ item.expected }}",
        "{{ item['expected'] }}",
        "{{ item.assets }}",
        "{{ expected }}",
        "{{ item.input.scenery }}",
        "{{ item.metadata.absent }}",
        "{{ undefined }}",
        "{{ item.input.scene.x.y }}",
        "{% if undefined %}a{% endif %}",
        "{{ item.id",
        "{% for %}",
        "{% include 'other.md' %}",
        "{{ 1 / 0 }}",
        "{{ item.id + 1 }}",
        "{{ item.input.parts[7] }}",
        "{% macro loop() %}{{ loop() }}{% endmacro %}{{ loop() }}",
    ],
)
def test_what_is_not_there_is_an_error_of_one_line(text: str) -> None:
    with pytest.raises(InvalidDocument) as caught:
        render_prompt(template(text), ITEM)
    message = str(caught.value)
    assert message.startswith("prompts/user.md.j2: cannot be rendered for item 'red-sun'")
    assert "\n" not in message
    assert "secret" not in message


@pytest.mark.parametrize(
    "text",
    [
        "{{ item.__class__ }}",
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ item.__init__.__globals__ }}",
        "{{ item.__dict__ }}",
        "{{ item|attr('__class__') }}",
        "{{ item.id.format.__globals__ }}",
        "{{ '{0.__class__.__mro__}'.format(item.id) }}",
        "{{ '{x.__class__}'.format_map({'x': item}) }}",
        "{{ cycler.__init__.__globals__.os.system('true') }}",
        "{{ lipsum.__globals__['os'].popen('id').read() }}",
        "{{ self.__init__.__globals__ }}",
        "{{ item.input.update({'scene': 'other'}) }}",
        "{{ item.input.parts.append(3) }}",
        "{{ item.input.pop('scene') }}",
        "{{ item.metadata.clear() }}",
        "{% set item.id = 'x' %}",
        "{{ range(99999999) | list }}",
        "{{ 'x' * 10**9 }}",
        "{{ 10**9 * 'x' }}",
        "{{ [1] * 10**9 }}",
        "{{ 9 ** 99999999 }}",
        "{{ '%1000000000d' % 1 }}",
        "{{ '%*d' % (1000000000, 1) }}",
        "{{ '{:1000000000}'.format(1) }}",
        "{{ item.id.ljust(1000000000) }}",
        "{{ item.id | center(1000000000) }}",
        "{{ item.id | indent(1000000000) }}",
        "{% for n in range(99999) %}{{ 'x' * 999 }}{% endfor %}",
    ],
)
def test_the_sandbox_holds(text: str) -> None:
    item = Item("red-sun", {"scene": "a sun", "parts": [1, 2]}, metadata={"level": "easy"})
    with pytest.raises(InvalidDocument):
        render_prompt(template(text), item)
    assert item.input == {"scene": "a sun", "parts": [1, 2]}
    assert item.metadata == {"level": "easy"}


def test_messages_of_an_arm() -> None:
    made = render_messages(arm(Prompt("s", "Be brief.\n", False), template("Draw {{ item.input.scene }}")), ITEM)
    assert [(message.role, message.content) for message in made] == [
        ("system", "Be brief.\n"),
        ("user", "Draw a sun"),
    ]


def test_without_a_user_prompt_the_input_is_sent() -> None:
    (text,) = render_messages(arm(), Item("x", "As it stands \n"))
    assert (text.role, text.content) == ("user", "As it stands \n")
    (mapping,) = render_messages(arm(), Item("x", {"b": 1, "a": [True, None, "é"]}))
    assert mapping.content == '{"a":[true,null,"é"],"b":1}'


def test_one_items_template_does_not_see_another_items_values() -> None:
    leaky = template("{% set seen = item.id %}{{ seen }}")
    assert [render_prompt(leaky, Item(name, "")) for name in ("a", "b", "a")] == ["a", "b", "a"]
