// Before anything is painted: how articles are set here, as it was chosen in this browser.
try {
  const kept = JSON.parse(localStorage.getItem("look")) ?? {};
  for (const name of ["size", "face", "measure", "leading", "paper"]) {
    if (/^[a-z0-9]{1,8}$/.test(kept[name])) document.documentElement.dataset[name] = kept[name];
  }
} catch { /* no storage, or not ours: as it comes */ }
