import { createHash } from "node:crypto";
import { once } from "node:events";
import Koa from "koa";
import { v7 as newId } from "uuid";
import { answerOrders } from "../../answer-orders.ts";
import { readAll } from "../read-all.ts";
import { type Content, type Turn, toEntry } from "./entries.ts";
import { connectTo, createAsk, guardedBy, type NatsServer, store, subjects } from "./jetstream.ts";

export type FloorApiOrder = NatsServer;
export type FloorApiState = { readonly port: number };

/** A POST: the content, then the guarded entry, each awaited. The turn is a hint that may get lost, so no one waits for it. */
answerOrders<FloorApiOrder, FloorApiState>(async (server) => {
  const nats = await connectTo(server);
  const ask = createAsk(nats);
  const app = new Koa();
  app.use(async (context) => {
    const { subject, body, recipients }: Content = JSON.parse(await readAll(context.req));
    const jobId = newId();
    const content = JSON.stringify({ subject, body, recipients });
    await store(ask, subjects.contentOf(jobId), content);
    const contentSha256 = createHash("sha256").update(content).digest("hex");
    const created = { contentSha256, total: recipients.length, maxAttempts: 4, onUnknown: "resend" };
    const entry = toEntry(jobId, [["JobCreated", created]]);
    const after = await store(ask, subjects.entriesOf(jobId), entry, guardedBy(0));
    const turn: Turn = { jobId, after };
    nats.publish(subjects.turnOf(jobId), JSON.stringify(turn));
    context.status = 201;
    context.body = { jobId, status: "pending" };
  });
  const listening = app.listen(0, "127.0.0.1");
  await once(listening, "listening");
  const address = listening.address();
  return { port: typeof address === "object" && address !== null ? address.port : 0 };
});
