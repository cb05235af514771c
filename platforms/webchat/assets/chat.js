// What the page does by itself: it sends without leaving, and shows what comes.
//
// The server made every line; a line is known by its message, or before that by its nonce, so
// whatever comes twice is shown once.

const find = (id) => document.getElementById(id);
const { base, after, textMax } = document.body.dataset;
const [log, lines, empty, text, form, newer] =
  ["log", "lines", "empty", "text", "composer", "newer"].map(find);

// How long a message may take, and how long the script waits before it tries again.
const SEND_WAIT_MS = 15_000;
const AGAIN_MS = [1_000, 3_000, 8_000];
const JOINED_MS = 5 * 60_000;
const BROKEN_SHOWN_MS = 2_500;

document.documentElement.classList.add("live");

// --- Lines ---

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const fullDay = new Intl.DateTimeFormat(undefined, { weekday: "long", day: "numeric", month: "long" });

const all = () => [...lines.querySelectorAll(".line")];
const by = (name, value) => (value ? all().find((line) => line.dataset[name] === value) : undefined);
const atOf = (line) => Date.parse(line.dataset.at) || 0;

function parsed(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  return template.content.firstElementChild;
}

// Puts a line where its time is; one that is already there gives way.
function put(line) {
  const before = by("message", line.dataset.message) ?? by("nonce", line.dataset.nonce);
  const isNew = !before;
  const inPlace = before && atOf(before) === atOf(line);
  // That it came is no answer yet to who sends it.
  if (before?.classList.contains("sending")) line.classList.add("sending");
  if (before && !before.classList.contains("failed")) {
    line.querySelector(".state").textContent = before.querySelector(".state").textContent;
  }
  if (inPlace) {
    before.replaceWith(line);
  } else {
    before?.remove();
    const last = all().findLast((other) => atOf(other) <= atOf(line));
    if (last) last.after(line);
    else lines.prepend(line);
  }
  arrange();
  return isNew;
}

function dayName(date) {
  const days = Math.round((new Date().setHours(0, 0, 0, 0) - new Date(date).setHours(0, 0, 0, 0)) / 86_400_000);
  return days === 0 ? "Today" : days === 1 ? "Yesterday" : fullDay.format(date);
}

// Writes the day above a line that begins one. One that stands there already is left alone.
function setDay(line, name) {
  const above = line.previousElementSibling;
  const day = above?.classList.contains("day") ? above : undefined;
  if (!name) return day?.remove();
  if (day) {
    if (day.textContent !== name) day.textContent = name;
    return;
  }
  const fresh = document.createElement("li");
  fresh.className = "day";
  fresh.textContent = name;
  line.before(fresh);
}

// Days, times of this place, and which lines belong together. It moves nothing: what moved would
// be read out again.
function arrange() {
  let last;
  for (const line of all()) {
    const at = new Date(atOf(line));
    const sameDay = last && new Date(atOf(last)).toDateString() === at.toDateString();
    setDay(line, sameDay ? "" : dayName(at));
    line.querySelector("time").textContent = clock.format(at);
    const sameAuthor = last && last.classList.contains("agent") === line.classList.contains("agent");
    line.classList.toggle("joined", Boolean(sameDay && sameAuthor && atOf(line) - atOf(last) < JOINED_MS));
    // That it was sent is of interest until something follows.
    if (last?.querySelector(".state").textContent === "Sent") last.querySelector(".state").textContent = "";
    last = line;
  }
  // A line that went to its place may have left its day behind.
  for (const day of lines.querySelectorAll(".day")) {
    if (!day.nextElementSibling?.classList.contains("line")) day.remove();
  }
  empty.hidden = Boolean(last);
}

// --- Where the reader is ---

const isAtEnd = () => log.scrollHeight - log.scrollTop - log.clientHeight < 80;

function toEnd() {
  log.scrollTop = log.scrollHeight;
  newer.hidden = true;
}

log.addEventListener("scroll", () => { if (isAtEnd()) newer.hidden = true; }, { passive: true });
newer.addEventListener("click", () => { toEnd(); text.focus(); });
// A phone's keyboard takes half of the room away.
let atEnd = true;
log.addEventListener("scroll", () => { atEnd = isAtEnd(); }, { passive: true });
new ResizeObserver(() => { if (atEnd) toEnd(); }).observe(log);

// --- Status and notices ---

let statusEnds;
function showStatus({ text: words, left_ms: left }) {
  clearTimeout(statusEnds);
  find("status-text").textContent = words ?? "";
  find("status").hidden = !words;
  if (words && left != null) statusEnds = setTimeout(() => showStatus({}), left);
}

function showNotice(notice) {
  find("notice").hidden = !notice;
  find("notice-text").textContent = notice?.text ?? "";
  find("notice-code").textContent = notice?.code ?? "";
  find("notice-code").hidden = !notice?.code;
}

// --- Sending ---

const newNonce = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

