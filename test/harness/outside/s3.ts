/** A store that speaks S3's protocol, behind a proxy that fails on demand and counts what is left of uploads in parts. */
import S3rver from "s3rver";
import type { ObjectSettings } from "../../../src/adapters/objects/port.ts";
import { Secret } from "../../../src/lib/secret.ts";
import { scratch } from "../scratch.ts";

/** What happens to a request: no answer, half of its answer, an answer of this status; null: it goes through. */
export type Fault = "hang" | "cut" | number | null;
export interface Asked {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: Headers;
}

export interface S3Store {
  readonly url: string;
  readonly settings: ObjectSettings;
  /** The same as a node's environment has it. */
  readonly environment: Readonly<Record<string, string>>;
  readonly asked: Asked[];
  /** Uploads in parts that were neither completed nor given up. */
  readonly openUploads: ReadonlySet<string>;
  /** Decides over each request from now on; null: all go through. */
  failing(fault: ((asked: Asked) => Fault) | null): void;
  /** Names of all objects. */
  keys(): Promise<string[]>;
  stop(): Promise<void>;
}

export async function startS3(): Promise<S3Store> {
  const bucket = "files";
  const server = new S3rver({
    address: "127.0.0.1",
    port: 0,
    silent: true,
    directory: scratch("s3"),
    configureBuckets: [{ name: bucket, configs: [] }],
  });
  const { port } = await server.run();
  const asked: Asked[] = [];
  const openUploads = new Set<string>();
  let decide: ((asked: Asked) => Fault) | null = null;
  const hanging = new AbortController();

  const proxy = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const { pathname, search, searchParams } = new URL(request.url);
      const { method } = request;
      const one = { method, path: pathname + search, headers: request.headers };
      asked.push(one);
      const fault = decide?.(one) ?? null;
      if (fault === "hang") {
        await new Promise((resolve) => hanging.signal.addEventListener("abort", resolve));
        return new Response(null, { status: 500 });
      }
      if (typeof fault === "number") {
        return new Response(`<Error><Code>AsTold</Code></Error>`, { status: fault });
      }
      const uploadId = searchParams.get("uploadId");
      if (method === "DELETE" && uploadId !== null) {
        openUploads.delete(uploadId);
        return new Response(null, { status: 204 });
      }
      const headers = new Headers(request.headers);
      headers.delete("host");
      const body = method === "GET" || method === "HEAD" ? null : await request.arrayBuffer();
      const answer = await fetch(`http://127.0.0.1:${port}${pathname}${search}`, { method, headers, body });
      if (method === "HEAD") return answer;
      const bytes = new Uint8Array(await answer.arrayBuffer());
      if (method === "POST" && searchParams.has("uploads")) {
        const [, id = ""] = /<UploadId>(.*?)<\/UploadId>/.exec(new TextDecoder().decode(bytes)) ?? [];
        openUploads.add(id);
      }
      if (method === "POST" && uploadId !== null) openUploads.delete(uploadId);
      const sent = fault === "cut" ? bytes.subarray(0, bytes.byteLength / 2) : bytes;
      return new Response(sent, { status: answer.status, headers: answer.headers });
    },
  });
  const url = `http://127.0.0.1:${proxy.port}`;
  const key = "S3RVER";
  return {
    url,
    settings: {
      s3Endpoint: url,
      s3Bucket: bucket,
      s3Region: "us-east-1",
      s3AccessKeyId: new Secret(key),
      s3SecretAccessKey: new Secret(key),
      s3Prefix: "svc",
      s3ForcePathStyle: true,
    },
    environment: {
      SVC_STORAGE_BACKEND: "s3",
      SVC_S3_ENDPOINT: url,
      SVC_S3_BUCKET: bucket,
      SVC_S3_ACCESS_KEY_ID: key,
      SVC_S3_SECRET_ACCESS_KEY: key,
      SVC_S3_PREFIX: "svc",
      SVC_S3_FORCE_PATH_STYLE: "true",
    },
    asked,
    openUploads,
    failing: (fault) => {
      decide = fault;
    },
    async keys() {
      const client = new Bun.S3Client({
        endpoint: `http://127.0.0.1:${port}`,
        bucket,
        accessKeyId: key,
        secretAccessKey: key,
      });
      return ((await client.list()).contents ?? []).map((one) => one.key);
    },
    async stop() {
      hanging.abort();
      await proxy.stop(true);
      await server.close();
    },
  };
}
