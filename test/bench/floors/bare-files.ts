/** The floor of uploads and downloads: a server that hashes a body while it writes it to a file, and sends the file back. */
import { createHash } from "node:crypto";
import { open } from "node:fs/promises";

const [, , path = ""] = process.argv;
const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  maxRequestBodySize: Number.MAX_SAFE_INTEGER,
  async fetch(request) {
    if (request.url.endsWith("/health")) return new Response("ok");
    if (request.method === "GET") return new Response(Bun.file(path));
    const hash = createHash("sha256");
    const file = await open(path, "w");
    for await (const piece of request.body ?? []) {
      hash.update(piece);
      await file.write(piece);
    }
    await file.close();
    return new Response(hash.digest("hex"));
  },
});
console.log(JSON.stringify({ port: server.port }));
