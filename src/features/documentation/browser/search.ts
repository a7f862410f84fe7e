/** The search of the documentation: a dialog that finds pages, headings and rows of tables. */
import MiniSearch, { type SearchResult } from "minisearch";
import { type Found, searchOptions } from "../pages/search-words.ts";

type Hit = SearchResult & Found;

const most = 30;
/** Pages that explain come before those that list, and these before the reasons. */
const weights: readonly [section: RegExp, weight: number][] = [
  [/^(?:Start|Guide|Concepts)/, 1.4],
  [/^Decisions/, 0.6],
];

/** Opens by the button, by `/` and by Ctrl or Command with K. */
export function openSearchBy(button: HTMLButtonElement | null): void {
  let dialog: HTMLDialogElement | null = null;
  const open = () => {
    dialog ??= searchDialog();
    if (!dialog.open) dialog.showModal();
    dialog.querySelector("input")?.select();
  };
  button?.addEventListener("click", open);
  document.addEventListener("keydown", (event) => {
    const isSlash = event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey && !isWriting(event.target);
    const isCombined = event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey);
    if (!isSlash && !isCombined) return;
    event.preventDefault();
    open();
  });
}

const isWriting = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || target.matches("input, textarea, select"));

function searchDialog(): HTMLDialogElement {
  const dialog = document.createElement("dialog");
  dialog.className = "search";
  dialog.setAttribute("aria-label", "Search the documentation");
  dialog.innerHTML = `<form method="dialog" class="question">
<svg viewBox="0 0 20 20" aria-hidden="true"><circle cx="9" cy="9" r="5.5"/><path d="m13.2 13.2 3.8 3.8"/></svg>
<input type="text" role="combobox" aria-expanded="true" aria-autocomplete="list" aria-controls="found" aria-label="Search the documentation" placeholder="Search: a word, a setting, a code…" autocomplete="off" autocapitalize="off" spellcheck="false" maxlength="200">
<button type="button" class="close">Esc</button></form>
<p class="told" role="status"></p>
<div id="found" role="listbox" aria-label="Found"></div>
<p class="keys" aria-hidden="true"><span><kbd>↑</kbd> <kbd>↓</kbd> to choose</span><span><kbd>↵</kbd> to open</span><span><kbd>Esc</kbd> to close</span></p>`;
  document.body.append(dialog);
  const input = dialog.querySelector("input");
  const list = dialog.querySelector<HTMLElement>("#found");
  const told = dialog.querySelector<HTMLElement>(".told");
  if (input === null || list === null || told === null) return dialog;

  let index: Promise<MiniSearch<Found>> | null = null;
  let chosen = 0;
  let asked = "";
  const choose = (next: number) => {
    const options = list.children;
    options[chosen]?.setAttribute("aria-selected", "false");
    chosen = Math.max(0, Math.min(next, options.length - 1));
    const option = options[chosen];
    option?.setAttribute("aria-selected", "true");
    option?.scrollIntoView({ block: "nearest" });
    if (option === undefined) input.removeAttribute("aria-activedescendant");
    else input.setAttribute("aria-activedescendant", option.id);
  };
  const find = async () => {
    const question = input.value.trim();
    asked = question;
    index ??= loaded();
    const search = await index;
    // The reader has written on meanwhile.
    if (asked !== question) return;
    const hits = question === "" ? [] : hitsOf(search, question);
    list.replaceChildren(...hits.map((hit, at) => optionOf(hit, at)));
    told.textContent = question === "" ? "" : hits.length === 0 ? `Nothing has “${question}”.` : "";
    choose(0);
  };
  const findNow = () => {
    find().catch(() => {
      index = null;
      told.textContent = "The index cannot be had: is the node running?";
    });
  };
  input.addEventListener("input", findNow);
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") choose(chosen + 1);
    else if (event.key === "ArrowUp") choose(chosen - 1);
    else if (event.key === "Enter") (list.children[chosen] as HTMLElement | undefined)?.click();
    else return;
    event.preventDefault();
  });
  dialog.querySelector(".close")?.addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  // A link into the page that is shown moves the text and nothing else.
  list.addEventListener("click", () => dialog.close());
  index = loaded();
  index.catch(() => {
    index = null;
  });
  return dialog;
}

async function loaded(): Promise<MiniSearch<Found>> {
  const answer = await fetch(document.body.dataset.index ?? "");
  if (!answer.ok) throw new Error(`the index answers ${answer.status}`);
  return MiniSearch.loadJSON<Found>(await answer.text(), searchOptions);
}

function hitsOf(search: MiniSearch<Found>, question: string): Hit[] {
  const options = {
    boost: { title: 14, heading: 3 },
    prefix: (term: string) => term.length > 1,
    fuzzy: (term: string) => (term.length > 4 ? 0.2 : false),
    boostDocument: (_: unknown, __: string, found?: Record<string, unknown>) =>
      weights.find(([section]) => section.test(String(found?.section ?? "")))?.[1] ?? 1,
  };
  const all = search.search(question, { ...options, combineWith: "AND" });
  const hits = all.length > 0 ? all : search.search(question, options);
  return hits.slice(0, most) as Hit[];
}

function optionOf({ page, path, href, snippet, section, terms }: Hit, at: number): HTMLElement {
  const option = document.createElement("a");
  option.id = `found-${at}`;
  option.setAttribute("role", "option");
  option.setAttribute("aria-selected", "false");
  option.href = (document.body.dataset.root ?? "") + href;
  option.tabIndex = -1;
  const name = document.createElement("span");
  name.className = "name";
  name.append(...marked([page, ...path].at(-1) ?? "", terms));
  const place = document.createElement("span");
  place.className = "place";
  place.textContent = [section, ...(path.length === 0 ? [] : [page]), ...path.slice(0, -1)].join(" › ");
  const text = document.createElement("span");
  text.className = "snippet";
  text.append(...marked(snippet, terms));
  option.append(place, name, text);
  return option;
}

/** The text with the words that were found marked, as nodes: nothing of it is read as HTML. */
function marked(text: string, terms: readonly string[]): Node[] {
  const words = terms.filter((term) => term.length > 1).map((term) => term.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  if (words.length === 0) return [document.createTextNode(text)];
  return text.split(new RegExp(`(${words.join("|")})`, "gi")).map((part, at) => {
    if (at % 2 === 0) return document.createTextNode(part);
    const mark = document.createElement("mark");
    mark.textContent = part;
    return mark;
  });
}
