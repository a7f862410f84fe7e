/** Settings that list what of a host, and from outside, agents may have: registries, images, directories. */
import { imageFault } from "../../actors/manifest/images/image.ts";
import { normalPath } from "../../actors/manifest/members.ts";
import { BadValue, type Common, type Setting, setting } from "./setting.ts";

/** Where a node in production takes images from when nothing is set. */
const wellKnownRegistries = ["docker.io", "ghcr.io", "quay.io", "gcr.io", "mcr.microsoft.com", "public.ecr.aws"];

/** A comma-separated list of container registries, `*` for all with a public name; null: the same. */
export function registries(name: string, options: Common): Setting<readonly string[] | null> {
  return setting<readonly string[] | null>(name, options, {
    unit: "",
    defaultText: `${wellKnownRegistries.join(", ")}; * in development`,
    bounds: "host, host:port or *, comma-separated",
    parse: (value) => {
      const list = value.split(",").map((item) => item.trim());
      const wrong = list.find(
        (item) => item !== "*" && !/^[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::\d{1,5})?$/.test(item),
      );
      if (wrong !== undefined) throw new BadValue(`must list registries such as docker.io or ghcr.io; not ${wrong}`);
      return list;
    },
    fallback: (read) => (read("SVC_MODE") === "development" ? null : wellKnownRegistries),
  });
}

/** A comma-separated list of directories of the host. */
export function hostPaths(name: string, options: Common): Setting<readonly string[]> {
  return setting<readonly string[]>(name, options, {
    unit: "",
    defaultText: "none",
    bounds: "absolute paths, comma-separated",
    parse: (value) =>
      value.split(",").map((item) => {
        const path = item.trim().startsWith("/") ? normalPath(item.trim()) : null;
        if (path === null || path === "/") throw new BadValue(`must list absolute paths below /; not ${item.trim()}`);
        return path;
      }),
    fallback: () => [],
  });
}

/** A comma-separated list of images of a host, `*` for all of them; null: the same. */
export function localImages(name: string, options: Common): Setting<readonly string[] | null> {
  return setting<readonly string[] | null>(name, options, {
    unit: "",
    defaultText: "none; * in development",
    bounds: "image, name/* or *, comma-separated",
    parse: (value) => {
      const list = value.split(",").map((item) => item.trim());
      const wrong = list.find(
        (item) => item !== "*" && imageFault(item.replace(/\/\*$/, "/x"), ["*"])?.code === "invalid",
      );
      if (wrong !== undefined)
        throw new BadValue(`must list images such as localhost/tools/* or acme/agent:1; not ${wrong}`);
      return list;
    },
    fallback: (read) => (read("SVC_MODE") === "development" ? null : []),
  });
}
