/** Who registered a version, as it is kept with it: its schedules start runs for them. */
import type { Identity } from "../../../../actors/identity/identity.ts";
import { type Starter, starterOf } from "../../../../actors/identity/starter.ts";

export interface Deployer {
  readonly starter: Starter;
  readonly email: string | null;
}

export const deployerOf = ({ identity }: { readonly identity: Identity }): Deployer => ({
  starter: starterOf(identity),
  email: identity.email,
});
