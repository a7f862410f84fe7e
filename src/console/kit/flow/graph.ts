/** What a graph is made of. */

export interface FlowNode {
  /** Unique in the graph; shown as its name. */
  readonly id: string;
  /** Of the state: chooses the picture. */
  readonly kind: string;
  /** The second line: what it does, in a few words. */
  readonly about: string;
  /** Null: the graph is of a definition, nothing has happened. */
  readonly status: string | null;
  readonly visits: number;
  readonly isStart: boolean;
  /** How a run ends here; null: it goes on. */
  readonly end: "completed" | "failed" | null;
  /** The group that it stands in. */
  readonly group: string | null;
  /** What it did was undone. */
  readonly isUndone?: boolean;
  /** Beside another version of the definition. */
  readonly change?: "added" | "removed" | "changed" | null;
  /** Of many items: shown as a bar. */
  readonly progress?: { readonly done: number; readonly failed: number; readonly total: number } | null;
}

export interface FlowEdge {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  /** Short: the rule. */
  readonly label: string;
  /** Whole: shown on hover. */
  readonly whole: string;
  /** `way`: a rule leads on; `branch`: begins a branch; `compensate`: undoes. */
  readonly kind: "way" | "branch" | "compensate";
  /** How often; null: the graph is of a definition. */
  readonly taken: number | null;
  /** Beside another version of the definition. */
  readonly change?: "added" | "removed" | null;
}

export interface FlowGroup {
  readonly id: string;
  readonly label: string;
}

export interface FlowGraph {
  readonly nodes: readonly FlowNode[];
  readonly edges: readonly FlowEdge[];
  readonly groups: readonly FlowGroup[];
}

export interface FlowProps {
  readonly graph: FlowGraph;
  /** What the graph is of, read aloud. */
  readonly label: string;
  /** A CSS height. */
  readonly height: string;
  readonly selected?: string | null;
  readonly onSelect?: (id: string | null) => void;
}
