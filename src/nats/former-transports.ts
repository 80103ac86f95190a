import type { Socket } from "node:net";
import type { NatsConnection } from "nats";

/** A connection to one server, as the client has it: one for each that it tries. */
type Transport = {
  socket?: Socket;
  setupHandlers(): void;
  _closed(): Promise<void>;
};

/** It is internal. Its version is pinned; a client with other internals is left alone. */
type Protocol = { transport?: Transport; prepare(): unknown };

/**
 * Ends each transport when the client makes its next one. Left to itself the client forgets one whose server took longer
 * than the time limit to answer. That one connects later, and once it is closed, for want of a login, the client connects
 * anew and forgets the transport that it works with, which stays open: two servers then write into one parser, which makes
 * messages of parts of both, and the end of each forgotten one leaves another.
 */
export function endFormerTransports(nats: NatsConnection): void {
  const { protocol } = nats as { readonly protocol?: Partial<Protocol> };
  const prepare = protocol?.prepare;
  if (protocol === undefined || typeof prepare !== "function") return;
  protocol.prepare = () => {
    if (protocol.transport !== undefined) end(protocol.transport);
    return prepare.call(protocol);
  };
}

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
