// Selection of entries in a list: screen readers announce the count, Shift selects a range, and
// actions on single entries update the list in place.
import { localise } from "./times.js";

const form = document.querySelector("form.change");
const status = form?.querySelector("[data-ticked]");
const boxes = () => [...document.querySelectorAll(".item > input[type=checkbox]")];
let last = null;

function showCount() {
  const count = boxes().filter((box) => box.checked).length;
  status.textContent = count ? status.dataset.ticked.replace("{n}", count) : "";
}

document.addEventListener("click", ({ target, shiftKey }) => {
  const all = boxes();
  if (!all.includes(target)) return;
  const [from, to] = [all.indexOf(last), all.indexOf(target)].sort((one, other) => one - other);
  if (shiftKey && from >= 0) for (const each of all.slice(from, to)) each.checked = target.checked;
  last = target;
  showCount();
});
form?.addEventListener("reset", () => setTimeout(showCount));
const all = form?.querySelector("[data-select-all]");
if (all) {
  all.hidden = false;
  all.addEventListener("click", () => {
    for (const box of boxes()) box.checked = true;
    all.closest(".menu").open = false;
    showCount();
  });
}

// The tag button of a row opens the tag menu of the selection, with only this row selected.
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-tag-row]");
  const field = document.querySelector("#with_tags");
  if (!button || !form?.contains(field) || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  form.reset();
  button.closest(".item").querySelector("input").checked = true;
  showCount();
  field.closest("details").open = true;
  field.focus();
});

// Replaces the list with its current state. Focus stays on the same element, or moves to the one
// that replaced it.
function show(page, changed) {
  const all = boxes();
  const active = document.activeElement;
  const own = active.closest(".item")?.querySelector("input") ?? (active.matches("body, .bar *") ? changed[0] : null);
  localise(page.body);
  for (const each of document.querySelectorAll(".toast")) each.remove();
  document.querySelector("main > .section-head").replaceWith(page.querySelector("main > .section-head"));
  document.querySelector("main > .section-head").after(...page.querySelectorAll("main > .toast"));
  for (const each of document.querySelectorAll(".result-list > :is(h2, ol)")) each.remove();
  document.querySelector(".result-list").prepend(...page.querySelectorAll(".result-list > :is(h2, ol)"));
  showCount();
  if (!own) return;
  const now = boxes();
  const box = now.find((each) => each.value === own.value) ?? now[Math.min(all.indexOf(own), now.length - 1)];
  box.closest(".item").querySelector("h3 a").focus({ preventScroll: true });
}

form?.addEventListener("submit", async (event) => {
  const { name, value } = event.submitter ?? {};
  if (!name || event.submitter.hasAttribute("formaction") || !event.submitter.closest(".bar")) return;
  event.preventDefault();
  const body = new URLSearchParams(new FormData(form, event.submitter));
  const changed = boxes().filter((box) => box.checked);
  for (const box of changed) box.checked = false; // the next key is not meant for them, too
  try {
    const answer = await fetch(`${document.documentElement.dataset.base}/edit`, { method: "POST", body });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (!answer.ok) throw new Error(answer.statusText);
    if (page.querySelector(".result-list")) show(page, changed);
    else location.assign(answer.url);
  } catch { // as it is done without scripts, which says what is wrong
    for (const box of changed) box.checked = true;
    form.append(Object.assign(document.createElement("input"), { type: "hidden", name, value }));
    form.submit();
  }
});
