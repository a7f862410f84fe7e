/** Runs before every test file (bunfig.toml). */
import { afterAll, setDefaultTimeout } from "bun:test";
import { removeScratch } from "./scratch.ts";
import { leaveTestStores } from "./stores.ts";

// Real stores on a busy machine: a slow test is not a failed one.
setDefaultTimeout(30_000);

afterAll(leaveTestStores);
afterAll(removeScratch);
