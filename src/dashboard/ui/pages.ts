import type { Page } from "./page.ts";
import { composePage } from "./pages/compose.tsx";
import { deadLettersPage } from "./pages/dead-letters.tsx";
import { eventsPage } from "./pages/events.tsx";
import { jobsPage } from "./pages/jobs.tsx";
import { mailboxPage } from "./pages/mailbox.tsx";
import { mailingsPage } from "./pages/mailings.tsx";
import { notificationsPage } from "./pages/notifications.tsx";
import { overviewPage } from "./pages/overview.tsx";
import { recipientsPage } from "./pages/recipients.tsx";
import { schedulesPage } from "./pages/schedules.tsx";
import { suppressionsPage } from "./pages/suppressions.tsx";
import { systemPage } from "./pages/system.tsx";
import { templatesPage } from "./pages/templates.tsx";

/** In the order of the menu; the first one is the start page. */
export const pages: readonly Page[] = [
  overviewPage,
  jobsPage,
  mailingsPage,
  composePage,
  templatesPage,
  schedulesPage,
  deadLettersPage,
  suppressionsPage,
  recipientsPage,
  eventsPage,
  notificationsPage,
  systemPage,
  mailboxPage,
];
