/** The least that takes in signed deliveries: verified, appended to a stream, answered. Floor of the stimuli bench. */
import { createHmac, timingSafeEqual } from "node:crypto";
import { openRedis } from "../../../src/store/redis/connections.ts";

const [redisUrl = "", secret = ""] = process.argv.slice(2);
const redis = openRedis(redisUrl);
const prefix = "sha256=";

const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    const body = Buffer.from(await request.arrayBuffer());
    const shown = Buffer.from((request.headers.get("x-svc-signature") ?? "").slice(prefix.length), "hex");
    const right = createHmac("sha256", secret).update(body).digest();
    if (shown.length !== right.length || !timingSafeEqual(shown, right)) return new Response(null, { status: 401 });
    const id = await redis.xadd("bare:intake", "*", "m", body);
    return Response.json({ stimulus_id: id, workflow_execution_id: null, status: "received" }, { status: 202 });
  },
});
console.log(server.port);
