/** Runs before every test file (bunfig.toml). */
import { afterAll, afterEach, setDefaultTimeout } from "bun:test";
import { leave } from "./at-exit.ts";
import { checkAnswers, requireFittingAnswers } from "./node/answers.ts";
import { enterScratch } from "./scratch.ts";
import { leaveTestStores } from "./stores.ts";

// For one file run by hand: Bun forgets it after the first, and has no setting for it. `test/run.ts` says it by option.
setDefaultTimeout(30_000);

const leaveScratch = await enterScratch();
checkAnswers();
afterEach(requireFittingAnswers);
afterAll(leave);
afterAll(leaveTestStores);
afterAll(leaveScratch);
