/** States that run commands, what they ask for, and ends of commands. */
import { expect } from "bun:test";
import { Value } from "@sinclair/typebox/value";
import type { Json } from "../../../../actors/kernel/json.ts";
import { CommandRun } from "../../../../actors/workflow/run/activities.ts";
import type { Cast } from "../cast.ts";
import { ways } from "../fixture.ts";

export type Values = Record<string, Json>;

export const followed = ways(["on_success", "DONE"], ["on_failure", "SORRY"]);

export const commandsOf = (cast: Cast): CommandRun[] =>
  cast.sim.performed
    .filter(({ activity }) => activity === "workflow.command")
    .map(({ input }) => {
      expect([...Value.Errors(CommandRun, input)]).toEqual([]);
      return input as unknown as CommandRun;
    });

export function commandOf(cast: Cast): CommandRun {
  const [only, ...others] = commandsOf(cast);
  if (only === undefined || others.length > 0) throw new Error(`${others.length} commands too many`);
  return only;
}

const endOf = (change: Values = {}): Values => ({
  status: "success",
  exit_code: 0,
  stdout: "out",
  stderr: "",
  duration_ms: 12,
  timed_out: false,
  truncated: false,
  attempts: 1,
  error: null,
  warnings: [],
  ...change,
});

export function ends(cast: Cast, change: Values = {}, command = commandOf(cast)): Cast {
  cast.sim.succeed(`command:${command.instance_id}`, endOf(change));
  return cast.settle();
}

export const volume = (name: string, mount_path: string) => ({
  name,
  volume_id: `v-${name}`,
  mount_path,
  storage_class: "ephemeral" as const,
  access_mode: "read-write" as const,
  size_limit_bytes: 1024,
  ttl_ms: 1000,
});
