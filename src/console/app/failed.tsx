/** What stands where a page could not be drawn: the rest of the console goes on. */
import type { ErrorComponentProps } from "@tanstack/react-router";
import { Page, Trouble } from "../kit/page.tsx";

export function Failed({ error, reset }: ErrorComponentProps) {
  return (
    <Page title="This page failed">
      <Trouble error={error} retry={reset} title="The console itself is at fault" />
    </Page>
  );
}
