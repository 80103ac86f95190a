import { Type } from "typebox";
import type { Template, TemplateVersion } from "../../content/template-store.ts";
import { type AnswerOf, count, instant, named, ordinal, orNull, pageOf, recordOf, text } from "./parts.ts";

const version = named("TemplateVersion", { version: ordinal, sha256: text, createdAt: instant });

const letter = named("TemplateLetter", {
  subject: text,
  body: Type.Optional(text),
  html: Type.Optional(text),
  text: Type.Optional(text),
  from: Type.Optional(text),
  replyTo: Type.Optional(text),
  headers: Type.Optional(recordOf(text)),
  unsubscribe: Type.Optional(Type.Boolean()),
});

type LetterAnswer = AnswerOf<typeof letter>;

const summaryFields = { name: text, latest: ordinal, versions: count, updatedAt: instant };

export const templatePage = pageOf("TemplatePage", named("TemplateSummary", summaryFields));

/** The name with its number of versions, without any letter. */
export const toSummaryAnswer = ({ name, versions }: Template): AnswerOf<typeof templatePage>["data"][number] => {
  const last = versions.at(-1);
  return { name, latest: last?.version ?? 0, versions: versions.length, updatedAt: last?.createdAt ?? "" };
};

export const template = named("Template", {
  name: text,
  latest: ordinal,
  archivedAt: orNull(instant),
  versions: Type.Array(version),
  letter,
});

/** With the letter of the latest version. */
export const toTemplateAnswer = (
  { name, versions, archivedAt }: Template,
  letterOfLatest: Readonly<Record<string, unknown>>,
): AnswerOf<typeof template> => ({
  name,
  latest: versions.at(-1)?.version ?? 0,
  archivedAt,
  versions,
  letter: letterOfLatest as LetterAnswer,
});

const versionFields = { name: text, version: ordinal, sha256: text, createdAt: instant };

export const templateVersion = named("TemplateVersionWithLetter", { ...versionFields, letter });

export const toVersionAnswer = (
  name: string,
  { version, sha256, createdAt }: TemplateVersion,
  itsLetter: Readonly<Record<string, unknown>>,
): AnswerOf<typeof templateVersion> => ({
  name,
  version,
  sha256,
  createdAt,
  letter: itsLetter as LetterAnswer,
});

export const storedTemplate = named("StoredTemplate", { ...versionFields, latest: ordinal });

export const templatePreview = named("TemplatePreview", {
  name: text,
  version: ordinal,
  subject: text,
  html: orNull(text),
  text: orNull(text),
  warnings: Type.Array(Type.Object({ code: text, message: text })),
});
