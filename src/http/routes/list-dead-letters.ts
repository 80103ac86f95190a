import type { DeadLetterListOptions } from "../../../projections/dead-letters/queries.ts";
import type { DeadLetterStatus } from "../../domain/job/dead-letter.ts";
import { deadLetterPage, toDeadLetterAnswer } from "../answers/dead-letter.ts";
import { json } from "../server/answer.ts";
import { refuseFaults } from "../server/problem.ts";
import { oneOf, type Parameters, whole } from "../server/query.ts";
import { route } from "../server/route.ts";
import { askReadModel, awaitMinSequence, caughtUp, readMinSequence, readSequenceHeader } from "./ask-read-model.ts";
import type { RouteDependencies } from "./route-dependencies.ts";

const statuses: readonly DeadLetterStatus[] = ["open", "requeued", "ignored", "retried"];

const parameters: Parameters<DeadLetterListOptions> = {
  status: oneOf(statuses, null),
  cursor: whole(null, 1, Number.MAX_SAFE_INTEGER),
  limit: whole(20, 1, 100),
};

/** GET /dead-letters: what failed, the newest first, with whatever was decided through this process a moment ago. */
export const listDeadLettersRoute = ({ deadLetters, readPosition, ownWrites }: RouteDependencies) =>
  route<DeadLetterListOptions>({
    method: "GET",
    path: "/dead-letters",
    describes: {
      operation: "listDeadLetters",
      summary: "Jobs that gave up, the newest first.",
      headers: ["Min-Sequence"],
      answers: { 200: { is: "A page of them.", json: deadLetterPage, headers: ["Read-Sequence"] } },
      needs: ["read-model"],
      problems: ["read-model-behind"],
    },
    query: parameters,
    handle: async ({ context, query, header }) => {
      const minSequence = readMinSequence(header("Min-Sequence"));
      if (!minSequence.valid) return refuseFaults(minSequence.faults);
      const behind = await awaitMinSequence(readPosition, "dead-letters", minSequence.value);
      if (behind !== null) return behind;
      await caughtUp(readPosition, "dead-letters", ownWrites.ofTenant(context.tenant));
      const { letters, nextCursor, readSequence } = await askReadModel(() => deadLetters.list(context.tenant, query));
      return json({ data: letters.map(toDeadLetterAnswer), nextCursor }, readSequenceHeader(readSequence));
    },
  });
