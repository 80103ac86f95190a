import { connect, type NatsConnection } from "nats";
import { Unavailable } from "../domain/unavailable.ts";
import { streamsOf } from "../event-log/jetstream-replicas.ts";
import { streamName } from "../event-log/subjects.ts";
import { shareOfAccount } from "../nats/account-share.ts";
import {
  type ConnectSettings,
  connectJetStream,
  isClustered,
  type JetStreamConnection,
  toOptions,
} from "../nats/connection.ts";
import { isLoginRefused, isWithoutTls } from "../nats/outages.ts";
import { isAtLeast, whyNoReplicas } from "../nats/server-version.ts";
import { examineCopies } from "./examine-copies.ts";
import { examineClock } from "./examine-surroundings.ts";
import { type Finding, fine, serious, warning, wordsOf } from "./finding.ts";
import { createJetStreamCanary } from "./jetstream-canary.ts";

const answerMs = 3000;
const mebibyte = 1024 * 1024;
/** From this share on, new jobs are refused. */
const fullShare = 0.8;

export type NatsPlace = {
  readonly settings: ConnectSettings;
  readonly prefix: string;
  /** The setting STREAM_REPLICAS. */
  readonly replicas: number;
  /** The URL of the monitoring port, the only place where NATS reports how it flushes; null if it is unknown. */
  readonly monitorUrl: string | null;
  /** Waybill started this server and configured it to flush, if its version can. */
  readonly isOwn: boolean;
};

/** Connects to NATS, checks its features and limits, and stores one message outside the log. */
export async function examineNats(place: NatsPlace): Promise<readonly Finding[]> {
  const { settings, prefix } = place;
  const refusal = await findNats(settings);
  if (refusal !== null) return [refusal];
  const connection = await connectJetStream(settings, "waybill-doctor", () => {});
  try {
    const { version = "", max_payload: maxPayload = 0 } = connection.nats.info ?? {};
    const findings = [
      examineVersion(version),
      ...examineReplicas(version, place.replicas),
      ...examinePayload(maxPayload),
    ];
    const jetStream = await examineJetStream(connection);
    if (jetStream.level === "serious") return [...findings, jetStream];
    const storing = await examineStoring(connection, place);
    findings.push(await examineDurability(version, place), storing);
    if (isClustered(connection)) {
      const wanted = { streams: streamsOf(prefix), replicas: place.replicas };
      findings.push(...(await examineCopies(await connection.nats.jetstreamManager({ checkAPI: false }), wanted)));
    }
    return [...findings, ...(await examineLog(connection, prefix, storing.level === "fine"))];
  } finally {
    await connection.close();
  }
}

/** Null if NATS accepts the connection. Does not wait: the service waits for NATS without a limit, commands do not. */
export async function findNats(settings: ConnectSettings): Promise<Finding | null> {
  let nats: NatsConnection;
  try {
    const options = toOptions(settings, "waybill-doctor");
    nats = await connect({ ...options, waitOnFirstConnect: false, maxReconnectAttempts: 0, timeout: answerMs });
  } catch (failure) {
    return describeRefusal(settings, failure);
  }
  await nats.close();
  return null;
}

/** Why there is no connection, and the remedy. */
export function describeRefusal({ servers }: ConnectSettings, failure: unknown): Finding {
  const place = servers.join(", ").replace(/\/\/[^@/]*@/g, "//");
  if (isLoginRefused(failure)) {
    return serious("nats", `NATS at ${place} refuses the login`, "Check NATS_USER and NATS_PASSWORD, or NATS_CREDS.");
  }
  if (isWithoutTls(failure)) {
    const advice = "Let the server speak TLS; or leave out NATS_TLS_CA, and tls:// in NATS_URL, where it need not.";
    return serious("nats", `NATS at ${place} offers no TLS`, advice);
  }
  const cause = failure instanceof Unavailable ? failure.cause : failure;
  const why = cause === undefined ? "it closed the connection" : wordsOf(cause);
  return serious("nats", `NATS cannot be reached at ${place}: ${why}`, "Check NATS_URL, and that it runs.");
}

function examineVersion(version: string): Finding {
  if (isAtLeast(version, [2, 9])) return fine("nats", `NATS ${version} answers`);
  return serious("nats", `NATS is ${version}`, "Use NATS 2.9 or later; 2.10 or later can flush before it answers.");
}

function examineReplicas(version: string, replicas: number): readonly Finding[] {
  const fault = whyNoReplicas(version, replicas);
  return fault === null ? [] : [serious("nats", fault.what, fault.advice)];
}

const examinePayload = (maxPayload: number): readonly Finding[] =>
  maxPayload >= mebibyte
    ? []
    : [
        warning(
          "nats",
          `NATS limits a message to ${maxPayload.toLocaleString("en")} bytes`,
          "Set max_payload to 1MB: the content of a mailing is one message.",
        ),
      ];

