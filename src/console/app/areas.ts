/** The places that the caller may see. */
import { type Area, areas } from "./navigation.ts";
import { useCan, useMe } from "./session/session.ts";

export function useAreas(): readonly Area[] {
  const can = useCan();
  const { operator } = useMe();
  return areas
    .map(({ title, places }) => ({
      title,
      places: places.filter((place) => can(...place.scopes) && (operator || place.operators !== true)),
    }))
    .filter(({ places }) => places.length > 0);
}
