import "./styles.css";
import { QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { queries } from "./app/queries.ts";
import { SignInGate } from "./app/session/gate.tsx";
import { applyTheme } from "./app/theme.ts";
import { Kit } from "./kit/provider.tsx";

applyTheme();
const place = document.getElementById("app");
if (place === null) throw new Error("the page has no place for the console");
createRoot(place).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <Kit>
        <SignInGate />
      </Kit>
    </QueryClientProvider>
  </StrictMode>,
);
