/** A JSON value as a tree, loaded when it is first needed. */
import { useCallback } from "react";
import { JsonView } from "react-json-view-lite";
import { CopyButton, inert } from "./text.tsx";

const looks = {
  container: "font-mono text-xs leading-5 whitespace-pre-wrap break-words",
  basicChildStyle: "json-row m-0 list-none",
  childFieldsContainer: "m-0 p-0 list-none",
  label: "text-violet mr-1",
  clickableLabel: "text-violet mr-1 cursor-pointer",
  nullValue: "text-ink-faint",
  undefinedValue: "text-ink-faint",
  stringValue: "text-good",
  booleanValue: "text-warn",
  numberValue: "text-info",
  otherValue: "text-ink",
  punctuation: "text-ink-faint mr-1",
  collapseIcon: "json-open cursor-pointer text-ink-faint mr-1",
  expandIcon: "json-closed cursor-pointer text-ink-faint mr-1",
  collapsedContent: "json-more text-ink-faint mr-1",
  noQuotesForStringValues: false,
  quotesForFieldNames: false,
  ariaLables: { collapseJson: "close", expandJson: "open" },
  stringifyStringValues: false,
};

export function JsonTree({ value, open }: { readonly value: object; readonly open: number }) {
  // Another function would close again what the reader has opened.
  const isOpen = useCallback((level: number) => level < open, [open]);
  return (
    <div className="relative min-w-0 overflow-auto rounded-control bg-sunken p-3">
      <CopyButton value={JSON.stringify(value, null, 2)} label="Copy as JSON" className="absolute top-1.5 right-1.5" />
      <JsonView data={shown(value) as object} style={looks} shouldExpandNode={isOpen} clickToExpandNode />
    </div>
  );
}

/** Texts in it made inert; a text that is JSON itself is shown as what it says, with a word that it is a text. */
function shown(value: unknown): unknown {
  if (typeof value === "string") return inert(value);
  if (Array.isArray(value)) return value.map(shown);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      const said = typeof inner === "string" ? structureIn(inner) : null;
      return said === null ? [inert(key), shown(inner)] : [`${inert(key)} (JSON as text)`, shown(said)];
    }),
  );
}

/** @returns null for a text that is no object and no array of JSON */
function structureIn(text: string): object | null {
  if (!/^\s*[[{]/.test(text)) return null;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" ? value : null;
  } catch {
    return null;
  }
}
