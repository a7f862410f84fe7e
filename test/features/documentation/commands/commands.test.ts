/** Every block of shell in README.md and `docs/` runs, page by page, in order, on a fresh service. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Block, blocksOf, pages, startsService } from "./blocks.ts";
import { read, Service } from "./reader.ts";

const byPage = new Map(pages.map((page) => [page, blocksOf(page)] as const).filter(([, blocks]) => blocks.length > 0));
const all = [...byPage.values()].flat();

/** Pages whose callers are people with tenants of their own, or who look after all tenants. */
const ownTenants = new Set([
  "docs/guide/backup.md",
  "docs/guide/billing.md",
  "docs/guide/incidents.md",
  "docs/guide/models.md",
  "docs/guide/operate.md",
  "docs/guide/teams.md",
  "docs/guide/tenants.md",
]);

/** How many blocks of a page run nowhere here; each says why in its page. No other page has one. */
const exceptions: Readonly<Record<string, number>> = {
  "README.md": 1,
  "docs/guide/audit-log.md": 1,
  "docs/guide/backup.md": 2,
  "docs/guide/billing.md": 1,
  "docs/guide/compose.md": 3,
  "docs/guide/container-images.md": 1,
  "docs/guide/credentials.md": 2,
  "docs/guide/edge-hosts.md": 3,
  "docs/guide/embedded-issuer.md": 3,
  "docs/guide/identity-providers.md": 4,
  "docs/guide/kubernetes.md": 4,
  "docs/guide/models.md": 3,
  "docs/guide/operate.md": 1,
  "docs/guide/typed-client.md": 1,
};

test("few blocks are not run, and each says what it would need", () => {
  const found = Object.groupBy(
    all.filter(({ notRun }) => notRun !== null),
    ({ page }) => page,
  );
  expect(Object.fromEntries(Object.entries(found).map(([page, blocks]) => [page, blocks?.length]))).toEqual(exceptions);
  expect(all.filter(({ notRun }) => notRun !== null && notRun.length < 15)).toEqual([]);
  expect(all.length).toBeGreaterThan(100);
});

test("no block has a placeholder that a reader would have to fill in", () => {
  const isOpen = ({ text, notRun }: Block) => notRun === null && /<[a-z_]+>|…(?!"|\})/.test(text);
  expect(all.filter(isOpen).map(({ page, line }) => `${page}:${line}`)).toEqual([]);
});

test("what is not run is written without a fault", async () => {
  const faults = await Promise.all(
    all
      .filter((block) => block.notRun !== null)
      .map(async ({ page, line, text }) => {
        const child = Bun.spawn(["sh", "-n"], { stdin: new Blob([text]), stderr: "pipe" });
        return (await child.exited) === 0 ? [] : [`${page}:${line}: ${await new Response(child.stderr).text()}`];
      }),
  );
  expect(faults.flat()).toEqual([]);
});

test("blocks are read with their marks, also within lists and behind longer fences", () => {
  const source =
    "1. a\n\n   ```sh\n   one\n   ```\n\n<!-- ends with: 4 -->\n\n````sh\n```\n````\n\n```yaml\nno: 1\n```\n";
  expect(blocksOf("x.md", source)).toEqual([
    { page: "x.md", line: 3, text: "one", notRun: null, endsWith: 0 },
    { page: "x.md", line: 9, text: "```", notRun: null, endsWith: 4 },
  ]);
  const [marked] = blocksOf("x.md", "<!-- not run: needs a moon -->\n\n```sh\nland\n```\n");
  expect(marked?.notRun).toBe("needs a moon");
  expect(startsService({ page: "", line: 0, text: "SVC_NODES=auto npm start", notRun: null, endsWith: 0 })).toBe(true);
});

describe("on a fresh service", () => {
  let service: Service;
  beforeAll(async () => {
    // Pages say where this machine has to be allowed as a target.
    service = await Service.start({ SVC_EGRESS_ALLOW_PRIVATE: '["127.0.0.1"]' });
  }, 60_000);
  afterAll(() => service?.stop());

  const chosen = process.env.DOCS_PAGE ?? "";
  test.concurrent.each([...byPage.keys()].filter((page) => page.includes(chosen)))(
    "the commands of %s work",
    async (page) => {
      const tenant = ownTenants.has(page) ? null : page.replace(/\W+/g, "-").toLowerCase();
      const { failed, said } = await read(byPage.get(page) ?? [], service, tenant);
      if (failed !== null) throw new Error(`${page}:${failed.line}\n${failed.text}\n${said}`);
    },
    // All pages run at once, perhaps beside other tests.
    240_000,
  );
});
