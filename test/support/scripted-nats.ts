import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";

export type ScriptedNats = { readonly url: string; close(): Promise<void> };

/** Speaks as much of NATS' protocol as a client needs to connect, and has neither subscribers nor JetStream. */
export async function startScriptedNats(version: string): Promise<ScriptedNats> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket)).on("error", () => {});
    const info = { server_id: "scripted", version, headers: true, max_payload: 1_048_576, proto: 1 };
    socket.write(`INFO ${JSON.stringify(info)}\r\n`);
    const inboxes = new Map<string, string>();
    socket.on("data", (data) => {
      for (const line of data.toString().split("\r\n")) answer(socket, line, inboxes);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `nats://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

/** By the subject of a subscription, its number: what it needs to be answered to. */
function answer(socket: Socket, line: string, inboxes: Map<string, string>): void {
  const [verb, first = "", second = "", third = ""] = line.split(" ");
  if (verb === "PING") socket.write("PONG\r\n");
  if (verb === "SUB") inboxes.set(first, third === "" ? second : third);
  if (verb !== "PUB" && verb !== "HPUB") return;
  // `PUB <subject> <reply-to> <bytes>`: no client listens on the subject, and a server reports that to the requester.
  const number = [...inboxes].find(([subject]) => second.startsWith(subject.replace(/[*>]$/, "")))?.[1];
  const status = "NATS/1.0 503\r\n\r\n";
  if (number !== undefined) socket.write(`HMSG ${second} ${number} ${status.length} ${status.length}\r\n${status}\r\n`);
}
