/** `config.yaml`: what the host's owner says of labels, slots, policy and the environment of commands. */
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { frameLimits } from "../../../../actors/edge/frames.ts";
import { Nullable } from "../../../../actors/kernel/schema.ts";
import { contextName, WrittenCapability, WrittenContext } from "../../../../actors/policy/security/spec.ts";

const closed = { additionalProperties: false } as const;
/** The given shape, or null, which is what stands where it is left out. */
const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()], { default: null });
const EnvironmentName = Type.String({ pattern: "^[A-Za-z_][A-Za-z0-9_]{0,255}$" });

const Context = Type.Object(
  {
    name: Type.String({ pattern: contextName }),
    description: Type.Optional(Nullable(Type.String({ maxLength: 4096 }))),
    capabilities: Type.Optional(Type.Array(WrittenCapability, { maxItems: 100 })),
    deny_list: WrittenContext.deny_list,
  },
  closed,
);

/** As it is written; every member may be left out. */
export const WrittenConfig = Type.Object(
  {
    labels: Type.Record(Type.String({ minLength: 1, maxLength: 63 }), Type.String({ maxLength: 256 }), {
      default: {},
      maxProperties: 64,
    }),
    /** Commands that run at once. */
    slots: Type.Integer({ minimum: 1, maximum: frameLimits.maxSlots, default: 4 }),
    /** Where relative paths begin; null: `work` in the state directory. */
    workdir: orNull(Type.String({ minLength: 1, maxLength: 4096 })),
    env: Type.Object(
      {
        /** Variables of the daemon that commands get. */
        pass: Type.Array(EnvironmentName, { maxItems: 256, default: ["PATH", "HOME", "LANG", "TZ"] }),
        /** Variables that a command may bring along; `*`: all but those that no command may. */
        allow: Type.Array(Type.Union([Type.Literal("*"), EnvironmentName]), { maxItems: 256, default: [] }),
      },
      { ...closed, default: {} },
    ),
    /** User that commands run as; null: the daemon's. */
    run_as: orNull(Type.String({ pattern: "^[A-Za-z_][A-Za-z0-9_.-]{0,63}\\$?$" })),
    /** Seconds before each further attempt to connect; the last one repeats. */
    reconnect: Type.Array(Type.Number({ minimum: 0.01, maximum: 3600 }), {
      minItems: 1,
      maxItems: 32,
      default: [1, 2, 5, 15, 60],
    }),
    shutdown_grace_secs: Type.Integer({ minimum: 0, maximum: 86_400, default: 30 }),
    /** What isolates commands: bubblewrap where it can be used, or nothing. */
    sandbox: Type.Union([Type.Literal("auto"), Type.Literal("off")], { default: "auto" }),
    metrics: Type.Object({ listen: orNull(Type.String({ maxLength: 256 })) }, { ...closed, default: {} }),
    update: Type.Object(
      {
        url: orNull(Type.String({ maxLength: 2048 })),
        keys: Type.Array(
          Type.Object(
            {
              kid: Type.String({ minLength: 1, maxLength: 128 }),
              public_key: Type.String({ pattern: "^[A-Za-z0-9+/]{43}=$" }),
            },
            closed,
          ),
          { maxItems: 64, default: [] },
        ),
        auto: Type.Boolean({ default: false }),
      },
      { ...closed, default: {} },
    ),
    contexts: Type.Array(Context, { maxItems: 100, default: [] }),
  },
  closed,
);
export type WrittenConfig = Static<typeof WrittenConfig>;
