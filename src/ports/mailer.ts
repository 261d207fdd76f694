/**
 * The mailer and text-message ports, as auth's delivery uses them.
 *
 * @module
 */

/** A mail ready to send. */
export interface MailMessage {
  readonly from?: string
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html?: string
}

/** Sends mail; Nodemailer's transporter fits as it is. Rejects when the mail was not accepted. */
export interface MailTransporter {
  sendMail(message: MailMessage): Promise<unknown>
  /** Whether the server can be reached and lets us in; rejects where not. */
  verify?(): Promise<unknown>
}
