import { expect, test } from "bun:test";
import { podman } from "../../../harness/podman.ts";
import { sandboxConformance } from "../conformance.ts";
import { memberConformance } from "../members.ts";
import { dockerBench } from "./bench.ts";

const engine = await podman();
// Counted as skipped where there are no containers.
test.skipIf(engine === null)("an engine answers", () => expect(engine).not.toBeNull());
if (engine !== null) {
  sandboxConformance("docker", () => dockerBench(engine));
  memberConformance("docker", () => dockerBench(engine));
}
