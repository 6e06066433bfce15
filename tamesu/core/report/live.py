"""The page as it is served while work goes on: the written page, with a script that loads it anew when it changed."""

from __future__ import annotations

from importlib.resources import files

from tamesu.core.report.study.case import content_policy, pager_script

STATE_PATH = "/-/state"


def live_script() -> str:
    """Return the script that is served with a page and never written into it."""
    text = (files("tamesu.core.report") / "templates" / "live.js").read_text(encoding="utf-8").strip()
    return text.replace("STATE_PATH", STATE_PATH)


def live_policy() -> str:
    """Return the policy of a page that is served live: its scripts, and questions to this server alone."""
    return f"{content_policy(pager_script(), live_script())}; connect-src 'self'; frame-ancestors 'none'"


def live_page(page: str) -> str:
    """Return a written page of a case as it is served live."""
    policy = live_policy().removesuffix("; frame-ancestors 'none'")  # which counts as a header alone
    return page.replace(content_policy(pager_script()), policy, 1).replace(
        "</body>\n</html>", f"<script>{live_script()}</script>\n</body>\n</html>"
    )
