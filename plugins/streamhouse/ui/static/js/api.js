// The JSON of the server: what was read last is shown at once and read again behind it.
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "./html.js";

const held = new Map(); // path -> {text, data}
const listeners = new Set();
let reachable = true;

export class Problem extends Error {
  constructor(document) {
    super(document.detail);
    Object.assign(this, document);
  }
}

const pending = new Map(); // path -> promise: two parts of a page that read the same ask once

function read(path) {
  if (!pending.has(path)) pending.set(path, answer(path).finally(() => pending.delete(path)));
  return pending.get(path);
}

async function answer(path, options = {}, as = "json") {
  let response;
  try {
    response = await fetch(path, { credentials: "same-origin", ...options });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    reached(false);
    throw new Problem({ code: "offline", detail: "the server does not answer", hint: "it may have been stopped; this page tries again by itself", status: 0 });
  }
  reached(true);
  if (response.ok && as === "blob") return { blob: await response.blob() };
  const text = await response.text();
  if (response.ok) return { text, data: JSON.parse(text) };
  let document;
  try {
    document = JSON.parse(text);
  } catch {
    document = { detail: text.slice(0, 300) };
  }
  const hint = response.status === 401 ? "sign in again, or open the address that 'streamhouse ui' printed" : undefined;
  throw new Problem({ code: `HTTP ${response.status}`, hint, status: response.status, ...document, detail: document.detail ?? response.statusText });
}

function reached(now) {
  if (now === reachable) return;
  reachable = now;
  listeners.forEach((tell) => tell(now));
}

export function useReachable() {
  const [now, set] = useState(reachable);
  useLayoutEffect(() => { // before an answer can come
    listeners.add(set);
    return () => listeners.delete(set);
  }, []);
  return now;
}

export const post = async (path, body, options = {}) =>
  (
    await answer(path, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Streamhouse": "1" },
      body: JSON.stringify(body),
      ...options,
    })
  ).data;

/** The answer of a POST as a file that the browser saves. */
export async function download(path, body, name) {
  const { blob } = await answer(path, { method: "POST", headers: { "Content-Type": "application/json", "X-Streamhouse": "1" }, body: JSON.stringify(body) }, "blob");
  const url = URL.createObjectURL(blob);
  Object.assign(document.createElement("a"), { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** `{data, problem, reload}` of a path; null reads nothing. With `every` (ms) it is read again while somebody looks. */
export function useData(path, every = 0) {
  const [state, set] = useState({ path, ...held.get(path) });
  const current = useRef(path);
  current.current = path;
  const load = useCallback(async () => {
    if (path === null) return;
    let found;
    try {
      found = { ...(await read(path)), problem: null };
    } catch (problem) {
      found = { ...held.get(path), problem };
    }
    if (!found.problem) held.set(path, found);
    if (current.current !== path) return;
    // Text that is the same is the same data: nothing is drawn again.
    set((before) => (before.path === path && before.text === found.text && same(before.problem, found.problem) ? before : { path, ...found }));
  }, [path]);
  useEffect(() => {
    let timer;
    let over = false;
    const turn = async () => {
      const begun = performance.now();
      if (document.visibilityState === "visible" || !held.has(path)) await load();
      // A server that takes long is asked less often: it works for a page a tenth of its time at most.
      if (every && !over) timer = setTimeout(turn, Math.max(every, 9 * (performance.now() - begun)));
    };
    turn();
    const seen = () => document.visibilityState === "visible" && load();
    if (every) document.addEventListener("visibilitychange", seen);
    return () => {
      over = true;
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", seen);
    };
  }, [load, every]);
  const now = state.path === path ? state : held.get(path) ?? {};
  return { data: now.data, problem: now.problem, reload: load };
}

const same = (a, b) => (a?.detail ?? null) === (b?.detail ?? null);