// A line that is not sent yet.
function draft(nonce, words) {
  const line = find("blank").content.firstElementChild.cloneNode(true);
  Object.assign(line.dataset, { nonce, at: new Date().toISOString() });
  const paragraph = document.createElement("p");
  words.split("\n").forEach((part, number) => {
    if (number) paragraph.append(document.createElement("br"));
    paragraph.append(part);
  });
  line.querySelector(".bubble").replaceChildren(paragraph);
  line.querySelector("time").dateTime = line.dataset.at;
  return line;
}

function mark(nonce, state, words, again) {
  const line = by("nonce", nonce);
  if (!line) return;
  line.classList.remove("sending", "failed");
  if (state) line.classList.add(state);
  const shown = line.querySelector(".state");
  shown.textContent = words;
  if (again) {
    const button = document.createElement("button");
    Object.assign(button, { type: "button", className: "again", textContent: "Try again" });
    button.addEventListener("click", again, { once: true });
    shown.append(" ", button);
  }
}

// One try. Whatever goes wrong on the way is worth another with the same nonce.
async function post(message) {
  try {
    const answer = await fetch(`${base}/messages`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json" },
      body: JSON.stringify(message),
      signal: AbortSignal.timeout(SEND_WAIT_MS),
    });
    return await answer.json();
  } catch {
    return { result: "try_again" };
  }
}

async function send(message) {
  mark(message.nonce, "sending", "Sending…");
  let answer = await post(message);
  for (const wait of AGAIN_MS) {
    if (answer.result !== "try_again") break;
    await pause(wait + Math.random() * 500);
    answer = await post(message);
  }
  showNotice(answer.result === "sent" ? null : answer.notice);
  if (answer.result === "sent") {
    mark(message.nonce, null, "Sent");
    if (answer.fresh) location.reload();
    return true;
  }
  mark(message.nonce, "failed", "Not sent", () => send(message));
  return false;
}

function submit(event) {
  event?.preventDefault();
  const words = text.value.trim();
  if (!words) return text.focus();
  if ([...words].length > Number(textMax)) {
    return showNotice({ text: `This message is too long: at most ${textMax} characters fit.` });
  }
  text.value = "";
  grow();
  text.focus();
  say(words);
}

function say(words) {
  const nonce = newNonce();
  put(draft(nonce, words));
  toEnd();
  return send({ nonce, text: words });
}

// The status shows that the agent works; what it works on can be stopped.
find("stop").addEventListener("click", async ({ target }) => {
  target.disabled = true;
  await say("/stop");
  target.disabled = false;
});

form.addEventListener("submit", submit);
text.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) submit(event);
});

// The buttons of a question.
lines.addEventListener("submit", async (event) => {
  const { submitter, target } = event;
  if (submitter?.name !== "press") return;
  event.preventDefault();
  const buttons = [...target.parentElement.querySelectorAll("button")];
  buttons.forEach((button) => { button.disabled = true; });
  const nonce = target.elements.nonce.value;
  put(draft(nonce, submitter.textContent));
  toEnd();
  const sent = await send({ nonce, press: submitter.value });
  if (!sent) buttons.forEach((button) => { button.disabled = false; });
});

// Where the style cannot do it by itself.
function grow() {
  if (CSS.supports("field-sizing", "content")) return;
  text.style.height = "auto";
  text.style.height = `${text.scrollHeight}px`;
}
text.addEventListener("input", grow);

// --- What comes ---

let seen = after;
let stream;
let brokenShown;

// A short break is nobody's business, and every try to mend it is the same break.
function showLink(isWhole) {
  const show = () => {
    find("link").textContent = isWhole ? "Private chat" : "Reconnecting…";
    find("link").classList.toggle("broken", !isWhole);
  };
  if (isWhole) {
    clearTimeout(brokenShown);
    brokenShown = undefined;
    show();
  } else {
    brokenShown ??= setTimeout(show, BROKEN_SHOWN_MS);
  }
}

function listen() {
  stream = new EventSource(`${base}/events?after=${seen}`);
  stream.addEventListener("open", () => showLink(true));
  stream.addEventListener("line", (event) => {
    seen = event.lastEventId;
    const follow = isAtEnd();
    const isNew = put(parsed(JSON.parse(event.data).item));
    if (follow) toEnd();
    else if (isNew) newer.hidden = false;
  });
  stream.addEventListener("status", (event) => {
    const follow = isAtEnd();
    showStatus(JSON.parse(event.data));
    if (follow) toEnd();
  });
  stream.addEventListener("error", () => {
    showLink(false);
    // It comes back by itself unless it was refused; then we ask again, not at once.
    if (stream.readyState === EventSource.CLOSED) setTimeout(listen, 5_000 + Math.random() * 5_000);
  });
}

// A page that is put away and brought back may have missed its stream's end.
addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });

const { left } = find("status").dataset;
if (left) showStatus({ text: find("status-text").textContent, left_ms: Number(left) });
form.noValidate = true;
arrange();
grow();
toEnd();
listen();
if (matchMedia("(hover: hover)").matches) text.focus();
