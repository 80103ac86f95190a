/** The tenant of every caller whose key names no other. */
export const defaultTenant = "default";

/**
 * A name is one token of a subject, fits in a column of 64 characters, and is lower case, so that no two names differ
 * only in case.
 */
const name = /^[a-z0-9][a-z0-9_-]{0,63}$/;

export const isTenantName = (text: string): boolean => name.test(text);

export const expectedTenantName = "1 to 64 lower-case letters, digits, _ and -, a letter or digit first";

/** The limits in effect for the jobs of a tenant. */
export type CallerLimits = {
  /** Addresses and domains that mailings may come from; null for any. */
  readonly senders: readonly string[] | null;
  readonly dailyRecipients: number | null;
  /** A mailing with more recipients than this needs the approval of another key; null for no limit. */
  readonly approvalAbove: number | null;
};

/** The rules that an operator has set for a tenant; null where there is none. */
export type TenantRules = {
  /** Addresses that its mailings may come from; a domain stands for every address in it. */
  readonly senders: readonly string[] | null;
  /** How many recipients the jobs accepted within one day (UTC) may have together. */
  readonly dailyRecipients: number | null;
  /** A mailing with more recipients than this needs an approval. */
  readonly approvalAbove: number | null;
};

export const noRules: TenantRules = { senders: null, dailyRecipients: null, approvalAbove: null };
