// Small pieces that every page uses.
import { html, useEffect, useId, useRef, useState } from "./html.js";
import { link } from "./route.js";
import { ago, count, duration, instant, plural } from "./words.js";

const STATES = { running: "ok", starting: "calm", stopping: "calm", stopped: "calm", failed: "bad", lost: "bad" };
const OUTCOMES = { "no-op": "calm", swap: "ok", forward: "info", rebuild: "warn", block: "bad" };

export const Chip = ({ kind = "calm", title, children }) => html`<span class="chip ${kind}" title=${title}>${children}</span>`;
export const State = ({ state }) => html`<${Chip} kind=${STATES[state] ?? "calm"}><i class="dot" aria-hidden="true"></i>${state}<//>`;
export const Outcome = ({ outcome }) => html`<${Chip} kind=${OUTCOMES[outcome] ?? "calm"}>${outcome.toUpperCase()}<//>`;
export const Tier = ({ tier, kept }) => html`<span class="tier ${tier}"><i aria-hidden="true"></i>${tier}${kept ? html` <small>${kept}</small>` : null}</span>`;

export function Ago({ at }) {
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => tick((n) => n + 1), 1000);
    return () => clearInterval(timer);
  }, []);
  return at ? html`<time datetime=${at} title=${instant(at)}>${ago(at)}</time>` : html`<span class="quiet">never</span>`;
}

/** How long something takes already, and what it waits for. */
export function Clock({ since, text }) {
  const [now, set] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => set(Date.now()), 100);
    return () => clearInterval(timer);
  }, []);
  return html`<span class="quiet">${duration(Math.max(0, now - since))}; ${text}</span>`;
}

/** Which command prints cause, example and remedy of a code of ours. */
const explained = (code) => (/^SH\d{3}$/.test(code ?? "") ? `more: streamhouse explain ${code}` : null);

/** Any error of ours: code, place, cause, hint; several at once one below the other. */
export function Trouble({ problem, title }) {
  const all = problem.errors?.length ? problem.errors : [{ ...problem, message: problem.detail ?? problem.message }];
  return html`<div class="trouble" role="alert">
    ${title ? html`<strong>${title}</strong>` : null}
    ${all.map(
      (one) => html`<div class="one">
        <div>${one.file ? html`<code>${[one.file, one.line, one.column].filter((x) => x != null).join(":")}</code> ` : null}<b title=${explained(one.code)}>${one.code}</b> ${one.message}</div>
        ${one.hint ? html`<div class="hint">hint: ${one.hint}</div>` : null}
      </div>`,
    )}
  </div>`;
}

/** Whether it is a table that lacks rows since a loss, or is made from one; nothing fails then. */
export const lacksRows = (trouble) => trouble.job === "restore";

/** What goes wrong with the tiers of tables, and what to do. */
export const Troubles = ({ of }) => (of?.length
  ? html`<div class="trouble" role="alert"><strong>${of.every(lacksRows) ? `${plural(of.length, "table")} without all rows` : `${plural(of.length, "tier")} not served`}</strong>${of.map((t) => html`<p class="error" key=${`${t.job} ${t.table} ${t.tier}`}><b>${t.table}</b> ${t.job === "tiering" ? "→" : "in"} ${t.tier}: ${t.code} ${t.text}
      <span class="quiet"> · since ${instant(t.since)}${t.times > 1 ? `, ${count(t.times)} times` : ""}</span>${t.hint ? html`<br /><span class="quiet">hint: ${t.hint}</span>` : null}</p>`)}</div>`
  : null);
export const FailingTiers = ({ of }) => (of?.length ? html`<${Chip} kind="bad" title=${of.map((t) => `${t.table}, ${t.tier}: ${t.code} ${t.text}`).join("\n")}>${of.every(lacksRows) ? "ROWS MISSING" : `${plural(of.length, "tier")} failing`}<//>` : null);
/** What is gone, older, damaged or of another version, in the words of `streamhouse status`. */
export const Losses = ({ of }) => (of?.length
  ? html`<div class="trouble" role="alert"><strong>Lost or damaged</strong>${of.map((l) => html`<p class="error" key=${`${l.kind} ${l.tier} ${l.tables} ${l.text}`}>${l.code} ${l.text}${l.hint ? html`<br /><span class="quiet">hint: ${l.hint}</span>` : null}</p>`)}</div>`
  : null);
