import type { Socket } from "node:net";
import type { NatsConnection } from "nats";

/** A connection to one server, as the client has it: one for each that it tries. */
type Transport = {
  socket?: Socket;
  setupHandlers(): void;
  disconnect(): void;
  _closed(): Promise<void>;
};

/** It is internal. Its version is pinned; a client with other internals is left alone. */
type Protocol = { transport: Transport; prepare(): unknown };

const lastWritesMs = 250;

/**
 * Lets each transport of the client end in time, which it does not do by itself in two cases.
 *
 * The client forgets a transport whose server took longer than the time limit to answer. That one connects later, and once it
 * is closed, for want of a login, the client connects anew and forgets the transport that it works with, which stays open:
 * two servers then write into one parser, which makes messages of parts of both, and the end of each forgotten one leaves
 * another. So each ends when the next one is made.
 *
 * Before the client leaves a server it waits until everything is written, and a frozen server takes nothing: with some
 * megabytes on their way it would never leave.
 */
export function endTransportsInTime(nats: NatsConnection): void {
  const { protocol } = nats as { readonly protocol?: Partial<Protocol> };
  if (!isKnown(protocol)) return;
  const prepare = protocol.prepare.bind(protocol);
  limitLastWrites(protocol.transport);
  protocol.prepare = () => {
    end(protocol.transport);
    const ready = prepare();
    limitLastWrites(protocol.transport);
    return ready;
  };
}

const isKnown = (protocol: Partial<Protocol> | undefined): protocol is Protocol =>
  typeof protocol?.prepare === "function" && typeof protocol.transport?.disconnect === "function";

/** Its end is no news to the client any more. One that is still connecting ends once it is connected. */
function end(transport: Transport): void {
  const destroy = (): void => {
    const { socket } = transport;
    socket?.removeAllListeners().on("error", () => {});
    socket?.destroy();
  };
  transport._closed = async () => {};
  transport.setupHandlers = destroy;
  destroy();
}

function limitLastWrites(transport: Transport): void {
  const disconnect = transport.disconnect.bind(transport);
  transport.disconnect = () => {
    disconnect();
    setTimeout(() => transport.socket?.destroy(), lastWritesMs).unref();
  };
}
