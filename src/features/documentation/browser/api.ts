/** The reference of the API: our list of all operations, and one tag of them drawn by Swagger UI. */
import { type ApiDocument, type Entry, entriesByTag, partOf } from "./api-document.ts";

interface SwaggerInterface {
  readonly authSelectors: { authorized(): { toJS(): unknown } };
  readonly authActions: { authorize(authorized: unknown): void };
}

declare const SwaggerUIBundle: (options: Readonly<Record<string, unknown>>) => SwaggerInterface;

const place = document.querySelector<HTMLElement>("#reference");
if (place !== null) {
  draw(place).catch((error: unknown) => {
    place.textContent = `The reference cannot be drawn: ${error instanceof Error ? error.message : String(error)}`;
  });
}

async function draw(element: HTMLElement): Promise<void> {
  const address = new URL(element.dataset.document ?? "", location.href);
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`the node answers ${answer.status}`);
  // This node, by the name that the reader reaches it by: the page may call nothing else.
  const servers = [{ url: new URL(".", address).href.replace(/\/$/, "") }];
  const whole: ApiDocument = { ...((await answer.json()) as ApiDocument), servers };
  const tags = entriesByTag(whole);
  const list = listOf(tags);
  const shown = document.createElement("div");
  shown.className = "shown";
  element.replaceChildren(list, shown);

  let current: { readonly tag: string; readonly ui: SwaggerInterface } | null = null;
  const show = () => {
    const { tag, id } = placeOf(location.hash);
    for (const link of list.querySelectorAll("a")) {
      if (link.hash === location.hash) {
        link.setAttribute("aria-current", "true");
        requestAnimationFrame(() => link.scrollIntoView({ block: "nearest" }));
      } else link.removeAttribute("aria-current");
    }
    if (tag === null || !tags.has(tag)) {
      current = null;
      shown.replaceChildren(overviewOf(tags));
      return;
    }
    for (const group of list.querySelectorAll("details")) if (group.dataset.tag === tag) group.open = true;
    const heading = document.createElement("h2");
    heading.textContent = tag;
    const drawn = document.createElement("div");
    // What the reader has entered goes on from part to part, and no further.
    const authorized = current?.ui.authSelectors.authorized().toJS();
    shown.replaceChildren(heading, drawn);
    const ui = SwaggerUIBundle({
      spec: partOf(whole, tag),
      domNode: drawn,
      deepLinking: true,
      docExpansion: "list",
      defaultModelsExpandDepth: -1,
      defaultModelExpandDepth: 3,
      displayRequestDuration: true,
      operationsSorter: "alpha",
      persistAuthorization: false,
      syntaxHighlight: { activated: false },
      tryItOutEnabled: false,
      validatorUrl: null,
    });
    if (authorized !== undefined) ui.authActions.authorize(authorized);
    current = { tag, ui };
    if (id === null) scrollTo({ top: 0 });
  };
  addEventListener("hashchange", show);
  show();
}

/** `#/agents/getAgentsById` names a tag and an operation. */
function placeOf(hash: string): { readonly tag: string | null; readonly id: string | null } {
  const [, tag = null, id = null] = decodeURIComponent(hash.replace(/^#/, "")).split("/");
  return { tag, id };
}

const linkTo = (tag: string, id?: string): string =>
  `#/${encodeURIComponent(tag)}${id === undefined ? "" : `/${encodeURIComponent(id)}`}`;

/** All operations by tag, with a field that leaves those with some words. */
function listOf(tags: ReadonlyMap<string, readonly Entry[]>): HTMLElement {
  const nav = document.createElement("nav");
  nav.className = "operations";
  nav.setAttribute("aria-label", "Operations");
  const field = document.createElement("input");
  field.type = "search";
  field.placeholder = `Filter ${[...tags.values()].flat().length} operations`;
  field.setAttribute("aria-label", "Filter the operations");
  nav.append(field);
  const groups = [...tags].map(([tag, entries]) => {
    const details = document.createElement("details");
    details.dataset.tag = tag;
    const summary = document.createElement("summary");
    summary.textContent = tag;
    const items = entries.map((entry) => ({ entry, item: itemOf(tag, entry) }));
    const list = document.createElement("ul");
    list.append(...items.map(({ item }) => item));
    details.append(summary, list);
    nav.append(details);
    return { tag, details, items };
  });
  field.addEventListener("input", () => {
    const words = field.value
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word !== "");
    for (const { tag, details, items } of groups) {
      let found = 0;
      for (const { entry, item } of items) {
        const text = `${tag} ${entry.method} ${entry.path} ${entry.summary} ${entry.id}`.toLowerCase();
        item.hidden = !words.every((word) => text.includes(word));
        if (!item.hidden) found += 1;
      }
      details.hidden = found === 0;
      details.open = words.length > 0 && found > 0;
    }
  });
  return nav;
}

function itemOf(tag: string, { id, method, path, summary }: Entry): HTMLLIElement {
  const item = document.createElement("li");
  const link = document.createElement("a");
  link.href = linkTo(tag, id);
  link.title = `${method} ${path}`;
  const badge = document.createElement("span");
  badge.className = `method ${method.toLowerCase()}`;
  badge.textContent = method === "DELETE" ? "DEL" : method;
  link.append(badge, document.createTextNode(summary));
  item.append(link);
  return item;
}

function overviewOf(tags: ReadonlyMap<string, readonly Entry[]>): HTMLElement {
  const list = document.createElement("ul");
  list.className = "overview";
  for (const [tag, entries] of tags) {
    const item = document.createElement("li");
    const link = document.createElement("a");
    link.href = linkTo(tag);
    link.textContent = tag;
    const count = document.createElement("span");
    count.textContent = entries.length === 1 ? "1 operation" : `${entries.length} operations`;
    link.append(count);
    item.append(link);
    list.append(item);
  }
  return list;
}
