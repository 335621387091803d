// A box for SQL that completes names: arrows choose, Tab takes, Esc closes.
import { complete } from "./completion.js";
import { html, useEffect, useRef, useState } from "./html.js";

export function SqlBox({ sql, onChange, onRun, tables, disabled, box }) {
  const [found, setFound] = useState({ from: 0, names: [] });
  const [at, setAt] = useState(-1); // -1: none is chosen yet, and Enter makes a new line
  const list = useRef(null);
  const close = () => (setFound({ from: 0, names: [] }), setAt(-1));
  useEffect(() => list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" }), [at]);
  const typed = (event) => {
    onChange(event.target.value);
    setFound(complete(event.target.value, event.target.selectionStart, tables));
    setAt(-1);
  };
  const take = (one) => {
    // At once, in the box itself: a cursor that is set a frame later jumps back under a person who types on.
    box.current.setRangeText(one.name, found.from, box.current.selectionStart, "end");
    onChange(box.current.value);
    close();
    box.current.focus();
  };
  const key = (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      close();
      onRun();
      return;
    }
    const open = found.names.length > 0;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (open && step) setAt((at + step + found.names.length) % found.names.length);
    else if (open && (event.key === "Tab" || (event.key === "Enter" && at >= 0)) && !event.shiftKey) take(found.names[Math.max(at, 0)]);
    else if (open && event.key === "Escape") close();
    else return;
    event.preventDefault();
  };
  return html`<div class="sql-box">
    <textarea ref=${box} rows="6" spellcheck=${false} autocapitalize="off" autocomplete="off" aria-label="SQL" aria-autocomplete="list" aria-controls="completions"
      aria-activedescendant=${at >= 0 ? `completion-${at}` : undefined} placeholder="SELECT * FROM dws.revenue_by_product" value=${sql} disabled=${disabled} onInput=${typed} onKeyDown=${key} onBlur=${close}></textarea>
    <ul id="completions" role="listbox" aria-label="Names that fit" ref=${list} class=${found.names.length ? "completions card" : "completions"}>
      ${found.names.map((one, i) => html`<li key=${one.name} id="completion-${i}" role="option" aria-selected=${i === at ? "true" : "false"} onMouseDown=${(e) => (e.preventDefault(), take(one))}><b>${one.name}</b> <span class="quiet small">${one.detail}</span></li>`)}
      ${found.names.length ? html`<li class="quiet small" role="presentation"><kbd>Tab</kbd> takes <kbd>↓</kbd> chooses <kbd>Esc</kbd> closes</li>` : null}
    </ul>
  </div>`;
}
