/** A record of a tenant changed: what those who follow the tenant's records are told of it. */

/** In the order in which the API names them. */
export const changeTypes = ["execution", "run", "approval", "stimulus", "fleet_run", "host", "agent", "node"] as const;
export type ChangeType = (typeof changeTypes)[number];

/** The scope that reads records of the type: without it a caller is told of none. */
export const readScopes: Readonly<Record<ChangeType, string>> = {
  execution: "execution:read",
  run: "workflow:read",
  approval: "approval:read",
  stimulus: "stimulus:read",
  fleet_run: "aegis.edge.fleet.read",
  host: "aegis.edge.hosts.read",
  agent: "agent:read",
  node: "node:read",
};

/** The status of a record that is no more. */
export const deleted = "deleted";

/**
 * When a change is told: `always`; `first`: where the record was not told of yet; `differs`: where another status was told
 * of, for what several nodes find out.
 */
export type Telling = "always" | "first" | "differs";

export interface RecordChange {
  readonly type: ChangeType;
  readonly id: string;
  /** As the record's own routes show it. */
  readonly status: string;
  /** Unix milliseconds. */
  readonly at: number;
  /** Grows with each change of the record; null: in the order in which changes are told. */
  readonly rev: number | null;
  readonly telling: Telling;
}

/** The name of a record among all of its tenant. */
export const recordOf = ({ type, id }: Pick<RecordChange, "type" | "id">): string => `${type} ${id}`;

/** @returns null for what names no record of a known type */
export function readRecord(name: string): Pick<RecordChange, "type" | "id"> | null {
  const space = name.indexOf(" ");
  const type = changeTypes.find((one) => one === name.slice(0, space));
  return type === undefined ? null : { type, id: name.slice(space + 1) };
}
