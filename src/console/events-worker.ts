/**
 * One connection for each stream of events, shared by all tabs of the browser: a SharedWorker. Tabs say what they want to
 * hear and lend their tokens; where a browser has no shared workers, `src/console/app/streams/streams.ts` runs the same within the tab.
 */
import { openShares } from "./app/streams/shared-streams.ts";

interface WorkerScope {
  onconnect: ((event: MessageEvent) => void) | null;
}

const shares = openShares();
// The compiler knows the scope of pages only.
(globalThis as unknown as WorkerScope).onconnect = ({ ports: [port] }) => {
  if (port !== undefined) shares.join(port);
};
