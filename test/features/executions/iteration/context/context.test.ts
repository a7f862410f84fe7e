/** Loading `spec.context`: real files, real servers, and what agents may put in the way. */
import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { ContextItem, NetworkSpec } from "../../../../../actors/agent/manifest/spec.ts";
import { parseHostPattern } from "../../../../../actors/policy/network/pattern.ts";
import { type ContextSources, loadContext } from "../../../../../src/features/executions/iteration/context/context.ts";
import { viewOf } from "../../../../../src/lib/tool-files/view-spec.ts";
import { Receiver } from "../../../../harness/outside/receiver.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-context-"));
const receiver = new Receiver();
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await receiver.stop();
});

let count = 0;
/** A workspace with these files. */
function workspace(files: Readonly<Record<string, string | Uint8Array>> = {}): string {
  count += 1;
  const root = join(folder, `w${count}`);
  mkdirSync(root);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), content);
  }
  return root;
}

const names: Record<string, string[]> = { "page.test": ["127.0.0.1"], "other.test": ["127.0.0.1"] };
const here = (...allowlist: string[]): NetworkSpec => ({ mode: "allow", allowlist, denylist: [] });
const listed = here(`page.test:${receiver.port}`, `127.0.0.1:${receiver.port}`);

function load(items: readonly ContextItem[], change: Partial<ContextSources> & { readonly root?: string } = {}) {
  const { root = workspace(), ...sources } = change;
  return loadContext(items, {
    tenant: "free",
    view: async () => viewOf(root),
    network: null,
    outside: {
      resolve: async (name) => names[name] ?? [],
      allowPrivate: [parseHostPattern("127.0.0.1")].filter((pattern) => pattern !== null),
    },
    signal: new AbortController().signal,
    ...sources,
  });
}
const text = (content: string, description: string | null = null): ContextItem => ({
  type: "text",
  content,
  description,
});
const file = (path: string, description: string | null = null): ContextItem => ({ type: "file", path, description });
const directory = (path: string): ContextItem => ({ type: "directory", path, description: null });
const url = (path: string, host = "page.test"): ContextItem => ({
  type: "url",
  url: receiver.url(path, host),
  description: null,
});

describe("what is there", () => {
  test("items in their order, each with where it is from and what it is for", async () => {
    receiver.replies.set("/page", () => new Response("from the web\n"));
    const root = workspace({ "notes/a.md": "from a file\n" });
    const items = [text("plain"), text("told", "Rules"), file("/workspace/notes/a.md", "Notes"), url("/page")];
    expect(await load(items, { root, network: listed })).toEqual({
      text: [
        "plain",
        "Rules\n\ntold",
        "## /workspace/notes/a.md\nNotes\n\nfrom a file",
        `## ${receiver.url("/page", "page.test")}\n\nfrom the web`,
      ].join("\n\n"),
      warnings: [],
    });
  });

  test("a directory: its text files by name, each under its path, others left out", async () => {
    const root = workspace({
      "docs/b.md": "second",
      "docs/a.md": "first\n",
      "docs/deep/er/c.md": "third",
      "docs/picture": new Uint8Array([0, 1, 2]),
      "other.md": "elsewhere",
    });
    symlinkSync("/etc", join(root, "docs/etc"));
    symlinkSync("../other.md", join(root, "docs/link.md"));
    const { text: loaded, warnings } = await load([directory("/workspace/docs")], { root });
    expect(loaded).toBe("## /workspace/docs\n\n### a.md\n\nfirst\n\n### b.md\n\nsecond\n\n### deep/er/c.md\n\nthird");
    expect(warnings).toEqual([]);
    expect((await load([directory("/workspace")], { root: workspace() })).warnings).toEqual([]);
  });
});

test("volumes within one another, before anything is mounted", async () => {
  const outer = workspace({ "a.md": "outer" });
  const inner = workspace({ "b.md": "inner" });
  const view = async () => ({
    mounts: [...viewOf(outer).mounts, ...viewOf(inner, "/workspace/data/in").mounts],
    rules: null,
  });
  const { text: loaded, warnings } = await load([file("/workspace/data/in/b.md"), directory("/workspace")], { view });
  expect(warnings).toEqual([]);
  expect(loaded).toContain("## /workspace/data/in/b.md\n\ninner");
  expect(loaded).toContain("### a.md\n\nouter\n\n### data/in/b.md\n\ninner");
});

