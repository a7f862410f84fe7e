/** A workspace on a real directory, a directory beside it that nothing may reach, and the fs.* tools over the first. */
import { afterEach, beforeEach } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFsTools } from "../../../src/features/tools/fs/provider.ts";
import type { ToolOutcome } from "../../../src/features/tools/port.ts";
import { viewOf } from "../../../src/lib/tool-files/view-spec.ts";
import { requestOf } from "./request.ts";

/** Both are new for each test. */
export const at = { host: "", outside: "" };

/** To be called once by a file of tests. */
export function openWorkspace(): void {
  beforeEach(() => {
    const base = mkdtempSync(join(tmpdir(), "svc-fs-"));
    at.host = join(base, "workspace");
    at.outside = join(base, "outside");
    mkdirSync(at.host);
    mkdirSync(at.outside);
    writeFileSync(join(at.outside, "secret"), "secret");
  });
  afterEach(() => rmSync(join(at.host, ".."), { recursive: true, force: true }));
}

export const tools = createFsTools(async () => viewOf(at.host));

export function call(
  name: string,
  given: Record<string, unknown>,
  signal = new AbortController().signal,
): Promise<ToolOutcome> {
  return tools.call(requestOf(name, given, { signal }));
}

/** The result of a call that succeeds. */
export async function ok(name: string, given: Record<string, unknown>): Promise<Record<string, unknown>> {
  const outcome = await call(name, given);
  if (outcome.status !== "succeeded") throw new Error(JSON.stringify(outcome));
  return outcome.result;
}

/** The code that a call fails with. */
export async function code(name: string, given: Record<string, unknown>): Promise<string> {
  const outcome = await call(name, given);
  return outcome.status === "succeeded" ? "succeeded" : outcome.code;
}
