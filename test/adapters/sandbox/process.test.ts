import { processBench } from "./bench.ts";
import { sandboxConformance } from "./conformance.ts";
import { memberConformance } from "./members.ts";

sandboxConformance("process without bubblewrap", () => processBench({ bubblewrap: false }));
sandboxConformance("process without bubblewrap and without control groups", () =>
  processBench({ bubblewrap: false, cgroups: false }),
);
memberConformance("process without bubblewrap", () => processBench({ bubblewrap: false }));
