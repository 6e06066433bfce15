"use strict";
{
  const KEY = `tamesu ${location.pathname}`;
  const bar = document.createElement("p");
  bar.className = "live";
  bar.setAttribute("role", "status");
  bar.hidden = true;
  document.body.append(bar);
  const folds = () => [...document.querySelectorAll("details")].filter((one) => !one.closest(".items"));
  const fields = () => [...document.querySelectorAll(".controls [name]")];

  const kept = JSON.parse(sessionStorage.getItem(KEY) ?? "null");
  sessionStorage.removeItem(KEY);
  if (kept) {
    history.scrollRestoration = "manual";
    folds().forEach((one, at) => { if (at in kept.open) one.open = kept.open[at]; });
    fields().forEach((one, at) => {
      if (!kept.values[at]) return;
      one.value = kept.values[at];
      one.dispatchEvent(new Event("change", { bubbles: true }));
    });
    scrollTo({ top: kept.top, behavior: "instant" });
  }

  const version = document.querySelector("meta[name=tamesu-evidence]").content;
  async function look() {
    try {
      const state = await (await fetch("STATE_PATH" + location.pathname, { cache: "no-store" })).json();
      bar.textContent = state.progress;
      bar.hidden = !state.progress;
      if (state.version !== version) {
        const open = folds().map((one) => one.open), values = fields().map((one) => one.value);
        sessionStorage.setItem(KEY, JSON.stringify({ top: scrollY, open, values }));
        location.reload();
        return;
      }
    } catch {
      bar.textContent = "No longer served; this is the page as it was.";
      bar.hidden = false;
    }
    setTimeout(look, 1000);
  }
  look();
}
