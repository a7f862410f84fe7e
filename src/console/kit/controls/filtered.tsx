/** An empty list: nothing is there, or nothing fits. */
import { FilterX } from "lucide-react";
import type { ReactNode } from "react";
import { Empty } from "../page.tsx";
import { Button } from "./button.tsx";
import { useFilters } from "./filters.tsx";

/**
 * @param names of the filters that leave rows out
 * @param children what is said where none of them is set
 */
export function Filtered({ names, children }: { readonly names: readonly string[]; readonly children: ReactNode }) {
  const [filters, change] = useFilters();
  if (!names.some((name) => (filters[name] ?? "") !== "")) return children;
  const clear = () => change(Object.fromEntries(names.map((name) => [name, ""])));
  return (
    <Empty
      icon={FilterX}
      title="Nothing matches the filters"
      actions={<Button onClick={clear}>Clear the filters</Button>}
    >
      There may be more without them.
    </Empty>
  );
}
