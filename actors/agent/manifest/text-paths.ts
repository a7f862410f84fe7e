/**
 * Where a manifest holds text. YAML reads an unquoted `3.10` as a number; at these places what the
 * author wrote is meant, so the source text is kept.
 */
export type TextPaths = typeof text | typeof textOrTexts | { readonly [key: string]: TextPaths };

export const text = Symbol("text");
export const texts = { "*": text } as const;
/** Either one text or a list of them. */
export const textOrTexts = Symbol("textOrTexts");

/** `*` stands for any key and any position. */
export const manifestTextPaths: Exclude<TextPaths, symbol> = {
  apiVersion: text,
  kind: text,
  metadata: { name: text, version: text, description: text, tags: texts, labels: texts, annotations: texts },
  spec: {
    runtime: { language: text, version: text, image: text, image_pull_policy: text, isolation: text, model: text },
    task: { instruction: text, prompt_template: text, agentskills: texts },
    context: { "*": { type: text, content: text, path: text, url: text, description: text } },
    execution: {
      mode: text,
      validation: {
        "*": {
          type: text,
          pattern: text,
          target: text,
          flags: text,
          target_path: text,
          criteria: text,
          judge_agent: text,
          regex: text,
          prompt: text,
          consensus: text,
          judges: { "*": text },
        },
      },
      tool_validation: { "*": { type: text, judge_agent: text, criteria: text } },
      delivery: {
        destinations: {
          "*": { name: text, type: text, condition: text, url: text, method: text, headers: texts, secret: text },
        },
      },
    },
    security: {
      network: { mode: text, allowlist: texts, denylist: texts },
      filesystem: { read: texts, write: texts },
    },
    volumes: {
      "*": {
        name: text,
        mount_path: text,
        storage_class: text,
        access_mode: text,
        type: text,
        source: { volume_id: text },
      },
    },
    output_handler: {
      type: text,
      agent_id: text,
      input_template: text,
      url: text,
      method: text,
      headers: texts,
      body_template: text,
    },
    schedule: { type: text, cron: text, timezone: text },
    tools: { "*": text },
    env: texts,
    environment: texts,
    advanced: { startup_script: text, bootstrap_path: text },
    security_context: text,
  },
  environment: texts,
};

/** Patches name some fields of `metadata` without it. */
export const patchTextPaths: TextPaths = {
  ...manifestTextPaths,
  description: text,
  labels: texts,
  annotations: texts,
  tags: texts,
};

/** The paths below `key`, or null where nothing below is text. */
export function textPathsBelow(paths: TextPaths | null, key: string): TextPaths | null {
  if (paths === null || paths === text) return null;
  if (paths === textOrTexts) return text;
  if (Object.hasOwn(paths, key)) return paths[key] ?? null;
  return paths["*"] ?? null;
}

export function isTextPath(paths: TextPaths | null): boolean {
  return paths === text || paths === textOrTexts;
}
