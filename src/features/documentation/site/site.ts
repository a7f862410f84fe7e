/** Everything below `/docs/`, by address. The files are known at the start; what they hold is read when asked for. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type StaticFile, staticFile } from "../../../http/static-file.ts";
import { type Catalogue, type Page, readCatalogue, type Section } from "../pages/catalogue.ts";
import { addressOf } from "../pages/links.ts";
import { type Rendered, render } from "../pages/markdown.ts";
import { type Assets, createAssets } from "./assets.ts";
import { apiDocument, type Frame, missingDocument, pageDocument } from "./layout.ts";
import { searchIndex as indexOf, type Searched } from "./search-index.ts";

/** What stands at an address. */
export interface Found {
  readonly file: StaticFile;
  /** `page`: of the site's own. `reference`: the page of the API. `asset`: named by its content. `file`: of `docs/`. */
  readonly kind: "page" | "reference" | "asset" | "file";
}

export interface Site {
  /** Every address that is no asset, below `/docs/`. */
  readonly addresses: ReadonlySet<string>;
  /** @param address below `/docs/`; null: nothing is there */
  at(address: string): Promise<Found | null>;
  /** The page that says so. */
  missing(address: string): Promise<StaticFile>;
}

/** Files of `docs/` that are served as they are, with the types that browsers get. */
export const fileTypes: Readonly<Record<string, string>> = {
  md: "text/markdown; charset=utf-8",
  yaml: "text/plain; charset=utf-8",
  yml: "text/plain; charset=utf-8",
  json: "application/json",
  svg: "image/svg+xml",
  png: "image/png",
  jpg: "image/jpeg",
  webp: "image/webp",
};

const typeOf = (path: string): string | undefined => fileTypes[path.slice(path.lastIndexOf(".") + 1)];

/** @param root absolute path of `docs/`; where it is missing, the site has the reference of the API alone */
export async function openSite(root: string, version: string): Promise<Site> {
  const names = await readdir(root, { recursive: true }).catch((): string[] => []);
  const paths = names.filter((name) => typeOf(name) !== undefined).toSorted();
  const files = new Set(paths);
  const assets = createAssets();
  const once = <T>(make: () => Promise<T>): (() => Promise<T>) => {
    let made: Promise<T> | null = null;
    return () => {
      made ??= make().catch((error: unknown) => {
        // Tried again by the next reader.
        made = null;
        throw error;
      });
      return made;
    };
  };

  const catalogue = once(() => readCatalogue(root, paths));
  const index = once(async () => staticFile("application/json", await indexOf(searched(await catalogue()))));
  // Named by what it is made from, so that a page can name it before it is made.
  const indexAddress = once(async () => `assets/search.${hashOf(await catalogue(), version)}.json`);
  const frame = once(async () => frameOf(await catalogue(), assets, version, await indexAddress()));
  const made = new Map<string, () => Promise<StaticFile>>([
    ["api", once(async () => html(apiDocument(await frame(), await apiAssets(assets))))],
    ...paths.map((path) => [path, once(() => fileOf(root, path))] as const),
  ]);
  const pages = once(async () => {
    const { sections, pages: all, addresses } = await catalogue();
    return new Map(
      [...all.values()].map((page) => [
        page.address,
        once(async () =>
          html(pageDocument(await frame(), page, sectionOf(sections, page), render(page.path, page.source, addresses))),
        ),
      ]),
    );
  });

  return {
    addresses: new Set([...paths.filter((path) => path.endsWith(".md")).map(addressOf), ...made.keys()]),
    async at(address) {
      const page = (await pages()).get(address);
      if (page !== undefined) return { file: await page(), kind: "page" };
      const file = made.get(address);
      if (file !== undefined) return { file: await file(), kind: files.has(address) ? "file" : "reference" };
      if (address.startsWith("assets/search."))
        return address === (await indexAddress()) ? { file: await index(), kind: "asset" } : null;
      const asset = await assets.at(address);
      return asset === null ? null : { file: asset, kind: "asset" };
    },
    missing: async (address) => html(missingDocument(await frame(), address)),
  };
}

const html = (text: string): Promise<StaticFile> => staticFile("text/html; charset=utf-8", text);

function hashOf({ pages }: Catalogue, version: string): string {
  const hash = new Bun.CryptoHasher("sha256").update(version);
  for (const { path, source } of pages.values()) hash.update(`${path}\n${source}`);
  return hash.digest("hex").slice(0, 16);
}

async function fileOf(root: string, path: string): Promise<StaticFile> {
  return staticFile(typeOf(path) ?? "text/plain; charset=utf-8", new Uint8Array(await readFile(join(root, path))));
}

async function frameOf({ sections }: Catalogue, assets: Assets, version: string, searchIndex: string): Promise<Frame> {
  const address = assets.address;
  const [early, script, style] = [await address("early.js"), await address("site.js"), await address("site.css")];
  const [textStyle, font, icon] = [await address("text.css"), await address("inter.woff2"), await address("icon.svg")];
  return { version, sections, early, script, style, textStyle, font, icon, searchIndex };
}

async function apiAssets(assets: Assets) {
  const styles = [await assets.address("swagger-ui.css"), await assets.address("api.css")];
  const scripts = [await assets.address("swagger-ui.js"), await assets.address("api.js")];
  return { styles, scripts };
}

function sectionOf(sections: readonly Section[], page: Page): Section {
  const found = sections.find(
    ({ index, groups }) => index === page || groups.some((group) => group.pages.includes(page)),
  );
  if (found === undefined) throw new Error(`${page.path} is in no section`);
  return found;
}

/** Every page in its pieces. */
async function* searched({ pages, addresses, sections }: Catalogue): AsyncIterable<Searched> {
  for (const page of pages.values()) {
    const { pieces }: Rendered = render(page.path, page.source, addresses);
    yield { title: page.title, address: page.address, section: sectionOf(sections, page).title, pieces };
  }
}
