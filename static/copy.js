// Buttons that copy an address; hidden without scripts or without access to the clipboard.
for (const button of document.querySelectorAll("[data-copy]")) {
  if (!navigator.clipboard) break;
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(button.dataset.copy);
      button.textContent = button.dataset.done;
    } catch { /* not allowed: the user can select the address */ }
  });
}
