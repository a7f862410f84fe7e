/**
 * Builds the console into a folder of static files: `bun src/console/build.ts <folder>`.
 * Names carry a hash of what is in them; beside each file stands its compressed form.
 */
import { copyFile, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import tailwind from "bun-plugin-tailwind";

/** What a server of the files has to know: `index.json` in their folder. */
interface Index {
  /** The page that every address of the console answers. `{base}` stands for the address of the console. */
  readonly page: string;
  readonly files: readonly string[];
}

const here = import.meta.dir;

/** @throws AggregateError for sources that do not build */
async function build(folder: string): Promise<void> {
  const draft = `${folder}.${process.pid}`;
  await mkdir(draft, { recursive: true });
  const options: Omit<Bun.BuildConfig, "entrypoints"> = {
    target: "browser",
    format: "esm",
    minify: true,
    splitting: true,
    define: { "process.env.NODE_ENV": '"production"' },
    naming: { entry: "[name]-[hash].[ext]", chunk: "[name]-[hash].[ext]", asset: "[name]-[hash].[ext]" },
    plugins: [tailwind],
    external: ["*.woff2"],
  };
  const [app, worker] = await Promise.all([
    Bun.build({ ...options, entrypoints: [join(here, "main.tsx")] }),
    Bun.build({ ...options, entrypoints: [join(here, "events-worker.ts")] }),
  ]);
  const files: string[] = [];
  for (const output of [...app.outputs, ...worker.outputs]) {
    const name = output.path.replace(/^\.\//, "");
    const bytes = new Uint8Array(await output.arrayBuffer());
    await writeFile(join(draft, name), bytes);
    if (!name.endsWith(".woff2")) {
      await writeFile(join(draft, `${name}.gz`), gzipSync(bytes, { level: 9 }));
      const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };
      await writeFile(join(draft, `${name}.br`), brotliCompressSync(bytes, quality));
    }
    files.push(name);
  }
  await copyFile(join(here, "icon.svg"), join(draft, "icon.svg"));
  const font = Bun.resolveSync("@fontsource-variable/inter/files/inter-latin-wght-normal.woff2", here);
  await copyFile(font, join(draft, "inter-latin.woff2"));
  files.push("icon.svg", "inter-latin.woff2");
  const entry = nameOf(app, "main", "js");
  const index: Index = { page: page(entry, nameOf(app, "main", "css"), nameOf(worker, "events-worker", "js")), files };
  await writeFile(join(draft, "index.json"), JSON.stringify(index));
  await rename(draft, folder).catch(async (error: NodeJS.ErrnoException) => {
    // Another process has built the same meanwhile.
    if (error.code !== "ENOTEMPTY" && error.code !== "EEXIST") throw error;
    await rm(draft, { recursive: true, force: true });
  });
}

function nameOf(built: Bun.BuildOutput, name: string, extension: string): string {
  // Code that pages share may be in a file of the same name: the page begins with the entry.
  const found = built.outputs.find(
    ({ path, kind }) =>
      path.startsWith(`./${name}-`) && path.endsWith(`.${extension}`) && (extension !== "js" || kind === "entry-point"),
  );
  if (found === undefined) throw new Error(`the console has no ${name}.${extension}`);
  return found.path.slice(2);
}

const page = (script: string, style: string, worker: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<base href="{base}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="events-worker" content="assets/${worker}">
<title>svc</title>
<link rel="icon" href="assets/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="assets/${style}">
<script type="module" src="assets/${script}"></script>
</head>
<body><div id="app"></div><noscript>The console needs JavaScript. The same is to be had with curl: see <a href="../docs">the documentation</a>.</noscript></body>
</html>
`;

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error("usage: bun src/console/build.ts <folder>");
await build(folder);
