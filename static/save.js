// The save field of the home page: Enter submits it, and so does pasting URLs into it.
const field = document.querySelector("[data-gesture]");
const ADDRESS = /^https?:\/\/\S+$/i;
let isPasted = false;

function areAddresses(text) {
  const lines = text.split("\n").map((line) => line.trim()).filter(Boolean);
  return lines.length > 0 && lines.every((line) => ADDRESS.test(line));
}

field.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.altKey || event.isComposing) return;
  event.preventDefault();
  field.form.requestSubmit();
});

// The pasted text is in the field after the event, if no other handler prevented it.
field.addEventListener("paste", (event) => {
  isPasted = !field.value.trim() && areAddresses(event.clipboardData.getData("text"));
});

field.addEventListener("input", (event) => {
  if (isPasted && event.inputType === "insertFromPaste") field.form.requestSubmit();
  isPasted = false;
});
