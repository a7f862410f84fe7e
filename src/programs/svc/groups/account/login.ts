/** `svc login`. */
import type { Command } from "commander";
import { answer, createClient, type Schemas } from "../../../client/client.ts";
import type { Context } from "../../frame/context.ts";
import { addVerb } from "../../frame/verb.ts";
import { say } from "../../output/inert.ts";
import { Failure, usageFailure } from "../../process/exit.ts";
import { variable } from "../../process/io.ts";
import { isLoopback, serviceAddress } from "../../session/address.ts";
import { asMisread, checkedCaller, notOurs } from "../../session/answers.ts";
import { usualUrl } from "../../session/connection.ts";
import { checkedName, mayBePlain, readContexts, writeContexts } from "../../session/contexts.ts";
import { developmentToken } from "../../session/development.ts";
import { patiently } from "../../session/patience.ts";
import type { SignIn, Step } from "../../session/sign-in.ts";
import { changeGrant, type Developer, type Grant } from "../../session/tokens.ts";

interface Options {
  readonly device?: boolean;
  readonly browser?: boolean;
  readonly as?: string;
  readonly realm?: string;
}

export function login(program: Command): void {
  addVerb(program, {
    words: "login [url]",
    summary: "Sign in to a service",
    about: { url: "of the service; that of the context without it, else a node on this machine" },
    more: "Opens your browser at the identity provider of the service, and keeps what it gives in a file that you alone can read. On a machine without a browser --device shows a code to confirm on any other device. --api-key keeps a key instead; --api-key - reads it from standard input. A development node on this machine needs no sign-in; --as makes you one of its people.",
    options: {
      "--device": "confirm a code on another device",
      "--no-browser": "print the address instead of opening it",
      "--as <person>":
        "of a development node: be this person; the password is read from SVC_DEV_PASSWORD, else it is `dev`",
      "--realm <realm>": "of that person (default svc-consumer)",
    },
    examples: [
      ["svc login https://svc.example.com", "Sign in with the browser"],
      ["svc login https://svc.example.com --tenant acme --context acme", "At the provider of a tenant, under a name"],
      ["svc login https://svc.example.com --device", "From a machine without a browser"],
      ["svc login https://svc.example.com --api-key - < key.txt", "Keep an API key"],
      ["svc login --as alice --context alice", "One of the people of a development node"],
    ],
    async run(context, [url], options) {
      const { io, globals, out } = context;
      const contexts = await readContexts(io);
      const chosen = globals.context ?? variable(io, "SVC_CONTEXT");
      const named =
        url ??
        globals.url ??
        variable(io, "SVC_API_URL") ??
        contexts.contexts[chosen ?? contexts.current ?? ""]?.url ??
        usualUrl;
      const address = named.includes("://") ? named : `https://${named}`;
      const allowPlaintext = globals.allowPlaintext || mayBePlain(contexts, address);
      const service = serviceAddress(address, "The address", allowPlaintext, usageFailure);
      const name = checkedName(chosen ?? nameFor(contexts.contexts, contexts.current, service));
      // A sign-in that is done again keeps what the context has; to another service none of it goes.
      const former = contexts.contexts[name];
      const ofContext = former?.url === service ? former.tenant : null;
      const tenant = globals.tenant ?? variable(io, "SVC_TENANT") ?? ofContext;
      const grant = await granted(context, service, tenant, options);
      const kept = { url: service, tenant, allowPlaintext };
      await changeGrant(io, name, async () => grant);
      await writeContexts(io, { current: name, contexts: { ...contexts.contexts, [name]: kept } });
      await out.data({ context: name, url: service, tenant, status: "signed_in" });
      out.line(
        say`${out.colours.green("✓")} Signed in to ${service} as context ${out.colours.bold(name)}${tenant === null ? "" : `, tenant ${tenant}`}`,
      );
    },
  });
}

/** The context of that service, the current one first; else its host's name. */
function nameFor(
  contexts: Readonly<Record<string, { readonly url: string }>>,
  current: string | null,
  url: string,
): string {
  if (current !== null && contexts[current]?.url === url) return current;
  const known = Object.entries(contexts).find(([, context]) => context.url === url);
  if (known !== undefined) return known[0];
  const host = new URL(url).host.replaceAll(/[^A-Za-z0-9._:-]/g, "");
  return contexts[host] === undefined ? host : `${host}-2`;
}

async function granted(context: Context, url: string, tenant: string | null, options: Options): Promise<Grant> {
  const { io, globals } = context;
  const reach = patiently(url);
  if (globals.apiKey !== null) {
    const key = globals.apiKey === "-" ? (await io.readInput()).trim() : globals.apiKey;
    // A key that the service does not take is not kept.
    await checkedCaller(createClient({ url, token: async () => key, fetch: reach }));
    return { kind: "api_key", url, api_key: key };
  }
  if (options.as !== undefined) return developer(context, url, options.as, options.realm ?? "svc-consumer");
  const client = createClient({ url, token: async () => null, fetch: reach });
  const query = tenant === null ? {} : { tenant };
  const config = await answer(client.GET("/v1/auth/config", { params: { query } })).catch(asMisread(url));
  if (!Array.isArray(config.scopes)) throw notOurs(url);
  if (config.password && isLoopback(new URL(url).hostname))
    throw usageFailure("A development node needs no sign-in", "`svc login --as PERSON` makes you one of its people.");
  return signedInAt(context, url, config, options);
}

async function developer({ io }: Context, url: string, person: string, realm: string): Promise<Grant> {
  const grant: Developer = { kind: "development", person, realm, password: variable(io, "SVC_DEV_PASSWORD") ?? "dev" };
  const token = await developmentToken(url, grant, patiently(url));
  if (token === null)
    throw new Failure("authentication", `${url} is no development node that knows ${person} in ${realm}`);
  return { ...grant, url };
}

async function signedInAt(
  { io, out }: Context,
  url: string,
  config: Schemas["SignInConfig"],
  options: Options,
): Promise<Grant> {
  const { issuer, cli_client_id } = config;
  if (issuer === null || cli_client_id === null)
    throw new Failure(
      "authentication",
      "The service names no provider for the command line",
      "--api-key takes an API key instead.",
    );
  const { signInByBrowser, signInByDevice } = await import("../../session/sign-in.ts");
  const { signedIn } = await import("../../session/refresh.ts");
  const { bold } = out.noteColours;
  const tell = (step: Step) => {
    if (step.kind === "device") out.note(say`Your code is ${bold(step.code)}. Confirm it at ${step.url}`);
    else if (step.isOpened) out.note(say`Your browser has opened; sign in there. Otherwise open: ${step.url}`);
    else out.note(say`Open this address and sign in: ${step.url}`);
  };
  const signIn: SignIn = { issuer, clientId: cli_client_id, scopes: config.scopes, io, tell };
  const opens = options.browser !== false && io.isInteractive;
  const answered = options.device === true ? await signInByDevice(signIn, opens) : await signInByBrowser(signIn, opens);
  return signedIn(io, { issuer, client_id: cli_client_id, url }, answered, null);
}
