/** What is wrong with a page of the console as a person meets it; the functions without a page run in the browser. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";

/** The program of axe, to be run in the page before it is asked. */
export const axe = readFileSync(join(import.meta.dir, "../../../node_modules/axe-core/axe.min.js"), "utf8");

/** What axe finds serious or critical. @param only these rules; all when absent */
export function axeFaults(page: Page, within: "document" | "main", only?: readonly string[]): Promise<string[]> {
  return page.evaluate(`(async () => {
    const { violations } = await axe.run(${within === "main" ? '"main"' : "document"}, {
      resultTypes: ["violations"],
      preload: false,
      ...(${JSON.stringify(only ?? null)} === null ? {} : { runOnly: ${JSON.stringify(only ?? [])} }),
    });
    return violations
      .filter(({ impact }) => impact === "serious" || impact === "critical")
      .flatMap(({ id, nodes }) => nodes.slice(0, 2).map(({ html }) => id + ": " + html.slice(0, 200)));
  })()`);
}

// What follows runs in the page: nothing outside of each function is known there.

export function frameFaults(heading: string): string[] {
  const faults: string[] = [];
  const headings = document.querySelectorAll("h1").length;
  if (headings !== 1) faults.push(`${headings} h1`);
  if (document.title.replace(/^\(\d+\+?\) /, "") !== `${heading} · svc`) faults.push(`title ${document.title}`);
  return faults;
}

/** Controls that Tab reaches and that nothing names: no text, no label, no title. */
export function namelessControls(): string[] {
  const reached = document.querySelectorAll<HTMLElement>(
    "a[href], button, input, select, textarea, [role=button], [role=checkbox], [role=tab], [role=combobox], [role=grid], [role=listbox]",
  );
  const textOf = (ids: string | null) =>
    (ids ?? "")
      .split(" ")
      .map((id) => (id === "" ? "" : (document.getElementById(id)?.textContent ?? "")))
      .join("");
  return [...reached]
    .filter((one) => one.tabIndex >= 0 && one.checkVisibility({ visibilityProperty: true }))
    .filter((one) => one.getAttribute("aria-hidden") !== "true" && !one.matches(":disabled"))
    .filter((one) => {
      const labels = one instanceof HTMLInputElement || one instanceof HTMLTextAreaElement ? one.labels : null;
      const names = [
        one.textContent,
        one.getAttribute("aria-label"),
        textOf(one.getAttribute("aria-labelledby")),
        ...[...(labels ?? [])].map((label) => label.textContent),
        one.closest("label")?.textContent,
        one.title,
      ];
      return names.every((name) => (name ?? "").trim() === "");
    })
    .map((one) => `nameless ${one.outerHTML.slice(0, 160)}`);
}

/** A page that scrolls sideways, or a control of it that stands outside of the window and cannot be scrolled to. */
export function tooWide(): string[] {
  const over = document.documentElement.scrollWidth - innerWidth;
  if (over > 0) return [`${over} px too wide`];
  return [...document.querySelectorAll<HTMLElement>("main :is(button, a[href], input, textarea)")]
    .filter((one) => {
      const { right, left, width } = one.getBoundingClientRect();
      if (width === 0 || (right <= innerWidth + 1 && left >= -1)) return false;
      // What lies in a box that scrolls by itself can be brought into view.
      for (let box = one.parentElement; box !== null; box = box.parentElement)
        if (/auto|scroll/.test(getComputedStyle(box).overflowX) || box.classList.contains("react-flow")) return false;
      return one.checkVisibility({ visibilityProperty: true });
    })
    .map((one) => `cut off: ${one.outerHTML.slice(0, 160)}`);
}
