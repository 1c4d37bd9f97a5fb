// Applies choices stored in this browser before the first paint.
const root = document.documentElement;
root.dataset.scripts = "";
try {
  if (localStorage.getItem("rail") === "narrow") root.dataset.rail = "narrow";
  const kept = JSON.parse(localStorage.getItem("reading-style")) ?? {};
  for (const name of ["size", "face", "measure", "leading", "paper", "justify"]) {
    if (/^[a-z0-9]{1,8}$/.test(kept[name])) root.dataset[name] = kept[name];
  }
} catch { /* no storage, or invalid data: use the defaults */ }
