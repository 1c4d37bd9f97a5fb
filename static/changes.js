// Sends small changes without leaving the page: the answer is the page after the change, of which the
// changed parts and the toast are shown. Anything unexpected is sent again as browsers do it.
import { localise } from "./times.js";

function showToast(page) {
  for (const each of document.querySelectorAll(".toast")) each.remove();
  const toast = page.querySelector(".toast");
  if (toast) document.body.append(toast);
}

function swap(page, ids) {
  localise(page.body);
  for (const id of ids) {
    const [here, now] = [document.getElementById(id), page.getElementById(id)];
    if (here && now) here.replaceWith(now);
  }
  for (const n of document.querySelectorAll(".rail a > .n")) {
    const link = CSS.escape(n.parentElement.getAttribute("href"));
    const now = page.querySelector(`.rail a[href="${link}"] > .n`);
    if (now) n.replaceWith(now);
  }
}

// A button without the attribute would name the page itself.
const actionOf = (form, button) => (button?.hasAttribute("formaction") ? button.formAction : form.action);

async function send(form, button) {
  const body = new URLSearchParams(new FormData(form, button));
  const answer = await fetch(actionOf(form, button), { method: "POST", body });
  if (!answer.ok) throw new Error(answer.statusText);
  return new DOMParser().parseFromString(await answer.text(), "text/html");
}

const isEdit = (form, button) => /\/(edit|capture)$/.test(new URL(actionOf(form, button)).pathname);

document.addEventListener("submit", async (event) => {
  const { target: form, submitter: button } = event;
  const row = form.matches("[data-rows]") ? button?.closest(".item") : null;
  const isDeleted = row && /\/delete$/.test(new URL(actionOf(form, button)).pathname);
  if (!(row && (isEdit(form, button) || isDeleted)) && !(form.matches("[data-swap]") && isEdit(form, button))) return;
  event.preventDefault();
  const focused = document.activeElement?.getAttribute("name");
  let page;
  try { page = await send(form, button); } catch {
    if (button?.name) form.append(Object.assign(document.createElement("input"), { type: "hidden", name: button.name, value: button.value }));
    form.action = actionOf(form, button);
    form.submit();
    return;
  }
  form.closest(":popover-open")?.hidePopover();
  if (row) {
    const now = page.querySelector(`.item[data-entry="${row.dataset.entry}"]`);
    localise(page.body);
    if (now) row.replaceWith(now);
    else {
      (row.nextElementSibling ?? row.previousElementSibling)?.querySelector("h3 a")?.focus();
      row.remove();
    }
    if (now && focused) now.querySelector(`[name="${focused}"]`)?.focus();
    swap(page, []);
  } else {
    swap(page, form.dataset.swap.split(" "));
    if ("clear" in form.dataset) form.reset();
    if (focused) document.querySelector(`#${form.id || "entry-bar"} [name="${focused}"]`)?.focus();
  }
  showToast(page);
});

// A link from a list leads to the drawer; a refused form is shown in it again.
const drawer = document.querySelector("#edit[popover]");
if (drawer && (location.hash === "#edit" || drawer.querySelector("[data-refused]"))) drawer.showPopover();
