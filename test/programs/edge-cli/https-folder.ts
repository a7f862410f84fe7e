/** A folder served over HTTPS, by an authority of its own. */
import { readFileSync, writeFileSync } from "node:fs";
import { join, normalize } from "node:path";
import { scratch } from "../../harness/scratch.ts";

export interface HttpsFolder {
  readonly folder: string;
  /** With a slash at its end. */
  readonly url: string;
  /** File of the authority's certificate. */
  readonly authority: string;
  /** Paths that were asked for. */
  readonly asked: string[];
  readonly close: () => void;
}

export function serveFolder(): HttpsFolder {
  const [folder, keys] = [scratch("releases"), scratch("keys")];
  const openssl = (...args: readonly string[]) => {
    const done = Bun.spawnSync(["openssl", ...args], { cwd: keys });
    if (done.exitCode !== 0) throw new Error(done.stderr.toString());
  };
  const subject = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj"];
  openssl("req", "-x509", "-days", "2", ...subject, "/CN=authority", "-keyout", "ca.key", "-out", "ca.crt");
  openssl("req", ...subject, "/CN=localhost", "-keyout", "server.key", "-out", "server.csr");
  writeFileSync(join(keys, "names"), "subjectAltName=DNS:localhost\n");
  const signing = ["-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", "names"];
  openssl("x509", "-req", "-in", "server.csr", ...signing, "-out", "server.crt");
  const asked: string[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    tls: { key: readFileSync(join(keys, "server.key")), cert: readFileSync(join(keys, "server.crt")) },
    async fetch(request) {
      const { pathname } = new URL(request.url);
      asked.push(pathname);
      const file = Bun.file(join(folder, normalize(pathname)));
      return (await file.exists()) ? new Response(file) : new Response("no such file", { status: 404 });
    },
  });
  const url = `https://localhost:${server.port}/`;
  return { folder, url, authority: join(keys, "ca.crt"), asked, close: () => void server.stop(true) };
}
