// Values as people read them; the words of the command line.
const whole = new Intl.NumberFormat("en");
const short = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });

export const count = (n) => whole.format(n);
export const compact = (n) => (Math.abs(n) < 10_000 ? whole.format(n) : short.format(n));
export const plural = (n, word) => `${count(n)} ${word}${n === 1 ? "" : "s"}`;
export function rate(perSecond) {
  if (perSecond === 0) return "0";
  if (perSecond < 0.01) return "under 0.01"; // it is not none
  if (perSecond < 1) return perSecond.toFixed(2);
  return perSecond < 10 ? perSecond.toFixed(1) : compact(Math.round(perSecond));
}

export function duration(ms) {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  for (const [limit, size, unit] of [[60_000, 1000, "s"], [3_600_000, 60_000, "min"], [86_400_000, 3_600_000, "h"]]) {
    if (ms < limit) return `${(ms / size).toFixed(1).replace(/\.0$/, "")} ${unit}`;
  }
  return `${(ms / 86_400_000).toFixed(1).replace(/\.0$/, "")} d`;
}

const UNITS = [[86_400_000, "d"], [3_600_000, "h"], [60_000, "min"], [1000, "s"]];
const roughly = (ms) => {
  const [size, unit] = UNITS.find(([least]) => ms >= least) ?? UNITS.at(-1);
  return `${Math.floor(ms / size)} ${unit}`;
};

export function ago(iso, now = Date.now()) {
  const ms = now - Date.parse(iso);
  if (Math.abs(ms) < 2000) return "now";
  return ms < 0 ? `in ${roughly(-ms * 1.02)}` : `${roughly(ms)} ago`;
}

export const instant = (iso) => `${new Date(iso).toISOString().replace("T", " ").slice(0, 19)} UTC`;
export const LAYERS = ["ods", "dwd", "dws", "ads"];
export function bytes(n) {
  for (const [size, unit] of [[2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"]]) {
    if (n >= size) return `${(n / size).toFixed(1).replace(/\.0$/, "")} ${unit}`;
  }
  return `${count(n)} B`;
}
