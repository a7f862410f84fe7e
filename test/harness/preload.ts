/** Runs before every test file (bunfig.toml). */
import { afterAll, afterEach, setDefaultTimeout } from "bun:test";
import { leave } from "./at-exit.ts";
import { checkAnswers, requireFittingAnswers } from "./node/answers.ts";
import { enterScratch } from "./scratch.ts";
import { leaveTestStores } from "./stores.ts";

// Real stores on a busy machine: a slow test is not a failed one. It counts above the option that `test/run.ts` gives.
setDefaultTimeout(60_000);

const leaveScratch = await enterScratch();
checkAnswers();
afterEach(requireFittingAnswers);
afterAll(leave);
afterAll(leaveTestStores);
afterAll(leaveScratch);
