/** The settings of what this host holds agents and commands with. */
import { hostPaths, localImages, registries } from "../../config/images-and-paths.ts";
import { anyText, flag, integer, optionalChoice, text } from "../../config/setting.ts";

export const sandboxSettings = {
  runtimeDefault: optionalChoice("SVC_RUNTIME_DEFAULT", {
    meaning: "isolation of agents that name none",
    of: ["process", "docker"],
    defaultText: "docker where a container engine answers, else process",
  }),
  sandbox: optionalChoice("SVC_SANDBOX", {
    meaning:
      "what holds agents of `process` isolation: `bubblewrap`, without which the node does not start, or `none`, for hosts whose agents are all trusted",
    of: ["bubblewrap", "none"],
    defaultText:
      "bubblewrap; where it cannot be had development warns, and production starts with a container engine only",
  }),
  imageRegistries: registries("SVC_IMAGE_REGISTRIES", {
    meaning:
      "registries that images named by manifests may come from; docker.io is that of names without one, * stands for all with a public name",
  }),
  localImages: localImages("SVC_LOCAL_IMAGES", {
    meaning:
      "images of this host that manifests may name with the pull policy Never; one without tag and digest is its whole repository, name/* all below a name, * every image",
  }),
  hostPaths: hostPaths("SVC_HOST_PATHS", {
    meaning: "directories of the host that agents deployed by operators may mount (volumes of the type hostPath)",
  }),
  containerRoot: flag("SVC_CONTAINER_ROOT", {
    meaning: "container states may run as root inside their container (`run_as_user: 0`)",
    default: false,
  }),
  dockerSocket: text("SVC_DOCKER_SOCKET", {
    meaning:
      "unix socket of the container engine, Docker's or Podman's; without an answer there is no docker isolation",
    pattern: anyText.pattern,
    bounds: "a path",
    default: "/var/run/docker.sock",
  }),
  warmPoolCap: integer("SVC_WARM_POOL_CAP", {
    meaning: "containers of a node that are kept ready at most; 0 keeps none",
    unit: "containers",
    min: 0,
    max: 1000,
    default: 20,
  }),
};
