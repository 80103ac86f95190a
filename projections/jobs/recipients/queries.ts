import type { Knex } from "knex";
import type { JobRef } from "../../../src/event-log/event-log.ts";
import { readCheckpoint } from "../../following/checkpoint.ts";
import { onReadableRows } from "../../following/readable-rows.ts";
import { askSlowly } from "../../following/slow-queries.ts";
import { jobsProjector } from "../projector.ts";
import { type LedgerCursor, readEntriesOf } from "./of-address.ts";
import { type RecipientListOptions, readRecipientsOf } from "./of-job.ts";
import {
  type MailingRecipientCursor,
  type MailingRecipientOptions,
  type MailingRecipientPage,
  readRecipientsOfMailing,
} from "./of-mailing.ts";
import type { LedgerEntry, RecipientRecord } from "./records.ts";

export type { LedgerCursor, MailingRecipientCursor, MailingRecipientOptions, RecipientListOptions };

export type RecipientList = {
  readonly readSequence: number;
  /** In the order of the job's request. */
  readonly recipients: readonly RecipientRecord[];
  readonly total: number;
  /** Null after the last. */
  readonly nextCursor: string | null;
};

export type LedgerPage = {
  readonly readSequence: number;
  /** The newest mailing first. */
  readonly entries: readonly LedgerEntry[];
  /** Null after the last. */
  readonly next: LedgerCursor | null;
};

/** Every query is for one tenant: jobs of other tenants do not exist for it. */
export type RecipientQueries = {
  /** `list` is null if no such job was projected yet. */
  ofJob(
    job: JobRef,
    options: RecipientListOptions,
  ): Promise<{ readonly readSequence: number; readonly list: RecipientList | null }>;
  /** Of those parts of a mailing that are jobs; empty for a mailing of another tenant. */
  ofMailing(
    mailing: JobRef,
    options: MailingRecipientOptions,
  ): Promise<MailingRecipientPage & { readonly readSequence: number }>;
  /** Everything meant for one address, in any spelling, over all jobs. */
  ofAddress(
    tenant: string,
    address: string,
    options: { readonly cursor: LedgerCursor | null; readonly limit: number },
  ): Promise<LedgerPage>;
};

/** What looks for an address looks into the contents of all jobs that have not ended: 0.3 ms for each of a thousand recipients. */
export const createRecipientQueries = (db: Knex): RecipientQueries => {
  // Read before the rows: they are then at least as new as it.
  const readSequence = async (): Promise<number> => (await readCheckpoint(db, jobsProjector.name))?.sequence ?? 0;
  const ofMailing: RecipientQueries["ofMailing"] = async (mailing, options) => ({
    readSequence: await readSequence(),
    ...(await readRecipientsOfMailing(db, mailing, options)),
  });
  return onReadableRows(db, jobsProjector, {
    ofJob: async (job, options) => {
      const sequence = await readSequence();
      const found = await readRecipientsOf(db, job, options);
      return { readSequence: sequence, list: found === null ? null : { readSequence: sequence, ...found } };
    },
    ofMailing: (mailing, options) =>
      options.email === null
        ? ofMailing(mailing, options)
        : askSlowly(db, mailing.tenant, () => ofMailing(mailing, options)),
    ofAddress: (tenant, address, options) =>
      askSlowly(db, tenant, async () => ({
        readSequence: await readSequence(),
        ...(await readEntriesOf(db, { tenant, address }, options)),
      })),
  });
};
