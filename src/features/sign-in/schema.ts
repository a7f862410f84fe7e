/** What the console and the command line are told before anyone has signed in. */
import { type Static, Type } from "@sinclair/typebox";

const Person = Type.Object(
  {
    username: Type.String({ examples: ["admin"] }),
    /** Whose token endpoint takes the name and the password. */
    issuer: Type.String({ examples: ["http://localhost:8080/realms/svc-system"] }),
    password: Type.Union([Type.String(), Type.Null()], {
      description: "null: it was changed by `SVC_DEV_PASSWORD`, and the person types it in",
      examples: ["dev"],
    }),
    title: Type.String({ examples: ["Administrator of the platform"] }),
  },
  { description: "a person of the development issuer" },
);

const Subject = Type.Object(
  { sub: Type.String({ format: "uuid" }), name: Type.String({ examples: ["admin"] }) },
  { description: "a subject of the development issuer, as records of what it did name it" },
);

export const SignInConfig = Type.Object({
  issuer: Type.String({
    description: "of the realm where the tenant's people sign in, as its tokens name it",
    examples: ["https://svc.example/realms/tenant-acme"],
  }),
  client_id: Type.String({ description: "the console's", examples: ["svc-console"] }),
  cli_client_id: Type.String({ description: "the command line's", examples: ["svc-cli"] }),
  scopes: Type.Array(Type.String(), {
    description: "to ask the issuer for",
    examples: [["openid", "profile", "email"]],
  }),
  device: Type.Boolean({ description: "whether the issuer offers the device flow", examples: [true] }),
  password: Type.Boolean({
    description: "whether it is the development issuer, which takes a name and a password",
    examples: [false],
  }),
  people: Type.Optional(Type.Array(Person, { description: "of the development issuer: who may sign in by one click" })),
  subjects: Type.Optional(Type.Array(Subject, { description: "of the development issuer, with their names" })),
});
export type SignInConfig = Static<typeof SignInConfig>;

export const named = { SignInConfig, DevelopmentPerson: Person, DevelopmentSubject: Subject };
