"""Credentials: found by name, in one order, never shown, and refused when a client would quote them."""

from __future__ import annotations

import secrets
from pathlib import Path

import pytest

from tamesu.base.errors import UsageError
from tamesu.core.routes import Route, find_route
from tamesu.edge.credentials import (
    CONFIG_DIR,
    Environment,
    missing_credentials,
    read_access,
    read_environment,
    without_secrets,
)


def route(provider: str) -> Route:
    found = find_route(provider)
    assert found is not None
    return found


def test_the_process_counts_before_the_config_folder_before_the_projects_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project, folder = tmp_path / "project", tmp_path / "folder"
    for place, names in ((project, "ABC"), (folder, "AB")):
        place.mkdir()
        (place / ".env").write_text("".join(f"ROUTE_TEST_{name}={place.name}\n" for name in names))
    monkeypatch.setenv(CONFIG_DIR, str(folder))
    monkeypatch.setenv("ROUTE_TEST_A", "process")
    found = read_environment(project).values
    assert [found[f"ROUTE_TEST_{name}"] for name in "ABC"] == ["process", "folder", "project"]


def test_values_are_not_shown() -> None:
    key = secrets.token_hex(12)
    environment = Environment({"OPENAI_API_KEY": key, "OPENAI_BASE_URL": f"https://me:{key}@host.example/v1"})
    access = read_access(route("openai"), environment)
    assert access.key == key
    assert key not in repr(access) + repr(environment)
    assert key not in without_secrets(f"error: Bearer {key} is not known", access.secrets)


@pytest.mark.parametrize("broken", ["{}\nx", "{} x", "{}\u00e4", "{}\x07"])
def test_a_key_that_no_header_can_carry_is_refused_without_being_quoted(broken: str) -> None:
    key = secrets.token_hex(12)
    with pytest.raises(UsageError) as raised:
        read_access(route("openai"), Environment({"OPENAI_API_KEY": broken.format(key)}))
    assert str(raised.value).startswith("OPENAI_API_KEY: holds a blank")
    assert key not in str(raised.value)


def test_a_base_url_that_is_none_is_refused_without_being_quoted() -> None:
    key = secrets.token_hex(12)
    environment = Environment({"META_API_KEY": key, "META_BASE_URL": f"ftp://{key}@host"})
    with pytest.raises(UsageError, match=r"^META_BASE_URL: holds no http\(s\) URL") as raised:
        read_access(route("meta"), environment)
    assert key not in str(raised.value)


def test_what_a_route_needs_before_it_can_be_called() -> None:
    nothing = Environment({})
    named = {one.provider: one.names for one in missing_credentials(("openai", "google", "replay"), nothing)}
    assert named == {"openai": ("OPENAI_API_KEY",), "google": ("GOOGLE_API_KEY", "GEMINI_API_KEY")}
    assert [one.names for one in missing_credentials(("vllm",), nothing)] == [("VLLM_BASE_URL",)]
    assert missing_credentials(("vllm",), nothing, placed={"vllm"}) == ()
    assert missing_credentials(("google",), Environment({"GEMINI_API_KEY": "x"})) == ()


def test_the_origin_of_a_routes_own_place_is_none_whoever_names_it() -> None:
    own = read_access(route("openai"), Environment({"OPENAI_BASE_URL": "https://api.openai.com/v1"}))
    other = read_access(route("openai"), Environment({"OPENAI_BASE_URL": "https://proxy.example/v1"}))
    assert route("openai").origin(own.base_url) is None
    assert route("openai").origin(other.base_url) == "https://proxy.example"
