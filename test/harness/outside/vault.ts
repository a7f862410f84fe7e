/**
 * A server that speaks as much of Vault's and OpenBao's HTTP interface as an operator's installation is used by: KV version
 * 2 under mounts and namespaces, tokens that end and are renewed, Kubernetes login, sealing.
 */

interface Version {
  readonly data: Record<string, unknown>;
  readonly created: string;
  deleted: string;
}
interface Entry {
  readonly created: string;
  readonly versions: Version[];
}
interface Token {
  endsAt: number;
  readonly renewable: boolean;
}

export interface FakeVault {
  readonly url: string;
  /** Takes every request while it lasts. */
  readonly rootToken: string;
  /** What it was asked, as `METHOD path`. */
  readonly asked: string[];
  /** Everything it holds, as text. */
  contents(): string;
  seal(sealed: boolean): void;
  /** Whether the mount takes writes without a version. */
  requireCas(required: boolean): void;
  /** Tokens of a login live for so long. */
  setTtl(seconds: number): void;
  revoke(token: string): void;
  /** What another client of the vault writes. */
  put(namespace: string | null, path: string, data: Record<string, unknown>): void;
  /** What another client deletes, so that it can be undeleted. */
  softDelete(namespace: string | null, path: string): void;
  stop(): Promise<void>;
}

const answer = (status: number, body?: unknown) =>
  body === undefined ? new Response(null, { status }) : Response.json(body, { status });
const refusal = (status: number, ...errors: string[]) => answer(status, { errors });

/** @param tls a certificate of its own; plain HTTP when absent */
export function startVault(
  options: { readonly tls?: { key: string; cert: string }; readonly port?: number } = {},
): FakeVault {
  const rootToken = `root-${crypto.randomUUID()}`;
  const tokens = new Map<string, Token>([[rootToken, { endsAt: Number.POSITIVE_INFINITY, renewable: false }]]);
  const entries = new Map<string, Entry>();
  const asked: string[] = [];
  let isSealed = false;
  let casRequired = false;
  let ttl = 3600;
  const nameOf = (namespace: string | null, path: string) => `${namespace ?? ""}|${path}`;

  function write(name: string, data: Record<string, unknown>): { version: number; created_time: string } {
    const now = new Date().toISOString();
    const entry = entries.get(name) ?? { created: now, versions: [] };
    entries.set(name, entry);
    entry.versions.push({ data, created: now, deleted: "" });
    return { version: entry.versions.length, created_time: now };
  }

  function newToken() {
    const token = `hvs.${crypto.randomUUID()}`;
    tokens.set(token, { endsAt: Date.now() + ttl * 1000, renewable: true });
    return { auth: { client_token: token, lease_duration: ttl, renewable: true } };
  }

  async function auth(request: Request, path: string): Promise<Response> {
    if (path === "auth/kubernetes/login" && request.method === "POST") {
      const { role, jwt } = (await request.json()) as { role: string; jwt: string };
      return role === "svc" && jwt === "pod-token" ? answer(200, newToken()) : refusal(403, "permission denied");
    }
    const name = request.headers.get("x-vault-token") ?? "";
    const token = tokens.get(name);
    if (token === undefined || token.endsAt <= Date.now()) return refusal(403, "permission denied");
    if (path === "auth/token/lookup-self") {
      const left = Number.isFinite(token.endsAt) ? Math.ceil((token.endsAt - Date.now()) / 1000) : 0;
      return answer(200, { data: { ttl: left, renewable: token.renewable } });
    }
    if (path === "auth/token/renew-self" && token.renewable) {
      token.endsAt = Date.now() + ttl * 1000;
      return answer(200, { auth: { client_token: name, lease_duration: ttl, renewable: true } });
    }
    return refusal(400, "lease is not renewable");
  }

  async function data(request: Request, name: string): Promise<Response> {
    const entry = entries.get(name);
    const current = entry?.versions.at(-1);
    if (request.method === "GET") {
      if (entry === undefined || current === undefined) return refusal(404);
      const metadata = {
        created_time: current.created,
        deletion_time: current.deleted,
        destroyed: false,
        version: entry.versions.length,
      };
      if (current.deleted !== "") return answer(404, { data: { data: null, metadata } });
      return answer(200, { data: { data: current.data, metadata } });
    }
    const body = (await request.json()) as { data: Record<string, unknown>; options?: { cas?: number } };
    const { cas } = body.options ?? {};
    if (cas === undefined && casRequired) return refusal(400, "check-and-set parameter required for this call");
    if (cas !== undefined && cas !== (entry?.versions.length ?? 0)) {
      return refusal(400, "check-and-set parameter did not match the current version");
    }
    return answer(200, { data: { ...write(name, body.data), deletion_time: "", destroyed: false } });
  }

  function metadata(request: Request, name: string): Response {
    const entry = entries.get(name);
    if (request.method === "DELETE") {
      entries.delete(name);
      return answer(204);
    }
    if (entry === undefined) return refusal(404);
    const versions = entry.versions.map((one, index) => [
      String(index + 1),
      { created_time: one.created, deletion_time: one.deleted, destroyed: false },
    ]);
    const { created, versions: all } = entry;
    const body = { created_time: created, current_version: all.length, versions: Object.fromEntries(versions) };
    return answer(200, { data: body });
  }

  function list(folder: string): Response {
    const keys = new Set(
      [...entries.keys()]
        .filter((name) => name.startsWith(folder))
        .map((name) => name.slice(folder.length).replace(/\/.*$/, "/")),
    );
    return keys.size === 0 ? refusal(404) : answer(200, { data: { keys: [...keys].sort() } });
  }

  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: options.port ?? 0,
    ...(options.tls === undefined ? {} : { tls: options.tls }),
    async fetch(request) {
      const url = new URL(request.url);
      const path = decodeURIComponent(url.pathname.replace(/^\/v1\//, ""));
      asked.push(`${request.method} ${path}`);
      if (isSealed) return refusal(503, "Vault is sealed");
      if (path.startsWith("auth/")) return auth(request, path);
      const token = tokens.get(request.headers.get("x-vault-token") ?? "");
      if (token === undefined || token.endsAt <= Date.now()) return refusal(403, "permission denied");
      const namespace = request.headers.get("x-vault-namespace");
      const [, kind, rest = ""] = /^secret\/(data|metadata)\/(.*)$/.exec(path) ?? [];
      const name = nameOf(namespace, rest);
      if (kind === "data") return data(request, name);
      if (kind !== "metadata") return refusal(404, "no handler for route");
      return url.searchParams.get("list") === "true" ? list(name) : metadata(request, name);
    },
  });

  return {
    url: `${options.tls === undefined ? "http" : "https"}://127.0.0.1:${server.port}`,
    rootToken,
    asked,
    contents: () => JSON.stringify([...entries]),
    seal: (sealed) => {
      isSealed = sealed;
    },
    requireCas: (required) => {
      casRequired = required;
    },
    setTtl: (seconds) => {
      ttl = seconds;
    },
    revoke: (token) => void tokens.delete(token),
    put: (namespace, path, given) => void write(nameOf(namespace, path), given),
    softDelete(namespace, path) {
      const current = entries.get(nameOf(namespace, path))?.versions.at(-1);
      if (current !== undefined) current.deleted = new Date().toISOString();
    },
    stop: async () => void (await server.stop(true)),
  };
}
