"use strict";
for (const box of document.querySelectorAll(".evidence")) book(box);

function book(box) {
  const find = (selector) => box.querySelector(selector);
  const controls = find(".controls"), list = find(".items"), count = find(".count");
  const turns = [...box.querySelectorAll(".turn")];
  let data = null, words = null, page = 0;

  const load = () => (data ??= JSON.parse(document.getElementById(box.dataset.book).textContent));
  const text = (number) => data.s[number];
  const value = (name) => controls.querySelector(`[name=${name}]`).value;

  function matching() {
    const wanted = value("text").trim().toLowerCase(), state = value("state"), arm = value("arm"), model = value("model");
    if (wanted) words ??= data.i.map(spoken);
    const found = [];
    data.i.forEach((item, at) => {
      if (wanted && !words[at].includes(wanted)) return;
      const cards = item[4].filter((card) => {
        const run = data.r[card[0]];
        return (!arm || text(run[1]) === arm) && (!model || text(run[0]) === model) && (!state || text(card[3]).includes(state));
      });
      if (cards.length) found.push([item, cards]);
    });
    return found;
  }

  function spoken(item) {
    const parts = [item[0], item[1], item[2]];
    for (const card of item[4]) {
      parts.push(card[2], card[8]);
      for (const output of card[4]) parts.push(output[2]);
      for (const verdict of card[5]) for (const line of verdict[2]) parts.push(line[1], line[2]);
    }
    return parts.filter((number) => number >= 0).map(text).join("\n").toLowerCase();
  }

  function draw() {
    load();
    const found = matching(), size = data.n, pages = Math.max(1, Math.ceil(found.length / size));
    page = Math.min(Math.max(0, page), pages - 1);
    const first = page * size, shown = found.slice(first, first + size);
    const fragment = document.createDocumentFragment();
    shown.forEach(([item, cards], at) => fragment.append(entry(item, cards, at === 0)));
    list.replaceChildren(fragment);
    const all = data.i.length, of = found.length === all ? `${all}` : `${found.length} that fit, of ${all}`;
    count.textContent = !found.length ? "No item fits"
      : pages > 1 ? `Items ${first + 1} to ${first + shown.length} of ${of}` : `${of} items`;
    for (const turn of turns) {
      turn.hidden = pages < 2;
      enable(turn.querySelector(".previous"), page > 0);
      enable(turn.querySelector(".next-page"), page < pages - 1);
    }
  }

  function enable(button, on) {
    button.setAttribute("aria-disabled", on ? "false" : "true");
  }

  function go(button, step) {
    if (button.getAttribute("aria-disabled") === "true") return;
    page += step;
    draw();
    if (button.closest(".after")) find(".pager").scrollIntoView({ block: "start" });
  }

  function element(name, kind, ...children) {
    const made = document.createElement(name);
    if (kind) made.className = kind;
    made.append(...children);
    return made;
  }

  function entry(item, cards, open) {
    const made = element("details", "item");
    made.open = open;
    const asked = element("div", "asked", element("div", "", element("p", "label", "Input"), element("pre", "", text(item[1]))));
    if (item[2] >= 0)
      asked.append(element("div", "", element("p", "label", "Expected, not shown to the model"), element("pre", "", text(item[2]))));
    made.append(
      element("summary", "", element("span", "item-id", text(item[0])),
        element("span", "gist", text(item[5])), element("span", "tally", text(item[3]))),
      element("div", "item-body", asked, element("div", "cards", ...cards.map((one) => card(one, text(item[0]))))));
    return made;
  }

  function card(one, item) {
    const run = data.r[one[0]], label = `${text(run[0])} · ${text(run[1])}, repetition ${run[2]}`;
    const made = element("article", "card",
      element("p", "card-head", element("strong", "", text(run[1])), element("span", "", text(run[0])),
        element("span", "", `repetition ${run[2]}`), element("span", `pill ${text(one[1])}`, text(one[2]))));
    made.setAttribute("aria-label", label);
    if (text(one[8])) made.append(element("p", "error", text(one[8])));
    if (one[4].length) made.append(element("div", "outputs", ...one[4].map((shown) => output(shown, `${text(shown[0])}, item ${item}, ${label}`))));
    const kinds = ["Scorers", "Model judges", "Human review"];
    made.append(element("div", "verdicts", ...one[5].map((verdict, at) => judged(kinds[at], verdict))));
    made.append(element("p", `accepted ${text(one[6][0])}`, text(one[6][1])));
    if (text(one[7])) made.append(element("p", "took", text(one[7])));
    return made;
  }

  function output(shown, label) {
    const made = element("div", "output", element("p", "role", text(shown[0]), element("span", "small", text(shown[1]))));
    if (shown[3] >= 0) {
      const picture = element("img", "");
      picture.src = document.getElementById(box.dataset.pictures + shown[3]).src;
      picture.alt = label;
      made.append(picture);
    } else if (shown[2] >= 0) made.append(element("pre", "", text(shown[2])));
    return made;
  }

  function judged(kind, [tone, said, lines]) {
    const made = element("div", "verdict", element("p", "label", kind), element("p", `said ${text(tone)}`, text(said)));
    if (lines.length)
      made.append(element("ul", "", ...lines.map(([one, line, detail]) => {
        const point = element("li", text(one), text(line));
        if (text(detail)) point.append(element("span", "detail", text(detail)));
        return point;
      })));
    return made;
  }

  let waiting = 0;
  const renew = () => { page = 0; draw(); };
  controls.addEventListener("change", renew);
  controls.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(renew, 150); });
  for (const turn of turns) {
    const back = turn.querySelector(".previous"), on = turn.querySelector(".next-page");
    back.addEventListener("click", () => go(back, -1));
    on.addEventListener("click", () => go(on, 1));
    turn.hidden = Number(box.dataset.pages) < 2;
    enable(back, false);
  }
  controls.hidden = false;
}
