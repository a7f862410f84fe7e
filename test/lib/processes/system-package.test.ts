import { expect, test } from "bun:test";
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findOrInstall } from "../../../src/lib/processes/system-package.ts";
import { scratch } from "../../harness/scratch.ts";

/** A machine with a package manager of its own, which notes what it is told and installs what `brings` says. */
function machine(manager: "apt-get" | "brew", brings: string | null) {
  const path = scratch("machine");
  const program = (name: string, text: string) => {
    writeFileSync(join(path, name), `#!/bin/sh\n${text}\n`);
    chmodSync(join(path, name), 0o755);
  };
  const installs = brings === null ? "exit 100" : `cp "$0" ${join(path, brings)}`;
  program(manager, `echo "$*" >> ${join(path, "told")}; case "$*" in *install*) ${installs} ;; esac`);
  const told = () =>
    existsSync(join(path, "told")) ? readFileSync(join(path, "told"), "utf8").trim().split("\n") : [];
  const lines: string[] = [];
  const find = (root: boolean) =>
    findOrInstall({
      program: "svc-holder",
      packages: { apt: "holder", brew: null },
      path,
      root,
      log: (line) => void lines.push(line),
    });
  return { path, find, told, lines };
}

test("a missing program is installed by the package manager, once, and said so", async () => {
  const { path, find, told, lines } = machine("apt-get", "svc-holder");
  expect(await find(true)).toBe(join(path, "svc-holder"));
  expect(told().map((line) => line.split(" ")[0])).toEqual(["update", "install"]);
  expect(told()[1]).toEndWith(" holder");
  expect(lines).toHaveLength(1);
  expect(await find(true)).toBe(join(path, "svc-holder"));
  expect(told()).toHaveLength(2);
});

test("only root installs, and only what the package manager has", async () => {
  for (const [manager, root] of [
    ["apt-get", false],
    ["brew", true],
  ] as const) {
    const { find, told, lines } = machine(manager, "svc-holder");
    expect(await find(root)).toBeNull();
    expect([told(), lines]).toEqual([[], []]);
  }
});

test("an installation that fails leaves the program missing", async () => {
  const { find, told } = machine("apt-get", null);
  expect(await find(true)).toBeNull();
  expect(told()).toHaveLength(2);
});
