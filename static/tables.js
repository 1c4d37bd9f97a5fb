// Tables of tags and lists: filtering, sorting by name or count, and renaming in place.
const table = document.querySelector("[data-manage]");
const filter = document.querySelector("[data-filter]");
const order = document.querySelector("[data-order]");

if (table && filter) {
  filter.parentElement.hidden = false;
  filter.addEventListener("input", () => {
    const typed = filter.value.trim().toLowerCase();
    for (const row of table.tBodies[0].rows) row.hidden = !row.dataset.name.toLowerCase().includes(typed);
  });
}

for (const head of table?.querySelectorAll("th[data-sort]") ?? []) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "link";
  button.append(...head.childNodes);
  head.append(button);
  button.addEventListener("click", () => {
    const key = head.dataset.sort;
    const isUp = head.getAttribute("aria-sort") === (key === "count" ? "descending" : "ascending");
    const sign = isUp === (key === "count") ? 1 : -1;
    const value = (row) => row.dataset[key];
    const rows = [...table.tBodies[0].rows].sort((one, other) => sign * (key === "count" ? value(one) - value(other) : value(one).localeCompare(value(other))));
    table.tBodies[0].append(...rows);
    for (const each of table.querySelectorAll("th[data-sort]")) each.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
  });
}

// Renaming: Escape leaves the old name; keys.js sends the new one with Enter.
for (const form of document.querySelectorAll(".rename form")) {
  const [box, name] = [form.parentElement, form.elements.new];
  const row = box.closest("tr");
  box.addEventListener("toggle", () => {
    if (order) row.draggable = !box.open; // text in a draggable row can't be selected
    if (!box.open) { form.reset(); return; }
    name.focus();
    name.select();
  });
  name.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || event.isComposing) return;
    box.open = false;
    box.querySelector("summary").focus();
  });
}
