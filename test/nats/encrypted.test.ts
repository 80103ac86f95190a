import { once } from "node:events";
import { type AddressInfo, createServer, type Server } from "node:net";
import { expect } from "chai";
import { describeRefusal } from "../../src/health/jetstream-checkup.ts";
import { connectJetStream } from "../../src/nats/connection.ts";
import { failureOf } from "../support/failure-of.ts";

describe("A connection to NATS under tls://", () => {
  let server: Server;
  let heard: string;

  before(async () => {
    heard = "";
    const info = { server_id: "plain", version: "2.10.0", proto: 1, max_payload: 1_048_576, auth_required: true };
    server = createServer((socket) => {
      socket
        .on("error", () => {})
        .on("data", (data) => {
          heard += data.toString();
        });
      socket.write(`INFO ${JSON.stringify(info)}\r\n`);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
  });
  after(() => server.close());

  it("is not made to a server that offers no TLS, or seems to: it hears no password", async () => {
    const place = `tls://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const settings = { servers: [place], user: "waybill", password: "s3cret", credsFile: null, caFile: null };
    const failure = await failureOf(
      connectJetStream(
        settings,
        "test",
        () => {},
        (step) => step(),
      ),
    );
    expect(heard).to.equal("");
    expect(describeRefusal(settings, failure).what).to.equal(`NATS at ${place} offers no TLS`);
  });
});
