/** Keys that decide. */
import { useEffect, useRef } from "react";

/** A key decides only when no other was pressed so long before it or after it: who types a word decides nothing, ms. */
const aloneMs = 350;

/**
 * Hears single keys while nothing is typed into: no field, no editor, no dialog and no menu has the focus, no other key
 * is held, and the key was pressed alone.
 * @param keys by `event.key`
 */
export function useLoneKeys(keys: Readonly<Record<string, () => void>>, enabled: boolean): void {
  const known = useRef(keys);
  known.current = keys;
  useEffect(() => {
    if (!enabled) return;
    let last = Number.NEGATIVE_INFINITY;
    let waiting: ReturnType<typeof setTimeout> | null = null;
    const hear = (event: KeyboardEvent) => {
      if (waiting !== null) clearTimeout(waiting);
      waiting = null;
      const before = last;
      last = event.timeStamp;
      const act = known.current[event.key];
      const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey && !event.repeat && !event.defaultPrevented;
      if (act === undefined || !isPlain || isTyping(event.target) || event.timeStamp - before < aloneMs) return;
      event.preventDefault();
      waiting = setTimeout(() => {
        waiting = null;
        known.current[event.key]?.();
      }, aloneMs);
    };
    addEventListener("keydown", hear);
    return () => {
      removeEventListener("keydown", hear);
      if (waiting !== null) clearTimeout(waiting);
    };
  }, [enabled]);
}

/** Whether keys go into something: editors hide their text in a shadow tree, whose host gets the event. */
export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof Element)) return false;
  if (target.shadowRoot !== null) return true;
  return (
    target.closest(
      "input, textarea, select, [contenteditable], [role=dialog], [role=alertdialog], [role=menu], [role=listbox]",
    ) !== null
  );
}
