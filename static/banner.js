// Says so when a link was followed in the page below: its address can't be read, its loads can.
let loads = 0;
document.addEventListener("load", (event) => {
  if (!event.target.matches?.("iframe.replay")) return;
  loads += 1;
  document.querySelector("[data-elsewhere]").hidden = loads < 2;
}, true);
