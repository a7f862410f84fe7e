import { expect, test } from "bun:test";
import { podman } from "../../../harness/outside/podman.ts";
import { sandboxConformance } from "../conformance.ts";
import { optionsConformance } from "../options-conformance.ts";
import { dockerFixture } from "./fixture.ts";

const engine = await podman();
// Counted as skipped where there are no containers.
test.skipIf(engine === null)("an engine answers", () => expect(engine).not.toBeNull());
if (engine !== null) {
  sandboxConformance("docker", () => dockerFixture(engine));
  optionsConformance("docker", () => dockerFixture(engine));
}
