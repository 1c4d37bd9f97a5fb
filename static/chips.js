// Turns a field of comma-separated tags or lists into chips with completion. The field itself stays
// the value of the form, so that it works without scripts.
const { base } = document.documentElement.dataset;
const MAX_SHOWN = 8;
const requests = new Map();
let counter = 0;

async function fetchNames(kind) {
  const answer = await fetch(`${base}/api/v1/${kind}`);
  if (!answer.ok) return [];
  const rows = await answer.json();
  return kind === "tags" ? rows.map((tag) => [tag.name, tag.entry_count])
    : rows.filter((list) => !list.query).map((list) => [list.path, list.count]);
}

function cachedNames(kind) {
  if (!requests.has(kind)) requests.set(kind, fetchNames(kind).catch(() => []));
  return requests.get(kind);
}

// Names with a comma or a leading quote are quoted, as in CSV.
const split = (text) => [...text.matchAll(/\s*(?:"((?:[^"]|"")*)"|([^,]*))\s*(?:,|$)/gu)]
  .map(([, quoted, plain]) => (quoted?.replaceAll('""', '"') ?? plain ?? "").trim()).filter(Boolean);
const join = (names) => names
  .map((name) => (/,|^"/u.test(name) ? `"${name.replaceAll('"', '""')}"` : name)).join(", ");
const key = (name) => name.normalize().toLowerCase();
const has = (names, name) => names.some((each) => key(each) === key(name));

class ChipField {
  constructor(field) {
    this.field = field;
    this.kind = "tags" in field.dataset ? "tags" : "lists";
    this.names = split(field.value);
    this.active = -1;
    this.input = document.createElement("input");
    this.options = Object.assign(document.createElement("ul"), { id: `options-${counter += 1}`, hidden: true });
    this.options.setAttribute("role", "listbox");
    this.options.setAttribute("aria-label", field.labels?.[0]?.textContent.trim() || this.kind);
    const attributes = {
      role: "combobox", "aria-expanded": "false", "aria-controls": this.options.id, "aria-autocomplete": "list",
      autocapitalize: "off", autocomplete: "off", id: field.id, placeholder: field.placeholder,
    };
    for (const [name, value] of Object.entries(attributes)) this.input.setAttribute(name, value);
    if (field.hasAttribute("autofocus")) this.input.setAttribute("autofocus", "");
    const keys = field.getAttribute("aria-keyshortcuts");
    if (keys) this.input.setAttribute("aria-keyshortcuts", keys);
    this.box = Object.assign(document.createElement("div"), { className: "chip-field" });
    this.box.append(this.input, this.options);
    field.removeAttribute("id");
    field.removeAttribute("aria-keyshortcuts");
    field.type = "hidden";
    field.after(this.box);
    this.listen();
    this.draw();
  }

  draw() {
    for (const chip of this.box.querySelectorAll(".chip-of")) chip.remove();
    for (const name of this.names) {
      const chip = Object.assign(document.createElement("button"), { type: "button", className: "chip-of", textContent: `${name} ×` });
      chip.addEventListener("click", () => {
        this.names = this.names.filter((each) => each !== name);
        this.store();
        this.input.focus();
      });
      this.input.before(chip);
    }
    this.input.placeholder = this.names.length ? "" : this.field.placeholder;
  }

  store() {
    this.field.value = join([...this.names, ...split(this.input.value)]);
    this.draw();
  }

  add(text) {
    for (const name of split(text)) if (!has(this.names, name)) this.names.push(name);
    this.input.value = "";
    this.close();
    this.store();
  }

  close() {
    this.options.hidden = true;
    this.active = -1;
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
  }

  mark(step) {
    const items = [...this.options.children];
    this.active = this.active < 0 && step < 0 ? items.length - 1 : (this.active + step + items.length) % items.length;
    items.forEach((item, at) => item.setAttribute("aria-selected", String(at === this.active)));
    this.input.setAttribute("aria-activedescendant", items[this.active].id);
  }

  async suggest() {
    const typed = this.input.value.trim().toLowerCase();
    const begins = (name) => name.toLowerCase().startsWith(typed);
    const matches = (await cachedNames(this.kind))
      .filter(([name]) => name.toLowerCase().includes(typed) && !has(this.names, name))
      .sort(([one, many], [other, more]) => begins(other) - begins(one) || (more ?? 0) - (many ?? 0));
    this.options.replaceChildren(...matches.slice(0, MAX_SHOWN).map(([name, count], at) => this.option(name, count, at)));
    this.active = -1;
    this.options.hidden = !matches.length || document.activeElement !== this.input;
    this.input.setAttribute("aria-expanded", String(!this.options.hidden));
  }

  option(name, count, at) {
    const item = Object.assign(document.createElement("li"), { id: `${this.options.id}-${at}` });
    item.setAttribute("role", "option");
    item.setAttribute("aria-selected", "false");
    item.dataset.name = name;
    item.append(name);
    if (count) item.append(Object.assign(document.createElement("span"), { className: "n", textContent: count }));
    item.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      this.add(join([name]));
    });
    return item;
  }

  onKey(event) {
    const isOpen = !this.options.hidden;
    const { key } = event;
    if (key === "ArrowDown" && !isOpen) this.suggest();
    else if (key === "ArrowDown") this.mark(1);
    else if (key === "ArrowUp" && isOpen) this.mark(-1);
    else if (key === "Escape" && isOpen) { this.close(); event.stopPropagation(); }
    else if (key === "Enter" && !event.isComposing && this.active >= 0) this.add(join([this.options.children[this.active].dataset.name]));
    else if (key === "Enter" && !event.isComposing && this.input.value.trim()) this.add(this.input.value);
    else if (key === "Backspace" && !this.input.value && this.names.length) { this.names.pop(); this.store(); }
    else return;
    event.preventDefault();
  }

  listen() {
    this.input.addEventListener("input", () => {
      if (this.input.value.endsWith(",")) this.add(this.input.value);
      else { this.store(); this.suggest(); }
    });
    this.input.addEventListener("click", () => this.suggest());
    this.input.addEventListener("blur", () => {
      if (this.input.value.trim()) this.add(this.input.value);
      this.close();
    });
    this.input.addEventListener("keydown", (event) => this.onKey(event));
    this.box.addEventListener("click", ({ target }) => { if (target === this.box) this.input.focus(); });
    this.field.form?.addEventListener("reset", () => { this.names = []; setTimeout(() => this.store()); });
  }
}

for (const field of document.querySelectorAll("input[data-tags], input[data-lists]")) new ChipField(field);