async function examineJetStream({ nats }: JetStreamConnection): Promise<Finding> {
  try {
    const manager = await nats.jetstreamManager({ checkAPI: false, timeout: answerMs });
    const { storage } = await manager.getAccountInfo();
    return fine("nats", `JetStream is on and stores ${Math.ceil(storage / mebibyte).toLocaleString("en")} MB`);
  } catch (failure) {
    return serious(
      "nats",
      `JetStream is unavailable: ${wordsOf(failure)}`,
      "Start the server with -js, or with jetstream { store_dir: … }, and let the account use it.",
    );
  }
}

const onDurability =
  "Set jetstream { sync_interval: always } (2.10 and later), or run three replicas: STREAM_REPLICAS=3.";

async function examineDurability(version: string, { monitorUrl, isOwn }: NatsPlace): Promise<Finding> {
  if (!isAtLeast(version, [2, 10])) {
    return warning("nats", "NATS flushes acknowledged messages to the disk only every 2 minutes", onDurability);
  }
  if (isOwn) return fine("nats", "NATS flushes to the disk before it answers");
  if (monitorUrl === null) {
    const look = "Ask its monitoring port: waybill doctor --nats-monitor http://host:8222";
    return warning("nats", "A client cannot see whether NATS flushes before it answers", look);
  }
  try {
    const answer = await fetch(new URL("/varz", monitorUrl), { signal: AbortSignal.timeout(answerMs) });
    const { jetstream } = (await answer.json()) as { jetstream?: { config?: { sync_always?: boolean } } };
    return jetstream?.config?.sync_always === true
      ? fine("nats", "NATS flushes to the disk before it answers")
      : warning("nats", "NATS does not flush to the disk before it answers", onDurability);
  } catch (failure) {
    return warning("nats", `${monitorUrl} gives no answer: ${wordsOf(failure)}`, "Check --nats-monitor.");
  }
}

async function examineStoring(connection: JetStreamConnection, { prefix, replicas }: NatsPlace): Promise<Finding> {
  try {
    // The stream of the canary stays, and the service uses it: a single copy would be lost with its node.
    await createJetStreamCanary(connection, prefix, isClustered(connection) ? replicas : 1).check();
    return fine("nats", "NATS stores messages");
  } catch (failure) {
    return serious(
      "nats",
      `NATS does not store a message: ${wordsOf(failure)}`,
      "Look at the disk under its store_dir, and at the limits of the account. After a full disk, restart NATS.",
    );
  }
}

/** Examines how full the log is, if there is one, and the clock of the server, which only a message that it stores now shows. */
async function examineLog(
  { nats }: JetStreamConnection,
  prefix: string,
  hasStored: boolean,
): Promise<readonly Finding[]> {
  const manager = await nats.jetstreamManager({ checkAPI: false, timeout: answerMs });
  const info = await manager.streams.info(streamName(prefix, "JOBS")).catch(() => null);
  const account = await manager.getAccountInfo().catch(() => null);
  const share = account === null ? null : shareOfAccount(account, info?.config.num_replicas ?? 1);
  const findings = share === null ? [] : [examineShare(share, "The account has used", "its limit")];
  if (info === null) findings.push(fine("nats", "There is no log yet; the first start of the service creates it"));
  else findings.push(examineRoom(info.state.bytes, info.config.max_bytes));
  if (!hasStored) return findings;
  const canary = `${streamName(prefix, "CANARY")}_1`;
  const before = Date.now();
  const stored = await manager.streams.getMessage(canary, { last_by_subj: ">" }).catch(() => null);
  // The examination before this one has just stored it, so its timestamp is the current time of the server.
  if (stored !== null) {
    const reported = stored.time.getTime();
    findings.push(examineClock("NATS", { before: before - answerMs, reported, after: Date.now() }));
  }
  return findings;
}

function examineRoom(bytes: number, maxBytes: number): Finding {
  const stored = `The log holds ${Math.ceil(bytes / mebibyte).toLocaleString("en")} MB`;
  if (maxBytes <= 0) return fine("nats", `${stored} and has no limit`);
  return examineShare(bytes / maxBytes, `${stored},`, "JOBS_MAX_BYTES");
}

function examineShare(share: number, stored: string, limit: string): Finding {
  const what = `${stored} ${Math.round(share * 100)} % of ${limit}`;
  const advice = `Raise ${limit}: from 80 % on new jobs are refused.`;
  if (share >= fullShare) return serious("nats", what, advice);
  return share >= fullShare - 0.1 ? warning("nats", what, advice) : fine("nats", what);
}
