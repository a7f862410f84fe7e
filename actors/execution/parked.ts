/** News of an instance that stands still while its calls wait for people. */
import { Type } from "@sinclair/typebox";

export const InstanceParked = Type.Object({
  instance_id: Type.String(),
  /** Whether it stands still from now on, or goes on. */
  stands: Type.Boolean(),
  /** Unix ms. */
  at: Type.Integer(),
});
