/** The process that turns pages into markdown. */
import { serveGuarded } from "../../lib/guarded/serve.ts";
import { markdownOf } from "./page.ts";

await serveGuarded(markdownOf);
