/** Signs a person in at the issuer of the service: with the browser on this machine, or with one on any other. */
import {
  type AuthorizationServer,
  authorizationCodeGrantRequest,
  calculatePKCECodeChallenge,
  deviceAuthorizationRequest,
  deviceCodeGrantRequest,
  generateRandomCodeVerifier,
  generateRandomState,
  None,
  processAuthorizationCodeResponse,
  processDeviceAuthorizationResponse,
  processDeviceCodeResponse,
  ResponseBodyError,
  type TokenEndpointResponse,
  validateAuthResponse,
} from "oauth4webapi";
import { Failure } from "../process/exit.ts";
import type { Io } from "../process/io.ts";
import { discovered, transport } from "./refresh.ts";

export interface SignIn {
  readonly issuer: string;
  readonly clientId: string;
  readonly scopes: readonly string[];
  readonly io: Io;
  /** Told what the person has to do. */
  readonly tell: (step: Step) => void;
}
export type Step =
  | { readonly kind: "browser"; readonly url: string; readonly isOpened: boolean }
  | { readonly kind: "device"; readonly url: string; readonly code: string; readonly isOpened: boolean };

/** How long a person may take, ms. */
const patienceMs = 300_000;

const page = `<!doctype html><meta charset="utf-8"><title>svc</title>
<body style="font:16px system-ui;margin:4rem auto;max-width:30rem"><h1>MESSAGE</h1><p>You may close this window.</p>`;

/**
 * Authorization code with PKCE; the issuer leads the browser back to a port of this machine.
 * @param opens whether a browser is started here; otherwise the person opens the address
 * @throws Failure `authentication` for a refusal, `cancelled` after Ctrl-C, `deadline` where nothing comes in five minutes
 */
export async function signInByBrowser(
  { issuer, clientId, scopes, io, tell }: SignIn,
  opens: boolean,
): Promise<TokenEndpointResponse> {
  const server = await discovered(issuer);
  if (server.authorization_endpoint === undefined) throw cannot(issuer);
  const [verifier, state] = [generateRandomCodeVerifier(), generateRandomState()];
  const challenge = await calculatePKCECodeChallenge(verifier);
  const led = Promise.withResolvers<URL>();
  const listener = Bun.serve({
    reusePort: false,
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      const url = new URL(request.url);
      if (url.pathname !== "/callback") return new Response("Not found", { status: 404 });
      // Another page of this machine's browser may not end the sign-in.
      if (url.searchParams.get("state") !== state)
        return new Response("This belongs to another sign-in", { status: 400 });
      led.resolve(url);
      const message = url.searchParams.has("error") ? "You are not signed in" : "You are signed in";
      const headers = {
        "Content-Type": "text/html",
        "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'",
      };
      return new Response(page.replace("MESSAGE", message), { headers });
    },
  });
  try {
    const redirect = `http://127.0.0.1:${listener.port}/callback`;
    const url = new URL(server.authorization_endpoint);
    const parameters = {
      ...{ client_id: clientId, response_type: "code", redirect_uri: redirect, state },
      ...{ scope: scopes.join(" "), code_challenge: challenge, code_challenge_method: "S256" },
      // Refresh tokens are given for that alone by some.
      ...(scopes.includes("offline_access") ? { prompt: "consent" } : {}),
    };
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    const isOpened = opens && (await openBrowser(io, url.href));
    tell({ kind: "browser", url: url.href, isOpened });
    const answered = await inTime(io, led.promise);
    const client = { client_id: clientId };
    const checked = validateAuthResponse(server, client, answered, state);
    const response = await authorizationCodeGrantRequest(
      server,
      client,
      None(),
      checked,
      redirect,
      verifier,
      transport(issuer),
    );
    return await processAuthorizationCodeResponse(server, client, response);
  } catch (error) {
    throw refused(error);
  } finally {
    await listener.stop(true);
  }
}

/**
 * The device flow: a code that the person confirms on any other device.
 * @throws Failure as `signInByBrowser` does
 */
export async function signInByDevice(
  { issuer, clientId, scopes, io, tell }: SignIn,
  opens: boolean,
): Promise<TokenEndpointResponse> {
  const server = await discovered(issuer);
  if (server.device_authorization_endpoint === undefined) throw cannot(issuer);
  const client = { client_id: clientId };
  try {
    const asked = await deviceAuthorizationRequest(
      server,
      client,
      None(),
      { scope: scopes.join(" ") },
      transport(issuer),
    );
    const device = await processDeviceAuthorizationResponse(server, client, asked);
    const url = device.verification_uri_complete ?? device.verification_uri;
    const isOpened = opens && (await openBrowser(io, url));
    tell({ kind: "device", url: device.verification_uri, code: device.user_code, isOpened });
    const until = io.now() + device.expires_in * 1_000;
    return await confirmed(io, server, {
      client_id: clientId,
      issuer,
      code: device.device_code,
      until,
      pauseMs: (device.interval ?? 5) * 1_000,
    });
  } catch (error) {
    throw refused(error);
  }
}

interface Waiting {
  readonly client_id: string;
  readonly issuer: string;
  readonly code: string;
  /** Milliseconds since 1970. */
  readonly until: number;
  readonly pauseMs: number;
}

async function confirmed(io: Io, server: AuthorizationServer, waiting: Waiting): Promise<TokenEndpointResponse> {
  const { client_id, issuer, code, until } = waiting;
  const client = { client_id };
  let { pauseMs } = waiting;
  while (io.now() < until) {
    await inTime(io, Bun.sleep(pauseMs));
    try {
      const response = await deviceCodeGrantRequest(server, client, None(), code, transport(issuer));
      return await processDeviceCodeResponse(server, client, response);
    } catch (error) {
      if (!(error instanceof ResponseBodyError)) throw error;
      if (error.error === "slow_down") pauseMs += 5_000;
      else if (error.error !== "authorization_pending") throw error;
    }
  }
  throw new Failure("deadline", "The code was not confirmed in time", "`svc login` gives another one.");
}

/** @throws Failure `cancelled` after Ctrl-C, `deadline` */
async function inTime<T>(io: Io, wanted: Promise<T>): Promise<T> {
  const interrupted = io.interruption();
  const over = Promise.withResolvers<never>();
  const cancel = () => over.reject(new Failure("cancelled", "The sign-in was given up"));
  if (interrupted.aborted) cancel();
  interrupted.addEventListener("abort", cancel);
  const timer = setTimeout(
    () => over.reject(new Failure("deadline", "The sign-in was not completed in time")),
    patienceMs,
  );
  try {
    return await Promise.race([wanted, over.promise]);
  } finally {
    clearTimeout(timer);
    interrupted.removeEventListener("abort", cancel);
  }
}

async function openBrowser(io: Io, url: string): Promise<boolean> {
  const opener = process.platform === "darwin" ? "open" : "xdg-open";
  return (await io.start([opener, url])) === 0;
}

const cannot = (issuer: string): Failure =>
  new Failure(
    "authentication",
    `${issuer} does not offer this way of signing in`,
    "--api-key takes an API key instead.",
  );

/** What an issuer says no with, in its words. */
function refused(error: unknown): unknown {
  if (error instanceof ResponseBodyError)
    return new Failure(
      "authentication",
      error.error_description ?? `The issuer refused: ${error.error}`,
      null,
      error.error,
    );
  return error;
}
