/** The console's page and files, and the one thing that it has to know of its caller. */
import { Type } from "@sinclair/typebox";
import { isPlatformOperator } from "../../../actors/identity/identity.ts";
import { Problem } from "../../../actors/kernel/problem.ts";
import { media, reply } from "../../http/answer.ts";
import { definePublicRoute, defineRoute, type Route } from "../../http/route.ts";
import type { NodeContext } from "../feature.ts";
import type { SignInIssuers } from "../sign-in/port.ts";
import { type BuiltConsole, fileTypes, openBuilt } from "./files.ts";
import { Caller } from "./schema.ts";

type Node = Pick<NodeContext, "dataDir" | "development" | "publicUrl" | "warn">;

/** What is behind `?` is the page's own: filters, tabs, what an identity provider adds on the way back. */
const anyQuery = Type.Object({}, { additionalProperties: true });

export function consoleRoutes(node: Node, signIn: SignInIssuers): Route[] {
  const base = `${new URL(node.publicUrl).pathname.replace(/\/$/, "")}/console/`;
  let built: Promise<BuiltConsole> | null = null;
  const open = (): Promise<BuiltConsole> => {
    built ??= openBuilt(node.dataDir, !node.development).catch((error: unknown) => {
      built = null;
      node.warn("console_not_built", { error: error instanceof Error ? error.message : String(error) });
      throw new Problem("service_unavailable", "The console is not built on this node");
    });
    return built;
  };
  const page = async (url: URL) => {
    const issuers = await signIn.issuersOf(tenantIn(url));
    return new Response((await open()).page.replace("{base}", base), {
      headers: { "Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-cache", ...policyFor(issuers) },
    });
  };
  return [
    definePublicRoute({
      method: "GET",
      path: "/console",
      summary: "The console",
      hidden: true,
      query: anyQuery,
      responses: { 200: media("text/html") },
      handler: ({ url }) => page(url),
    }),
    definePublicRoute({
      method: "GET",
      path: "/console/*",
      summary: "A page of the console, or a file of it",
      hidden: true,
      params: Type.Object({ "*": Type.String() }),
      query: anyQuery,
      responses: { 200: media("text/html", ...fileTypes) },
      handler: async ({ params, request, url }) => {
        const path = params["*"];
        const file = path.startsWith("assets/") ? path.slice("assets/".length) : null;
        return file === null ? page(url) : sent(await open(), file, request);
      },
    }),
    defineRoute({
      method: "GET",
      path: "/v1/auth/me",
      summary: "Who is calling, and what they may do",
      tag: "auth",
      responses: { 200: Caller },
      handler: ({ identity, tenant }) =>
        reply(
          200,
          {
            user_id: identity.userId,
            email: identity.email,
            kind: identity.kind,
            realm: identity.realm,
            role: identity.role,
            membership: identity.membership,
            tier: identity.tier,
            tenant_id: tenant,
            home_tenant: identity.homeTenant,
            api_key_id: identity.keyId,
            operator: isPlatformOperator(identity),
            scopes: [...identity.scopes].sort(),
          },
          { "Cache-Control": "no-store" },
        ),
    }),
  ];
}

/** Whose people the page lets in: the console says it on the way to the issuer, and the issuer on the way back. */
function tenantIn({ searchParams }: URL): string | null {
  const [slug = ""] = searchParams.get("state")?.split(".") ?? [];
  return searchParams.get("tenant") ?? (slug === "" ? null : slug);
}

/** Names change with what is in them: a file is kept for a year. */
const unhashed = new Set(["icon.svg", "inter-latin.woff2"]);
const kept = "public, max-age=31536000, immutable";

function sent({ files }: BuiltConsole, name: string, request: Request): Response {
  const file = files.get(name);
  if (file === undefined) throw new Problem("not_found", "There is no such file");
  const accepted = request.headers.get("Accept-Encoding") ?? "";
  const encoding = ["br", "gzip"].find((one) => file.bodies.has(one) && accepted.includes(one)) ?? "identity";
  const headers: Record<string, string> = {
    "Content-Type": file.type,
    "Cache-Control": unhashed.has(name) ? "public, max-age=3600" : kept,
    "X-Content-Type-Options": "nosniff",
    Vary: "Accept-Encoding",
  };
  if (encoding !== "identity") headers["Content-Encoding"] = encoding;
  return new Response(file.bodies.get(encoding) ?? null, { headers });
}

/** Nothing inline, nothing from elsewhere; identity providers are asked for tokens by the page itself. */
function policyFor(issuers: readonly string[]): Record<string, string> {
  const origins = [...new Set(issuers.map((issuer) => new URL(issuer).origin))];
  const rules = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    "font-src 'self'",
    `connect-src ${["'self'", ...origins].join(" ")}`,
    "worker-src 'self'",
    "base-uri 'self'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  return {
    "Content-Security-Policy": rules.join("; "),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
  };
}
