/** What the mailbox answers in place of taking a mail; null takes it. */
export type Refusal = { readonly code: number; readonly text: string };
export type AnswerRecipient = (address: string) => Refusal | null;

/** Domains whose servers answer as real ones sometimes do. None of them exists: the names are reserved (RFC 2606). */
export const demoDomains = { patient: "slow.example.net", gone: "old.example.org" } as const;

/** The local part of an address at which nobody is. */
export const goneLocalPart = "gone";

/** The slow server takes a mail this often. */
const patientEveryMs = 4000;

/**
 * Answers for the mails of `start --demo`: some addresses do not exist, one domain asks for patience, and one takes
 * nothing. Every other mail is taken.
 */
export function createDemoAnswers(now: () => number = () => performance.now()): AnswerRecipient {
  let takesAgainAt = Number.NEGATIVE_INFINITY;
  return (address) => {
    const [local = "", domain] = address.toLowerCase().split("@");
    if (domain === demoDomains.gone) return { code: 554, text: "5.7.1 This domain takes no mail any more" };
    if (local.startsWith(goneLocalPart)) return { code: 550, text: "5.1.1 No such user" };
    if (domain !== demoDomains.patient) return null;
    if (now() < takesAgainAt) return { code: 450, text: "4.7.28 Too many mails from you, try again later" };
    takesAgainAt = now() + patientEveryMs;
    return null;
  };
}
