/** What the sender has to do, ready to paste. */
import { type Preset, presetNames } from "../words.ts";

export interface Snippet {
  readonly id: string;
  readonly label: string;
  readonly about: string;
  /** Null: what is to be done stands in `steps`. */
  readonly code: string | null;
  readonly steps: readonly (readonly [name: string, value: string])[];
}

export interface SnippetOf {
  readonly preset: Preset;
  readonly url: string;
  /** Null: it is not known here, and the snippet reads it from `SECRET`. */
  readonly secret: string | null;
  readonly timed: boolean;
}

const unknownSecret = "the secret of this source";

export function snippetsOf(of: SnippetOf): readonly Snippet[] {
  const secret = of.secret ?? unknownSecret;
  const curl: Snippet = {
    id: "curl",
    label: "curl",
    about: "Signs a message with openssl and sends it, in any POSIX shell.",
    code: curlOf(of),
    steps: [],
  };
  const provider: Readonly<Record<Preset, readonly Snippet[]>> = {
    svc: [
      {
        id: "node",
        label: "JavaScript",
        about: "For Node.js, Bun and Deno, without a library.",
        code: scriptOf(of),
        steps: [],
      },
    ],
    github: [
      {
        id: "github",
        label: "GitHub",
        about: "In the repository or organization: Settings → Webhooks → Add webhook.",
        code: null,
        steps: [
          ["Payload URL", of.url],
          ["Content type", "application/json"],
          ["Secret", secret],
        ],
      },
    ],
    stripe: [
      {
        id: "stripe",
        label: "Stripe",
        about:
          "In the dashboard: Developers → Webhooks → Add endpoint. Stripe makes the signing secret itself: give it to this source by “New secret”.",
        code: null,
        steps: [["Endpoint URL", of.url]],
      },
    ],
    slack: [
      {
        id: "slack",
        label: "Slack",
        about:
          "In the app's settings: Event Subscriptions → Enable Events. Slack's signing secret is under Basic Information: give it to this source by “New secret” first, since Slack checks the URL at once.",
        code: null,
        steps: [["Request URL", of.url]],
      },
    ],
    standard_webhooks: [
      {
        id: "standard",
        label: presetNames.standard_webhooks,
        about: "Any sender of Standard Webhooks (Svix among them) takes a URL and a secret.",
        code: null,
        steps: [
          ["Endpoint URL", of.url],
          ["Signing secret", secret],
        ],
      },
      {
        id: "node",
        label: "JavaScript",
        about: "For Node.js, Bun and Deno, without a library.",
        code: scriptOf(of),
        steps: [],
      },
    ],
  };
  return of.preset === "svc" ? [curl, ...provider.svc] : [...provider[of.preset], curl];
}

/** As one word of a shell, with nothing in it obeyed. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

function curlOf({ preset, url, secret, timed }: SnippetOf): string {
  const digest = 'openssl dgst -sha256 -hmac "$SECRET" -r | cut -d" " -f1';
  const time = ["TIME=$(date +%s)"];
  const parts: Readonly<Record<Preset, { readonly lines: readonly string[]; readonly headers: readonly string[] }>> = {
    svc: timed
      ? {
          lines: [...time, `SIGNATURE=$(printf '%s.%s' "$TIME" "$BODY" | ${digest})`],
          headers: ["X-Svc-Timestamp: $TIME", "X-Svc-Signature: sha256=$SIGNATURE"],
        }
      : { lines: [`SIGNATURE=$(printf '%s' "$BODY" | ${digest})`], headers: ["X-Svc-Signature: sha256=$SIGNATURE"] },
    github: {
      lines: [`SIGNATURE=$(printf '%s' "$BODY" | ${digest})`],
      headers: ["X-GitHub-Event: push", "X-GitHub-Delivery: $(date +%s)-$$", "X-Hub-Signature-256: sha256=$SIGNATURE"],
    },
    stripe: {
      lines: [...time, `SIGNATURE=$(printf '%s.%s' "$TIME" "$BODY" | ${digest})`],
      headers: ["Stripe-Signature: t=$TIME,v1=$SIGNATURE"],
    },
    slack: {
      lines: [...time, `SIGNATURE=$(printf 'v0:%s:%s' "$TIME" "$BODY" | ${digest})`],
      headers: ["X-Slack-Request-Timestamp: $TIME", "X-Slack-Signature: v0=$SIGNATURE"],
    },
    standard_webhooks: {
      lines: [
        ...time,
        'ID="msg_$TIME$$"',
        `KEY=$(printf '%s' "\${SECRET#whsec_}" | openssl base64 -d -A | od -An -vtx1 | tr -d ' \\n')`,
        `SIGNATURE=$(printf '%s.%s.%s' "$ID" "$TIME" "$BODY" | openssl dgst -sha256 -mac HMAC -macopt "hexkey:$KEY" -binary | openssl base64 -A)`,
      ],
      headers: ["webhook-id: $ID", "webhook-timestamp: $TIME", "webhook-signature: v1,$SIGNATURE"],
    },
  };
  const { lines, headers } = parts[preset];
  return [
    secret === null ? `SECRET='…'   # ${unknownSecret}` : `SECRET=${quoted(secret)}`,
    `BODY='{"hello":"world"}'`,
    ...lines,
    `curl -sS ${quoted(url)} \\`,
    '  -H "Content-Type: application/json" \\',
    ...headers.map((header) => `  -H "${header}" \\`),
    '  --data-binary "$BODY"',
  ].join("\n");
}

function scriptOf({ preset, url, timed, secret }: SnippetOf): string {
  const isStandard = preset === "standard_webhooks";
  const key = isStandard ? 'Buffer.from(secret.replace(/^whsec_/, ""), "base64")' : "secret";
  const signed = isStandard ? '[id, time, body].join(".")' : timed ? '[time, body].join(".")' : "body";
  const headers = isStandard
    ? ['"webhook-id": id', '"webhook-timestamp": time', '"webhook-signature": "v1," + signature']
    : [...(timed ? ['"x-svc-timestamp": time'] : []), '"x-svc-signature": "sha256=" + signature'];
  return [
    `import { createHmac${isStandard ? ", randomUUID" : ""} } from "node:crypto";`,
    "",
    `const secret = ${secret === null ? "process.env.SECRET" : JSON.stringify(secret)};`,
    'const body = JSON.stringify({ hello: "world" });',
    ...(isStandard ? ['const id = "msg_" + randomUUID();'] : []),
    ...(isStandard || timed ? ["const time = String(Math.floor(Date.now() / 1000));"] : []),
    `const signature = createHmac("sha256", ${key}).update(${signed}).digest("${isStandard ? "base64" : "hex"}");`,
    `const answer = await fetch(${JSON.stringify(url)}, {`,
    '  method: "POST",',
    `  headers: { "content-type": "application/json", ${headers.join(", ")} },`,
    "  body,",
    "});",
    "console.log(answer.status, await answer.text());",
  ].join("\n");
}
