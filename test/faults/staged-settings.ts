/** The most mails that one worker can have in flight. */
export const connectionsOfWorker = 5;

/** The most mails that are repeated for one worker: those in flight, and as many whose outcomes were not written yet. */
export const repeatedForWorker = 2 * connectionsOfWorker;

export const returnPathOfStage = "bounces@b.example.org";

/** What every process of a service is told that faults happen to. */
export const stagedSettings = {
  SMTP_MAX_CONNECTIONS: String(connectionsOfWorker),
  SMTP_TIMEOUT: "8000",
  SMTP_ANSWER_TIMEOUT: "8000",
  // Outages of some seconds must not use up the attempts of a job: what is proved here is that nothing is lost.
  MAX_ATTEMPTS: "20",
  RETRY_DELAYS: "1000",
  LOG_LEVEL: "warn",
  MAIL_RETURN_PATH: returnPathOfStage,
} as const;