describe("what is not", () => {
  const root = workspace({ "a.md": "a", binary: new Uint8Array([104, 0, 105]), "bad.txt": new Uint8Array([255, 254]) });
  symlinkSync("/etc/passwd", join(root, "out"));
  symlinkSync("/etc", join(root, "outside"));
  symlinkSync("loop", join(root, "loop"));
  test.each<[string, ContextItem]>([
    ["no such file", file("/workspace/none")],
    ["a directory as a file", file("/workspace")],
    ["a file as a directory", directory("/workspace/a.md")],
    ["a link out", file("/workspace/out")],
    ["a link out on the way", file("/workspace/outside/passwd")],
    ["a directory behind a link out", directory("/workspace/outside")],
    ["..", file("/workspace/../etc/passwd")],
    ["another root", file("/etc/passwd")],
    ["a loop of links", file("/workspace/loop")],
    ["NUL bytes", file("/workspace/binary")],
    ["no UTF-8", file("/workspace/bad.txt")],
  ])("%s: a warning, the rest is loaded", async (_, item) => {
    const { text: loaded, warnings } = await load([text("before"), item, text("after")], { root });
    expect(loaded).toBe("before\n\nafter");
    expect(warnings).toMatchObject([{ code: "context_unavailable" }]);
    expect(warnings[0]?.message).toStartWith("spec.context.1: ");
    expect(warnings[0]?.message).not.toContain(folder);
  });

  test("one warning names all of them", async () => {
    const { warnings } = await load([file("/workspace/x"), text("a"), file("/workspace/y")], { root });
    expect(warnings.length).toBe(1);
    expect(warnings[0]?.message).toContain("spec.context.0: ");
    expect(warnings[0]?.message).toContain("spec.context.2: ");
  });

  test("the agent's own policy binds it", async () => {
    const inner = { read: ["/workspace/open/inner"], write: [], read_only: false };
    const rules = { read: ["/workspace/open/**"], write: [], read_only: false };
    const secret = workspace({ "open/a.md": "open", "closed/b.md": "closed" });
    const view = async () => ({ ...viewOf(secret), rules });
    const items = [file("/workspace/open/a.md"), file("/workspace/closed/b.md"), directory("/workspace")];
    const { text: loaded, warnings } = await load(items, { view });
    // Where a directory would lead to what may be read, a file stays closed.
    const onTheWay = workspace({ open: "closed" });
    const shown = await load([file("/workspace/open")], { view: async () => ({ ...viewOf(onTheWay), rules: inner }) });
    expect(shown.text).toBe("");
    expect(loaded).not.toContain("closed");
    expect(loaded).toContain("### open/a.md");
    expect(warnings[0]?.message).toContain("spec.context.1");
  });
});

describe("addresses", () => {
  receiver.replies.set("/ok", () => new Response("yes"));
  receiver.replies.set("/gone", () => new Response("no", { status: 404 }));
  receiver.replies.set("/bytes", () => new Response(new Uint8Array([0, 1])));
  receiver.replies.set("/away", () => Response.redirect(receiver.url("/ok", "other.test"), 302));
  receiver.replies.set("/meta", () => Response.redirect("http://169.254.169.254/latest", 302));

  test.each<[string, NetworkSpec | null, ContextItem, string]>([
    ["no policy", null, url("/ok"), "no_network"],
    ["mode none", { mode: "none", allowlist: ["page.test"], denylist: [] }, url("/ok"), "no_network"],
    ["not listed", here("else.test"), url("/ok"), "not_allowlisted"],
    ["port not listed", here("page.test", "127.0.0.1"), url("/ok"), "port_not_allowed"],
    ["name listed, its private address not", here(`page.test:${receiver.port}`), url("/ok"), "loopback_address"],
    ["denied", { ...listed, denylist: ["page.test"] }, url("/ok"), "denylisted"],
    ["redirect to what is not listed", listed, url("/away"), "not_allowlisted"],
    ["redirect to metadata", listed, url("/meta"), "not_allowlisted"],
    ["404", listed, url("/gone"), "status 404"],
    ["no text", listed, url("/bytes"), "no UTF-8 text"],
  ])("%s: unavailable", async (_, network, item, why) => {
    const { text: loaded, warnings } = await load([item], { network });
    expect(loaded).toBe("");
    expect(warnings).toMatchObject([{ code: "context_unavailable" }]);
    expect(warnings[0]?.message).toContain(why);
  });

  test("an abandoned load ends with the signal's reason", async () => {
    receiver.replies.set("/slow", () => new Promise<Response>(() => {}));
    const controller = new AbortController();
    const loading = load([url("/slow")], { network: listed, signal: controller.signal });
    controller.abort("abandoned");
    expect(await loading.catch((error: unknown) => error)).toBe("abandoned");
  });
});

describe("bounds", () => {
  const big = `x${"é".repeat(200_000)}`;

  test("256 KiB of each item, never half a character", async () => {
    receiver.replies.set("/big", () => new Response(big));
    const root = workspace({ "big.md": big, "docs/a.md": big, "docs/b.md": "never" });
    const items = [file("/workspace/big.md"), url("/big"), directory("/workspace/docs")];
    const { text: loaded, warnings } = await load(items, { root, network: listed });
    expect(loaded).not.toContain("\ufffd");
    expect(loaded).not.toContain("never");
    expect(loaded.match(/é/g)?.length).toBeLessThanOrEqual(3 * 131_072);
    expect(loaded.match(/é/g)?.length).toBeGreaterThan(3 * 131_000);
    expect(warnings).toMatchObject([{ code: "context_truncated" }]);
    expect(warnings[0]?.message.match(/cut to 256 KiB/g)?.length).toBe(3);
  });

  test("1 MiB of all", async () => {
    const root = workspace({ big: "x".repeat(262_144) });
    const { text: loaded, warnings } = await load([...Array(6).fill(file("/workspace/big")), text("last")], { root });
    expect(Buffer.byteLength(loaded)).toBeLessThanOrEqual(1_048_576);
    expect(Buffer.byteLength(loaded)).toBeGreaterThan(1_048_000);
    expect(loaded).not.toContain("last");
    expect(warnings[0]?.message).toContain("spec.context.6");
    const { text: even } = await load([text("x"), text("é".repeat(600_000))]);
    expect(even.replaceAll("é", "")).toBe("x\n\n");
  });
});