export const Lost = ({ of }) => (of?.length ? html`<${Chip} kind="bad" title=${of.map((l) => `${l.code} ${l.text}`).join("\n")}>LOST<//>` : null);
/** Which flows' plans cannot be read, so that what is shown may be not all. */
export const Unknown = ({ flows }) => (flows?.length ? html`<p class="lead"><${Chip} kind="warn">not all<//> The applied plan of ${flows.map((f, i) => html`${i ? ", " : ""}<a key=${f} href=${link(["flows", f])}>${f}</a>`)} cannot be read: what it reads and writes is not shown.</p>` : null);
/** What is shown while there is no data: the problem, or that it is being read. */
export const Waiting = ({ problem }) => (problem ? html`<${Trouble} problem=${problem} />` : html`<p class="quiet" aria-busy="true">Loading…</p>`);

export const Empty = ({ children }) => html`<p class="empty">${children}</p>`;

/** A table that scrolls by itself where the page is narrow. `columns`: {name, of(row), right, wide, time}. */
export function Table({ columns, rows, label, key = (_, i) => i }) {
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${label}>
    <table>
      <thead><tr>${columns.map((c) => html`<th scope="col" class=${c.right ? "right" : ""}>${c.name}</th>`)}</tr></thead>
      <tbody>
        ${rows.map((row, i) => html`<tr key=${key(row, i)}>${columns.map((c) => html`<td class="${c.right ? "right" : ""} ${c.wide ? "wide" : ""} ${c.time ? "time" : ""}">${c.of(row) ?? html`<span class="quiet">–</span>`}</td>`)}</tr>`)}
      </tbody>
    </table>
  </div>`;
}

/** Tabs with arrow keys, as ARIA's authoring practices have them. `tabs`: {id, name, content()}. */
export function Tabs({ tabs, at, onChange, label }) {
  const id = useId();
  const shown = tabs.find((t) => t.id === at) ?? tabs[0];
  const list = useRef(null);
  const key = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const next = tabs[(tabs.indexOf(shown) + step + tabs.length) % tabs.length];
    onChange(next.id);
    list.current.querySelector(`[data-tab="${next.id}"]`)?.focus();
  };
  return html`<div class="tabs">
    <div role="tablist" aria-label=${label} ref=${list} onKeyDown=${key}>
      ${tabs.map(
        (t) => html`<button role="tab" type="button" key=${t.id} data-tab=${t.id} id="${id}-${t.id}" aria-selected=${t === shown ? "true" : "false"}
          aria-controls="${id}-panel" tabindex=${t === shown ? 0 : -1} onClick=${() => onChange(t.id)}>${t.name}</button>`,
      )}
    </div>
    <div role="tabpanel" id="${id}-panel" aria-labelledby="${id}-${shown.id}" key=${shown.id}>${shown.content()}</div>
  </div>`;
}

let say = () => {};
/** Tells what was done, to eyes and to screen readers. */
export const toast = (text, kind = "ok") => say({ text, kind });

export function Toasts() {
  const [shown, set] = useState(null);
  say = set;
  useEffect(() => {
    if (!shown) return undefined;
    const timer = setTimeout(() => set(null), 6000);
    return () => clearTimeout(timer);
  }, [shown]);
  return html`<div class="toasts" role="status" aria-live="polite">${shown ? html`<div class="toast ${shown.kind}">${shown.text}</div>` : null}</div>`;
}

export function Copy({ text }) {
  const [done, set] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      set(true);
      setTimeout(() => set(false), 1500);
    } catch {
      toast("the browser does not let this page copy; select the text instead", "bad");
    }
  };
  return html`<button type="button" class="small copy" onClick=${copy}>${done ? "Copied" : "Copy"}</button>`;
}
