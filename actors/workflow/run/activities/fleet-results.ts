/** What became of the hosts of a fleet run that a state waited for. */
import { type Static, Type } from "@sinclair/typebox";
import { senderMessages } from "../../../fleet-run/messages.ts";
import { defineActivity, type Outcome, outcomeOf } from "../../../kernel/activity.ts";
import { AnyJson } from "../../../kernel/json.ts";
import { message } from "../../../kernel/message.ts";
import { Nullable, Text } from "../../../kernel/schema.ts";

/** Of a host, by its last attempt. */
export const HostResult = Type.Object({
  node_id: Text,
  name: Text,
  /** As of commands: `ok`, `err`, `timed_out`, … */
  status: Text,
  exit_code: Nullable(Type.Integer()),
  error_kind: Nullable(Text),
  error_message: Nullable(Text),
  duration_ms: Nullable(Type.Integer()),
  /** The end of each. */
  stdout: Text,
  stderr: Text,
  /** What the tool itself says; null: nothing, or more than all results together may hold. */
  structured: AnyJson,
  /** Something of it was left out. */
  truncated: Type.Boolean(),
});
export type HostResult = Static<typeof HostResult>;

/** Outcome: `fleet_read`. Reads the results of an ended fleet run, in the order of its hosts. */
export const fleetResults = defineActivity({
  name: "workflow.fleet_results",
  input: Type.Object({ fleet_command_id: Text }),
  output: Type.Object({ results: Type.Array(HostResult) }),
});
export type FleetRead = Outcome<typeof fleetResults>;

export const fleetMessages = { fleet_read: message({ body: outcomeOf(fleetResults) }), ...senderMessages };
