"use strict";
// Foreign text reaches the page by textContent and attributes of our own making only.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const dimensions = data.rubric.dimensions;
  const entries = data.entries;
  const memory = `tamesu-review:${data.pack}:${data.token}`;
  const voices = ["One reviewer", "Another reviewer", "A third reviewer", "A fourth reviewer"];
  const letters = "abcdefgh";
  const $ = (id) => document.getElementById(id);

  // --- state: by entry ID {answers: {dimension: {passed, reason, note}}, note}, and where the reviewer is

  const state = recalled();
  let kept = true;
  let current = Math.max(0, entries.findIndex((entry) => entry.id === state.at));
  let active = 0;
  let unsaved = false;

  function recalled() {
    const blank = { reviews: {}, at: null, filter: false };
    try {
      const found = JSON.parse(localStorage.getItem(memory));
      return found && found.reviews && typeof found.reviews === "object" ? { ...blank, ...found } : blank;
    } catch {
      return blank;
    }
  }

  function keep() {
    state.at = entries[current].id;
    try {
      localStorage.setItem(memory, JSON.stringify(state));
      kept = true;
    } catch {
      kept = false;
    }
    $("storage").hidden = kept;
    $("storage").textContent = kept ? "" : "This browser does not keep your answers. Download them before you close the page.";
  }

  function review(entry) {
    return state.reviews[entry.id] || { answers: {}, note: "" };
  }

  function answer(entry, dimension) {
    const { answers } = review(entry);
    return Object.hasOwn(answers, dimension.id) ? answers[dimension.id] : { passed: null, reason: null, note: "" };
  }

  function change(dimension, part) {
    const entry = entries[current];
    const own = review(entry);
    const answers = { ...own.answers, [dimension.id]: { ...answer(entry, dimension), ...part } };
    state.reviews[entry.id] = { ...own, answers };
    unsaved = true;
    keep();
  }

  function missing(entry, dimension) {
    const given = answer(entry, dimension);
    if (given.passed === null) return "no answer";
    if (given.passed === false && dimension.codes.length && !dimension.codes.includes(given.reason)) return "no reason";
    return "";
  }

  const lacking = (entry) => dimensions.filter((one) => missing(entry, one));
  const complete = (entry) => lacking(entry).length === 0;

  // --- building elements

  function make(tag, properties = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
      if (name in element) element[name] = value;
      else element.setAttribute(name, value);
    }
    element.append(...children);
    return element;
  }

  function shown(one) {
    const figure = make("div", { className: "shown" });
    if (one.label) figure.append(make("p", { className: "label", dir: "auto", textContent: one.label }));
    figure.append(content(one));
    if (one.kind !== "nothing" && one.remarks.length) {
      figure.append(make("ul", { className: "remarks" }, ...one.remarks.map((text) => make("li", { textContent: text }))));
    }
    return figure;
  }

  function content(one) {
    const what = one.label || "output";
    if (one.kind === "text") {
      return make("pre", { className: "text", dir: "auto", tabIndex: 0, textContent: one.text || "(empty)" });
    }
    if (one.kind === "image") {
      const picture = make("img", { src: one.source, alt: `Picture: ${what}`, draggable: false });
      const button = make("button", { type: "button", className: one.transparent ? "picture checkered" : "picture" }, picture);
      button.setAttribute("aria-label", `Picture: ${what}. Show in full size`);
      button.addEventListener("click", () => zoom(one));
      return button;
    }
    if (one.kind === "audio" || one.kind === "video") {
      return make(one.kind, { controls: true, preload: "metadata", src: one.source, "aria-label": what });
    }
    return make("p", { className: "nothing", textContent: one.remarks.join("; ") });
  }

  function zoom(one) {
    const picture = make("img", { src: one.source, alt: `Picture: ${one.label || "output"}` });
    if (one.transparent) picture.className = "checkered";
    $("zoom-in").replaceChildren(picture);
    $("zoom").showModal();
  }

  function options(name, choices, chosen, choose) {
    return make("div", { className: "options" }, ...choices.map(({ value, text, key }) => {
      const radio = make("input", { type: "radio", name, checked: value === chosen });
      radio.addEventListener("change", () => choose(value));
      return make("label", {}, radio, make("span", { textContent: text }), make("kbd", { textContent: key, ariaHidden: "true" }));
    }));
  }

  function note(label, text, write) {
    const area = make("textarea", { rows: 1, value: text, dir: "auto" });
    area.addEventListener("input", () => write(area.value));
    return make("label", { className: "field" }, label, area);
  }

  function question(entry, dimension, number) {
    const given = answer(entry, dimension);
    const field = make("fieldset", { className: number === active ? "active" : "" });
    field.dataset.number = number;
    field.append(make("legend", { dir: "auto", textContent: `${number + 1}. ${dimension.question}` }));
    const sides = [{ value: true, text: "Yes", key: "y" }, { value: false, text: "No", key: "n" }];
    field.append(options(`answer-${number}`, sides, given.passed, (passed) => give(number, passed)));
    if (given.passed === false && dimension.codes.length) {
      const codes = dimension.codes.map((code, at) => ({ value: code, text: code, key: letters[at] || "" }));
      const reasons = options(`reason-${number}`, codes, given.reason, (reason) => explain(number, reason));
      field.append(make("div", { className: "reasons", role: "group", "aria-label": "Why not" }, make("p", { textContent: "Why not?" }), reasons));
    }
    if (given.passed !== null) {
      field.append(note("Note (optional)", given.note || "", (text) => change(dimension, { note: text })));
    }
    field.addEventListener("focusin", () => activate(number));
    return field;
  }

  // --- showing

  function voice(said, number) {
    const lines = dimensions.map((dimension) => {
      const given = said.answers[dimension.id];
      if (!Object.hasOwn(said.answers, dimension.id)) return make("li", { textContent: `${dimension.question} (not answered)` });
      const word = make("span", { className: given.passed ? "said yes" : "said no", textContent: given.passed ? "Yes" : "No" });
      const rest = [given.reason && given.reason !== "none" ? ` (${given.reason})` : "", given.note ? `: ${given.note}` : ""].join("");
      return make("li", { dir: "auto" }, `${dimension.question} `, word, rest);
    });
    const box = make("div", { className: "voice" }, make("h4", { textContent: voices[number] || `Reviewer ${number + 1}` }), make("ul", {}, ...lines));
    if (said.note) box.append(make("p", { dir: "auto", textContent: said.note }));
    return box;
  }

  function showEntry() {
    const entry = entries[current];
    $("entry-title").replaceChildren(`Entry ${current + 1} of ${entries.length}`, make("small", { textContent: entry.id }));
    $("inputs").replaceChildren(...entry.inputs.map(shown));
    $("outputs").replaceChildren(...entry.outputs.map(shown));
    $("earlier").hidden = !entry.earlier.length;
    $("voices").replaceChildren(...entry.earlier.map(voice));
    active = Math.max(0, dimensions.findIndex((one) => missing(entry, one)));
    showForm();
    showList();
  }

  // `focus` are selectors in the active question, the first that fits gets the focus
  function showForm(...focus) {
    const entry = entries[current];
    const fields = dimensions.map((one, number) => question(entry, one, number));
    const remark = note("Note on the whole entry (optional)", review(entry).note || "", (text) => {
      state.reviews[entry.id] = { ...review(entry), note: text };
      unsaved = true;
      keep();
    });
    $("form").replaceChildren(...fields, remark);
    $("clear").disabled = !state.reviews[entry.id];
    focus.map((one) => fields[active].querySelector(one)).find(Boolean)?.focus();
  }

  function showList() {
    const listed = entries.map((entry, number) => ({ entry, number })).filter(({ entry, number }) => !state.filter || !complete(entry) || number === current);
    $("list").replaceChildren(...listed.map(({ entry, number }) => {
      const done = complete(entry);
      const begun = !done && lacking(entry).length < dimensions.length;
      const mark = make("span", { className: "mark", textContent: done ? "✓" : begun ? "◐" : "○", ariaHidden: "true" });
      const button = make("button", { type: "button", className: done ? "done" : "" }, mark, `Entry ${number + 1}`);
      button.setAttribute("aria-label", `Entry ${number + 1}, ${done ? "answered" : begun ? "begun" : "unanswered"}`);
      if (number === current) button.setAttribute("aria-current", "true");
      button.addEventListener("click", () => go(number));
      return make("li", {}, button);
    }));
    $("list").querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
    const done = entries.filter(complete).length;
    $("count").textContent = `${done} of ${entries.length} answered`;
    $("bar").style.width = `${(100 * done) / entries.length}%`;
    if (!$("refusal").hidden) showRefusal(unanswered());
    $("list-empty").hidden = !(state.filter && done === entries.length);
    $("filter").checked = state.filter;
    const stops = listed.map(({ number }) => number);
    $("previous").disabled = !stops.some((number) => number < current);
    $("next").disabled = !stops.some((number) => number > current);
  }

  // --- acting

  function go(number) {
    if (number < 0 || number >= entries.length) return;
    current = number;
    keep();
    showEntry();
    $("entry-title").focus({ preventScroll: true });
    window.scrollTo(0, 0);
  }

  function step(by) {
    let number = current + by;
    while (state.filter && entries[number] && complete(entries[number])) number += by;
    go(number);
  }

  function activate(number) {
    active = number;
    for (const field of $("form").querySelectorAll("fieldset")) {
      field.classList.toggle("active", Number(field.dataset.number) === number);
    }
  }

  function advance() {
    const entry = entries[current];
    const open = dimensions.findIndex((one) => missing(entry, one));
    if (open >= 0) active = open;
    showForm(missing(entry, dimensions[active]) === "no reason" ? ".reasons input" : "input:checked", "input");
    showList();
    $("form").querySelector("fieldset.active")?.scrollIntoView({ block: "nearest" });
  }

  function give(number, passed) {
    active = number;
    const dimension = dimensions[number];
    const before = answer(entries[current], dimension);
    change(dimension, { passed, reason: passed ? "none" : before.passed === false ? before.reason : null });
    if (!passed && dimension.codes.length) {
      showForm(".reasons input");
      showList();
    } else {
      advance();
    }
  }

  function explain(number, reason) {
    active = number;
    change(dimensions[number], { reason });
    advance();
  }

  function clear() {
    delete state.reviews[entries[current].id];
    unsaved = true;
    keep();
    showEntry();
    $("entry-title").focus({ preventScroll: true });
  }

  // --- handing in

  // A text in double quotes that every YAML reader takes as it is.
  function quoted(text) {
    const whole = text.replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, "\ufffd");
    const hard = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g;
    const plain = whole.replace(/["\\]/g, "\\$&");
    return `"${plain.replace(hard, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`)}"`;
  }

  function responses(done) {
    const lines = [`pack: ${quoted(data.pack)}`, "reviews:"];
    for (const entry of done) {
      const own = review(entry);
      lines.push(`  - entry: ${quoted(entry.id)}`, "    answers:");
      for (const dimension of dimensions) {
        const given = answer(entry, dimension);
        lines.push(`      ${quoted(dimension.id)}:`, `        passed: ${given.passed}`);
        lines.push(`        reason: ${quoted(given.passed ? "none" : given.reason || "none")}`);
        if (given.note && given.note.trim()) lines.push(`        note: ${quoted(given.note.trim())}`);
      }
      if (own.note && own.note.trim()) lines.push(`    note: ${quoted(own.note.trim())}`);
    }
    return `${lines.join("\n")}\n`;
  }

  function save(done) {
    const address = URL.createObjectURL(new Blob([responses(done)], { type: "application/yaml" }));
    const link = make("a", { href: address, download: "responses.yml" });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 60000);
    unsaved = false;
  }

  function lack(entry) {
    const parts = lacking(entry);
    if (parts.length === dimensions.length && parts.every((one) => missing(entry, one) === "no answer")) return "not answered";
    return parts.map((one) => `${one.id}: ${missing(entry, one)}`).join(", ");
  }

  function showRefusal(open) {
    const finished = entries.length - open.length;
    $("refusal").hidden = !open.length;
    $("refusal-text").textContent = `Not downloaded: ${open.length} of ${entries.length} entries are not answered completely.`;
    $("refusal-list").replaceChildren(...open.map(({ entry, number }) => {
      const button = make("button", { type: "button", textContent: `Entry ${number + 1}: ${lack(entry)}` });
      button.addEventListener("click", () => go(number));
      return make("li", {}, button);
    }));
    $("partial").hidden = !finished;
    $("partial").textContent = `Download the finished part anyway (${finished} of ${entries.length})`;
  }

  const unanswered = () => entries.map((entry, number) => ({ entry, number })).filter(({ entry }) => !complete(entry));

  function hand() {
    const open = unanswered();
    showRefusal(open);
    if (!open.length) {
      save(entries);
      return;
    }
    go(open[0].number);
    const [why, field] = [missing(open[0].entry, dimensions[active]), $("form").querySelectorAll("fieldset")[active]];
    field.classList.add("wanted");
    field.append(make("p", { className: "missing", textContent: why === "no reason" ? "Say why not." : "This needs an answer." }));
    field.querySelector(why === "no reason" ? ".reasons input" : "input").focus();
  }

  // --- keys

  const typing = (target) => target.matches("textarea, input:not([type=radio]):not([type=checkbox])");

  function reason(letter) {
    const dimension = dimensions[active];
    const code = dimension.codes[letters.indexOf(letter)];
    if (code && answer(entries[current], dimension).passed === false) explain(active, code);
  }

  function digit(key) {
    const number = Number(key) - 1;
    if (number >= dimensions.length) return;
    activate(number);
    const field = $("form").querySelectorAll("fieldset")[number];
    (field.querySelector("input:checked") || field.querySelector("input")).focus();
  }

  const keys = {
    j: () => step(1),
    k: () => step(-1),
    y: () => give(active, true),
    n: () => give(active, false),
    m: () => ($("form").querySelectorAll("fieldset")[active].querySelector("textarea") || $("form").querySelector(":scope > .field textarea")).focus(),
    u: () => { state.filter = !state.filter; keep(); showList(); },
    z: () => $("outputs").querySelector(".picture")?.click(),
    "?": () => $("help").showModal(),
    ArrowRight: () => step(1),
    ArrowLeft: () => step(-1),
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing || document.querySelector("dialog[open]")) return;
    if (typing(event.target)) {
      if (event.key === "Escape") event.target.closest("fieldset, form").querySelector("input, textarea").focus();
      return;
    }
    const arrow = event.key.startsWith("Arrow");
    if (arrow && event.target.matches("input[type=radio], audio, video, pre, #zoom-in")) return;
    const act = keys[event.key] || (/^[1-9]$/.test(event.key) && (() => digit(event.key))) || (/^[a-h]$/.test(event.key) && (() => reason(event.key)));
    if (!act) return;
    event.preventDefault();
    act();
  });

  window.addEventListener("beforeunload", (event) => {
    if (unsaved) event.preventDefault();
  });

  $("previous").addEventListener("click", () => step(-1));
  $("next").addEventListener("click", () => step(1));
  $("filter").addEventListener("change", () => { state.filter = $("filter").checked; keep(); showList(); });
  $("download").addEventListener("click", hand);
  $("partial").addEventListener("click", () => save(entries.filter(complete)));
  $("refusal-close").addEventListener("click", () => { $("refusal").hidden = true; });
  $("clear").addEventListener("click", clear);
  $("help-open").addEventListener("click", () => $("help").showModal());
  $("help-close").addEventListener("click", () => $("help").close());
  $("zoom-close").addEventListener("click", () => $("zoom").close());
  $("form").addEventListener("submit", (event) => event.preventDefault());

  $("title").textContent = `${data.kind === "adjudication" ? "Adjudication" : "Review"}: ${data.rubric.name}`;
  document.title = $("title").textContent;
  $("rationale").textContent = data.rubric.rationale;
  $("why").hidden = !data.rubric.rationale;
  keep();
  showEntry();
})();
