"""What retry libraries put around an error is taken off."""

from __future__ import annotations

import pytest
import tenacity

from tamesu.edge.providers.causes import root_cause, without_addresses


def exhausted(error: Exception) -> BaseException:
    """Return what is raised when all tries met an error."""

    def failing() -> None:
        raise error

    with pytest.raises(tenacity.RetryError) as raised:
        tenacity.Retrying(stop=tenacity.stop_after_attempt(2))(failing)
    return raised.value


def test_of_exhausted_retries_the_last_error_is_the_cause() -> None:
    error = ValueError("quota")
    assert root_cause(exhausted(error)) is error
    assert root_cause(exhausted(exhausted(error))) is error  # type: ignore[arg-type]


def test_one_that_was_wrapped_is_found_behind_its_wrapping() -> None:
    error = ValueError("quota")
    wrapped = RuntimeError(f"request failed: {exhausted(error)}")
    wrapped.__cause__ = exhausted(error)
    assert root_cause(wrapped) is error


def test_any_other_error_is_its_own_cause() -> None:
    error = RuntimeError("no")
    error.__cause__ = ValueError("yes")
    assert root_cause(error) is error


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("RetryError[<Future at 0x7f0a state=finished raised ClientError>]", "ClientError after all retries"),
        ("RetryError(<Future at 0x7f0a state=finished raised ClientError>)", "ClientError after all retries"),
        ("a: <Client object at 0x7FAB12>, said no", "a: <Client object>, said no"),
        ("meet at 0x10 o'clock, at 5", "meet o'clock, at 5"),
        ("0xdeadbeef stays", "0xdeadbeef stays"),
    ],
)
def test_addresses_are_left_out(text: str, told: str) -> None:
    assert without_addresses(text) == told
