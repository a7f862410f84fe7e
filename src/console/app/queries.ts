/** What was read of the service, kept by its key. Keys begin with the kind of record: see `src/console/app/streams/live.ts`. */
import { QueryClient } from "@tanstack/react-query";
import { ApiError } from "../../programs/client/errors.ts";
import { onIdentity } from "./session/session.ts";

const maxRetries = 4;

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      // What changes is told by events; the rest is read again when it is opened again.
      staleTime: 15_000,
      refetchOnWindowFocus: false,
      retry: (count, error) => count < maxRetries && mayPass(error),
      retryDelay: (attempt) => Math.min(500 * 2 ** attempt, 8_000),
    },
    mutations: { retry: false },
  },
});

// What one person read is not shown to the next one in this tab.
onIdentity(() => queries.clear());

/** Whether the same request may succeed in a moment. */
function mayPass(error: Error): boolean {
  return !(error instanceof ApiError) || error.status === 503 || error.status === 429;
}
