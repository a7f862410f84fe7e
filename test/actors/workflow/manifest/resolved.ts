/** What the states of `sample.ts` resolve to. */
import type { FirstKind } from "./fixture.ts";

export const resolved: Readonly<Record<FirstKind, object>> = {
  Agent: {
    kind: "Agent",
    timeout_ms: 5400000,
    agent: "writer",
    input: {
      text: "{{input.text}}",
      deep: [
        {
          of: "{{workflow.name}}",
        },
      ],
      n: 3,
    },
    intent: "write {{input.what}}",
    isolation: "docker",
    temperature: 0.3,
    judges: [
      {
        agent: "critic",
        input_template: "Judge {{output}}",
        weight: 2,
      },
    ],
    judge_threshold: 0.9,
    max_iterations: 3,
    pre_execution_validator: {
      agent: "gate",
      input_template: "{{input}}",
    },
    volumes: [
      {
        name: "cache",
        mount_path: "/workspace/cache",
        read_only: true,
      },
    ],
    output_handler: {
      type: "agent",
      agent: "filer",
      input_template: "{{output}}",
      timeout_ms: 60000,
      required: true,
    },
    transitions: [
      {
        condition: "score_above",
        rule: {
          on: "score_above",
          threshold: 0.8,
        },
        target: "B",
        feedback: "{{state_output.error}}",
      },
      {
        condition: "always",
        rule: {
          on: "always",
        },
        target: "B",
        feedback: null,
      },
    ],
    max_state_visits: 20,
    outcome: "completed",
  },
  System: {
    kind: "System",
    timeout_ms: 20000,
    command: {
      form: "text",
      text: "printf %s {{input.invoice}} | wc -c",
    },
    env: {
      A: "{{input.a}}",
      B: "plain",
    },
    workdir: "/workspace/sub",
    image: "alpine:3.20",
    network_mode: "default",
    resources: {
      cpu_millicores: 250,
      memory_bytes: 134217728,
    },
    transitions: [
      {
        condition: "exit_code",
        rule: {
          on: "exit_code",
          value: 3,
        },
        target: "END",
        feedback: null,
      },
      {
        condition: "always",
        rule: {
          on: "always",
        },
        target: "B",
        feedback: null,
      },
    ],
    max_state_visits: 5,
    outcome: "completed",
  },
  Human: {
    kind: "Human",
    timeout_ms: 7200000,
    prompt: "Release {{input.invoice}}?",
    default_response: "no",
    reject_on_timeout: true,
    approvers: ["user:u-1", "email:a@example.com", "role:lead"],
    required_role: "lead",
    quorum: 2,
    forbid_initiator: true,
    allow_agents: true,
    notify: [
      {
        type: "webhook",
        url: "https://example.com/hook",
        secret: "s3cret",
      },
    ],
    remind_after_ms: 1800000,
    escalate: {
      after_ms: 3600000,
      approvers: ["role:boss"],
      notify: [
        {
          type: "webhook",
          url: "https://example.com/esc",
          secret: null,
        },
      ],
    },
    transitions: [
      {
        condition: "approved",
        rule: {
          on: "approved",
        },
        target: "END",
        feedback: null,
      },
      {
        condition: "input_equals",
        rule: {
          on: "input_equals",
          value: "later",
        },
        target: "A",
        feedback: null,
      },
      {
        condition: "always",
        rule: {
          on: "always",
        },
        target: "B",
        feedback: null,
      },
    ],
    max_state_visits: 5,
    outcome: "completed",
  },
  ParallelAgents: {
    kind: "ParallelAgents",
    timeout_ms: null,
    agents: [
      {
        agent: "one",
        input: "{{input}}",
        weight: 2,
        timeout_ms: 30000,
      },
      {
        agent: "{{input.second}}",
        input: {
          x: 1,
        },
        weight: 1,
        timeout_ms: 600000,
      },
    ],
    consensus: {
      strategy: "best_of_n",
      threshold: 0.6,
      agreement: 0.5,
      n: 1,
      min_judges_required: 1,
      agreement_factor: 0.6,
      self_confidence_factor: 0.4,
    },
    judges_for_parallel: [
      {
        agent: "11111111-2222-4333-8444-55555555abcd",
        input_template: null,
        weight: 1,
      },
    ],
    output_handler: {
      type: "webhook",
      url: "https://example.com/{{input.id}}",
      method: "POST",
      headers: {
        "X-Id": "{{input.id}}",
      },
      body_template: null,
      timeout_ms: 30000,
      max_attempts: 3,
      required: false,
    },
    transitions: [
      {
        condition: "consensus",
        rule: {
          on: "consensus",
          threshold: 0.7,
          agreement: 0,
        },
        target: "END",
        feedback: null,
      },
      {
        condition: "always",
        rule: {
          on: "always",
        },
        target: "B",
        feedback: null,
      },
    ],
    max_state_visits: 5,
    outcome: "completed",
  },
  ContainerRun: {
    kind: "ContainerRun",
    timeout_ms: 900000,
    name: "build",
    image: "rust:1.75",
    command: ["cargo", "build", "{{input.flags}}"],
    env: {
      RUST_LOG: "info",
    },
    workdir: "/src",
    volumes: [
      {
        name: "workspace",
        mount_path: "/src",
        read_only: false,
      },
    ],
    resources: {
      cpu_millicores: 1500,
      memory_bytes: 1073741824,
    },
    registry_credentials: null,
    shell: false,
    network_mode: "none",
    image_pull_policy: "Always",
    retry: {
      max_attempts: 1,
      backoff_ms: 5000,
    },
    read_only_root_filesystem: true,
    run_as_user: 1001,
    output_handler: null,
    transitions: [
      {
        condition: "exit_code_zero",
        rule: {
          on: "exit_code_zero",
        },
        target: "END",
        feedback: null,
      },
      {
        condition: "always",
        rule: {
          on: "always",
        },
        target: "B",
        feedback: null,
      },
    ],
    max_state_visits: 5,
    outcome: "completed",
  },
  ParallelContainerRun: {
    kind: "ParallelContainerRun",
    timeout_ms: 600000,
    steps: [
      {
        name: "lint",
        image: "node:22",
        command: ["npm", "run", "lint"],
        env: {},
        workdir: "/workspace",
        volumes: [],
        resources: {
          cpu_millicores: 1000,
          memory_bytes: 536870912,
        },
        registry_credentials: null,
        shell: false,
        network_mode: "default",
        timeout_ms: 60000,
      },
      {
        name: "test",
        image: "node:22",
        command: ["npm test", "{{input.only}}"],
        env: {},
        workdir: "/workspace",
        volumes: [],
        resources: {
          cpu_millicores: 1000,
          memory_bytes: 536870912,
        },
        registry_credentials: null,
        shell: true,
        network_mode: "default",
        timeout_ms: 600000,
      },
    ],
    completion: "best_effort",
    transitions: [
      {
        condition: "on_failure",
        rule: {
          on: "on_failure",
        },
        target: "END",
        feedback: null,
      },
      {
        condition: "always",
        rule: {
          on: "always",
        },
        target: "B",
        feedback: null,
      },
    ],
    max_state_visits: 5,
    outcome: "completed",
  },
  Subworkflow: {
    kind: "Subworkflow",
    timeout_ms: null,
    workflow: "child",
    mode: "blocking",
    result_key: "child_result",
    input: {
      of: "{{input}}",
    },
    transitions: [
      {
        condition: "custom",
        rule: {
          on: "custom",
          expression: "child_result.score > 0.5 && input.go",
        },
        target: "END",
        feedback: null,
      },
      {
        condition: "always",
        rule: {
          on: "always",
        },
        target: "B",
        feedback: null,
      },
    ],
    max_state_visits: 5,
    outcome: "completed",
  },
};
