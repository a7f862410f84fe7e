/** What a node that has nothing to do takes. */
import { join } from "node:path";
import { residentMiB, startBenchService } from "./service.ts";
import type { BenchStores } from "./stores.ts";
import type { Row } from "./table.ts";

export async function benchMemory(stores: BenchStores): Promise<Row[]> {
  const service = await startBenchService(stores, "memory", ["--real-sandbox"]);
  const bare = Bun.spawn([process.execPath, join(import.meta.dir, "floors/bare-streams.ts")], { stdout: "pipe" });
  try {
    await Bun.sleep(10_000);
    return [
      {
        name: "idle node, resident",
        unit: "MiB",
        value: await residentMiB(service.pid),
        floor: await residentMiB(bare.pid),
        floorIs: "bare Bun server",
        goal: "<= 130",
        note: "without the stores, 10 s after the start",
      },
    ];
  } finally {
    bare.kill();
    await service.stop();
  }
}
