/** Where links of a page of `docs/` lead on the site. */
import { posix } from "node:path";

/** What a link becomes. `outside`: it leaves the site. Null: what it leads to is not on the site. */
export type Target = {
  readonly href: string;
  readonly isOutside: boolean;
  /** Of the page it leads to. */
  readonly title: string | null;
} | null;

/** What the site has: page or file below `docs/` → its address below `/docs/`, and the title of a page. */
export type Addresses = ReadonlyMap<string, { readonly address: string; readonly title: string | null }>;

/** The address of a page below `/docs/`: folders end in `/`, pages have no ending, and nothing has capitals. */
export function addressOf(path: string): string {
  const plain = path.replace(/\.md$/, "").toLowerCase();
  return plain === "readme" ? "" : plain.replace(/\/readme$/, "/");
}

/** From one address of the site to another, relative, so that a proxy may serve the site below a path of its own. */
export function relative(from: string, to: string): string {
  const folders = from.split("/").slice(0, -1);
  const parts = to.split("/");
  let shared = 0;
  while (shared < folders.length && shared < parts.length - 1 && folders[shared] === parts[shared]) shared += 1;
  const way = "../".repeat(folders.length - shared) + parts.slice(shared).join("/");
  return way === "" ? "./" : way;
}

/**
 * @param page path below `docs/` of the page that has the link
 * @param link as it is written there: relative to the page, an anchor, or an address outside
 */
export function targetOf(page: string, link: string, addresses: Addresses): Target {
  if (/^(?:https?|mailto):/i.test(link) && URL.canParse(link)) return { href: link, isOutside: true, title: null };
  // Any other scheme has no place on the site.
  if (/^[a-z][a-z0-9+.-]*:/i.test(link) || link.startsWith("//")) return null;
  const [path = "", anchor] = link.split("#");
  const hash = anchor === undefined ? "" : `#${anchor}`;
  if (path === "") return { href: hash, isOutside: false, title: null };
  const from = addressOf(page);
  // What the node itself serves, from its root.
  if (path.startsWith("/"))
    return { href: relative(`docs/${from}`, path.slice(1)) + hash, isOutside: false, title: null };
  const target = posix.normalize(posix.join(posix.dirname(page), path)).replace(/\/$/, "");
  const found = addresses.get(target) ?? addresses.get(posix.join(target, "README.md"));
  if (found === undefined) return null;
  return { href: relative(from, found.address) + hash, isOutside: false, title: found.title };
}
