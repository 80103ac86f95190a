import { Type } from "typebox";
import { alertNames } from "../domain/alerts/events.ts";
import { on, orNull, positive, sha256 } from "./event-fields.ts";

const ofAlert = on("alert");
const seal = on("seal");
const pass = on("pass");

const figure = Type.Number({ minimum: 0 });
const alertFigure = {
  alert: Type.Enum([...alertNames]),
  value: orNull(figure),
  threshold: orNull(figure),
  windowSeconds: orNull(positive),
  about: orNull(Type.String()),
};

/** Events of the service as a whole: alerts, seals of the log, and messages that an operator has passed by. */
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
} as const;
