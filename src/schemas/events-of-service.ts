import { Type } from "typebox";
import { alertNames } from "../domain/alerts/events.ts";
import { data, natural, on, orNull, positive, sha256 } from "./event-fields.ts";

const ofAlert = on("alert");
const seal = on("seal");
const pass = on("pass");
const archive = on("archive");
const throttle = on("throttle");

const figure = Type.Number({ minimum: 0 });
const alertFigure = {
  alert: Type.Enum([...alertNames]),
  value: orNull(figure),
  threshold: orNull(figure),
  windowSeconds: orNull(positive),
  about: orNull(Type.String()),
};

/**
 * Events of the service as a whole: alerts, seals and archived parts of the log, messages that an operator has passed by, and
 * receivers of mail that are slowed down.
 */
export const eventsOfService = {
  AlertRaised: ofAlert(alertFigure, {
    alert: "failure-rate",
    value: 0.125,
    threshold: 0.05,
    windowSeconds: 900,
    about: null,
  }),
  AlertCleared: ofAlert(
    { ...alertFigure, raisedSequence: positive },
    { alert: "projection-lag", value: 0, threshold: 60, windowSeconds: null, about: "stats", raisedSequence: 17 },
  ),
  LogSealed: seal(
    {
      from: positive,
      to: positive,
      count: positive,
      root: sha256,
      previous: orNull(sha256),
      keyId: Type.String(),
      publicKey: Type.String(),
      signature: Type.String(),
    },
    {
      from: 1,
      to: 10000,
      count: 10000,
      root: "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
      previous: null,
      keyId: "ef95e00dce5f4ce7",
      publicKey: "MCowBQYDK2VwAyEAgH0mALXaYE+sg1y7v4D2YKZmpVKlsCIhl0DcgSePONM=",
      signature: "yIUXEplw98nqXf7yIlU7WaiI5qUS5FVPjRKDdHBimIi8jaRPZFerWTixsQZUzKXtKmIkqQgxNOxwhKLtJ3j/CA==",
    },
  ),
  LogArchived: archive(
    {
      number: positive,
      from: positive,
      to: positive,
      count: positive,
      root: sha256,
      file: Type.String(),
      bytes: positive,
      sha256,
    },
    {
      number: 1,
      from: 1,
      to: 200000,
      count: 200000,
      root: "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
      file: "log-000000000001-000000200000.waybill",
      bytes: 18874368,
      sha256: "9b74c9897bac770ffc029102a200c5de2a3c1d6b0e1d5f7a4c8e9f0a1b2c3d4e",
    },
  ),
  MessagePassed: pass(
    {
      sequence: positive,
      subject: Type.String(),
      sha256,
      fault: Type.String(),
      reason: Type.String(),
    },
    {
      sequence: 17,
      subject: "jobs.acme.0193a5e0-6c1d-7a4b-9f2e-3d5c7b9a1e0f",
      sha256: "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
      fault: "Unexpected end of JSON input",
      reason: "Written by hand while the service was tried out",
    },
  ),
  ReceiverThrottled: throttle(
    {
      route: Type.String(),
      receiver: Type.String(),
      perMinute: figure,
      connections: positive,
      reason: data({ replyCode: orNull(natural), statusCode: orNull(Type.String()), message: Type.String() }),
    },
    {
      route: "default",
      receiver: "example.org",
      perMinute: 75,
      connections: 2,
      reason: { replyCode: 450, statusCode: "4.7.0", message: "450 4.7.0 Too many mails, come back later" },
    },
  ),
  ReceiverReleased: throttle(
    { route: Type.String(), receiver: Type.String(), throttledForSeconds: natural },
    { route: "default", receiver: "example.org", throttledForSeconds: 840 },
  ),
} as const;
