/** Does what the test of guarded processes asks for. */
import { serveGuarded } from "../../../src/lib/guarded/serve.ts";

await serveGuarded(({ work }: { work: "pid" | "end" | "forever" | "wait" }) => {
  if (work === "end") process.exit(1);
  if (work === "wait") Bun.sleepSync(1_000);
  while (work === "forever");
  return process.pid;
});
