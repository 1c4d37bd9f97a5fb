// Lists: drag one between others to move it there, or onto the middle of another to nest it.
const { base } = document.documentElement.dataset;
const parentOf = (path) => (path.match(/^(.*[^\\])\/(?:[^\\/]|\\.)+$/) ?? ["", ""])[1];

async function place(path, parent, before) {
  const values = { do: "place", path, parent, before };
  try {
    const answer = await fetch(`${base}/lists`, { method: "POST", body: new URLSearchParams(values) });
    if (!answer.ok) throw new Error(answer.statusText);
    if (location.pathname === `${base}/lists`) location.assign(answer.url);
    else location.reload();
  } catch { // sent again as browsers do it: the answer says what is wrong
    const form = Object.assign(document.createElement("form"), { method: "post", action: `${base}/lists` });
    for (const [name, value] of Object.entries(values)) form.append(Object.assign(document.createElement("input"), { type: "hidden", name, value }));
    document.body.append(form);
    form.submit();
  }
}

for (const box of document.querySelectorAll("[data-order]")) {
  const rows = [...box.querySelectorAll("[data-name]")];
  let dragged = null;
  const clear = () => rows.forEach((row) => row.classList.remove("drop-into", "drop-before", "drop-after"));
  const target = (event) => {
    const row = event.target.closest("[data-name]");
    if (!dragged || !row || row === dragged || row.dataset.name.startsWith(`${dragged.dataset.name}/`)) return null;
    const { top, height } = row.getBoundingClientRect();
    const share = (event.clientY - top) / height;
    return [row, share < 0.3 ? "before" : share > 0.7 ? "after" : "into"];
  };
  for (const row of rows) row.draggable = true;
  box.addEventListener("dragstart", (event) => {
    dragged = event.target.closest?.("[data-name]");
    event.dataTransfer.setData("text/plain", dragged?.dataset.name ?? "");
    event.dataTransfer.effectAllowed = "move";
  });
  box.addEventListener("dragend", clear);
  box.addEventListener("dragover", (event) => {
    clear();
    const found = target(event);
    if (!found) return;
    event.preventDefault();
    found[0].classList.add(`drop-${found[1]}`);
  });
  box.addEventListener("drop", (event) => {
    const found = target(event);
    if (!found) return;
    event.preventDefault();
    const [row, where] = found;
    const parent = where === "into" ? row.dataset.name : parentOf(row.dataset.name);
    const siblings = rows.map((each) => each.dataset.name).filter((name) => parentOf(name) === parent && name !== dragged.dataset.name);
    const next = { before: row.dataset.name, after: siblings[siblings.indexOf(row.dataset.name) + 1] ?? "", into: "" }[where];
    place(dragged.dataset.name, parent, next);
  });
}
for (const hint of document.querySelectorAll("[data-drag-hint]")) hint.hidden = false;
