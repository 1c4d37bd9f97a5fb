// The frame of every page: search field, side bar, progress of the crawl, menus and toasts.
import { localise } from "./times.js";

const root = document.documentElement;
const base = root.dataset.base;
const REFRESH_MS = 3000;
const ADDRESS = /^(https?:\/\/\S+|[\p{L}\p{N}-]+(\.[\p{L}\p{N}-]+)+\/\S*)$/iu;

// An address in the search field can be saved, with tags; Enter saves a full URL.
const field = document.querySelector("[data-omni]");
const offer = document.querySelector("[data-offer]");
field?.addEventListener("input", () => {
  const typed = field.value.trim();
  offer.hidden = !ADDRESS.test(typed);
  offer.elements.url.value = typed;
});
field?.form.addEventListener("submit", (event) => {
  if (offer.hidden || !/^https?:/i.test(field.value.trim())) return;
  event.preventDefault();
  offer.requestSubmit();
});
// A pasted link goes into the search field, unless another field has the focus.
document.addEventListener("paste", (event) => {
  const pasted = event.clipboardData.getData("text").trim();
  if (!field || event.target.closest("input, textarea") || !ADDRESS.test(pasted)) return;
  event.preventDefault();
  field.value = pasted;
  field.dispatchEvent(new Event("input"));
  field.focus();
});
document.querySelector("[data-focus=find]")?.addEventListener("click", (event) => {
  event.preventDefault();
  field.focus();
  field.select();
});

// A row of chips may be wider than a phone: show the current one.
const chosen = document.querySelector(".chips > [aria-current]");
chosen?.parentElement.scrollBy(chosen.getBoundingClientRect().x + (chosen.offsetWidth - innerWidth) / 2, 0);

// The side bar can be narrowed to icons; groups of it stay as the user left them.
document.querySelector("[data-fold]")?.addEventListener("click", () => {
  const isNarrow = root.dataset.rail !== "narrow";
  if (isNarrow) root.dataset.rail = "narrow";
  else delete root.dataset.rail;
  try { localStorage.setItem("rail", isNarrow ? "narrow" : "wide"); } catch { /* no storage: for this page only */ }
});
for (const group of document.querySelectorAll("[data-group]")) {
  const key = `rail-${group.dataset.group}`;
  try {
    const kept = localStorage.getItem(key);
    if (kept && !group.querySelector("[aria-current]")) group.open = kept === "open";
    group.firstElementChild.addEventListener("click", () => localStorage.setItem(key, group.open ? "closed" : "open"));
  } catch { /* no storage: as the page says */ }
}

// Typed passwords can be shown.
for (const box of document.querySelectorAll("[data-show]")) {
  box.hidden = false;
  box.addEventListener("change", ({ target }) => {
    for (const field of box.closest("form").querySelectorAll("[autocomplete$=password]")) field.type = target.checked ? "text" : "password";
  });
}

// On a wide screen the side bar is no popover: it is part of the page.
const rail = document.querySelector(".rail");
const wide = matchMedia("(min-width: 64rem)");
function placeRail() {
  if (!rail) return;
  if (wide.matches) rail.removeAttribute("popover");
  else rail.setAttribute("popover", "auto");
}
placeRail();
wide.addEventListener("change", placeRail);

// Only one menu is open at a time; Escape and a click elsewhere close it.
const menus = () => document.querySelectorAll("details.menu[open]");
document.addEventListener("click", ({ target }) => {
  for (const menu of menus()) if (!menu.contains(target)) menu.open = false;
});
document.addEventListener("keydown", ({ key }) => {
  if (key !== "Escape") return;
  for (const menu of menus()) {
    menu.open = false;
    menu.querySelector("summary").focus();
  }
});

// The activity chip opens a panel with parts of the activity page; its buttons work in it.
const panel = document.querySelector("#activity-panel");
const parse = (text) => new DOMParser().parseFromString(text, "text/html");
async function fillPanel(...request) {
  const answer = await fetch(...request);
  if (!answer.ok) throw new Error(answer.statusText);
  const page = parse(await answer.text());
  localise(page.body);
  panel.firstElementChild.replaceChildren(...page.querySelectorAll("main > .notice, [data-panel]"));
  if (!panel.matches(":popover-open")) panel.showPopover();
}
document.addEventListener("click", async (event) => {
  const chip = event.target.closest("#activity");
  if (!chip || !panel || event.ctrlKey || event.metaKey || chip.pathname === location.pathname) return;
  event.preventDefault();
  await fillPanel(chip.href).then(() => panel.focus(), () => location.assign(chip.href));
});
panel?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const { target: form, submitter } = event;
  const body = new URLSearchParams(new FormData(form, submitter));
  await fillPanel(form.action, { method: "POST", body }).catch(() => form.submit());
});

// The progress of the crawl is refreshed while something is open.
export async function refreshActivity() {
  const chip = document.querySelector("#activity");
  if (!chip || document.hidden) return;
  const answer = await fetch(`${base}/activity/progress`);
  if (!answer.ok || answer.redirected) return;
  const now = parse(await answer.text()).querySelector("#activity");
  if (now && now.outerHTML !== chip.outerHTML) chip.replaceWith(now);
  if (panel.matches(":popover-open") && !panel.firstElementChild.contains(document.activeElement)) await fillPanel(now.href);
}
setInterval(() => {
  if (document.querySelector("#activity[data-live=open]")) refreshActivity().catch(() => { /* not available: try again */ });
}, REFRESH_MS);
