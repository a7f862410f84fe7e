/** `status.json`: how the daemon is, for who looks from outside. Replaced at each heartbeat; nothing depends on it. */
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { Nullable, Text } from "../../../../actors/kernel/schema.ts";
import { writeAtomically } from "../../../lib/files/json-file.ts";
import { readText, type StateDirectory } from "./directory.ts";

export const DaemonStatus = Type.Object({
  node_id: Text,
  pid: Type.Integer(),
  boot_id: Text,
  agent_version: Text,
  connected: Type.Boolean(),
  /** Since when it is connected, or is not. */
  since: Text,
  epoch: Nullable(Type.Integer()),
  last_heartbeat_at: Nullable(Text),
  accepting: Type.Boolean(),
  /** Why it is not: `draining`, `journal_failed`. */
  not_accepting: Type.Array(Text),
  running: Type.Integer(),
  slots: Type.Integer(),
  /** Results that the service has not acknowledged. */
  unacknowledged: Type.Integer(),
  reconnects: Type.Integer(),
  /** The way in which the last connection ended. */
  last_close: Nullable(Type.Object({ code: Type.Integer(), reason: Text, at: Text })),
  /** The last failure to connect. */
  last_error: Nullable(Text),
  /** The oldest version that the service takes commands with; null: it has not said. */
  min_version: Nullable(Text),
  /** What isolates commands: `bubblewrap`, or `none` with the reason. */
  sandbox: Text,
  journal: Type.Object({ id: Text, seq: Type.Integer() }),
  updated_at: Text,
});
export type DaemonStatus = Static<typeof DaemonStatus>;

export const writeStatus = (state: StateDirectory, status: DaemonStatus): Promise<void> =>
  writeAtomically(state.status, `${JSON.stringify(status, null, 2)}\n`);

/** Null: there is none, or none that can be read. */
export function readStatus(state: StateDirectory): DaemonStatus | null {
  try {
    const value: unknown = JSON.parse(readText(state.status) ?? "null");
    return Value.Check(DaemonStatus, value) ? value : null;
  } catch {
    return null;
  }
}
