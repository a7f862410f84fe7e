/** What other features take of the sign-in. */

/** Clients of the identity provider that people use. */
export interface SignInClients {
  readonly console: string;
  readonly commandLine: string;
}

export interface SignInIssuers {
  /** Issuers at other origins that a sign-in may lead to, the given tenant's among them. */
  issuersOf(tenant: string | null): Promise<readonly string[]>;
}
