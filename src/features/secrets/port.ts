/** What other features may ask of secrets beside what definitions refer to. */
import type { SecretReference } from "../../../actors/manifest/references.ts";
import type { ReferenceFault, ResolvedReference } from "../references/port.ts";

export interface SecretValues {
  /**
   * What a reference that stands in a tenant's settings means now, or why it cannot be used. Nothing is audited.
   * @throws Problem 503 where the store is away, 500 `decryption_failed`
   */
  meaning(tenant: string, reference: SecretReference): Promise<ResolvedReference | ReferenceFault>;
}
