import { expect } from "chai";
import type { SendOutcome } from "../../../src/domain/recipients/events.ts";
import { withBreaker } from "../../../src/mail/breaker.ts";
import { type Mail, MailWithdrawn } from "../../../src/mail/mailer.ts";
import type { MailRoute, Sending } from "../../../src/mail/routes/mail-route.ts";
import { createMailRouting, type MailRouting } from "../../../src/mail/routes/mail-routing.ts";
import type { RouteBook } from "../../../src/mail/routes/route-book.ts";
import { eventually } from "../../support/eventually.ts";
import { failureOf } from "../../support/failure-of.ts";
import { mailRoute } from "../../support/one-route.ts";

const sent: SendOutcome = { kind: "sent", response: "250 ok" };
const away: SendOutcome = { kind: "unavailable", error: { code: "smtp-unavailable", message: "away" } };
const deliveryError = { code: "outcome-unknown", message: "no answer", replyCode: null, statusCode: null };

const anyJob: Sending = { tenant: "default", sender: "ada@example.org", route: null };
const mail: Mail = {
  letter: { from: "ada@example.org", replyTo: null, subject: "s", html: null, text: "t", headers: {} },
  to: "b@example.com",
  messageId: "<1@example.org>",
};

describe("The routes of a mail", () => {
  let routes: readonly MailRoute[];
  let changed: () => void;
  let routing: MailRouting;
  /** What the server of each route does next; it takes mails as long as nothing else is said. */
  let answers: Map<string, () => Promise<SendOutcome>>;
  /** The routes that mails were handed to, in that order. */
  let handed: string[];
  let closed: string[];

  const start = async (...given: readonly MailRoute[]): Promise<void> => {
    [routes, answers, handed, closed] = [given, new Map(), [], []];
    const book: RouteBook = {
      routes: () => routes,
      unreadable: () => new Map(),
      refresh: async () => {},
      onChange: (listener) => {
        changed = listener;
        return () => {};
      },
    };
    routing = createMailRouting(book, ({ name, connections }) =>
      withBreaker({
        connections,
        send: async () => {
          handed.push(name);
          return (await answers.get(name)?.()) ?? sent;
        },
        probe: async () => ((await answers.get(name)?.())?.kind === "unavailable" ? away : { kind: "ready" }) as never,
        close: async () => {
          closed.push(name);
        },
      }),
    );
    routing.start();
    await eventually(() => {
      for (const run of routing.runs()) expect(run.standing()).not.to.equal("unknown");
    });
  };
  const set = (...given: readonly MailRoute[]): void => {
    routes = given;
    changed();
  };
  afterEach(() => routing.close());

  const isAway = (name: string, is = true): unknown =>
    is ? answers.set(name, async () => away) : answers.delete(name);
  const send = (sending: Partial<Sending> = {}, mayStill = async () => true) =>
    routing.join({ ...anyJob, ...sending }).send(mail, mayStill, new AbortController().signal);
  const sendMany = async (count: number): Promise<void> => {
    const job = routing.join(anyJob);
    for (let mails = 0; mails < count; mails += 1) await job.send(mail, async () => true, new AbortController().signal);
  };
  const usedBy = async (sending: Partial<Sending>): Promise<string | undefined> => (await send(sending))?.route;

  it("are those for its tenant and its sender, and of these the one of the lowest order", async () => {
    await start(
      mailRoute(),
      mailRoute({ name: "shop", tenants: ["shop"], order: 5 }),
      mailRoute({ name: "news", senders: ["news.example.org", "ada@example.org"], order: 10 }),
    );
    expect(await usedBy({})).to.equal("news");
    expect(await usedBy({ sender: "Bob@NEWS.example.org" })).to.equal("news");
    expect(await usedBy({ sender: "bob@sub.news.example.org" })).to.equal("default");
    expect(await usedBy({ sender: "bob@example.org" })).to.equal("default");
    expect(await usedBy({ tenant: "shop" })).to.equal("shop");
    expect(await usedBy({ tenant: "shop", route: "default" })).to.equal("default");
  });

  it("of the same order share its mails by their weights, evenly from the first mail on", async () => {
    await start(mailRoute({ name: "one", weight: 5 }), mailRoute({ name: "two", weight: 1 }), mailRoute({ name: "x" }));
    await sendMany(7);
    expect(handed).to.deep.equal(["one", "one", "two", "one", "x", "one", "one"]);
    isAway("one");
    await sendMany(20);
    handed = [];
    await sendMany(10);
    expect(handed.filter((name) => name === "two")).to.have.lengthOf(5);
  });

  it("follow each other where the first is certainly away", async () => {
    await start(mailRoute({ name: "one", order: 1 }), mailRoute({ name: "two", order: 2 }), mailRoute());
    isAway("one");
    isAway("two");
    expect(await send()).to.deep.equal({ route: "default", outcome: sent });
    expect(handed).to.deep.equal(["one", "two", "default"]);
    handed = [];
    await sendMany(5);
    expect(handed).to.deep.equal(Array(5).fill("default"));
  });

  it("are one where it is unknown whether that took the mail, or where it looked at the mail and refused", async () => {
    await start(mailRoute({ name: "one", order: 1 }), mailRoute());
    for (const kind of ["unknown", "failed", "deferred"] as const) {
      answers.set("one", async () => ({ kind, error: deliveryError }));
      expect((await send())?.outcome.kind).to.equal(kind);
    }
    expect(handed).to.deep.equal(["one", "one", "one"]);
  });

  it("follow each other where the server of the first does not offer what the mail needs, and is not away", async () => {
    await start(mailRoute({ name: "one", order: 1 }), mailRoute());
    const error = { code: "unsendable", message: "no SMTPUTF8", replyCode: null, statusCode: null };
    answers.set("one", async () => ({ kind: "failed", error }));
    expect(await send()).to.deep.equal({ route: "default", outcome: sent });
    answers.delete("one");
    expect(await usedBy({})).to.equal("one");
    for (const name of ["one", "default"]) answers.set(name, async () => ({ kind: "failed", error }));
    handed = [];
    expect(await send()).to.deep.equal({ route: "default", outcome: { kind: "failed", error } });
    expect(handed).to.deep.equal(["one", "default"]);
  });

  it("end where the mail may not be sent any more by the time that the first has refused it", async () => {
    await start(mailRoute({ name: "one", order: 1 }), mailRoute());
    isAway("one");
    expect(await send({}, async () => false)).to.equal(null);
    expect(handed).to.deep.equal(["one"]);
  });

  it("end where the mail may not be sent any more once there is a connection, which says nothing against the server", async () => {
    await start(mailRoute({ name: "one", order: 1 }), mailRoute());
    answers.set("one", () => Promise.reject(new MailWithdrawn("cancelled")));
    for (let mails = 0; mails < 20; mails += 1) expect(await send()).to.equal(null);
    const cause = new Error("The log is away");
    answers.set("one", () => Promise.reject(new MailWithdrawn("unknown", { cause })));
    expect(await failureOf(send())).to.equal(cause);
    answers.delete("one");
    expect(await usedBy({})).to.equal("one");
    expect(routing.runs()[0]?.inFlight()).to.equal(0);
  });

  it("are not back because of a mail of which they have heard nothing", async () => {
    await start(mailRoute());
    isAway("default");
    await send();
    const error = { code: "unsendable", message: "", replyCode: null, statusCode: null };
    answers.set("default", async () => ({ kind: "failed", error }));
    expect((await send())?.outcome.kind).to.equal("failed");
    expect(routing.standing()).not.to.equal("answers");
  });

  it("are tried by one mail alone after an outage, until that is answered", async () => {
    await start(mailRoute({ name: "one", order: 1 }), mailRoute());
    isAway("one");
    await sendMany(2);
    isAway("one", false);
    await eventually(() => expect(routing.runs()[0]?.isUsable()).to.equal(true));
    let answer: (outcome: SendOutcome) => void = () => {};
    answers.set("one", () => new Promise((resolve) => (answer = resolve)));
    handed = [];
    const first = send();
    await sendMany(3);
    expect(handed).to.deep.equal(["one", "default", "default", "default"]);
    answer(sent);
    expect((await first)?.route).to.equal("one");
    answers.delete("one");
    expect(await usedBy({})).to.equal("one");
  });

  it("change from the next mail on, and one that was removed ends its mails in flight before it closes", async () => {
    await start(mailRoute({ name: "one", order: 1 }), mailRoute());
    let answer: (outcome: SendOutcome) => void = () => {};
    answers.set("one", () => new Promise((resolve) => (answer = resolve)));
    const job = routing.join(anyJob);
    const inFlight = job.send(mail, async () => true, new AbortController().signal);
    set(mailRoute());
    expect((await job.send(mail, async () => true, new AbortController().signal))?.route).to.equal("default");
    expect(closed).to.deep.equal([]);
    answer(sent);
    expect(await inFlight).to.deep.equal({ route: "one", outcome: sent });
    await eventually(() => expect(closed).to.deep.equal(["one"]));
  });

  it("that are removed let go of the mails that wait for their turn, which take the next route", async () => {
    await start(mailRoute({ name: "one", order: 1 }), mailRoute());
    routing.runs()[0]?.pace.setRate(0);
    let asked = 0;
    const waiting = send({}, async () => {
      asked += 1;
      return true;
    });
    await eventually(() => expect(routing.states()[0]?.waiting).to.equal(1));
    set(mailRoute());
    expect(await waiting).to.deep.equal({ route: "default", outcome: sent });
    expect(handed).to.deep.equal(["default"]);
    expect(asked, "whether the mail may still be sent, after the wait").to.equal(1);
  });

  it("keep their connections where only rules change, and get new ones for another account", async () => {
    const one = mailRoute({ name: "one", order: 1 });
    await start(one, mailRoute());
    const [run] = routing.runs();
    set({ ...one, weight: 9, senders: ["example.org"] }, mailRoute());
    expect(routing.runs()[0]).to.equal(run);
    set({ ...one, url: "smtp://127.0.0.1:26" }, mailRoute());
    expect(routing.runs()[0]).not.to.equal(run);
    expect(closed).to.deep.equal(["one"]);
  });

  it("that are away hold back a job that needs them, as long as another route can be used", async () => {
    await start(mailRoute({ name: "one", order: 1 }), mailRoute());
    isAway("one");
    await sendMany(1);
    const whyNot = (route: string | null) => routing.join({ ...anyJob, route }).whyNotBegin();
    expect([whyNot("one"), whyNot("default"), whyNot(null), whyNot("none")]).to.deep.equal([
      "away",
      null,
      null,
      "no-route",
    ]);
    isAway("default");
    await send({ route: "default" });
    expect(whyNot("one"), "the gate takes few jobs then").to.equal(null);
  });

  it("say no more than that none is there, where none is", async () => {
    await start(mailRoute({ tenants: ["shop"] }));
    const none = await send();
    expect(none?.outcome).to.deep.include({ kind: "unavailable" });
    expect(none?.route).to.equal("");
  });
});
