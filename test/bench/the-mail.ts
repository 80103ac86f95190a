/** 800 characters in lines of 80, which every program sends. */
export const body = "The quick brown fox jumps over the lazy dog, then waits for it to run past it.\r\n".repeat(10);

export const subject = "Your invoice of November";
export const sender = "Waybill <waybill@example.org>";

/** Invented addresses; `from` distinguishes them from those of other mailings. */
export const recipients = (count: number, from = "reader"): string[] =>
  Array.from({ length: count }, (_, index) => `${from}-${index}@example.com`);

export const mailing = (recipientsPerJob: number) => ({ subject, body, recipients: recipients(recipientsPerJob) });
