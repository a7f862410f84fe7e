/** Stores, a cluster and its load for each test of a file (or of a `describe`), put away after it. */
import { afterEach, beforeEach } from "bun:test";
import { freshStores, type TestStores } from "../../harness/stores.ts";
import { Cluster, type NodeProcess } from "../cluster.ts";
import { Load } from "../load.ts";

export class ClusterHarness {
  stores!: TestStores;
  cluster!: Cluster;

  constructor() {
    beforeEach(async () => {
      this.stores = await freshStores();
      this.cluster = new Cluster(this.stores);
    });
    afterEach(async () => {
      await this.cluster.killAll();
      await this.stores.dispose();
    });
  }

  /** Two nodes that share the partitions. */
  pair(): Promise<[NodeProcess, NodeProcess]> {
    return Promise.all([this.cluster.start(), this.cluster.start()]);
  }

  /** Begins to send messages, and counts what was accepted of them. */
  load(): Load {
    return new Load(this.cluster, this.stores.sql);
  }
}
