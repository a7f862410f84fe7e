import { sandboxConformance } from "./conformance.ts";
import { processFixture } from "./fixture.ts";
import { optionsConformance } from "./options-conformance.ts";

sandboxConformance("process without bubblewrap", () => processFixture({ bubblewrap: false }));
sandboxConformance("process without bubblewrap and without control groups", () =>
  processFixture({ bubblewrap: false, cgroups: false }),
);
optionsConformance("process without bubblewrap", () => processFixture({ bubblewrap: false }));
