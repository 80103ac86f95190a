import { createHash } from "node:crypto";
import { Type } from "typebox";
import { LogFull } from "../event-log/log-failures.ts";
import { type BucketSettings, openBucket, streamOfBucket } from "../nats/bucket.ts";
import { asking, type JetStreamConnection } from "../nats/connection.ts";
import { lastMessageOf, nextMessageOf, type StreamMessage, storeIfLast } from "../nats/jetstream-api.ts";
import { nameWith } from "../nats/names.ts";
import { checkedBy } from "../schemas/checked-by.ts";
import { type Template, type TemplateRef, type TemplateStore, withLetter } from "./template-store.ts";

/** So many archived names are passed over in one page: each takes a request, and a page is to be there in time. */
const mostPassed = 250;

const noRoom = (cause: unknown): Error => new LogFull("There is no room for a template.", { cause });

/**
 * One entry for each name, with the list of its versions, and one for each letter, under its digest. The letter is stored
 * first: a crash in between leaves a letter that no version names, and the same request again finishes it. A list is
 * written only if no other process has written it since it was read.
 */
export async function createJetStreamTemplateStore(
  connection: JetStreamConnection,
  settings: BucketSettings,
): Promise<TemplateStore> {
  const bucket = nameWith(settings.prefix, "TEMPLATES");
  await openBucket(connection, "TEMPLATES", settings);
  const stream = streamOfBucket(bucket);
  const subjectOfName = ({ tenant, name }: TemplateRef): string => `$KV.${bucket}.names.${tenant}.${name}`;
  const subjectOfLetter = ({ tenant, name }: TemplateRef, sha256: string): string =>
    `$KV.${bucket}.letters.${tenant}.${name}.${sha256}`;
  const last = (subject: string) => asking(connection, () => lastMessageOf(connection, stream, subject));
  const publish = (subject: string, data: string, expectedSequence: number): Promise<boolean> =>
    storeIfLast(connection, subject, data, expectedSequence, noRoom);

  const read = async (ref: TemplateRef): Promise<{ template: Template | null; sequence: number }> => {
    const stored = await last(subjectOfName(ref));
    return { template: stored === null ? null : templateIn(stored), sequence: stored?.sequence ?? 0 };
  };

  return {
    find: async (ref) => (await read(ref)).template,
    put: async (ref, { text, sha256 }, at) => {
      for (let isStored = false; ; ) {
        const before = await read(ref);
        const next = withLetter(before.template, ref.name, sha256, at);
        if (next === null) return null;
        const { isChanged, ...stored } = next;
        // False where another request has stored it: under its digest it is the same letter.
        if (next.isNew && !isStored) await publish(subjectOfLetter(ref, sha256), text, 0);
        isStored = true;
        if (!isChanged) return stored;
        if (await publish(subjectOfName(ref), JSON.stringify(stored.template), before.sequence)) return stored;
      }
    },
    letter: async (ref, sha256) => {
      const stored = await last(subjectOfLetter(ref, sha256));
      const isWhole = stored !== null && createHash("sha256").update(stored.data).digest("hex") === sha256;
      return isWhole ? Buffer.from(stored.data).toString() : null;
    },
    archive: async (ref, at) => {
      for (;;) {
        const { template, sequence } = await read(ref);
        if (template === null || template.archivedAt !== null) return null;
        const archived = { ...template, archivedAt: at };
        if (await publish(subjectOfName(ref), JSON.stringify(archived), sequence)) return archived;
      }
    },
    page: async (tenant, { after, limit }) => {
      const wanted = subjectOfName({ tenant, name: "*" });
      const templates: Template[] = [];
      let at = after;
      let passed = 0;
      for (;;) {
        const from = at + 1;
        const found = await asking(connection, () => nextMessageOf(connection, stream, wanted, from));
        if (found === null) return { templates, next: null };
        const template = templateIn(found);
        if (template.archivedAt === null) {
          if (templates.length === limit) return { templates, next: at };
          templates.push(template);
        } else passed += 1;
        at = found.sequence;
        if (passed === mostPassed) return { templates, next: at };
      }
    },
  };
}

const text = Type.String();

// Fields that a newer release added are allowed.
const check = checkedBy(
  Type.Object({
    name: text,
    versions: Type.Array(Type.Object({ version: Type.Integer({ minimum: 1 }), sha256: text, createdAt: text })),
    archivedAt: Type.Union([text, Type.Null()]),
  }),
);

/** Throws SchemaBroken for malformed records. */
const templateIn = ({ data }: StreamMessage): Template => check(JSON.parse(Buffer.from(data).toString()));
