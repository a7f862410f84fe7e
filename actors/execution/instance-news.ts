/** What an execution is told of its instance while it runs. */
import { type Static, Type } from "@sinclair/typebox";

/** Its calls wait for people: it stands still, or goes on. */
export const InstanceParked = Type.Object({
  instance_id: Type.String(),
  /** Whether it stands still from now on, or goes on. */
  stands: Type.Boolean(),
  /** Unix ms. */
  at: Type.Integer(),
});

/** A connection that was refused it. */
export const EgressBlocked = Type.Object({
  instance_id: Type.String(),
  host: Type.String({ maxLength: 300 }),
  port: Type.Integer(),
  reason: Type.String({ maxLength: 100 }),
});
export type EgressBlocked = Static<typeof EgressBlocked>;
