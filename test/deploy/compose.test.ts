/** docker-compose.yml and the page that explains it name what svc has. */
import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { settings } from "../../src/node/config.ts";

const root = join(import.meta.dir, "../..");
const { svc } = parse(readFileSync(join(root, "docker-compose.yml"), "utf8")).services;
const page = readFileSync(join(root, "docs/guide/compose.md"), "utf8");
const known = new Map(Object.values(settings).map((setting) => [setting.name, setting]));

test("its settings, ports and folders are ones that svc has", () => {
  expect(Object.keys(svc.environment).filter((name) => !known.has(name))).toEqual([]);
  const port = known.get("SVC_PORT")?.defaultText;
  expect(svc.ports).toEqual([`${port}:${port}`]);
  const image = readFileSync(join(root, "Dockerfile"), "utf8");
  expect(svc.volumes).toContain("svc:/var/lib/svc");
  expect([image.includes("SVC_DATA_DIR=/var/lib/svc"), image.includes(`EXPOSE ${port}`)]).toEqual([true, true]);
  const drain = Number(known.get("SVC_DRAIN_SECONDS")?.defaultText);
  expect(Number.parseInt(svc.stop_grace_period, 10)).toBeGreaterThan(drain);
  const [profile = ""] = svc.security_opt.flatMap((option: string) => /^seccomp:(.+)$/.exec(option)?.slice(1) ?? []);
  expect(existsSync(join(root, profile))).toBe(true);
});

test("the page gives each variable that the file asks for", () => {
  const file = readFileSync(join(root, "docker-compose.yml"), "utf8");
  const asked = new Set([...file.matchAll(/\$\{(\w+):\?/g)].map(([, name = ""]) => name));
  const given = new Set([...page.matchAll(/^(\w+)=/gm)].map(([, name = ""]) => name));
  expect(asked.size).toBeGreaterThan(2);
  expect([...asked].filter((name) => !given.has(name))).toEqual([]);
});
