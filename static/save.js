// The field of the desk: Enter sends what is in it, and so does pasting addresses into it.
const field = document.querySelector("[data-gesture]");
const ADDRESSES = /^\s*https?:\/\/\S+\s*(?:\n\s*https?:\/\/\S+\s*)*$/i;

document.getElementById(field.getAttribute("aria-describedby")).hidden = false;

field.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.altKey || event.isComposing) return;
  event.preventDefault();
  field.form.requestSubmit();
});

// What a browser puts in is there a moment after it said so.
field.addEventListener("paste", (event) => {
  const isEmpty = !field.value.trim();
  if (isEmpty && ADDRESSES.test(event.clipboardData.getData("text"))) {
    field.addEventListener("input", () => field.form.requestSubmit(), { once: true });
  }
});
