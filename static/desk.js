// What was begun and not read to its end: known in this browser alone, by where its reader was.
const MOST = 4;
const section = document.querySelector("[data-continue]");
const list = section?.querySelector("ul");

let places;
try { places = JSON.parse(localStorage.getItem("places")) ?? {}; } catch { places = {}; }

for (const key of Object.keys(section ? places : {}).reverse().slice(0, MOST)) {
  if (!/^[0-9a-f]{32}$/.test(key)) continue;
  const answer = await fetch(`/api/v1/entries/${key}`);
  if (!answer.ok) continue;
  const { entry } = await answer.json();
  if (entry.is_read) continue;
  const link = document.createElement("a");
  link.href = `/${key}/`;
  link.append(document.createElement("bdi"));
  link.firstChild.textContent = entry.title || entry.url;
  const item = document.createElement("li");
  item.append(link);
  list.append(item);
  section.hidden = false;
}
