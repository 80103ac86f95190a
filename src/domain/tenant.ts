/** Everybody's, where no key says otherwise. */
export const defaultTenant = "default";

/** One token of a subject, a column of 64 characters, and lower case, so that no two differ in case alone. */
const name = /^[a-z0-9][a-z0-9_-]{0,63}$/;

export const isTenantName = (text: string): boolean => name.test(text);

export const expectedTenantName = "1 to 64 lower-case letters, digits, _ and -, a letter or digit first";

/** What the jobs of a tenant may be. */
export type CallerLimits = {
  /** Addresses and domains that mailings may come from; null for any. */
  readonly senders: readonly string[] | null;
  readonly dailyRecipients: number | null;
};

/** What an operator has laid down for a tenant; null where nothing was. */
export type TenantRules = {
  /** Addresses, and domains that stand for every address in them, that its mailings may come from. */
  readonly senders: readonly string[] | null;
  /** Recipients of all jobs that are accepted within one day (UTC). */
  readonly dailyRecipients: number | null;
};

export const noRules: TenantRules = { senders: null, dailyRecipients: null };
