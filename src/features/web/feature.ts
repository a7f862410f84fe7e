/** `web.search` and `web.fetch`: what agents read of the web without a connection of their own. */
import { execution } from "../../../actors/execution/execution.ts";
import { openSearch } from "../../adapters/search/port.ts";
import { integer, ports, secret, url } from "../../config/setting.ts";
import { executions } from "../executions/feature.ts";
import { defineFeature } from "../feature.ts";
import { tools } from "../tools/feature.ts";
import { createWebTools } from "./provider.ts";

export const webTools = defineFeature({
  name: "web",
  needs: { tools, executions },
  settings: {
    webSearchUrl: url("SVC_WEB_SEARCH_URL", {
      meaning: "search engine of web.search, which is not offered without: a SearXNG, or with a key Brave's search API",
      schemes: ["http", "https"],
    }),
    webSearchKey: secret("SVC_WEB_SEARCH_KEY", { meaning: "subscription token of the search engine" }),
    webFetchMaxBytes: integer("SVC_WEB_FETCH_MAX_BYTES", {
      meaning: "longest page that web.fetch reads, after decompression",
      unit: "bytes",
      min: 1024,
      max: 67_108_864,
      default: 5_242_880,
    }),
    webFetchPorts: ports("SVC_WEB_FETCH_PORTS", { meaning: "ports beside 80 and 443 that web.fetch may call" }),
  },
  contradictions: ({ webSearchUrl, webSearchKey }) =>
    webSearchUrl === null && webSearchKey !== null && webSearchKey !== undefined
      ? ["SVC_WEB_SEARCH_KEY needs SVC_WEB_SEARCH_URL"]
      : [],
  open({ settings, outside, now }, { executions }) {
    const engine = openSearch(settings.webSearchUrl, settings.webSearchKey);
    const provider = createWebTools(engine, {
      outside,
      maxBytes: settings.webFetchMaxBytes,
      ports: settings.webFetchPorts,
      async networkOf(tenant, key) {
        return (await executions.plans.of({ kind: execution.kind, key, tenant })).network;
      },
      now,
    });
    return { service: null, toolProviders: [provider] };
  },
});
