// Which names fit what is typed in front of the cursor: tables, their parts, and columns of the tables that the query names.
const PARTS = { tiers: ["hot", "warm", "cold"], views: ["changes", "history", "files", "lake"] };
const MOST = 12;
const NAME = /[A-Za-z_][\w.]*$/;
const AFTER = new Set(["where", "on", "using", "group", "order", "join", "left", "inner", "full", "cross", "union", "limit", "having", "as", "lateral", "version", "timestamp"]);

/** `{from, names: [{name, detail}]}`: what may take the place of the text from `from` to the cursor. */
export function complete(sql, cursor, tables) {
  const word = sql.slice(0, cursor).match(NAME)?.[0] ?? "";
  const from = cursor - word.length;
  if (!word || quoted(sql.slice(0, from))) return { from, names: [] };
  const before = sql.slice(0, from);
  const names = /\b(from|join)\s+$/i.test(before) ? ofTables(word, tables) : [...ofColumns(word, sql, tables), ...ofTables(word, tables)];
  const found = [...new Map(names.map((one) => [one.name, one])).values()].filter((one) => one.name.toLowerCase() !== word.toLowerCase());
  return { from, names: found.slice(0, MOST) };
}

function ofTables(word, tables) {
  const text = word.toLowerCase();
  const parent = tables.find((t) => text.startsWith(`${t.name}.`));
  if (parent) {
    const parts = [...PARTS.tiers.filter((tier) => parent.tiers.includes(tier)), ...PARTS.views];
    return parts.map((part) => ({ name: `${parent.name}.${part}`, detail: PARTS.tiers.includes(part) ? "one tier" : "about the table" })).filter((one) => one.name.startsWith(text));
  }
  const fits = (t) => t.name.startsWith(text) || t.name.split(".")[1].startsWith(text);
  return tables.filter(fits).map((t) => ({ name: t.name, detail: `${Object.keys(t.columns).length} columns` }));
}

function ofColumns(word, sql, tables) {
  const used = aliases(sql, tables);
  const dot = word.lastIndexOf(".");
  const [owner, text] = dot < 0 ? [null, word.toLowerCase()] : [word.slice(0, dot), word.slice(dot + 1).toLowerCase()];
  const of = owner === null ? used : used.filter((one) => one.alias === owner || one.table.name === owner);
  return of.flatMap(({ table }) =>
    Object.entries(table.columns)
      .filter(([column]) => column.toLowerCase().startsWith(text))
      .map(([column, type]) => ({ name: owner === null ? column : `${owner}.${column}`, detail: `${type}, ${table.name}` })),
  );
}

/** Tables that the text names, with the aliases behind them. */
function aliases(sql, tables) {
  const by = new Map(tables.map((t) => [t.name, t]));
  return [...sql.matchAll(/\b(ods|dwd|dws|ads)\.(\w+)(?:[.$]\w+)*(?:\s+(?:as\s+)?([A-Za-z_]\w*))?/gi)].flatMap(([, layer, name, alias]) => {
    const table = by.get(`${layer.toLowerCase()}.${name}`);
    return table ? [{ table, alias: alias && !AFTER.has(alias.toLowerCase()) ? alias : table.name.split(".")[1] }] : [];
  });
}

const quoted = (text) => (text.match(/'/g)?.length ?? 0) % 2 === 1 || /--[^\n]*$/.test(text);
