/** Every block of shell in README.md and `docs/` runs, page by page, in order, on a fresh service. */
import { afterAll, beforeAll, test } from "bun:test";
import { blocksOf, pages } from "./blocks.ts";
import { read, Service } from "./reader.ts";

/** Pages whose callers are people with tenants of their own, or who look after all tenants. */
const ownTenants = new Set(["docs/guide/teams.md", "docs/guide/billing.md", "docs/guide/tenants.md"]);

const byPage = new Map(pages.map((page) => [page, blocksOf(page)] as const).filter(([, blocks]) => blocks.length > 0));
const only = process.env.DOCS_PAGE;

let service: Service;
beforeAll(async () => {
  service = await Service.start({ SVC_EGRESS_ALLOW_PRIVATE: '["127.0.0.1"]' });
}, 60_000);
afterAll(() => service?.stop());

test.concurrent.each([...byPage.keys()].filter((page) => only === undefined || page.includes(only)))(
  "the commands of %s work",
  async (page) => {
    const blocks = byPage.get(page) ?? [];
    const tenant = ownTenants.has(page) ? null : page.replace(/\W+/g, "-").toLowerCase();
    const { failed, said } = await read(blocks, service, tenant);
    if (process.env.DOCS_SAID) console.log(said);
    if (failed !== null) throw new Error(`${page}:${failed.line}\n${failed.text}\n${said}`);
  },
  60_000,
);
