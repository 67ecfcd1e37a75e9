// One stream for all pages of a browser, which has six connections to a server: a shared worker. A page says which session it shows
// and up to which byte of its log, again every few seconds, and null when it is left; what comes for its session is handed to it.

const SILENT_MS = 50000;
const REOPEN_MS = 1000;

const pages = new Map(); // port → { session, offset, heard }
let source = null, streamed = new Map(); // session → its newest frame, null before the first
let timer = 0;

function tell(session, kind, data) {
  for (const [port, page] of pages) {
    if (session !== null && page.session !== session) continue;
    if (kind === "frame") page.offset = data.offset;
    port.postMessage([kind, data]);
  }
}

function close() {
  source?.close();
  source = null;
  streamed = new Map();
}

function open() {
  timer = 0;
  close();
  const from = new Map();
  for (const { session, offset } of pages.values()) from.set(session, Math.min(offset, from.get(session) ?? Infinity));
  if (!from.size) return;
  source = new EventSource(`/events/pages?${[...from].map(([session, offset]) => `s=${session}:${offset}`).join("&")}`);
  source.onopen = () => tell(null, "open");
  source.onerror = () => {
    const refused = source.readyState === EventSource.CLOSED; // an answer that is no stream: each page asks for itself
    tell(null, refused ? "alone" : "lost");
    if (refused) pages.clear();
    close();
    soon(REOPEN_MS); // from where the pages are now, which a browser that asks again by itself does not know
  };
  for (const session of from.keys()) {
    streamed.set(session, null);
    source.addEventListener(session, ({ data }) => {
      const frame = JSON.parse(data);
      streamed.set(session, { ...frame, lines: [], reload: false });
      tell(session, "frame", frame);
    });
    source.addEventListener(`${session}.problem`, ({ data }) => tell(session, "problem", JSON.parse(data)));
  }
}

function soon(delay = 0) {
  timer ||= setTimeout(open, delay);
}

function show(port, page) {
  pages.set(port, { ...page, heard: Date.now() });
  const frame = streamed.get(page.session);
  if (!frame || page.offset < frame.offset) return soon();
  port.postMessage(["open"]);
  port.postMessage(["frame", frame]);
}

function leave(port) {
  pages.delete(port);
  if ([...streamed.keys()].some((session) => ![...pages.values()].some((page) => page.session === session))) soon();
}

setInterval(() => {
  for (const [port, { heard }] of pages) if (Date.now() - heard > SILENT_MS) leave(port);
}, SILENT_MS);

onconnect = ({ ports: [port] }) => {
  if (!self.EventSource) return port.postMessage(["alone"]);
  port.onmessage = ({ data: page }) => {
    const known = pages.get(port);
    if (page === null) leave(port);
    else if (known?.session === page.session) known.heard = Date.now();
    else show(port, page);
  };
};
