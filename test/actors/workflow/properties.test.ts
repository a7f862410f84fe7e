/** For random definitions and messages, in any order and any number of times: the rules of a run hold. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { runId } from "./fixture.ts";
import { definition } from "./play/definitions.ts";
import { act, Play } from "./play/play.ts";
import { RunStory } from "./scenario.ts";

test("a run keeps its rules in any sequence of messages", () => {
  fc.assert(
    fc.property(definition, fc.array(act, { maxLength: 60 }), (sample, list) => {
      const story = new RunStory(sample);
      const play = new Play(story);
      play.step("start");
      for (const [what, pick] of list) {
        play.step(what, pick);
        story.check();
      }
    }),
    { numRuns: 300 },
  );
});

test("nothing comes after the end", () => {
  fc.assert(
    fc.property(
      definition,
      fc.array(act, { maxLength: 30 }),
      fc.array(act, { maxLength: 20 }),
      (sample, list, more) => {
        const story = new RunStory(sample);
        const play = new Play(story);
        play.step("start");
        for (const [what, pick] of list) play.step(what === "erase" ? "itself" : what, pick);
        story.ask("cancel", { reason: null });
        play.checkLeft();
        const [state, log] = [JSON.stringify(story.state), story.types.length];
        for (const [what, pick] of more) {
          if (what === "erase") continue;
          play.step(what, pick);
          expect(JSON.stringify(story.state)).toBe(state);
          expect(story.types.length).toBe(log);
        }
        expect(story.sim.key).toBe(runId);
      },
    ),
    { numRuns: 200 },
  );
});
