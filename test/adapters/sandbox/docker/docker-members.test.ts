import { podman } from "../../../harness/podman.ts";
import { memberConformance } from "../members.ts";
import { dockerBench } from "./bench.ts";

const engine = await podman();
if (engine !== null) memberConformance("docker", () => dockerBench(engine));
