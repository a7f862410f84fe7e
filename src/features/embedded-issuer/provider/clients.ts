/** The clients of a realm: the installation's own programs, and in `svc-system` its machines. */
import type { ClientMetadata } from "oidc-provider";
import type { Secret } from "../../../lib/secret.ts";
import type { SignInClients } from "../../sign-in/port.ts";
import { accountClientId } from "../pages/frame.ts";

export interface IssuerClient {
  readonly metadata: ClientMetadata;
  /** Role claim of a machine's tokens. */
  readonly role: string | null;
}

/** A machine that gets tokens by its secret. */
export interface MachineClient {
  readonly clientId: string;
  readonly secret: Secret;
  readonly role: string | null;
}

const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code";

export function clientsOf(options: {
  readonly publicUrl: string;
  readonly issuer: string;
  readonly clientIds: SignInClients;
  /** None in realms other than the system's. */
  readonly machines: readonly MachineClient[];
}): readonly IssuerClient[] {
  const { publicUrl, issuer, clientIds, machines } = options;
  const people = { token_endpoint_auth_method: "none", response_types: ["code"] } as const;
  const persons: ClientMetadata[] = [
    {
      ...people,
      client_id: clientIds.console,
      client_name: "the console",
      grant_types: ["authorization_code", "refresh_token"],
      redirect_uris: [`${publicUrl}/console`, `${publicUrl}/console/`, `${publicUrl}/console/callback`],
      post_logout_redirect_uris: [`${publicUrl}/console`, `${publicUrl}/console/`],
    },
    {
      ...people,
      client_id: clientIds.commandLine,
      client_name: "the command line (svc)",
      application_type: "native",
      grant_types: ["authorization_code", "refresh_token", deviceGrant],
      // At any port of the loopback address (RFC 8252, 7.3).
      redirect_uris: ["http://127.0.0.1/callback", "http://[::1]/callback", "http://localhost/callback"],
    },
    {
      ...people,
      client_id: accountClientId,
      client_name: "your account",
      grant_types: ["authorization_code"],
      redirect_uris: [`${issuer}/account`],
    },
  ];
  return [
    ...persons.map((metadata) => ({ metadata, role: null })),
    ...machines.map(({ clientId, secret, role }) => ({
      metadata: {
        client_id: clientId,
        client_secret: secret.reveal(),
        token_endpoint_auth_method: "client_secret_basic" as const,
        grant_types: ["client_credentials"],
        response_types: [],
        redirect_uris: [],
      },
      role,
    })),
  ];
}
