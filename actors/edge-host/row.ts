/** What the row of a host shows of its actor. */
import { type Static, Type } from "@sinclair/typebox";
import { Capabilities } from "../edge/frames.ts";
import { defineFact } from "../kernel/effect.ts";
import { Milliseconds, Nullable, Text } from "../kernel/schema.ts";
import { type HostState, HostStatus, NotAccepting } from "./state.ts";

export const HostRow = Type.Object({
  status: HostStatus,
  since: Milliseconds,
  epoch: Type.Integer(),
  owner_node: Nullable(Text),
  link_since: Nullable(Milliseconds),
  boot_id: Nullable(Text),
  agent_version: Nullable(Text),
  slots: Nullable(Type.Integer()),
  not_accepting: Type.Array(NotAccepting),
});
export type HostRow = Static<typeof HostRow>;

/** The row of a host changes. Capabilities are in it when they were told, whole. */
export const hostFact = defineFact(
  "edge_host",
  Type.Object({ host_id: Text, ...HostRow.properties, capabilities: Type.Optional(Capabilities) }),
);
export type HostFact = Static<typeof hostFact.fact>;

export function rowOf({
  link,
  slots,
  boot_id,
  status,
  since,
  epoch,
  agent_version,
  not_accepting,
}: HostState): HostRow {
  return {
    ...{ status, since, epoch, boot_id, agent_version, not_accepting },
    owner_node: link?.node ?? null,
    link_since: link?.since ?? null,
    slots: epoch === 0 ? null : slots,
  };
}
