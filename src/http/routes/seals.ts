import { readSeal, type StoredSeal, toSealAnswer } from "../../seals/seal.ts";
import { publicPemOf } from "../../seals/seal-key.ts";
import type { SealedLog } from "../../seals/sealed-log.ts";
import type { AnswerOf } from "../answers/parts.ts";
import { sealKey, sealPage } from "../answers/service.ts";
import { json } from "../server/answer.ts";
import { type Parameters, whole } from "../server/query.ts";
import { type Route, route } from "../server/route.ts";
import type { RouteDependencies } from "./route-dependencies.ts";

type SealsQuery = { readonly cursor: number | null; readonly limit: number };

const parameters: Parameters<SealsQuery> = {
  cursor: whole(null, 0, Number.MAX_SAFE_INTEGER),
  limit: whole(100, 1, 1000),
};

/** The seals of the log, oldest first, and the key that signs them. They show no tenant's data, so any caller may see them. */
export const sealRoutes = ({ seals: { key, sealedLog } }: Pick<RouteDependencies, "seals">): readonly Route[] => [
  route<SealsQuery>({
    method: "GET",
    path: "/seals",
    describes: {
      operation: "listSeals",
      summary: "The seals of the log, oldest first.",
      answers: { 200: { is: "A page of them.", json: sealPage } },
      needs: ["log"],
    },
    query: parameters,
    scope: "events:read",
    handle: async ({ query: { cursor, limit } }) => {
      const found = await readSeals(sealedLog, cursor ?? 0, limit + 1);
      const page = found.slice(0, limit);
      const nextCursor = found.length > limit ? String(page.at(-1)?.sequence) : null;
      const body: AnswerOf<typeof sealPage> = { data: page.map(toSealAnswer), nextCursor };
      return json(body);
    },
  }),
  route({
    method: "GET",
    path: "/seals/key",
    describes: {
      operation: "readSealKey",
      summary: "The public key that new seals are signed with.",
      answers: { 200: { is: "The key.", json: sealKey } },
    },
    scope: "events:read",
    handle: async () => {
      const { keyId, publicKey } = key;
      return json({ keyId, algorithm: "Ed25519", publicKey, pem: publicPemOf(publicKey) });
    },
  }),
];

async function readSeals(sealedLog: SealedLog, after: number, limit: number): Promise<readonly StoredSeal[]> {
  const seals: StoredSeal[] = [];
  for await (const messages of sealedLog.messages(after, "seals")) {
    for (const message of messages) {
      const seal = readSeal(message);
      if (seal !== null) seals.push(seal);
      if (seals.length === limit) return seals;
    }
  }
  return seals;
}
