/** Does what the test of guarded processes asks for. */
import { serveGuarded } from "../../../src/lib/guarded/serve.ts";

await serveGuarded(({ work }: { work: "pid" | "end" | "forever" }) => {
  if (work === "end") process.exit(1);
  while (work === "forever");
  return process.pid;
});
