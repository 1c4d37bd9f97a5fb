// How many entries of a list are ticked, told to screen readers; Shift ticks all up to the last one.
const status = document.querySelector("[data-ticked]");
const boxes = [...document.querySelectorAll(".item > input[type=checkbox]")];
let last = null;

function tell() {
  const count = boxes.filter((box) => box.checked).length;
  status.textContent = count ? status.dataset.ticked.replace("{n}", count) : "";
}

for (const box of boxes) {
  box.addEventListener("click", (event) => {
    const [from, to] = [boxes.indexOf(last), boxes.indexOf(box)].sort((one, other) => one - other);
    if (event.shiftKey && from >= 0) for (const each of boxes.slice(from, to)) each.checked = box.checked;
    last = box;
    tell();
  });
}
status?.closest("form").addEventListener("reset", () => setTimeout(tell));
