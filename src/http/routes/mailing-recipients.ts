import type { ImportOutcome } from "../../mailings/import-recipients.ts";
import { csvType, type LineFile, ndjsonType } from "../../schemas/line-file.ts";
import { recipientImport } from "../answers/mailing.ts";
import type { AnswerOf } from "../answers/parts.ts";
import {
  type Answer,
  json,
  mailingNotFound,
  refuse,
  refuseFaults,
  refuseForNow,
  refuseMailing,
} from "../server/answer.ts";
import { toCause, toJobRef } from "../server/request-context.ts";
import { route } from "../server/route.ts";
import type { RouteDependencies } from "./route-dependencies.ts";

/** What an import holds besides its addresses: the contents of some parts, as text and as bytes. */
const memoryBytes = 2 * 1024 * 1024;

const examples = {
  [ndjsonType]:
    '{"email":"ada@example.com","name":"Ada","variables":{"town":"London"}}\n"Bob <bob@example.com>"\n"carol@example.com"\n',
  [csvType]: "email,name,town\nada@example.com,Ada,London\nbob@example.com,Bob,Paris\n",
};

/** PUT /mailings/:mailingId/recipients: reads the file while it arrives, and stores some thousand recipients at a time. */
export const mailingRecipientsRoute = ({ importer, ownWrites }: RouteDependencies) =>
  route({
    method: "PUT",
    path: "/mailings/:mailingId/recipients",
    describes: {
      operation: "importMailingRecipients",
      summary:
        "Add recipients from a file of any length, one in a line; with a column `email` or as in the request for a job. " +
        "The same file again adds what is missing.",
      answers: {
        200: {
          is: "Each valid address is in the mailing once. Of the lines that were left out, the first 100.",
          json: recipientImport,
          headers: ["Event-Sequence"],
        },
      },
      needs: ["log-writes"],
      problems: [
        "mailing-not-found",
        "mailing-has-started",
        "mailing-awaits-approval",
        "mailing-has-ended",
        "mailing-is-full",
        "mailing-import-conflict",
        "too-many-imports",
      ],
    },
    streams: { types: [ndjsonType, csvType], examples, memoryBytes },
    handle: async ({ context, part, streamed, isStillAdmitted }) => {
      if (streamed === null) throw new Error("This route takes a stream.");
      const mailing = toJobRef(context, part("mailingId"));
      if (mailing === null) return mailingNotFound();
      // The route accepts only these two types.
      const file = { ...streamed, chunks: asLongAs(isStillAdmitted, streamed.chunks) } as LineFile;
      const outcome = await importer.import(mailing, file, toCause(context)).catch((failure: unknown) => {
        if (failure instanceof KeyRevoked) return failure;
        throw failure;
      });
      if (outcome instanceof KeyRevoked) return refuse("key-invalid", outcome.message);
      if (outcome.outcome === "imported") ownWrites.remember(mailing, outcome.sequence);
      return toAnswer(outcome);
    },
  });

class KeyRevoked extends Error {
  override readonly name = "KeyRevoked";
}

/** A file may take hours to arrive. What came after its key was revoked is not read. */
async function* asLongAs(isAdmitted: () => boolean, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    if (!isAdmitted()) throw new KeyRevoked("The API key was revoked meanwhile. What was added before stays.");
    yield chunk;
  }
}

function toAnswer(outcome: ImportOutcome): Answer {
  switch (outcome.outcome) {
    case "imported": {
      const body: AnswerOf<typeof recipientImport> = outcome.counts;
      return json(body, { "Event-Sequence": String(outcome.sequence) });
    }
    case "unreadable": {
      const { line, message } = outcome.fault;
      const { added } = outcome.counts;
      const rest = `${added} recipients of the lines before it were added; send the corrected file`;
      return refuseFaults([{ pointer: `/${line}`, message: `line ${line} ${message}. ${rest}` }]);
    }
    case "rejected":
      return refuseMailing(outcome.rejection);
    case "conflict":
      return refuse(
        "mailing-import-conflict",
        "Recipients are being added by another request. Send this one again when that one is done.",
      );
    case "busy":
      return refuseForNow("too-many-imports", "This process reads as many files as it may. Try again.", 5);
  }
}
