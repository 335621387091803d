// The parts of a Request: each can be removed, or opened and changed.
import { html, useState } from "./html.js";

const GROUPS = { figure: "Figures", group: "Groups", column: "Columns", filter: "Only where", order: "Best", source: "From", result: "Result" };

export function Chips({ chips, busy, onEdit }) {
  const [open, setOpen] = useState(null);
  const groups = Object.keys(GROUPS).filter((group) => chips.some((c) => c.group === group));
  return html`<div class="parts" role="group" aria-label="Parts of the Request">
    ${groups.map(
      (group) => html`<div class="row" key=${group}>
        <span class="quiet small">${GROUPS[group]}</span>
        <div>
          ${chips.map((chip, i) => (chip.group === group ? html`<${Part} key=${i} chip=${chip} busy=${busy} open=${open === i} onOpen=${() => setOpen(open === i ? null : i)} onEdit=${onEdit} />` : null))}
          ${open !== null && chips[open]?.group === group ? html`<${Editor} key=${open} chip=${chips[open]} busy=${busy} onEdit=${onEdit} onClose=${() => setOpen(null)} />` : null}
        </div>
      </div>`,
    )}
  </div>`;
}

function Part({ chip, busy, open, onOpen, onEdit }) {
  const changes = chip.menus.length || chip.entries.length;
  const kind = `part of-${chip.group} ${chip.set ? "" : "unset"}`;
  return html`<span class=${kind}>
    ${changes ? html`<button type="button" class="word" aria-expanded=${open ? "true" : "false"} title="Change" onClick=${onOpen}>${chip.text}</button>` : html`<span class="word">${chip.text}</span>`}
    ${chip.removal ? html`<button type="button" class="away" aria-label="Remove ${chip.text}" title="Remove" disabled=${busy} onClick=${() => onEdit(chip.removal)}>×</button>` : null}
  </span>`;
}

function Editor({ chip, busy, onEdit, onClose }) {
  return html`<div class="card editor" role="group" aria-label="Change ${chip.text}" onKeyDown=${(e) => e.key === "Escape" && onClose()}>
    ${chip.menus.map(
      (menu) => html`<div class="decide" key=${menu.label} role="group" aria-label=${menu.label}><span class="quiet small">${menu.label}</span>
        ${menu.choices.map((choice) => html`<button type="button" class="small" key=${choice.text} aria-pressed=${choice.chosen ? "true" : "false"} disabled=${busy || choice.chosen} onClick=${() => onEdit(choice.edits)}>${choice.text}</button>`)}
      </div>`,
    )}
    ${chip.entries.map((entry) => html`<${Typed} key=${entry.path} entry=${entry} busy=${busy} onEdit=${onEdit} />`)}
  </div>`;
}

function Typed({ entry, busy, onEdit }) {
  const [text, setText] = useState(entry.value);
  const list = entry.known.length ? `known ${entry.path}` : undefined;
  const ready = text.trim() !== entry.value && (text.trim() || entry.optional);
  const send = (event) => {
    event.preventDefault();
    if (ready && !busy) onEdit({ [entry.path]: valueOf(entry, text.trim()) });
  };
  return html`<form class="decide" onSubmit=${send}>
    <label>${entry.label} <input type="text" inputmode=${entry.kind === "number" ? "decimal" : "text"} value=${text} list=${list} onInput=${(e) => setText(e.target.value)} /></label>
    ${list ? html`<datalist id=${list}>${entry.known.map((value) => html`<option key=${value} value=${value}></option>`)}</datalist>` : null}
    <button class="small" disabled=${busy || !ready}>Change</button>
  </form>`;
}

/** What a typed text is in JSON; a number that JavaScript would round stays a text, which the server reads exactly. */
function valueOf(entry, text) {
  if (!text) return null;
  const number = Number(text);
  return entry.kind === "number" && Number.isFinite(number) && String(number) === text ? number : text;
}
