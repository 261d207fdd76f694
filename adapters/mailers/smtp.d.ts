import type { MailTransporter } from '../../src/ports/mailer.ts'

/** A transporter to the server that a URL or Nodemailer's options name. */
export declare function smtpTransporter(
  transport: string | Readonly<Record<string, unknown>>,
): Promise<MailTransporter>
