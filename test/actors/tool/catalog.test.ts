import { expect, test } from "bun:test";
import { builtinTools, findTool, patternCovers, selectTools, sparedFromJudges } from "../../../actors/tool/catalog.ts";

test.each<[string, string, boolean]>([
  ["*", "cmd.run", true],
  ["fs.*", "fs.read", true],
  ["fs.*", "fsx.read", false],
  ["fs.*", "fs", false],
  ["fs.read", "fs.read", true],
  ["fs.read", "fs.read2", false],
  ["aegis.agent.*", "svc.agent.list", true],
  ["svc.workflow.wait", "aegis.workflow.wait", true],
  ["svc.*", "fs.read", false],
])("%p covers %p: %p", (pattern, name, covers) => {
  expect(patternCovers(pattern, name)).toBe(covers);
});

test("selecting keeps the catalogue's order and names what matches nothing", () => {
  const { tools, unmatched } = selectTools(["fs.r*", "fs.list", "cmd.*", "tickets.search"]);
  expect(tools.map(({ name }) => name)).toEqual(["cmd.run", "fs.list"]);
  expect(unmatched).toEqual(["fs.r*", "tickets.search"]);
  expect(selectTools([]).tools).toEqual([]);
});

test("both spellings find the same tool", () => {
  const tools = [{ name: "aegis.workflow.wait", runs: "service" as const, read_only: true }];
  expect(findTool(tools, "svc.workflow.wait")?.name).toBe("aegis.workflow.wait");
  expect(findTool([...builtinTools], "fs_read")).toBeUndefined();
});

test("a grant with skip_judge spares every tool it covers, despite others", () => {
  const { tools } = selectTools(["fs.*", "cmd.run"]);
  const spared = (...grants: readonly [name: string, skip_judge: boolean][]) =>
    sparedFromJudges(
      tools,
      grants.map(([name, skip_judge]) => ({ name, skip_judge })),
    )
      .filter(({ skip_judge }) => skip_judge === true)
      .map(({ name }) => name);
  expect(spared(["fs.*", false], ["fs.read", true], ["cmd.run", false])).toEqual(["fs.read"]);
  expect(spared(["*", true]).length).toBe(tools.length);
  expect(spared(["fs.*", false])).toEqual([]);
});
