/** Scripts, styles and the font of the site, named by their content: browsers keep them for a year. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type StaticFile, staticFile } from "../../../http/static-file.ts";

const browser = join(import.meta.dir, "../browser");

/** By the endings of names. */
export const assetTypes = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
  woff2: "font/woff2",
} as const;

type Ending = keyof typeof assetTypes;

export type AssetName =
  | "early.js"
  | "site.js"
  | "site.css"
  | "text.css"
  | "api.js"
  | "api.css"
  | "icon.svg"
  | "inter.woff2"
  | "swagger-ui.js"
  | "swagger-ui.css";

/** How each is made: bundled from this project, or read from a package as it is. */
const sources: Readonly<Record<AssetName, Source>> = {
  "early.js": bundled("early.ts"),
  "site.js": bundled("site.ts"),
  "site.css": bundled("site.css"),
  "text.css": bundled("text.css"),
  "api.js": bundled("api.ts"),
  "api.css": bundled("api.css"),
  "icon.svg": read(join(browser, "icon.svg")),
  "inter.woff2": ofPackage(() => import.meta.resolve("@fontsource-variable/inter/files/inter-latin-wght-normal.woff2")),
  "swagger-ui.js": ofPackage(() => import.meta.resolve("swagger-ui-dist/swagger-ui-bundle.js")),
  "swagger-ui.css": ofPackage(() => import.meta.resolve("swagger-ui-dist/swagger-ui.css")),
};

export interface Assets {
  /** Address of an asset below `/docs/`. @throws when it cannot be built */
  address(name: AssetName): Promise<string>;
  /** The asset at an address below `/docs/`; null: there is none, or none of this content. */
  at(address: string): Promise<StaticFile | null>;
}

/** Each is made when it is first asked for. */
export function createAssets(): Assets {
  const made = new Map<AssetName, Promise<StaticFile>>();
  const make = (name: AssetName): Promise<StaticFile> => {
    const known = made.get(name);
    if (known !== undefined) return known;
    const file = sources[name](nameOf).then((bytes) => staticFile(assetTypes[name.split(".").at(-1) as Ending], bytes));
    // What failed is tried again by the next reader.
    file.catch(() => made.delete(name));
    made.set(name, file);
    return file;
  };
  const nameOf: NameOf = async (name) => {
    const { hash } = await make(name);
    return name.replace(/\.(\w+)$/, `.${hash}.$1`);
  };
  return {
    address: async (name) => `assets/${await nameOf(name)}`,
    async at(address) {
      const [, stem = "", hash = "", ending = ""] = /^assets\/([a-z-]+)\.([0-9a-f]{16})\.(\w+)$/.exec(address) ?? [];
      const name = `${stem}.${ending}`;
      if (!isAsset(name)) return null;
      const file = await make(name);
      return file.hash === hash ? file : null;
    },
  };
}

const isAsset = (name: string): name is AssetName => Object.hasOwn(sources, name);

/** The name of an asset with its hash, as assets call one another. */
type NameOf = (name: AssetName) => Promise<string>;
type Source = (nameOf: NameOf) => Promise<Uint8Array<ArrayBuffer>>;

function bundled(name: string): Source {
  return async (nameOf) => {
    const isStyle = name.endsWith(".css");
    const built = await Bun.build({
      entrypoints: [join(browser, name)],
      target: "browser",
      format: isStyle ? "esm" : "iife",
      minify: true,
      external: ["*.woff2"],
    });
    const [output] = built.outputs;
    if (output === undefined) throw new Error(`${name} of the documentation has no output`);
    const text = await output.text();
    // The font stands beside its style sheet, under its hashed name.
    return new TextEncoder().encode(
      isStyle && text.includes("inter.woff2") ? text.replaceAll("inter.woff2", await nameOf("inter.woff2")) : text,
    );
  };
}

function read(path: string): Source {
  return async () => new Uint8Array(await readFile(path));
}

/** @param find gives its URL; it throws where the package is not installed */
function ofPackage(find: () => string): Source {
  return async () => new Uint8Array(await readFile(fileURLToPath(find())));
}
