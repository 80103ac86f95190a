import type { LetterAnswer } from "../api/answers.ts";
import { readObject } from "../reading/read-json.ts";

/** A letter as it is typed. */
export type LetterDraft = Readonly<
  Record<"subject" | "body" | "html" | "text" | "from" | "replyTo" | "headers", string>
> & {
  readonly unsubscribe: boolean;
};

export const emptyLetter: LetterDraft = {
  subject: "",
  body: "",
  html: "",
  text: "",
  from: "",
  replyTo: "",
  headers: "",
  unsubscribe: false,
};

export const draftOf = ({ headers, ...letter }: LetterAnswer): LetterDraft => ({
  ...emptyLetter,
  ...letter,
  headers: headers === undefined ? "" : JSON.stringify(headers, null, 2),
});

export type ReadLetter =
  | { readonly letter: object; readonly fault: null }
  | { readonly letter: null; readonly fault: string };

/** The body of the request, without fields that are empty; `fault` is about the headers. */
export function readLetter({ subject, headers, unsubscribe, ...others }: LetterDraft): ReadLetter {
  const read = readObject(headers);
  if (read.fault !== null) return { letter: null, fault: read.fault };
  const given = Object.entries(others).filter(([, value]) => value.trim() !== "");
  const letter = {
    subject,
    ...Object.fromEntries(given),
    ...(Object.keys(read.value).length === 0 ? {} : { headers: read.value }),
    ...(unsubscribe ? { unsubscribe } : {}),
  };
  return { letter, fault: null };
}
