/** What the node that judges a manifest can give, as far as manifests may ask for it. */
export interface WorkflowOffer {
  /** Isolations, `inherit` aside. */
  readonly isolations: readonly string[];
  /** What `inherit` means here. */
  readonly defaultIsolation: string;
  /** Commands and agents may reach every public host. */
  readonly openEgress: boolean;
  /** Whether a container may run as root. */
  readonly rootAllowed: boolean;
  /** Whether mail can be sent. */
  readonly email: boolean;
  /** Registries that images may come from, as in agent manifests; null: any. */
  readonly imageRegistries: readonly string[] | null;
}
