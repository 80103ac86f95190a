import { once } from "node:events";
import { expect } from "chai";
import { SMTPServer } from "smtp-server";
import { createSmtpMailer } from "../../src/mail/smtp-mailer.ts";
import { mailTo } from "./letters.ts";

type Received = { readonly user: string | undefined; readonly isSecure: boolean; readonly message: string };

/** With the self-signed certificate of the package. */
async function startTlsServer(secure: boolean) {
  const received: Received[] = [];
  const server = new SMTPServer({
    secure,
    logger: false,
    closeTimeout: 1,
    onAuth: ({ username, password }, _session, answer) =>
      answer(password === "s3cret" ? null : new Error("no"), { user: username }),
    onData: (stream, session, answer) => {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        const message = Buffer.concat(chunks).toString();
        received.push({ user: session.user?.toString(), isSecure: session.secure, message });
        answer(null);
      });
    },
  });
  server.on("error", () => {});
  const listener = server.listen(0, "127.0.0.1");
  await once(listener, "listening");
  const address = listener.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return { port, received, stop: () => new Promise<void>((resolve) => server.close(resolve)) };
}

for (const scheme of ["smtp", "smtps"] as const) {
  describe(`a mail server with TLS at ${scheme}://`, () => {
    let server: Awaited<ReturnType<typeof startTlsServer>>;
    const open = () =>
      createSmtpMailer({
        url: `${scheme}://wayb%40ill:s3cret@127.0.0.1:${server.port}`,
        maxConnections: 2,
        timeoutMs: 5000,
        answerTimeoutMs: 5000,
      });

    before(async () => {
      server = await startTlsServer(scheme === "smtps");
    });
    after(() => server.stop());

    it("is not used while its certificate is not trusted", async () => {
      const mailer = open();
      const outcome = await mailer.send(mailTo("ada@example.com"));
      await mailer.close();
      expect(outcome).to.have.nested.property("error.code", "smtp-unavailable");
      expect(outcome).to.have.nested.property("error.message").that.matches(/CERT/);
      expect(server.received).to.deep.equal([]);
    });

    describe("whose certificate counts", () => {
      const asItWas = process.env["NODE_TLS_REJECT_UNAUTHORIZED"];
      before(() => {
        process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = "0";
      });
      after(() => {
        if (asItWas === undefined) delete process.env["NODE_TLS_REJECT_UNAUTHORIZED"];
        else process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = asItWas;
      });

      it("takes mails of any size, whole and in turn, from every client that signed in", async () => {
        const mailer = open();
        const lines = ["small", `${"A line of a large text.\r\n".repeat(80_000)}end`, "small again"];
        for (const text of lines)
          expect((await mailer.send(mailTo("ada@example.com", { text }))).kind).to.equal("sent");
        await mailer.close();
        expect(server.received.map(({ message }) => message.split("\r\n\r\n")[1]?.trimEnd())).to.deep.equal(lines);
        expect(server.received.every(({ user, isSecure }) => isSecure && user === "wayb@ill")).to.equal(true);
      });
    });
  });
}
