/** The health check of the image: exits 0 while the node of this container can do its work (`/health/ready`), else 1. */
import process from "node:process";

const port = process.env.SVC_PORT || "8080";
const listensOn = process.env.SVC_HOST || "0.0.0.0";
// Listening everywhere, it answers on loopback as well.
const host = listensOn === "0.0.0.0" || listensOn === "::" ? "127.0.0.1" : listensOn;
const url = `http://${host.includes(":") ? `[${host}]` : host}:${port}/health/ready`;
const isReady = await fetch(url, { signal: AbortSignal.timeout(4_000) })
  .then(({ ok }) => ok)
  .catch(() => false);
process.exit(isReady ? 0 : 1);
