"""What happens in the sandbox: write the source, compile it, run it, copy what came of it.

The program is hostile. Limits of time and size stand here, all others in compose.yaml. What a program can cause is told
as `Stopped`, so that it becomes a score; what no program can cause is left to raise.
"""

from __future__ import annotations

import base64
import re

from inspect_ai.util import ExecResult, sandbox

COMPILE_SECONDS = 20
RUN_SECONDS = 5
COPY_SECONDS = 20
LOG_BYTES = 65_536
IMAGE_BYTES = 2_097_152

FAILED, TIMED_OUT, KILLED = 1, 124, 137

# Sizes of `ulimit -f` are blocks of 512 bytes.
COMPILE = "ulimit -c 0; ulimit -f 32768; exec cc -std=c17 -O1 -Wall -o main main.c -lm 2> compiler.log < /dev/null"
# The shell needs no new process to end whatever the program left behind. That ends Inspect's own `timeout` too, so the
# exit code is printed before, with the time that tells a kill at the limit from others.
RUN = """\
ulimit -c 0; ulimit -f 4096
read -r begun rest < /proc/uptime
timeout -k 1 "$1" ./main > image.ppm 2> run.log < /dev/null
code=$?
read -r ended rest < /proc/uptime
echo "$code $begun $ended"
kill -s KILL -- -1
"""
TOLD = re.compile(r"(?P<code>\d{1,3}) (?P<begun>\d+\.\d+) (?P<ended>\d+\.\d+)\n", re.ASCII)
# read_file does not see a tmpfs, and text would not survive bytes; a pipe or a device in the file's place ends by time.
COPY = 'exec < "$1"; head -c "$2" | base64 -w 0'


class Stopped(Exception):
    """Why a step did not come to its end: a reason to count, a detail to read."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason


async def write_source(code: str) -> None:
    """Write main.c. Raises Stopped `sandbox_denied`; nothing of the answer has run by then."""
    try:
        await sandbox().write_file("main.c", code.encode("utf-8", "backslashreplace"))
    except PermissionError as error:
        raise Stopped("sandbox_denied", first_line(error)) from None


async def compile_source() -> int:
    """Return the exit code of the compiler. Raises Stopped `compile_timeout`, `compile_denied`."""
    return (await _done("compile", COMPILE_SECONDS, COMPILE)).returncode


async def run_program() -> int:
    """Return the program's exit code: `TIMED_OUT` at its time limit, 128 and more for a signal.

    Raises Stopped `run_timeout`, `run_denied`.
    """
    # The limit outside only counts where the one inside was tampered with.
    done = await _done("run", RUN_SECONDS + 30, RUN, str(RUN_SECONDS))
    told = TOLD.fullmatch(done.stdout)
    if told is None:
        return done.returncode or FAILED  # the program ended the shell, or spoke in its place
    code, seconds = int(told["code"]), float(told["ended"]) - float(told["begun"])
    # A program that ignores being asked to end is killed, as one is that takes too much memory.
    return TIMED_OUT if code == KILLED and seconds >= RUN_SECONDS else code


async def copied(name: str, most: int) -> bytes:
    """Return at most so many bytes of a file. Raises Stopped `copy_timeout`, `copy_denied`, `copy_failed`."""
    done = await _done("copy", COPY_SECONDS, COPY, name, str(most))
    if not done.success:
        raise Stopped("copy_failed", f"{name}: {first_line(done.stderr)}")
    return base64.b64decode(done.stdout)


async def _done(step: str, seconds: int, script: str, *arguments: str) -> ExecResult[str]:
    try:
        return await sandbox().exec(["sh", "-c", script, step, *arguments], timeout=seconds, timeout_retry=False)
    except TimeoutError:
        raise Stopped(f"{step}_timeout", f"not done after {seconds} seconds") from None
    except PermissionError as error:
        raise Stopped(f"{step}_denied", first_line(error)) from None


def first_line(told: object) -> str:
    return next(iter(str(told).splitlines()), "")[:200]
