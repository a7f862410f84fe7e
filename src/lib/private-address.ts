/** Which addresses are not on the open internet. */
import { BlockList, isIP } from "node:net";

const networks = new BlockList();
networks.addSubnet("127.0.0.0", 8, "ipv4");
networks.addSubnet("10.0.0.0", 8, "ipv4");
networks.addSubnet("172.16.0.0", 12, "ipv4");
networks.addSubnet("192.168.0.0", 16, "ipv4");
networks.addAddress("::1", "ipv6");
networks.addSubnet("fc00::", 7, "ipv6");

/** Whether a host as written is loopback or in a private network. Names other than localhost are not resolved. */
export function isPrivateAddress(host: string): boolean {
  if (host === "localhost") return true;
  const family = isIP(host);
  return family !== 0 && networks.check(host, family === 4 ? "ipv4" : "ipv6");
}
