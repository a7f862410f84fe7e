/** `svc whoami` and `svc token`. */
import type { Command } from "commander";
import { addVerb } from "../../frame/verb.ts";
import { say } from "../../output/inert.ts";
import type { Field } from "../../output/output.ts";
import { Failure } from "../../process/exit.ts";
import { checkedCaller } from "../../session/answers.ts";
import type { Connection } from "../../session/connection.ts";

interface Caller {
  readonly url: string;
  readonly context: string | null;
  readonly tenant: string | null;
  readonly identity: string;
  readonly source: string;
  readonly subject: string | null;
  readonly name: string | null;
  readonly issuer: string | null;
  readonly role: string | null;
  readonly scopes: readonly string[];
  readonly expires_at: string | null;
}

const fields: readonly Field<Caller>[] = [
  { name: "service", value: ({ url }) => url },
  { name: "context", value: ({ context }) => context },
  { name: "tenant", value: ({ tenant }) => tenant },
  { name: "signed in by", value: ({ source }) => source },
  { name: "caller", value: ({ name, subject }) => name ?? subject },
  { name: "issuer", value: ({ issuer }) => issuer },
  { name: "role", value: ({ role }) => role },
  { name: "scopes", value: ({ scopes }) => scopes },
  { name: "token ends", value: ({ expires_at }) => expires_at, kind: "time" },
];

export function whoami(program: Command): void {
  addVerb(program, {
    words: "whoami",
    summary: "Show who calls, where and in which tenant",
    more: "The service is asked whether it takes the identity; ends with 3 where it does not.",
    examples: [
      ["svc whoami", "Which service, which person, which tenant"],
      ["svc whoami --context production", "The same of another context"],
    ],
    async run({ out, connection }) {
      const { url, context, tenant, identity, client } = await connection();
      // Any caller may ask this; who is none is refused.
      await checkedCaller(client);
      const token = await tokenOf(identity);
      const claims = claimsOf(token);
      const caller: Caller = {
        ...{ url, context, tenant, identity: identity.kind, source: identity.source },
        subject: textOf(claims.sub),
        name: textOf(claims.email) ?? textOf(claims.preferred_username),
        issuer: textOf(claims.iss),
        role: textOf(claims.svc_role),
        scopes: (textOf(claims.scope) ?? "").split(" ").filter((scope) => scope !== ""),
        expires_at: typeof claims.exp === "number" ? new Date(claims.exp * 1_000).toISOString() : null,
      };
      await out.data(caller);
      out.record(fields, caller);
    },
  });
}

export function token(program: Command): void {
  addVerb(program, {
    words: "token",
    summary: "Print the token that signs calls",
    more: "For other programs. It is renewed first where it ends within half a minute.",
    examples: [
      ['curl -H "Authorization: Bearer $(svc token)" http://localhost:8080/v1/agents', "Call a route by hand"],
    ],
    async run({ out, connection }) {
      const { identity } = await connection();
      const text = await tokenOf(identity);
      await out.data({ token: text });
      out.line(say`${text}`);
    },
  });
}

async function tokenOf(identity: Connection["identity"]): Promise<string> {
  const token = await identity.token(null);
  if (token === null)
    throw new Failure("authentication", "You are not signed in", "`svc login URL` signs in, --api-key takes a key.");
  return token;
}

/** What the token says of itself; an API key says nothing. The service alone judges it. */
function claimsOf(token: string): Readonly<Record<string, unknown>> {
  try {
    const claims: unknown = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString("utf8"));
    return typeof claims === "object" && claims !== null ? { ...claims } : {};
  } catch {
    return {};
  }
}

const textOf = (value: unknown): string | null => (typeof value === "string" ? value : null);
