import { createTransport, type Transporter } from "nodemailer";
import { answerOrders } from "../answer-orders.ts";
import { body, recipients, sender, subject } from "../the-mail.ts";

export type BareLoopOrder = { readonly port: number; readonly mails: number };

const connections = 10;

let transport: Transporter | null = null;

/** Calling nodemailer yourself: as many mails on their way as the pool has connections, and nothing recorded. */
answerOrders<BareLoopOrder, null>(async ({ port, mails }) => {
  const pool = {
    host: "127.0.0.1",
    port,
    pool: true,
    maxConnections: connections,
    maxMessages: Number.POSITIVE_INFINITY,
  };
  transport ??= createTransport(pool as object);
  const left = recipients(mails);
  const send = async (): Promise<void> => {
    for (let to = left.pop(); to !== undefined; to = left.pop()) {
      await transport?.sendMail({ from: sender, to, subject, text: body });
    }
  };
  await Promise.all(Array.from({ length: connections }, send));
  return null;
});
