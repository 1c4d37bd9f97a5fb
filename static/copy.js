// Buttons that copy an address; without scripts, or without leave to, they are not there.
for (const button of document.querySelectorAll("[data-copy]")) {
  if (!navigator.clipboard) break;
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(button.dataset.copy);
      button.textContent = button.dataset.done;
    } catch { /* not allowed: the address is there to be marked */ }
  });
}
