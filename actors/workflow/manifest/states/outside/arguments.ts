/** What a tool is called with. */
import { isObject } from "../../../../kernel/json.ts";
import { templateTree } from "../../members.ts";
import { isLiteral } from "../../templates.ts";

/** An object whose texts are templates, or a template whose text is a JSON object. */
export const toolArguments = templateTree
  .check((written) =>
    isObject(written) || (typeof written === "string" && !isLiteral(written))
      ? null
      : "must be an object, or a template whose text is a JSON object",
  )
  .schema({ type: ["object", "string"] });
