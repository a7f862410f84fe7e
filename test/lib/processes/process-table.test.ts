import { expect, test } from "bun:test";
import { commandLine, identify, isAlive, processes } from "../../../src/lib/processes/process-table.ts";

test("a process is told from the next one with its pid", () => {
  const here = identify(process.pid);
  expect(here).not.toBeNull();
  expect(isAlive({ pid: process.pid, born: here?.born ?? "" })).toBe(true);
  expect(isAlive({ pid: process.pid, born: "0" })).toBe(false);
  expect(identify(2 ** 22 + 1)).toBeNull();
});

test("this process stands in the table, with its parent", () => {
  expect(processes().find(({ pid }) => pid === process.pid)).toMatchObject({ parent: process.ppid });
  expect(commandLine(process.pid)).toContain("bun");
  expect(commandLine(2 ** 22 + 1)).toBe("");
});
