/** What other features take of the sign-in. */

/** Clients of the identity provider that people use. */
export interface SignInClients {
  readonly console: string;
  readonly commandLine: string;
}
