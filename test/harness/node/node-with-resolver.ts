/** The service with a resolver of the test's making: names and their addresses stand in the file `SVC_TEST_NAMES`. */
import { loadConfig } from "../../../src/node/config.ts";
import { startNode } from "../../../src/node/node.ts";

const resolve = async (name: string): Promise<readonly string[]> => {
  const names: Record<string, string[]> = await Bun.file(process.env.SVC_TEST_NAMES ?? "").json();
  return names[name] ?? [];
};
const node = await startNode(loadConfig(process.env), (line) => console.log(line), { resolve });
process.on("SIGTERM", () => void node.stop().then(() => process.exit(0)));
