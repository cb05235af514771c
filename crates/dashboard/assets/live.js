// Replaces the part of a page that changes, as the desk sends it, while the page is visible and not paused.

let part = null;
let source = null;
let paused = false;

// A selector that finds the same element in the new part.
function selectorOf(element) {
  if (element.id) return `#${CSS.escape(element.id)}`;
  const href = element.getAttribute("href");
  if (href) return `a[href="${CSS.escape(href)}"]`;
  const action = element.closest("form")?.getAttribute("action");
  return action ? `form[action="${CSS.escape(action)}"] ${element.localName}` : null;
}

function show(html) {
  const focused = part.contains(document.activeElement) ? selectorOf(document.activeElement) : null;
  part.innerHTML = html;
  if (focused) part.querySelector(focused)?.focus({ preventScroll: true });
}

function close() {
  source?.close();
  source = null;
}

function open() {
  if (!part || source || paused || document.hidden) return;
  source = new EventSource(part.dataset.live);
  source.addEventListener("fragment", (event) => show(event.data));
  // The session is over, or the page does not exist any more: the desk says which.
  source.addEventListener("over", () => location.reload());
}

function begin() {
  close();
  part = document.querySelector("[data-live]");
  const pause = document.getElementById("live-pause");
  if (part && pause) pause.hidden = false;
  open();
}

document.addEventListener("click", (event) => {
  const pause = event.target.closest?.("#live-pause");
  if (!pause) return;
  paused = !paused;
  pause.setAttribute("aria-pressed", String(paused));
  if (paused) close();
  else open();
});
document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
// htmx loaded another part.
document.addEventListener("htmx:afterSettle", begin);
begin();
