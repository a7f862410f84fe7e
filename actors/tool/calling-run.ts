/** A workflow run whose state calls a tool: whose the call is, and who hears of it. */
import { type Static, Type } from "@sinclair/typebox";
import { Text } from "../kernel/schema.ts";

export const CallingRun = Type.Object({
  /** As records and approvals name it. */
  id: Text,
  root_execution_id: Text,
  workflow_id: Text,
  workflow_name: Text,
  state_name: Text,
  visit: Type.Integer({ minimum: 1 }),
  /** The actor that is told: the run, or the record of items that a Map has made. */
  owner: Type.Object({ kind: Text, key: Text }),
  /** The call begins a fleet run, which tells the same actor of itself. */
  sends: Type.Optional(Type.Literal(true)),
});
export type CallingRun = Static<typeof CallingRun>;
