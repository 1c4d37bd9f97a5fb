// Keyboard shortcuts, as listed in `aria-keyshortcuts` attributes. They are inactive in form fields,
// with modifier keys, while a dialog is open, or when turned off in this browser.
const dialog = document.querySelector("#keys");
const isOn = dialog.querySelector("input");
const FIELDS = "input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]";

try { isOn.checked = localStorage.getItem("keys") !== "off"; } catch { /* no storage: enabled */ }
isOn.addEventListener("change", () => {
  try { localStorage.setItem("keys", isOn.checked ? "on" : "off"); } catch { /* no storage: applies to this page only */ }
});

const currentRow = () => document.activeElement?.closest(".entries > li:not(.day)");

function move(step) {
  const links = [...document.querySelectorAll(".entries h3 a")];
  const index = links.indexOf(currentRow()?.querySelector("h3 a"));
  const next = links[index < 0 ? (step > 0 ? 0 : links.length - 1) : index + step];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
  return links.length > 0;
}

function act(element) {
  const tick = currentRow()?.querySelector("input[type=checkbox]");
  if (tick && !tick.checked) tick.click();
  for (let around = element.closest("details"); around; around = around.parentElement.closest("details")) around.open = true;
  if (element.matches("summary") || element.matches(FIELDS)) element.focus();
  else if (element.closest(".bar")) clickToggle(element);
  else element.click();
}

// A button that toggles a property of the selected entries unsets it if all of them have it.
function clickToggle(button) {
  const rows = [...document.querySelectorAll(".item:has(> input:checked)")];
  const { value } = button;
  if (rows.every((row) => row.classList.contains(button.name))) button.value = "0";
  if (rows.length) button.click();
  button.value = value;
}

// The side bar of a phone traps focus while it covers the page, as a dialog does.
const sheet = document.querySelector(".rail");
sheet?.addEventListener("beforetoggle", ({ newState }) => {
  for (const each of document.body.children) if (!each.matches(".rail, .dock")) each.inert = newState === "open";
});
sheet?.addEventListener("toggle", ({ newState }) => newState === "open" && sheet.querySelector(".sheet-close").focus());

// A textarea that holds one line: Enter submits the form as in an input field.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.isComposing || !event.target.matches?.("textarea.line")) return;
  event.preventDefault();
  event.target.form.requestSubmit(event.target.form.querySelector("button"));
});

document.addEventListener("keydown", (event) => {
  const { key, target } = event;
  if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing || event.repeat && !"jk".includes(key)) return;
  if (target.closest?.(FIELDS) || document.querySelector("dialog[open], :popover-open")) return;
  if (key === "?") {
    dialog.showModal();
    dialog.querySelector("button").focus();
  } else if (!isOn.checked || key.length > 1) return;
  else if ((key === "j" || key === "k") && move(key === "j" ? 1 : -1)) { /* moved */ }
  else if (key === "o" && currentRow()) currentRow().querySelector("h3 a").click();
  else {
    const element = document.querySelector(`[aria-keyshortcuts="${CSS.escape(key)}"]`);
    if (!element) return;
    act(element);
  }
  event.preventDefault();
});
