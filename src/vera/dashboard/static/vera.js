// Follows a run: new lines of its log, the texts of its status, and the parts of the page that have changed.
// On every page it takes keys and writes times as local ones. Each page is whole without it. Markup comes from this server only, in one place (`fragment`).
// Pages of one browser share a stream (stream.js); without shared workers each page has one.

const MOST_ROWS = 2000;
const REFRESH_MS = 3000, LIST_MS = 10000; // a changed part, and the list of sessions, are fetched again at most this often
const REOPEN_MS = 3000;
const STILL_HERE_MS = 15000; // the shared stream forgets a page that is silent for longer than three of these

const page = document.getElementById("main");
const stream = document.getElementById("stream");
const row = document.getElementById("event-row")?.content.firstElementChild;
const follows = page.dataset.shared; // what is in the page has a stream
const as_is = { createHTML: (text) => text, createScriptURL: (address) => address };
const policy = window.trustedTypes?.createPolicy("vera", as_is) ?? as_is;
const part = (name) => page.querySelector(`[data-part="${name}"]`);
const live = (field) => page.querySelector(`[data-live="${field}"]`);

let source = null, shared = null, listening = false, changed = {}, cursor = Number(page.dataset.offset);
let behind = false, turned = false; // all of the page, or its status, is to be fetched again
let busy = false, listed = 0, heard = null; // heard: when the last event came, by this clock

async function fragment(address) {
  const url = new URL(address, location.href);
  if (url.origin !== location.origin) throw new Error("another origin");
  const answer = await fetch(url, { credentials: "same-origin", redirect: "error" });
  if (!answer.ok || !answer.headers.get("content-type")?.startsWith("text/html")) throw new Error(answer.status);
  return new DOMParser().parseFromString(policy.createHTML(await answer.text()), "text/html");
}

function replace(name, found) {
  const fresh = found.querySelector(`[data-part="${name}"]`), old = part(name);
  if (!fresh || !old) return;
  for (const { id, open } of old.querySelectorAll("details[id]")) found.getElementById(id)?.toggleAttribute("open", open);
  for (const { value } of old.querySelectorAll("input:checked")) {
    fresh.querySelector(`input[type=checkbox][value="${CSS.escape(value)}"]`)?.toggleAttribute("checked", true);
  }
  for (const { name: field, value } of old.querySelectorAll("input:not([type=hidden], [type=checkbox])")) {
    fresh.querySelector(`input[name="${field}"]`)?.setAttribute("value", value);
  }
  const focused = old.contains(document.activeElement) ? document.activeElement.id : "";
  localTimes(fresh);
  old.replaceWith(fresh);
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
}

async function refreshChanged() {
  if (busy || document.hidden) return;
  const all = behind, status = turned, stale = [];
  for (const { dataset: { part: name, changed: had } } of page.querySelectorAll("[data-part]")) {
    const differs = name === "header" ? status : name !== "events" && name in changed && String(changed[name]) !== had;
    if (all || differs) stale.push(name);
  }
  if (!stale.length) return;
  busy = true;
  behind = turned = false; // what comes while parts are fetched sets them again
  await fragment(`${page.dataset.base}/parts/${stale.join()}`)
    .then((found) => stale.forEach((name) => replace(name, found)))
    .catch(() => { behind ||= all; turned ||= status; });
  busy = false;
}

// The list of sessions: whole again when something of it has changed, but never while the focus is in it.
async function refreshList() {
  if (busy || !behind || document.hidden || Date.now() - listed < LIST_MS || part("list").contains(document.activeElement)) return;
  [busy, behind, listed] = [true, false, Date.now()];
  await fragment(location.href).then((found) => replace("list", found), () => { behind = true; });
  busy = false;
}

function setText(element, text) {
  if (element && element.textContent !== text) element.textContent = text;
}

const two = (number) => String(number).padStart(2, "0");

