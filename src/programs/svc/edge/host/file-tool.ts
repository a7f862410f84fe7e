/** What the daemon starts for one call of an `fs.*` tool. */
import { serveFileTool } from "../../../edge-daemon/executor/file-tool-program.ts";
import { defineVerb } from "../command/verb.ts";

export const verb = defineVerb({
  usage: "",
  flags: {},
  positions: [0, 0],
  async run() {
    await serveFileTool();
    return "ok";
  },
});
