import type { ContentRecipient, JobContent } from "../../../content/content-store.ts";
import type { Attachment, Letter, PersonalParts } from "../../../mail/mailer.ts";
import { Meter } from "./meter.ts";
import {
  hasTemplate,
  parseTemplate,
  type Template,
  TemplateFault,
  type TemplateKind,
  type Variables,
} from "./template.ts";
import { textOfHtml, textTemplateOf } from "./text-of-html.ts";

export type PartName = "subject" | "html" | "text";

/** Why a part of a mailing cannot be read, or cannot be filled in for one recipient. */
export class PartFault extends Error {
  override readonly name = "PartFault";
  readonly part: PartName;
  readonly fault: TemplateFault;

  constructor(part: PartName, fault: TemplateFault) {
    super(fault.message, { cause: fault });
    this.part = part;
    this.fault = fault;
  }
}

/** The mails of a mailing, before they are composed. */
export type Letters = {
  readonly letter: Letter;
  /**
   * The parts that only this recipient gets; null where all recipients get the same letter. Templates know the recipient's
   * link to unsubscribe, if there is one, as `unsubscribeUrl`. Throws a PartFault. Reports the steps it took to `spent`.
   */
  readonly personalFor: (
    recipient: ContentRecipient,
    unsubscribeUrl?: string | null,
    spent?: Spent,
  ) => PersonalParts | null;
};

/** Steps (about a microsecond each) that filling in the templates took: the same number however busy the machine is. */
export type Spent = (steps: number) => void;

type MailContent = JobContent & { readonly subject: string };

/** Content without a subject is not a mail, and its letters are never asked for. */
function asMail(content: JobContent): MailContent {
  const { subject } = content;
  if (subject === null) throw new Error("A content without a subject is no mailing.");
  return { ...content, subject };
}

type Fill<Part> = (variables: Variables, spent: Spent) => Part;

/** As for any header: see `longestValue` of letter-form.ts. */
const maxSubjectLength = 997;
/** The longest part after filling in. */
const maxPartLength = 1_000_000;
/** Longer HTML of one recipient goes out without a text part: converting it takes longer than sending it. */
const maxConvertedLength = 200_000;
/** The steps that converting takes for each character. */
const conversionSteps = 0.2;

/**
 * Reads the templates of a mailing. The content says whether it has any, as found when the job was accepted: otherwise the
 * mailing is sent as it is, braces and all. Throws a PartFault.
 */
export function readLetters(content: JobContent, mailFrom: string, attachments: readonly Attachment[] = []): Letters {
  const { subject, html, replyTo, headers } = asMail(content);
  const isTemplate = content.template === "liquid";
  const text = content.text ?? (html === null || isTemplate ? null : textOfHtml(html));
  const own = { subject, html, text, from: content.from ?? mailFrom, replyTo, headers, attachments };
  const letter: Letter = content.unsubscribe ? { ...own, isUnsubscribable: true } : own;
  return { letter, personalFor: isTemplate ? readTemplates(asMail(content)) : () => null };
}

function readTemplates({ subject, html, text }: MailContent): Letters["personalFor"] {
  const fillSubject = toOneLine(readPart("subject", subject, "text"));
  const fillHtml = html === null ? null : readPart("html", html, "html");
  const fillText = text === null ? null : readPart("text", text, "text");
  const convert = html === null || fillText !== null ? null : readConversion(html);
  return ({ email, name, variables }, unsubscribeUrl = null, spent = () => {}) => {
    const named = name === undefined ? {} : { name };
    const scope = { email, ...named, ...variables, ...(unsubscribeUrl === null ? {} : { unsubscribeUrl }) };
    const filledHtml = fillHtml?.(scope, spent) ?? null;
    return {
      subject: fillSubject(scope, spent),
      html: filledHtml,
      text: fillText?.(scope, spent) ?? convert?.(scope, spent, filledHtml ?? "") ?? null,
    };
  };
}

function readPart(part: PartName, source: string, kind: TemplateKind): Fill<string> {
  if (!hasTemplate(source)) return () => source;
  const template = said(part, () => parseTemplate(source, kind));
  return (variables, spent) => {
    const filled = said(part, () => render(template, variables, spent));
    if (filled.length > maxPartLength) throw new PartFault(part, new TemplateFault("it makes too long a text", null));
    return filled;
  };
}

function render(template: Template, variables: Variables, spent: Spent): string {
  const meter = new Meter();
  try {
    return template.render(variables, meter);
  } finally {
    spent(meter.used);
  }
}

/** Makes the text part from the HTML: from its template where that is possible, else from each recipient's HTML. */
function readConversion(html: string): (variables: Variables, spent: Spent, filledHtml: string) => string | null {
  if (!hasTemplate(html)) {
    const text = textOfHtml(html);
    return () => text;
  }
  const template = textTemplateOf(html);
  if (template !== null) return readPart("html", template, "text");
  return (_, spent, filledHtml) => {
    if (filledHtml.length > maxConvertedLength) return null;
    spent(filledHtml.length * conversionSteps);
    return textOfHtml(filledHtml);
  };
}

const toOneLine =
  (fill: Fill<string>): Fill<string> =>
  (variables, spent) => {
    const subject = fill(variables, spent)
      .replace(/[\p{Cc}\u2028\u2029]+/gu, " ")
      .trim();
    const { length } = subject;
    if (length >= 1 && length <= maxSubjectLength) return subject;
    const reason = `it makes a subject of ${length} characters; expected 1 to ${maxSubjectLength}`;
    throw new PartFault("subject", new TemplateFault(reason, null));
  };

function said<Result>(part: PartName, step: () => Result): Result {
  try {
    return step();
  } catch (failure) {
    if (failure instanceof TemplateFault) throw new PartFault(part, failure);
    throw failure;
  }
}
