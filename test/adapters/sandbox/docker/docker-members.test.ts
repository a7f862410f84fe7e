import { podman } from "../../../harness/outside/podman.ts";
import { optionsConformance } from "../options-conformance.ts";
import { dockerFixture } from "./fixture.ts";

const engine = await podman();
if (engine !== null) optionsConformance("docker", () => dockerFixture(engine));
