// Search over all that has a name, and the list of keys; both native dialogs.
import { useData } from "./api.js";
import { html, useEffect, useLayoutEffect, useRef, useState } from "./html.js";
import { go } from "./route.js";

function Dialog({ label, onClose, children }) {
  const dialog = useRef(null);
  useLayoutEffect(() => { // before the dialog is seen; who navigates, also by Back, wants to see the page
    addEventListener("hashchange", onClose);
    return () => removeEventListener("hashchange", onClose);
  }, []);
  useLayoutEffect(() => { // before anything is painted: who goes on typing at once types into it
    const before = document.activeElement;
    dialog.current.showModal();
    return () => before?.focus?.();
  }, []);
  return html`<dialog ref=${dialog} aria-label=${label} onClose=${onClose} onClick=${(e) => e.target === dialog.current && dialog.current.close()}>${children}</dialog>`;
}

const PLACE = { flow: (name) => [["flows", name]], action: (name) => [["actions", name]], table: (name) => [["tables", name]] };

export function Palette({ onClose }) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const { data } = useData(`api/search?q=${encodeURIComponent(text)}`);
  const before = useRef([]);
  if (data) before.current = data;
  const hits = data ?? before.current;
  const [wants, setWants] = useState(false); // Enter came before what was found
  useEffect(() => {
    if (wants && data) open(data[0]);
  }, [wants, data]);
  const open = (hit) => {
    if (!hit) return;
    onClose();
    go(...PLACE[hit.kind](hit.name));
  };
  const key = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && hits.length) {
      event.preventDefault();
      setAt((at + step + hits.length) % hits.length);
    } else if (event.key === "Enter") {
      event.preventDefault();
      if (data) open(data[at]);
      else setWants(true);
    }
  };
  return html`<${Dialog} label="Search" onClose=${onClose}>
    <input type="search" autofocus placeholder="Flows, tables, actions" aria-label="Search flows, tables and actions" role="combobox" aria-expanded="true"
      aria-controls="hits" aria-activedescendant=${hits[at] ? `hit-${at}` : undefined} value=${text} onInput=${(e) => (setText(e.target.value), setAt(0), setWants(false))} onKeyDown=${key} />
    <ul id="hits" role="listbox" aria-label="Found">
      ${hits.map(
        (hit, i) => html`<li id="hit-${i}" key="${hit.kind} ${hit.name}" role="option" aria-selected=${i === at ? "true" : "false"} onMouseMove=${() => setAt(i)} onClick=${() => open(hit)}>
          <span class="kind">${hit.kind}</span><b>${hit.name}</b><span class="quiet">${hit.description}</span>
        </li>`,
      )}
      ${hits.length ? null : html`<li class="quiet">nothing is called so</li>`}
    </ul>
  <//>`;
}

export function Help({ pages, onClose }) {
  const rows = [
    ["/", "search flows, tables and actions"],
    ...pages.map((page) => [`g ${page.key}`, page.name]),
    ["← → ↑ ↓", "in a graph: to what a table reads, and what reads it"],
    ["Ctrl Enter", "in the query box: run it"],
    ["Esc", "close what is open"],
    ["t", "light or dark"],
    ["?", "these keys"],
  ];
  return html`<${Dialog} label="Keys" onClose=${onClose}>
    <h2>Keys</h2>
    <dl class="keys">${rows.map(([keys, what]) => html`<div key=${keys}><dt>${keys.split(" ").map((k) => html`<kbd>${k}</kbd> `)}</dt><dd>${what}</dd></div>`)}</dl>
    <form method="dialog"><button autofocus>Close</button></form>
  <//>`;
}
