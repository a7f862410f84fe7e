import { processBench } from "./bench.ts";
import { sandboxConformance } from "./conformance.ts";

sandboxConformance("process without bubblewrap", () => processBench({ bubblewrap: false }));
sandboxConformance("process without bubblewrap and without control groups", () =>
  processBench({ bubblewrap: false, cgroups: false }),
);
