/** A registry of images: the requests of the distribution protocol that a pull makes, and both ways to ask who pulls. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

export interface Registry {
  /** Host and port. */
  readonly address: string;
  /** Paths asked for. */
  readonly asked: string[];
  /** `name:password` that it asks for; null: nothing. */
  login: string | null;
  /** By `bearer` the name and password are for tokens alone, which every other request carries. */
  challenge: "basic" | "bearer";
  /** Where requests for manifests, or for content, are sent on to, without a trailing slash. */
  redirects: { manifests?: string; blobs?: string };
  /** Answers nothing at all from now on, until told otherwise. */
  silent: boolean;
  /** The answer to a request for content, without asking who it is for. */
  content(pathname: string): Response;
  stop(): Promise<void>;
}

/**
 * Serves an image as `<address>/svc/bare:1` and knows no other.
 * @param folder the image as `podman push … dir:` writes it
 * @param login see `Registry.login`; with one the image is one that no host has
 */
export function serveImage(folder: string, login: string | null): Registry {
  const asked: string[] = [];
  const state: Pick<Registry, "silent" | "login" | "challenge" | "redirects"> = {
    silent: false,
    login,
    challenge: "basic",
    redirects: {},
  };
  const token = crypto.randomUUID();
  const manifest: Manifest = JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8"));
  const config = JSON.parse(readFileSync(join(folder, digestName(manifest.config.digest)), "utf8"));
  // Another image than the one that is here already.
  if (login !== null) config.config = { ...config.config, Labels: { only: crypto.randomUUID() } };
  const configText = login === null ? null : JSON.stringify(config);
  if (configText !== null) {
    manifest.config.digest = `sha256:${new Bun.CryptoHasher("sha256").update(configText).digest("hex")}`;
    manifest.config.size = Buffer.byteLength(configText);
  }

  function content(pathname: string): Response {
    const [, kind, name = ""] = pathOf(pathname);
    if (kind === "blobs" && name === manifest.config.digest && configText !== null) return new Response(configText);
    if (kind === "blobs") return new Response(Bun.file(join(folder, digestName(name))));
    if (kind !== "manifests") return Response.json({ errors: [{ code: "NAME_UNKNOWN" }] }, { status: 404 });
    const type = manifest.mediaType ?? "application/vnd.oci.image.manifest.v1+json";
    return new Response(JSON.stringify(manifest), { headers: { "content-type": type } });
  }

  const isBasic = (given: string | null) =>
    state.login !== null && given === `Basic ${Buffer.from(state.login).toString("base64")}`;

  /** Null where the request goes on. */
  function refusalOf({ headers, url }: Request): Response | null {
    const { pathname, host } = new URL(url);
    const given = headers.get("authorization");
    if (pathname === "/token") return isBasic(given) ? Response.json({ token }) : unauthorized(given, "Basic");
    if (state.login === null) return null;
    if (state.challenge === "basic") return isBasic(given) ? null : unauthorized(given, 'Basic realm="tests"');
    const challenge = `Bearer realm="http://${host}/token",service="tests",scope="repository:svc/bare:pull"`;
    return given === `Bearer ${token}` ? null : unauthorized(given, challenge);
  }

  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    fetch: async (request) => {
      const { pathname } = new URL(request.url);
      asked.push(pathname);
      if (state.silent) await new Promise(() => {});
      const refusal = refusalOf(request);
      if (refusal !== null) return refusal;
      if (pathname === "/v2/") return Response.json({});
      const [, kind] = pathOf(pathname);
      const elsewhere = kind === "manifests" || kind === "blobs" ? state.redirects[kind] : undefined;
      return elsewhere === undefined ? content(pathname) : Response.redirect(`${elsewhere}${pathname}`, 307);
    },
  });
  const address = `127.0.0.1:${server.port}`;
  return Object.assign(state, { address, asked, content, stop: () => server.stop(true) });
}

const pathOf = (pathname: string) => /^\/v2\/svc\/bare\/(manifests|blobs)\/(.+)$/.exec(pathname) ?? [];

/** As registries do that tell too much. */
function unauthorized(given: string | null, challenge: string): Response {
  const errors = [{ code: "UNAUTHORIZED", message: `this was sent: ${given}` }];
  return Response.json({ errors }, { status: 401, headers: { "www-authenticate": challenge } });
}

interface Manifest {
  readonly mediaType?: string;
  readonly config: { digest: string; size: number };
}

/** Files of a `dir:` are called by their digests alone. */
const digestName = (digest: string) => digest.replace("sha256:", "");
