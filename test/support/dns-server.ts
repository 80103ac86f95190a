import { createSocket } from "node:dgram";
import { once } from "node:events";
import { type Answer, AUTHORITATIVE_ANSWER, decode, encode, type Packet, RECURSION_DESIRED } from "dns-packet";

/** By name in lower case, then by type. A TXT record longer than 255 bytes is given in pieces. */
export type Zone = Record<string, { TXT?: string[]; MX?: string[]; A?: string[]; PTR?: string[] }>;

export type DnsServer = {
  /** As DNS_SERVERS takes it. */
  readonly address: string;
  /** May be changed between two questions. */
  readonly zone: Zone;
  readonly asked: string[];
  /** Answers SERVFAIL to every question about this name. */
  readonly failing: Set<string>;
  /** Never answers a question about this name, or one of a type, as in `AAAA example.org`. */
  readonly silent: Set<string>;
  readonly stop: () => Promise<void>;
};

/** A name server over UDP, which knows one zone. Names outside it do not exist. */
export async function startDnsServer(zone: Zone): Promise<DnsServer> {
  const socket = createSocket("udp4");
  const asked: string[] = [];
  const failing = new Set<string>();
  const silent = new Set<string>();
  socket.on("message", (bytes, { port, address }) => {
    const { id, questions = [] } = decode(bytes);
    const [question] = questions;
    if (question === undefined) return;
    const name = question.name.toLowerCase();
    const typed = `${question.type} ${name}`;
    asked.push(typed);
    if (silent.has(name) || silent.has(typed)) return;
    const answers = answersFor(zone, name, question.type);
    const code = failing.has(name) ? 2 : zone[name] === undefined ? 3 : 0;
    const reply: Packet = {
      type: "response",
      id: id ?? 0,
      flags: RECURSION_DESIRED | AUTHORITATIVE_ANSWER | code,
      questions,
    };
    socket.send(encode(code === 0 ? { ...reply, answers } : reply), port, address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  return {
    address: `127.0.0.1:${socket.address().port}`,
    zone,
    asked,
    failing,
    silent,
    stop: async () => {
      socket.close();
      await once(socket, "close");
    },
  };
}

function answersFor(zone: Zone, name: string, type: string): Answer[] {
  const { TXT = [], MX = [], A = [], PTR = [] } = zone[name] ?? {};
  switch (type) {
    case "TXT":
      return TXT.map((text) => ({ type: "TXT", name, data: text.match(/.{1,255}/gs) ?? [""] }));
    case "MX":
      return MX.map((exchange) => ({ type: "MX", name, data: { preference: 10, exchange } }));
    case "A":
      return A.map((data) => ({ type: "A", name, data }));
    case "PTR":
      return PTR.map((data) => ({ type: "PTR", name, data }));
    default:
      return [];
  }
}
