// Keeps the page at what the server last saw, filters it, and sends the orders of whoever holds the token.
"use strict";

const byId = (id) => document.getElementById(id);

// The token comes behind the `#` of the address, which no browser sends, and leaves the address at once.
const token = (() => {
  const given = /^#token=([\w-]+)$/.exec(location.hash);
  if (given) {
    sessionStorage.setItem("token", given[1]);
    history.replaceState(null, "", location.pathname + location.search);
  }
  return sessionStorage.getItem("token") || "";
})();

// Filters: they stand in the address.

const FILTERS = { text: byId("filter-text"), repository: byId("filter-repository"), state: byId("filter-state") };

function readFilters() {
  const asked = new URLSearchParams(location.search);
  for (const [name, field] of Object.entries(FILTERS)) field.value = asked.get(name) || "";
}

function keepFilters() {
  const asked = new URLSearchParams();
  for (const [name, field] of Object.entries(FILTERS)) if (field.value) asked.set(name, field.value);
  history.replaceState(null, "", location.pathname + (asked.size ? `?${asked}` : "") + location.hash);
}

// `#2` is the number two, and no beginning of twenty.
const holds = (text, word) => /^#\d+$/.test(word) ? text.split(/[^#\w]+/).includes(word) : text.includes(word);

function filter() {
  const words = FILTERS.text.value.toLowerCase().split(/\s+/).filter(Boolean);
  const { repository, state } = { repository: FILTERS.repository.value, state: FILTERS.state.value };
  const fits = (one) =>
    (!repository || one.dataset.repository === repository) &&
    (!state || !one.dataset.state || one.dataset.state === state) &&
    words.every((word) => holds(one.dataset.text.toLowerCase(), word));
  let shown = 0, all = 0;
  for (const one of document.querySelectorAll("#live [data-text]")) {
    one.hidden = !fits(one);
    if (one.dataset.state) { all += 1; shown += one.hidden ? 0 : 1; }
  }
  const asked = Boolean(words.length || repository || state);
  for (const count of document.querySelectorAll("#live .count")) {
    const found = [...count.closest("section").querySelectorAll("[data-state]")];
    count.dataset.all ??= count.textContent;
    count.textContent = asked && found.length ? String(found.filter((one) => !one.hidden).length) : count.dataset.all;
  }
  const none = asked && !shown ? "Nothing fits: " : "";
  byId("filter-result").textContent = asked ? `${none}${shown} of ${all} shown` : "";
  byId("filter-clear").hidden = !asked;
}

// The page follows the server's events.

function show(html) {
  const fresh = new DOMParser().parseFromString(html, "text/html");
  const held = document.activeElement && byId("live").contains(document.activeElement) ? document.activeElement : null;
  const link = held && held.tagName === "A" ? held.getAttribute("href") : "";
  const [x, y] = [scrollX, scrollY];
  byId("live").replaceChildren(...fresh.body.children);
  filter();
  if (held) {
    const again = held.id ? byId(held.id)
      : [...byId("live").querySelectorAll("a")].find((one) => one.getAttribute("href") === link);
    if (again) again.focus({ preventScroll: true });
  }
  scrollTo({ left: x, top: y, behavior: "instant" });
  const mine = document.querySelector("#mine .count").textContent;
  document.title = mine === "0" ? "Workflow Engine" : `(${mine}) Workflow Engine`;
}

function say(text, lost) {
  byId("connection-text").textContent = text;
  byId("connection").classList.toggle("lost", lost);
  if (lost) byId("connection").setAttribute("role", "alert");  // each look is no news to who listens
  else byId("connection").removeAttribute("role");
}

function follow() {
  const source = new EventSource("/live");
  source.addEventListener("board", (event) => show(event.data));
  source.addEventListener("looked", (event) => say(`Looked at ${event.data} UTC`, false));
  source.addEventListener("trouble", (event) => say(event.data, true));
  source.addEventListener("error", () => say("No connection to the engine; trying again …", true));
}

// Orders: asked about, sent with the token, and answered in one sentence.

function tell(text, failed) {
  byId("outcome-text").textContent = text;
  byId("outcome").classList.toggle("failed", failed);
  byId("outcome").hidden = false;
  byId("outcome").focus({ preventScroll: true });
}

function ask(button) {
  const dialog = byId("confirm");
  byId("confirm-title").textContent = `${button.textContent}?`;
  byId("confirm-what").textContent = `${button.dataset.repository}: ${button.dataset.what}`;
  byId("confirm-question").textContent = button.dataset.question;
  byId("confirm-yes").textContent = button.textContent;
  const { verb, repository, number, stage, since } = button.dataset;
  dialog.returnValue = "no";
  dialog.onclose = () => {
    if (dialog.returnValue === "yes") order({ verb, repository, number: Number(number), stage, since });
    else if (byId(button.id)) byId(button.id).focus();
  };
  dialog.showModal();
  byId("confirm-no").focus();
}

async function order(what) {
  tell(`${what.repository}#${what.number}: /${what.verb} is on its way …`, false);
  try {
    const headers = { "Content-Type": "application/json", "X-Dashboard-Token": token };
    const answer = await fetch("/api/orders", { method: "POST", headers, body: JSON.stringify(what) });
    const said = await answer.json();
    tell(said.sentence, !answer.ok);
  } catch {
    tell("The engine's dashboard did not answer; look whether it still runs.", true);
  }
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button.order");
  if (button) ask(button);
});
byId("outcome-close").addEventListener("click", () => {
  byId("outcome").hidden = true;
  byId("mine").focus({ preventScroll: true });
});
byId("filters").addEventListener("input", () => { keepFilters(); filter(); });
byId("filters").addEventListener("reset", () => setTimeout(() => { keepFilters(); filter(); FILTERS.text.focus(); }));
byId("filters").addEventListener("submit", (event) => event.preventDefault());
document.body.classList.toggle("may-order", Boolean(token));
byId("rights").hidden = Boolean(token);
byId("filters").hidden = false;
readFilters();
filter();
follow();
