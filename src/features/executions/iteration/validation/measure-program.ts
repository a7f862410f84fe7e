/** The process that runs patterns and schemas of agents over their output. */
import { serveGuarded } from "../../../../lib/guarded/serve.ts";
import { measure } from "./measure.ts";

await serveGuarded(measure);
