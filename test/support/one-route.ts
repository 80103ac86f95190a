import type { BrokenMailer } from "../../src/mail/breaker.ts";
import { type MailRoute, usualRules } from "../../src/mail/routes/mail-route.ts";
import { createMailRouting, type MailRouting } from "../../src/mail/routes/mail-routing.ts";
import { fixedRoutes } from "../../src/mail/routes/route-book.ts";

export const mailRoute = (given: Partial<MailRoute> = {}): MailRoute => ({
  name: "default",
  url: "smtp://127.0.0.1:25",
  connections: 4,
  rate: null,
  ...usualRules,
  ...given,
});

/** The routing of a service that has only the default route. */
export const oneRoute = (mailer: BrokenMailer): MailRouting =>
  createMailRouting(fixedRoutes([mailRoute({ connections: mailer.connections })]), () => mailer);