// Times are written in UTC, which goes into the title; an age ("3 min") stays, with the local time beside UTC in its title.
function localTimes(within) {
  const today = new Date().toDateString(), yesterday = new Date(Date.now() - 864e5).toDateString();
  for (const time of within.querySelectorAll("time[datetime]:not([data-utc])")) {
    const at = new Date(time.dateTime), of = at.toDateString();
    if (isNaN(at)) continue;
    const clock = `${two(at.getHours())}:${two(at.getMinutes())}`;
    const day = { [today]: "today", [yesterday]: "yesterday" }[of] ?? `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
    const utc = time.dataset.utc = time.title || (time.dataset.f ? time.dateTime.replace("T", " ").replace(/(\.\d+)?Z$/, " UTC") : time.textContent);
    if (time.title) time.title = `${day} ${clock}, ${utc}`;
    else [time.textContent, time.title] = [time.dataset.f ? `${clock}:${two(at.getSeconds())}` : `${day} ${clock}`, utc];
  }
  for (const zone of within.querySelectorAll("[data-zone]")) zone.textContent = "local";
}

// The lines of a citation, over the page while it is pointed at or has the focus: nothing moves, and Escape closes them.
let peeked = null, peeking = 0;
function peek(cite, delay) {
  clearTimeout(peeking);
  peeking = setTimeout(() => {
    const open = cite && document.querySelector(`.proof[open][data-card="${cite.dataset.card}"]`);
    const next = cite && !open ? document.getElementById(cite.dataset.peek) : null; // what is open beside it is in sight
    if (next === peeked) return;
    if (peeked?.matches(":popover-open")) peeked.hidePopover();
    peeked = next;
    next?.showPopover({ source: cite }); // beside its source by the stylesheet
  }, delay);
}

async function copy(button) {
  const text = button.closest("p").nextElementSibling;
  try {
    await navigator.clipboard.writeText(text.textContent);
    setText(button, "Copied");
  } catch {
    getSelection().selectAllChildren(text); // no clipboard here: Ctrl-C takes it
  }
}

function addLine(line, list) {
  const added = row.cloneNode(true), moment = new Date(line.ts * 1000).toISOString();
  added.id = `e${line.offset}`;
  if (document.getElementById(added.id)) return;
  const lane = line.lane === "main" ? "" : line.lane;
  const texts = { ...line, lane, clock: moment.slice(11, 19), step: line.step ?? "" };
  for (const field of added.querySelectorAll("[data-f]")) field.textContent = texts[field.dataset.f];
  added.querySelector("time").dateTime = moment;
  localTimes(added);
  if (line.step > 0) added.querySelector("a").href = `${page.dataset.base}/steps/${line.step}${lane && `?lane=${encodeURIComponent(lane)}`}`;
  added.classList.toggle("failed", line.failed);
  list.prepend(added);
}

function take(frame) {
  cursor = frame.offset;
  changed = frame.changed;
  behind ||= frame.reload;
  if (!row) return refreshList();
  const list = page.querySelector(".events"), top = list.scrollTop, height = top > 4 ? list.scrollHeight : 0;
  for (const line of frame.lines) addLine(line, list);
  while (list.children.length > MOST_ROWS) list.lastElementChild.remove();
  if (height) list.scrollTop = top + list.scrollHeight - height; // who reads older lines keeps them in sight
  if (frame.lines.length) {
    heard = Date.now();
    page.removeAttribute("data-empty"); // it works again: what it had nothing in may fill
  }
  turned ||= ["verdict", "run"].some((field) => live(field)?.textContent !== frame.live[field]);
  for (const [field, text] of Object.entries(frame.live)) setText(live(field), text);
  setText(document.getElementById("announcement"), frame.live.announcement);
  if (turned) refreshChanged();
}

function say(words, state) {
  stream.hidden = false;
  stream.className = `stream quiet ${state}`;
  setText(stream, words);
}

const close = () => {
  listening = false;
  shared?.postMessage(null);
  source = source?.close() ?? null;
};

const told = {
  open: () => { say("live", "live"); tick(); },
  frame: take,
  lost: () => say("connection lost, trying again", "lost"),
  problem: (sentence) => { close(); say(sentence, "lost"); },
  alone: () => { shared = null; if (listening) open(); }, // no stream can be shared here
};

function open() {
  if (!follows || document.hidden) return;
  listening = true;
  if (shared) return shared.postMessage({ session: page.dataset.base.slice(3), offset: cursor });
  if (source || !row) return; // the list is live over the shared stream alone
  source = new EventSource(`${page.dataset.base}/events?view=page&from=${cursor}`);
  source.onopen = told.open;
  source.onmessage = (message) => take(JSON.parse(message.data));
  source.addEventListener("problem", (message) => told.problem(JSON.parse(message.data)));
  source.onerror = () => {
    told.lost();
    if (source?.readyState !== EventSource.CLOSED) return;
    close();
    setTimeout(open, REOPEN_MS); // a browser gives up after some answers; the page does not
  };
}

function share() {
  if (!follows || !window.SharedWorker) return;
  const worker = new SharedWorker(policy.createScriptURL(page.dataset.shared));
  worker.onerror = told.alone;
  worker.port.onmessage = ({ data: [kind, what] }) => told[kind](what);
  shared = worker.port;
  setInterval(() => listening && shared && open(), STILL_HERE_MS);
}

function tick() {
  const since = page.querySelector("[data-since]");
  if (!row) return;
  if (stream.classList.contains("live")) say(since ? "live" : "at rest", since ? "live" : "live rest"); // an ended run rests
  if (!since) return;
  heard ??= Date.now() - Number(since.dataset.since) * 1000;
  const s = Math.max(0, Math.round((Date.now() - heard) / 1000)), min = Math.floor(s / 60), h = Math.floor(min / 60);
  setText(since, h ? `${h} h ${min % 60} min` : min ? `${min} min ${s % 60} s` : `${s} s`);
}

function show(id) {
  const target = document.getElementById(id);
  if (target instanceof HTMLDetailsElement) target.open = true;
  return target;
}

window.addEventListener("pagehide", close);
window.addEventListener("pageshow", open);
document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
window.addEventListener("hashchange", () => show(location.hash.slice(1)));
page.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copies]");
  if (button) return copy(button);
  const id = event.target.closest("[data-goto]")?.dataset.goto;
  if (id && show(id)) location.hash = id;
});
page.addEventListener("toggle", async ({ target }) => {
  if (target.open && target.matches(".claim")) history.replaceState(history.state, "", `#${target.id}`); // for Back
  const fill = target.open && target.dataset.fill && target.querySelector(":scope > .fill");
  if (fill) await fragment(target.dataset.fill).then((found) => fill.replaceWith(found.querySelector("[data-tail]")), () => {});
}, true);
if (window.HTMLElement.prototype.showPopover) {
  const cite = ({ target }) => target.closest("a.cite[data-peek]");
  document.addEventListener("pointerover", (event) => { // also where it leaves the page's part
    if (event.pointerType !== "mouse") return; // a finger follows the link
    if (cite(event)) peek(cite(event), 250);
    else if (!event.target.closest(".peek")) peek(null, 200);
  });
  page.addEventListener("focusin", (event) => peek(cite(event), 0));
  page.addEventListener("focusout", () => peek(null, 0));
}
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") peek(null, 0);
  const way = { j: 1, k: -1, ArrowRight: row ? 0 : 1, ArrowLeft: row ? 0 : -1 }[event.key], arrow = event.key.length > 1;
  if (!way || event.ctrlKey || event.metaKey || event.altKey || event.target.closest(`input, textarea, select${arrow ? ", .wide" : ""}`)) return;
  if (!row) return document.querySelector(`.ways a[rel="${way > 0 ? "next" : "prev"}"]`)?.click();
  const claims = [...page.querySelectorAll(".claim > summary")], at = claims.indexOf(document.activeElement);
  claims[Math.min(Math.max(at + way, 0), claims.length - 1)]?.focus();
});
document.documentElement.classList.add("has-module");
localTimes(document);
if (row) [setInterval(tick, 1000), setInterval(refreshChanged, REFRESH_MS)];
else if (follows) setInterval(refreshList, REFRESH_MS);
show(location.hash.slice(1));
share();
open();
