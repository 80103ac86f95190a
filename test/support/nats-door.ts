import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

/** A request to NATS by what it says, and whether the door shuts before it passes or once it has passed. */
export type Moment = { readonly request: RegExp; readonly shuts: "before" | "after" };

export type NatsDoor = {
  /** Where clients connect. */
  readonly address: string;
  /** Resolves when the moment has come; nothing passes in either direction from then on. */
  readonly reached: Promise<void>;
  stop(): Promise<void>;
};

/**
 * A door in front of NATS that shuts when a certain request comes to it, so that a client stands still there. After a
 * request that has passed, its answer still comes to the door, and not to the client.
 */
export async function openNatsDoor(server: string, { request, shuts }: Moment): Promise<NatsDoor> {
  const [host = "", port = ""] = server.split(":");
  const sockets = new Set<Socket>();
  let isShut = false;
  let shut = (): void => {};
  const reached = new Promise<void>((resolve) => {
    shut = () => {
      isShut = true;
      resolve();
    };
  });
  const door = createServer((client) => {
    const upstream = connect(Number(port), host);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.setNoDelay(true).on("error", () => socket.destroy());
      socket.once("close", () => sockets.delete(socket));
    }
    client.once("close", () => upstream.destroy());
    upstream.once("close", () => client.destroy());
    let said = "";
    client.on("data", (chunk) => {
      if (isShut) return;
      // A request can come in pieces.
      said = (said + chunk.toString("latin1")).slice(-65_536);
      const isIt = request.test(said);
      if (!isIt || shuts === "after") upstream.write(chunk);
      if (isIt && shuts === "before") shut();
      // What was asked is done once the server has answered.
      if (isIt && shuts === "after") upstream.once("data", shut);
    });
    upstream.on("data", (chunk) => {
      if (!isShut) client.write(chunk);
    });
  }).listen(0, "127.0.0.1");
  await once(door, "listening");
  const address = door.address();
  return {
    address: `127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`,
    reached,
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      door.close();
      await once(door, "close");
    },
  };
}
