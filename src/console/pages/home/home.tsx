/** What needs the caller, and what runs now. */
import { Empty, Page } from "../../kit/page.tsx";

export function Home() {
  return (
    <Page title="Home">
      <Empty title="Nothing yet" />
    </Page>
  );
}
