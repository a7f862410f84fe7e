/** The kind of state that calls a tool as the run's starter. */
import { object } from "../../../../manifest/object.ts";
import type { ToolState } from "../../../definition/outside-states.ts";
import { filledTemplate, type Of, timeout } from "../../members.ts";
import { toolArguments } from "./arguments.ts";

export const toolState = object({ timeout, tool: filledTemplate.or(""), arguments: toolArguments })
  .strict("a Tool state")
  .build(
    ({ timeout, tool, arguments: given }): Of<ToolState> => ({
      kind: "Tool",
      timeout_ms: timeout,
      tool,
      arguments: given ?? {},
    }),
  );
