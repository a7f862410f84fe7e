/** The key under which a request is done once: the same one for as long as the same is asked for. */
import { useRef } from "react";

/** Pressing twice, or again after the network failed, asks for the same; what was edited meanwhile is another request. */
export function useRequestKey(): (body: unknown) => string {
  const known = useRef({ asked: "", key: "" });
  return (body) => {
    const asked = JSON.stringify(body);
    if (known.current.key === "" || known.current.asked !== asked) known.current = { asked, key: crypto.randomUUID() };
    return known.current.key;
  };
}
