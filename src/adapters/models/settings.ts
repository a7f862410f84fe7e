/** The settings of models; their providers stand in the configuration file. */
import { secret, text, webUrl } from "../../config/setting.ts";

export const modelSettings = {
  openaiApiKey: secret("OPENAI_API_KEY", {
    meaning: "OpenAI; serves the customary aliases where the file lists no llm_providers",
  }),
  anthropicApiKey: secret("ANTHROPIC_API_KEY", { meaning: "Anthropic; likewise" }),
  googleApiKey: secret("GOOGLE_GENERATIVE_AI_API_KEY", { meaning: "Google; likewise" }),
  ollamaUrl: text("SVC_OLLAMA_URL", {
    meaning:
      "an Ollama that answers here serves the customary aliases when there is no key and no provider; in production only where it is set",
    ...webUrl,
    default: "http://127.0.0.1:11434",
  }),
};
